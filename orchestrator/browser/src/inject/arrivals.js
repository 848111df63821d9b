// What servers say over WebSockets and event streams comes at some instant of the machine's time.
// So such an event is let in when the document awaits nothing: behind `load` and all results, and
// before the timers. Events that are there together are let in by their targets, in the order in
// which the document has opened these. Until then `readyState` is as at the last event that was let
// in. Expects `awaited.js`. Defines `hasArrival` and `letInArrival`.

const NativeMessage = MessageEvent, NativeClose = CloseEvent;
const NativeBlob = Blob, NativeBuffer = ArrayBuffer;
const OPEN = 1, CLOSING = 2;
// Of each socket and stream: in which order it was opened, how to read its own state, the state
// that the document knows, the types of its events that are held already, and the events on hold,
// each with the state that comes with it. For a socket, too, as what the document wants binary
// messages.
const sources = new WeakMap();
// Those with events on hold, in the order in which they were opened.
const arriving = [];
let openedCount = 0;

const hasArrival = () => arriving.length > 0;
const copyOfEvent = (event, binaryType) => {
  const { type } = event;
  if (event instanceof NativeMessage) {
    const { origin, lastEventId } = event, isBlob = binaryType === 'blob';
    const data = isBlob && event.data instanceof NativeBuffer ? new NativeBlob([event.data]) : event.data;
    return new NativeMessage(type, { data, origin, lastEventId });
  }
  return event instanceof NativeClose ? new NativeClose(type, event) : new NativeEvent(type);
};
function hold(target, source, event) {
  if (!event.isTrusted) return;
  event.stopImmediatePropagation();
  // A message comes while a socket is open, though it may have been closed since.
  const state = event instanceof NativeMessage ? OPEN : source.ownState();
  source.queue.push({ event, state });
  if (source.queue.length === 1) {
    const later = arriving.findIndex((other) => sources.get(other).order > source.order);
    arriving.splice(later < 0 ? arriving.length : later, 0, target);
  }
  spin();
}
function holdArrivals(target, source, type) {
  if (source.types.has(type)) return;
  source.types.add(type);
  const listener = (event) => hold(target, source, event);
  apply(nativeAddEventListener, target, [type, listener, { capture: true }]);
}
function forget(target) {
  const place = arriving.indexOf(target);
  if (place >= 0) arriving.splice(place, 1);
}
function letInArrival() {
  const [target] = arriving, source = sources.get(target);
  const { event, state } = source.queue.shift();
  if (!source.queue.length) forget(target);
  source.known = state;
  apply(nativeDispatch, target, [copyOfEvent(event, source.binaryType)]);
}
const nativeBinaryType = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'binaryType');
for (const [name, types] of [
  ['WebSocket', ['open', 'message', 'error', 'close']],
  ['EventSource', ['open', 'message', 'error']],
]) {
  const nativeState = ownGetter(name, 'readyState'), isSocket = name === 'WebSocket';
  replaceClass(name, (native, args, self) => {
    const target = Reflect.construct(native, args, self);
    const ownState = () => apply(nativeState, target, []);
    const source = { order: ++openedCount, ownState, known: 0, types: new Set(), queue: [] };
    // Chromium makes of a message what the document wants at its arrival.
    if (isSocket) {
      source.binaryType = 'blob';
      apply(nativeBinaryType.set, target, ['arraybuffer']);
    }
    sources.set(target, source);
    for (const type of types) holdArrivals(target, source, type);
    return target;
  });
  const prototype = globalThis[name]?.prototype;
  replace(prototype, 'readyState', (native) => ({
    get readyState() {
      const source = sources.get(this);
      return source?.queue.length ? source.known : apply(native, this, []);
    },
  }));
  // What is closed says nothing more. Of a socket one still hears how it has ended.
  replace(prototype, 'close', (native) => ({
    close(...args) {
      const result = apply(native, this, args), source = sources.get(this);
      if (!source) return result;
      const isEnd = ({ event: { type } }) => isSocket && (type === 'error' || type === 'close');
      source.queue = source.queue.filter(isEnd);
      if (!source.queue.length) forget(this);
      source.known = Math.max(CLOSING, source.ownState());
      return result;
    },
  }));
}
replace(WebSocket.prototype, 'binaryType', (native, nativeSet) => ({
  get binaryType() { return sources.get(this)?.binaryType ?? apply(native, this, []); },
  set binaryType(type) {
    const source = sources.get(this);
    if (!source) return apply(nativeSet, this, [type]);
    if (type === 'blob' || type === 'arraybuffer') source.binaryType = type;
  },
}));
// Streams of events have types that pages make up.
replace(EventTarget.prototype, 'addEventListener', (native) => ({
  addEventListener(type) {
    const source = sources.get(this);
    if (source) holdArrivals(this, source, String(type));
    return apply(native, this, arguments);
  },
}));
