// The place of a document, for the seed.

const place = (() => {
  const path = [];
  for (let frame = window; frame !== frame.parent; frame = frame.parent) {
    let i = 0;
    while (i < frame.parent.length && frame.parent[i] !== frame) i++;
    path.push(i);
  }
  return `${location.href}|${path.join('.')}`;
})();
