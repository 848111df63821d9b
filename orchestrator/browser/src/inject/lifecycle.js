// When Chromium has read a document depends on the machine, and so whether `DOMContentLoaded` and
// `load` come before or after the events that scripts await. So while the document awaits anything,
// they are kept, with what comes after them. They are let in one task after the other, when the
// document has no other task and awaits no event. Meanwhile `readyState` is as it was told. Frames
// have Chromium's own events: the page around a frame hears of its `load` from Chromium, too.
// Expects `running` and `spin`. Defines `keptSteps` and `letInStep`.

const nativeDocumentState = Object.getOwnPropertyDescriptor(Document.prototype, 'readyState').get;
// What is yet to be told, each with the state of the document before it.
const keptSteps = [];
let toldState = apply(nativeDocumentState, document, []);
const LIFECYCLE = {
  readystatechange: () => new NativeEvent('readystatechange'),
  DOMContentLoaded: () => new NativeEvent('DOMContentLoaded', { bubbles: true }),
  load: () => new NativeEvent('load'),
  pageshow: ({ persisted }) => new PageTransitionEvent('pageshow', { bubbles: true, cancelable: true, persisted }),
};
function keepStep(event) {
  if (event.target !== document || !event.isTrusted) return;
  const state = apply(nativeDocumentState, document, []);
  if (!running && !keptSteps.length) {
    toldState = state;
    return;
  }
  event.stopImmediatePropagation();
  keptSteps.push({ event: LIFECYCLE[event.type](event), state });
  spin();
}
function keepSteps() {
  if (window.parent !== window) return;
  for (const type of Object.keys(LIFECYCLE)) {
    apply(nativeAddEventListener, window, [type, keepStep, { capture: true }]);
  }
}
keepSteps();
// A document that is written anew loses its listeners, and is loaded again.
replace(Document.prototype, 'open', (native) => ({
  open(...args) {
    while (this === document && keptSteps.length) letInStep();
    const opened = apply(native, this, args);
    if (this === document) keepSteps();
    return opened;
  },
}));
function letInStep() {
  do {
    const { event, state } = keptSteps.shift();
    toldState = state;
    const isOfWindow = event.type === 'load' || event.type === 'pageshow';
    if (isOfWindow) Object.defineProperty(event, 'target', { value: document });
    apply(nativeDispatch, isOfWindow ? window : document, [event]);
    // The last ones are one task.
  } while (keptSteps.length && toldState === 'complete');
}
replace(Document.prototype, 'readyState', (native) => ({
  get readyState() { return keptSteps.length && this === document ? toldState : apply(native, this, []); },
}));
