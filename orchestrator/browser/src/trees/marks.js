// Numbers the elements of a document, and writes their bids into attributes while its accessibility
// tree is read. This is the body of a function that runs once per document in an isolated world, so
// the page cannot see its state. The numbering is BrowserGym's (`frame_mark_elements.js`): elements
// of standard HTML in document order, the contents of an open shadow root right after its host.
// Elements have numbers from 0, frames have letters.

const STANDARD = new Set((
  'a abbr acronym address applet area article aside audio b base basefont bdi bdo big blockquote body br button canvas caption center cite ' +
  'code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame ' +
  'frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main map mark menu meta meter nav ' +
  'noframes noscript object ol optgroup option output p param picture pre progress q rp rt ruby s samp script search section select small ' +
  'source span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr'
).split(' '));
// Attributes that the tree shows. It does not show the first for an element that others describe,
// and not the second for some roles.
const SHOWN_IN = ['aria-description', 'aria-roledescription'];

// Per document, as long as it lives.
const bids = new WeakMap(), elements = new Map();
let numbers = 0, letters = 0, writtenAttributes = [], visibilityObserver = null, inView = null;

// `a` to `z`, then `aA`, `aB` .. `aZ`, `bA` and so on: a lower-case letter begins each step into a
// frame.
function frameLetters(n) {
  let text = '';
  for (; n > 25; n = Math.floor(n / 26) - 1) text = String.fromCharCode(65 + n % 26) + text;
  return String.fromCharCode(97 + n) + text;
}

function* allElements(root) {
  for (const element of root.querySelectorAll('*')) {
    yield element;
    if (element.shadowRoot) yield* allElements(element.shadowRoot);
  }
}

function focused(root) {
  const active = root.activeElement;
  return active?.shadowRoot ? focused(active.shadowRoot) ?? active : active;
}

// Reports, after the next frame, how much of each element is in view. Its records are taken and not
// awaited: while the page's time stands still no callback runs.
function observeVisibility(elements) {
  const observer = new IntersectionObserver(() => {});
  elements.forEach((element) => observer.observe(element));
  return observer;
}

function elementAtCentre({ left, right, top, bottom }) {
  let found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  for (let inner = found; inner?.shadowRoot; found = inner) {
    inner = inner.shadowRoot.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    if (!inner || inner === found) break;
  }
  return found;
}

// The elements that get a number on a picture, as BrowserGym chooses them (after WebVoyager). A
// click on its centre reaches it. It is of an interactive kind, or looks clickable. It is not part
// of a button, and contains no other numbered element.
function setOfMarks(elements) {
  const kinds = new Set(['input', 'textarea', 'select', 'button', 'a', 'iframe', 'video', 'li', 'td', 'option']);
  const chosen = new Set(), buttons = [];
  for (const element of elements) {
    const box = element.getBoundingClientRect();
    const hit = elementAtCentre(box);
    if (!hit || !element.contains(hit)) continue;
    const isClickable = kinds.has(element.tagName.toLowerCase()) || element.hasAttribute('onclick') || element.onclick != null
      || getComputedStyle(element).cursor === 'pointer';
    if (!isClickable || (box.right - box.left) * (box.bottom - box.top) < 20) continue;
    if (buttons.some((button) => button.contains(element))) continue;
    const parent = element.parentElement;
    if (parent?.tagName.toLowerCase() === 'span' && parent.children.length === 1 && parent.getAttribute('role')
      && chosen.has(parent)) continue;
    chosen.add(element);
    if (element.matches('button, a, input[type="button"], div[role="button"]')) buttons.push(element);
    for (let above = parent; above; above = above.parentElement) chosen.delete(above);
  }
  return chosen;
}

return {
  // Returns the bid of the focused element.
  write(prefix, measured) {
    this.erase();
    const marked = [];
    for (const element of allElements(document)) {
      const tag = element.tagName.toLowerCase();
      if (!STANDARD.has(tag)) continue;
      let bid = bids.get(element);
      if (bid === undefined) {
        bid = prefix + (tag === 'iframe' || tag === 'frame' ? frameLetters(letters++) : numbers++);
        bids.set(element, bid);
        elements.set(bid, new WeakRef(element));
      }
      marked.push(element);
      const names = element.hasAttribute('aria-describedby') ? SHOWN_IN : [SHOWN_IN[0]];
      for (const name of names) {
        const ownValue = element.getAttribute(name);
        writtenAttributes.push([element, name, ownValue]);
        element.setAttribute(name, `bid=${bid} ${ownValue ?? ''}`);
      }
    }
    visibilityObserver?.disconnect();
    inView = null;
    visibilityObserver = measured ? observeVisibility(marked) : null;
    return bids.get(focused(document)) ?? null;
  },
  // After a frame: how much of each element is in view, and whether it gets a number.
  measure() {
    const ratios = new Map();
    for (const { target, intersectionRatio } of visibilityObserver?.takeRecords() ?? []) {
      ratios.set(target, Math.round(intersectionRatio * 100) / 100);
    }
    inView = [...ratios].filter(([, ratio]) => ratio > 0).map(([element]) => element);
    const numbered = setOfMarks([...ratios.keys()]);
    return [...ratios].map(([element, ratio]) => [bids.get(element), ratio, numbered.has(element)]);
  },
  // Where the elements in view are: left, top, width and height in pixels of this document's view.
  // That of a frame has the corner of its document, too.
  boxes() {
    const found = [];
    for (const element of inView ?? allElements(document)) {
      const bid = bids.get(element);
      if (bid === undefined) continue;
      const { left, top, right, bottom, width, height } = element.getBoundingClientRect();
      if (!width || !height || right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight) continue;
      const isFrame = element.localName === 'iframe' || element.localName === 'frame';
      const corner = isFrame ? [left + element.clientLeft, top + element.clientTop].map(Math.round) : null;
      found.push({ bid, box: [left, top, width, height].map(Math.round), corner });
    }
    return found;
  },
  erase() {
    for (const [element, name, ownValue] of writtenAttributes) {
      if (ownValue === null) element.removeAttribute(name);
      else element.setAttribute(name, ownValue);
    }
    writtenAttributes = [];
  },
  bid(element) { return bids.get(element) ?? null; },
  find(bid) { return elements.get(bid)?.deref() ?? null; },
};
