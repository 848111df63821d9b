// The document as a text that is equal for equal documents. Attributes are sorted. Typed text and
// ticks are included, and shadow trees are opened. Blob URLs, which the browser makes up, are
// numbered in the order of their appearance.
(() => {
  const blobs = new Map();
  const plain = (text) => text.replace(/blob:[^\s"')]+/g, (url) => {
    if (!blobs.has(url)) blobs.set(url, `blob:${blobs.size}`);
    return blobs.get(url);
  });
  const out = [];
  // A stack instead of recursion: documents nest deeply.
  const stack = [document];
  while (stack.length) {
    const node = stack.pop();
    if (typeof node === 'string') { out.push(node); continue; }
    switch (node.nodeType) {
      case Node.TEXT_NODE: case Node.CDATA_SECTION_NODE: out.push(JSON.stringify(plain(node.data))); continue;
      case Node.COMMENT_NODE: out.push(`<!--${plain(node.data)}-->`); continue;
      case Node.DOCUMENT_TYPE_NODE: out.push(`<!doctype ${node.name}>`); continue;
      case Node.ELEMENT_NODE: {
        const attributes = [...node.attributes].map((a) => `${a.name}=${JSON.stringify(plain(a.value))}`).sort();
        if (['input', 'textarea', 'select'].includes(node.localName) && node.type !== 'file') {
          attributes.push(`:value=${JSON.stringify(plain(String(node.value)))}`);
          if (node.checked) attributes.push(':checked');
        }
        out.push(`<${[node.localName, ...attributes].join(' ')}>`);
        stack.push(`</${node.localName}>`);
        break;
      }
      default:
    }
    const inside = node.localName === 'template' && node.content ? node.content : node;
    for (let child = inside.lastChild; child; child = child.previousSibling) stack.push(child);
    if (node.shadowRoot) stack.push('</#shadow>', node.shadowRoot, '<#shadow>');
  }
  return out.join('\n');
})()
