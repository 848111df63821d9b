// The pieces of a body. It comes from the network in pieces whose number depends on the machine. A
// script that reads it piece by piece gets it in pieces of one size. One that does not end is read
// as it comes: what is there is let in once nothing more is. Expects `blockTime`
// and `replaceWhenDefined`.

const PIECE = 65536;
let nativeRead = null;
// What was read of a body and is not given yet: `parts`, `size`, the read under way, and the last
// read of the script.
const bodies = new WeakMap(), readers = new WeakMap();
for (const type of ['Response', 'Request']) {
  replaceWhenDefined(type, 'body', (native) => ({
    get body() {
      const stream = apply(native, this, []);
      if (stream && !bodies.has(stream)) bodies.set(stream, { parts: [], size: 0, isOver: false, reading: null, last: Promise.resolve() });
      return stream;
    },
  }));
}
async function readPiece(reader, body, stalled) {
  while (!body.isOver && body.size < PIECE) {
    body.reading ??= apply(nativeRead, reader, []);
    const read = await Promise.race([body.reading, stalled]);
    if (!read && body.size) break;
    const { value, done } = read ?? await body.reading;
    body.reading = null;
    body.isOver = done;
    if (!done) (body.parts.push(value), body.size += value.length);
  }
  if (!body.size) return { value: undefined, done: true };
  const whole = new Uint8Array(body.size);
  let at = 0;
  for (const part of body.parts) (whole.set(part, at), at += part.length);
  const value = whole.slice(0, PIECE);
  body.parts = whole.length > PIECE ? [whole.slice(PIECE)] : [];
  body.size = Math.max(0, whole.length - PIECE);
  return { value, done: false };
}
replaceWhenDefined('ReadableStreamDefaultReader', 'read', (native) => {
  nativeRead = native;
  return {
    read() {
      const body = readers.get(this);
      if (!body) return apply(native, this, []);
      // The pieces count, not how many reads of the network each takes.
      let stall;
      const stalled = new Promise((done) => { stall = () => done(null); });
      const piece = body.last.then(() => readPiece(this, body, stalled));
      body.last = piece.catch(() => {});
      return blockTime(piece, 'body', stall);
    },
  };
});
replaceWhenDefined('ReadableStream', 'getReader', (native) => ({
  getReader(...args) {
    const reader = apply(native, this, args), body = bodies.get(this);
    if (body && reader instanceof ReadableStreamDefaultReader) readers.set(reader, body);
    return reader;
  },
}));
// A stream with the same pieces, for what reads a body by itself.
function inPieces(stream) {
  if (!bodies.has(stream) || stream.locked) return stream;
  const reader = stream.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await reader.read();
      if (done) controller.close(); else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}
for (const name of ['pipeThrough', 'pipeTo', 'tee']) {
  replaceWhenDefined('ReadableStream', name, (native) => ({
    [name](...args) { return apply(native, inPieces(this), args); },
  }));
}
replaceWhenDefined('ReadableStream', 'values', (native) => ({
  values(...args) { return apply(native, inPieces(this), args); },
}));
replaceWhenDefined('ReadableStream', Symbol.asyncIterator, (native) => ({
  [Symbol.asyncIterator](...args) { return apply(native, inPieces(this), args); },
}));
// How much of it had come at a moment is told by the events of requests, too: of those, the last
// ones stay.
if (globalThis.XMLHttpRequest) {
  const NativeRequest = XMLHttpRequest;
  const RequestProxy = new Proxy(NativeRequest, {
    construct(target, args, self) {
      const request = Reflect.construct(target, args, self);
      let isLoading = false;
      apply(nativeAddEventListener, request, ['progress', (event) => {
        if (event.isTrusted && event.lengthComputable && event.loaded < event.total) event.stopImmediatePropagation();
      }]);
      apply(nativeAddEventListener, request, ['readystatechange', (event) => {
        const wasLoading = isLoading;
        isLoading = request.readyState === NativeRequest.LOADING;
        if (isLoading && wasLoading) event.stopImmediatePropagation();
      }]);
      return request;
    },
  });
  disguise(RequestProxy, 'XMLHttpRequest');
  Object.defineProperty(NativeRequest.prototype, 'constructor', { value: RequestProxy, writable: true, configurable: true });
  Object.defineProperty(globalThis, 'XMLHttpRequest', { value: RequestProxy, writable: true, configurable: true });
}
