// Marks each change of a document in the browser's trace, behind the page's time in milliseconds.
// Runs in an isolated world. Shadow trees are not watched.
(() => {
  const MOST = 20, LONGEST = 80;
  // A look names elements in this attribute for a moment.
  const OURS = 'aria-description';
  const quoted = (text) => {
    const clean = text.trim().replace(/\s+/g, ' ');
    return JSON.stringify(clean.length > LONGEST ? `…${clean.slice(-LONGEST)}` : clean);
  };
  const named = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return quoted(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeName;
    return `<${node.localName}${node.id ? `#${node.id}` : ''}>`;
  };
  const seen = (node) => (node.nodeType === Node.ELEMENT_NODE && node.textContent.trim()
    ? `${named(node)} ${quoted(node.textContent)}` : named(node));
  const tell = (what) => console.timeStamp(`ORDER_MARK${Date.now()} ${what}`);
  const told = ({ type, target, attributeName, addedNodes, removedNodes }) => {
    if (type === 'characterData') {
      return [`${target.parentNode ? named(target.parentNode) : 'text'} reads ${quoted(target.data)}`];
    }
    if (type === 'attributes') {
      if (attributeName === OURS) return [];
      const value = target.getAttribute(attributeName);
      return [`${named(target)} ${attributeName} ${value === null ? 'removed' : quoted(value)}`];
    }
    return [
      ...Array.from(removedNodes, (node) => `${seen(node)} leaves ${named(target)}`),
      ...Array.from(addedNodes, (node) => `${seen(node)} comes into ${named(target)}`),
    ];
  };
  new MutationObserver((records) => {
    const lines = records.flatMap(told);
    lines.slice(0, MOST).forEach(tell);
    if (lines.length > MOST) tell(`${lines.length - MOST} more changes`);
  }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
})();
