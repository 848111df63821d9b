// The body of a function with an element as `this`: whether `hit`, the node at a point of the
// screen, is the element or belongs to it. Returns `{ hit }` with its description, or `{ by }` with
// its name. A label that stands for its box is not hit where something else in it would be clicked.
//
// What belongs to what is a matter of the flat tree: a slot has the nodes that it shows, also in
// closed roots, into which no script sees. But an event goes that way. So one of our own is sent
// from the node, and the element listens. Its type is known to no page.
const EVENT = 'sandbox-belongs';
const belongs = (node, element) => {
  let isOnPath = false;
  const listener = () => { isOnPath = true; };
  element.addEventListener(EVENT, listener, true);
  node.dispatchEvent(new Event(EVENT, { composed: true }));
  element.removeEventListener(EVENT, listener, true);
  return isOnPath;
};
const nearest = (node, selector) => {
  while (node && !node.matches?.(selector)) node = node.assignedSlot ?? node.parentNode ?? node.host;
  return node ?? null;
};
const name = (node) => `<${node.localName ?? node.nodeName}${node.id ? ` id="${node.id}"` : ''}>`;
const box = this.getBoundingClientRect(), view = this.ownerDocument.defaultView;
const [left, top] = view.parent === view ? [x, y] : [box.x + box.width / 2, box.y + box.height / 2];
if (hit.nodeType !== 9 && !hit.parentNode) hit = this.getRootNode().elementFromPoint(left, top) ?? hit;

// The browser gives the parent of a text. That is outside of the slot that shows the text.
const isThere = (text) => {
  const range = document.createRange();
  range.selectNodeContents(text);
  return [...range.getClientRects()].some((line) =>
    line.left - 1 <= left && left <= line.right + 1 && line.top - 1 <= top && top <= line.bottom + 1);
};
const slots = () => (this.localName === 'slot' ? [this] : [...this.querySelectorAll('slot')]);
const showsText = () => hit.nodeType === 1 && slots().some((slot) => slot.assignedNodes({ flatten: true })
  .some((node) => node.nodeType === 3 && node.parentNode === hit && isThere(node)));

const used = nearest(hit, 'a[href], button, input, select, textarea');
if (forBox && used && used !== this.control && belongs(used, this)) return { by: name(used) };
if (belongs(hit, this)) return { hit: describe(hit) };
if (showsText()) return { hit: describe(this) };
const label = [...(this.localName === 'form' ? [] : this.labels ?? [])].find((label) => belongs(hit, label)) ?? nearest(hit, 'label');
const isBeside = used && used !== this && label && belongs(used, label);
if (label && !isBeside && (label.control === this || belongs(this, label))) return { hit: describe(hit) };
if (this.localName === 'option' && belongs(this, hit)) return { hit: describe(hit) };
return { by: name(hit) };
