// What servers say over WebSockets and event streams comes at some instant of the machine's time.
// So such an event is let in when the document awaits nothing: behind `load` and all results, and
// before the timers. Events that are there together are let in by their sockets, in the order in
// which the document has opened these. Until then `readyState` is as at the last event that was
// let in.
// Expects `awaited.js`. Defines `arrivals`, `hasArrival` and `letInArrival`.

// Each with its `target`, the `event`, and the `state` that comes with it.
const arrivals = [];
// In which order they were opened, and the state that their documents know.
const openedOrder = new WeakMap(), knownStates = new WeakMap();
// The types of its events that are held already.
const heldTypes = new WeakMap();
const OPEN = 1, CLOSING = 2;
let openedCount = 0;

const nativeSocketState = ownGetter('WebSocket', 'readyState');
const nativeStreamState = ownGetter('EventSource', 'readyState');
const stateOf = (target) => (
  apply(target instanceof WebSocket ? nativeSocketState : nativeStreamState, target, [])
);
const COPIES = {
  message: ({ type, data, origin, lastEventId }) => (
    new MessageEvent(type, { data, origin, lastEventId })
  ),
  close: (event) => new CloseEvent('close', event),
};
function holdArrivals(target, type) {
  if (heldTypes.get(target).has(type)) return;
  heldTypes.get(target).add(type);
  const hold = (event) => {
    if (!event.isTrusted) return;
    event.stopImmediatePropagation();
    const copy = COPIES[event instanceof MessageEvent ? 'message' : type];
    // A message comes while a socket is open, though it may have been closed since.
    const state = event instanceof MessageEvent ? OPEN : stateOf(target);
    arrivals.push({ target, state, event: copy ? copy(event) : new NativeEvent(type) });
    spin();
  };
  apply(nativeAddEventListener, target, [type, hold, { capture: true }]);
}
const isAt = (target) => (arrival) => arrival.target === target;
const hasArrival = () => arrivals.length > 0;
function letInArrival() {
  const order = ({ target }) => openedOrder.get(target);
  const first = Math.min(...arrivals.map(order));
  const [arrival] = arrivals.splice(arrivals.findIndex((held) => order(held) === first), 1);
  const { target, event, state } = arrival;
  knownStates.set(target, state);
  apply(nativeDispatch, target, [event]);
}
for (const [name, types] of [
  ['WebSocket', ['open', 'message', 'error', 'close']],
  ['EventSource', ['open', 'message', 'error']],
]) {
  replaceClass(name, (native, args, self) => {
    const target = Reflect.construct(native, args, self);
    openedOrder.set(target, ++openedCount);
    knownStates.set(target, stateOf(target));
    heldTypes.set(target, new Set());
    for (const type of types) holdArrivals(target, type);
    return target;
  });
  replace(globalThis[name]?.prototype, 'readyState', () => ({
    get readyState() {
      const state = stateOf(this);
      return arrivals.some(isAt(this)) ? knownStates.get(this) : state;
    },
  }));
  // What is closed says nothing more, but that it is.
  replace(globalThis[name]?.prototype, 'close', (native) => ({
    close(...args) {
      const result = apply(native, this, args);
      const left = arrivals.filter(({ target, event }) => target !== this || event.type === 'close');
      arrivals.splice(0, arrivals.length, ...left);
      if (knownStates.has(this)) knownStates.set(this, Math.max(CLOSING, stateOf(this)));
      return result;
    },
  }));
}
// Streams of events have types that pages make up.
replace(EventTarget.prototype, 'addEventListener', (native) => ({
  addEventListener(type) {
    if (this instanceof EventSource && heldTypes.has(this)) holdArrivals(this, String(type));
    return apply(native, this, arguments);
  },
}));
