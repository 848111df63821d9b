// What has happened in a document since the last call, and in those of its frames that it may look
// into: how many changes of the content, and after how much of its time something of an animation
// is due, if that is known, in milliseconds. Last, in how many frames it may not look: each of them
// is asked itself. `null` if the document around this one has told already.
//
// Also keeps the texts that come and go, for `notices.js`.
(() => {
  const isTold = () => {
    try { return parent !== window && Boolean(parent.document); } catch { return false; }
  };
  if (isTold()) return null;
  const LONGEST = 500, MOST = 500;
  const clean = (text) => text.trim().replace(/\s+/g, ' ').slice(0, LONGEST);
  const LIVE = '[role=alert], [role=status], [aria-live]';
  const roleOf = (node) => {
    const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
    const live = element?.closest(LIVE) ?? element?.querySelector(LIVE);
    return live ? live.getAttribute('role') ?? 'status' : null;
  };
  const UNSEEN = /^(script|style|template|noscript|link|meta)$/i;
  const isText = (node) => node.nodeType === Node.TEXT_NODE
    || node.nodeType === Node.ELEMENT_NODE && !UNSEEN.test(node.localName);
  if (!globalThis.countChanges) {
    // Without scripts, which often contain the texts that they show.
    const isScript = (node) => /^(script|style)$/i.test(node.parentNode.localName);
    globalThis.textIn = (node) => {
      if (node.nodeType === Node.TEXT_NODE) return node.data;
      const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
      let text = '';
      while (walker.nextNode()) if (!isScript(walker.currentNode)) text += walker.currentNode.data;
      return text;
    };
    const appeared = new Map();
    let count = 0, unseen = 0;
    const appear = (node) => {
      const text = isText(node) && appeared.size < MOST && clean(textIn(node));
      if (text) appeared.set(node, { text, role: roleOf(node) });
    };
    const observer = new MutationObserver((records) => {
      count += records.length;
      for (const { type, target, addedNodes } of records) {
        if (type === 'characterData') appear(target);
        addedNodes.forEach(appear);
      }
    });
    const WHAT = { subtree: true, childList: true, characterData: true, attributes: true };
    const observed = new WeakSet();
    globalThis.findDocuments = (of = window) => {
      const found = [of.document];
      if (!observed.has(of.document)) observer.observe(of.document, WHAT);
      observed.add(of.document);
      for (let i = 0; i < of.length; i++) {
        try { found.push(...findDocuments(of[i])); } catch { unseen++; }
      }
      return found;
    };
    globalThis.countChanges = () => { const counted = count; count = 0; return counted; };
    globalThis.countUnseen = () => { const counted = unseen; unseen = 0; return counted; };
    globalThis.takeAppeared = () => { const taken = [...appeared]; appeared.clear(); return taken; };
  }
  const dueIn = (page) => page.getAnimations().flatMap((animation) => {
    const { playState, playbackRate, timeline, effect } = animation;
    const { localTime, delay, duration, endTime } = effect?.getComputedTiming() ?? {};
    const hasTime = timeline === page.timeline && typeof localTime === 'number';
    if (playState !== 'running' || !(playbackRate > 0) || !hasTime || !isFinite(endTime)) return [];
    const times = [delay, endTime];
    // Where it begins again.
    if (duration > 0 && localTime >= delay) {
      times.push(delay + (Math.floor((localTime - delay) / duration) + 1) * duration);
    }
    return times
      .filter((time) => time > localTime && time <= endTime)
      .map((time) => (time - localTime) / playbackRate);
  });
  countUnseen();
  const due = findDocuments().flatMap(dueIn);
  return [countChanges(), due.length ? Math.min(...due) : null, countUnseen()];
})()
