// Gives the elements of a document their bids and, for the moment in which its accessibility tree is read, writes them where the tree shows them.
// The body of a function that runs once per document in a world apart: what it remembers the page cannot see. The numbering is BrowserGym's (`frame_mark_elements.js`): elements of standard
// HTML in document order, what is inside an open shadow root right after its host; numbers from 0, for frames letters instead.

const STANDARD = new Set((
  'a abbr acronym address applet area article aside audio b base basefont bdi bdo big blockquote body br button canvas caption center cite ' +
  'code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame ' +
  'frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main map mark menu meta meter nav ' +
  'noframes noscript object ol optgroup option output p param picture pre progress q rp rt ruby s samp script search section select small ' +
  'source span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr'
).split(' '));
const SHOWN_IN = ['aria-roledescription', 'aria-description'];

// Per document, as long as it lives.
const bids = new WeakMap(), elements = new Map();
let numbers = 0, letters = 0, written = [];

// `a` to `z`, then `aA`, `aB` .. `aZ`, `bA` and so on: a small letter begins each step into a frame.
function letter(n) {
  let text = '';
  for (; n > 25; n = Math.floor(n / 26) - 1) text = String.fromCharCode(65 + n % 26) + text;
  return String.fromCharCode(97 + n) + text;
}

function* all(root) {
  for (const element of root.querySelectorAll('*')) {
    yield element;
    if (element.shadowRoot) yield* all(element.shadowRoot);
  }
}

function focused(root) {
  const active = root.activeElement;
  return active?.shadowRoot ? focused(active.shadowRoot) ?? active : active;
}

return {
  // Returns the bid of the element that has the focus.
  write(prefix) {
    this.erase();
    for (const element of all(document)) {
      const tag = element.tagName.toLowerCase();
      if (!STANDARD.has(tag)) continue;
      let bid = bids.get(element);
      if (bid === undefined) {
        bid = prefix + (tag === 'iframe' || tag === 'frame' ? letter(letters++) : numbers++);
        bids.set(element, bid);
        elements.set(bid, new WeakRef(element));
      }
      for (const name of SHOWN_IN) {
        const own = element.getAttribute(name);
        written.push([element, name, own]);
        element.setAttribute(name, `bid=${bid} ${own ?? ''}`);
      }
    }
    return bids.get(focused(document)) ?? null;
  },
  erase() {
    for (const [element, name, own] of written) {
      if (own === null) element.removeAttribute(name);
      else element.setAttribute(name, own);
    }
    written = [];
  },
  find(bid) { return elements.get(bid)?.deref() ?? null; },
};
