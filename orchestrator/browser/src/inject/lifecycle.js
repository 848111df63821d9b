// When Chromium has read a document depends on the machine. So does whether `DOMContentLoaded` and
// `load` come before or after the events that scripts await. So while the document awaits anything,
// these events are held. They are released, one task after the other, when the document has no
// other task and awaits no event. Until then `readyState` is as at the last event that was
// dispatched. Frames have Chromium's own events, since the page around a frame has its `load` from
// Chromium, too. `load` and `error` of style sheets and pictures in the page's own tree are held as
// long as the document awaits an event. Those of scripts are not: what a script has defined belongs
// to its `load`. Expects `isDueEvent`, `running` and `spin`. Defines `heldLifecycle` and
// `releaseLifecycle`.

const nativeDocumentState = Object.getOwnPropertyDescriptor(Document.prototype, 'readyState').get;
// The events on hold, each with its element, or with the state of the document that it comes with.
const heldLifecycle = [];
let dispatchedState = apply(nativeDocumentState, document, []);
const LIFECYCLE = {
  readystatechange: () => new NativeEvent('readystatechange'),
  DOMContentLoaded: () => new NativeEvent('DOMContentLoaded', { bubbles: true }),
  load: () => new NativeEvent('load'),
  pageshow: ({ persisted }) => (
    new PageTransitionEvent('pageshow', { bubbles: true, cancelable: true, persisted })
  ),
};
function holdLifecycle(event) {
  if (event.target !== document || !event.isTrusted) return;
  const state = apply(nativeDocumentState, document, []);
  if (!running && !heldLifecycle.length) {
    dispatchedState = state;
    return;
  }
  event.stopImmediatePropagation();
  heldLifecycle.push({ event: LIFECYCLE[event.type](event), state });
  spin();
}
function watchLifecycle() {
  if (window.parent !== window) return;
  for (const type of Object.keys(LIFECYCLE)) {
    apply(nativeAddEventListener, window, [type, holdLifecycle, { capture: true }]);
  }
  // `load` of an element does not come past the window.
  for (const [target, type] of [[document, 'load'], [window, 'error']]) {
    apply(nativeAddEventListener, target, [type, holdElement, { capture: true }]);
  }
}
const isHeldElement = (target) => (
  target instanceof HTMLLinkElement || target instanceof HTMLImageElement
);
function holdElement(event) {
  const { isTrusted, target, type } = event;
  const isBehind = isDueEvent() || heldLifecycle.some(({ element }) => element);
  if (!isTrusted || !isHeldElement(target) || !isBehind) return;
  event.stopImmediatePropagation();
  heldLifecycle.push({ event: new NativeEvent(type), element: target });
  spin();
}
watchLifecycle();
// A document that is written anew loses its listeners, and is loaded again.
replace(Document.prototype, 'open', (native) => ({
  open(...args) {
    while (this === document && heldLifecycle.length) releaseLifecycle();
    const opened = apply(native, this, args);
    if (this === document) watchLifecycle();
    return opened;
  },
}));
const isOfWindow = ({ event, element }) => (
  !element && (event.type === 'load' || event.type === 'pageshow')
);
function releaseLifecycle() {
  do {
    const held = heldLifecycle.shift(), { event, element, state } = held;
    if (state) dispatchedState = state;
    if (isOfWindow(held)) Object.defineProperty(event, 'target', { value: document });
    apply(nativeDispatch, element ?? (isOfWindow(held) ? window : document), [event]);
    // `load` and `pageshow` are part of the task that completes the document.
  } while (heldLifecycle.length && isOfWindow(heldLifecycle[0]));
}
replace(Document.prototype, 'readyState', (native) => ({
  get readyState() {
    const isBehind = this === document && heldLifecycle.some(({ state }) => state);
    return isBehind ? dispatchedState : apply(native, this, []);
  },
}));
