// When Chromium has read a document depends on the machine, and so whether `DOMContentLoaded` and
// `load` come before or after the events that scripts await. So while the document awaits anything,
// they are kept, with what comes after them. They are let in one task after the other, when the
// document has no other task and awaits no event. Meanwhile `readyState` is as it was told.
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
for (const [type, copy] of Object.entries(LIFECYCLE)) {
  apply(nativeAddEventListener, window, [type, (event) => {
    if (event.target !== document || !event.isTrusted) return;
    const state = apply(nativeDocumentState, document, []);
    if (!running && !keptSteps.length) return toldState = state;
    event.stopImmediatePropagation();
    keptSteps.push({ event: copy(event), state });
    spin();
  }, { capture: true }]);
}
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
