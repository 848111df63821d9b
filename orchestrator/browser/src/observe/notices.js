// The texts that have appeared since the last call and are gone again, in their order. Expects what
// `changes.js` keeps.
(() => {
  if (!globalThis.takeAppeared) return [];
  const gone = takeAppeared().filter(([node]) => (
    !node.isConnected || !node.ownerDocument.defaultView
  ));
  if (!gone.length) return [];
  const shown = findDocuments().map(textIn).join(' ').replace(/\s+/g, ' ');
  const notices = new Map();
  for (const [, { text, role }] of gone) {
    if (!shown.includes(text) && !notices.get(text)) notices.set(text, role);
  }
  const told = [...notices.keys()];
  // A part of another one says nothing more.
  return told
    .filter((text) => !told.some((other) => other !== text && other.includes(text)))
    .map((text) => (notices.get(text) ? `${notices.get(text)}: ${text}` : text));
})()
