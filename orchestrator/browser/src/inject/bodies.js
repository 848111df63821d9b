// The pieces of a body. It comes from the network in pieces whose number depends on the machine. A
// script that reads it piece by piece gets it in pieces of one size. One that does not end is read
// as it comes: what is there is let in once nothing more is. Expects `blockTime`, `firstOf`,
// `replaceClass` and `replaceWhenDefined`. Defines `streamed` and `wholeOf`.

const PIECE = 65536;
let nativeRead = null;
// What was read of a body and is not given yet: `parts`, `size`, the read under way, and the last
// read of the script.
const bodies = new WeakMap(), readers = new WeakMap();
replaceWhenDefined('Response', 'body', (native) => ({
  get body() {
    const stream = apply(native, this, []);
    // A script's own response is in the pieces that the script has made.
    if (stream && this.type !== 'default' && !bodies.has(stream)) {
      const last = NativePromise.resolve();
      bodies.set(stream, { parts: [], size: 0, isOver: false, reading: null, last });
    }
    return stream;
  },
}));
const race = (one, other) => new NativePromise((resolve, reject) => {
  for (const promise of [one, other]) apply(nativeThen, promise, [resolve, reject]);
});
async function readPiece(reader, body, stalled) {
  while (!body.isOver && body.size < PIECE) {
    body.reading ??= apply(nativeRead, reader, []);
    let read = null;
    try {
      read = await race(body.reading, stalled);
      if (!read && body.size) break;
      read ??= await body.reading;
    } catch (error) {
      body.reading = null;
      // The next read has the error, too.
      if (body.size) break;
      throw error;
    }
    body.reading = null;
    body.isOver ||= read.done;
    if (!read.done) (body.parts.push(read.value), body.size += read.value.length);
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
      const stalled = new NativePromise((done) => { stall = () => done(null); });
      const piece = apply(nativeThen, body.last, [() => readPiece(this, body, stalled)]);
      body.last = apply(nativeThen, piece, [() => {}, () => {}]);
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
for (const [type, bodyOf] of [
  ['ReadableStream', (stream) => bodies.get(stream)],
  ['ReadableStreamDefaultReader', (reader) => readers.get(reader)],
]) {
  replaceWhenDefined(type, 'cancel', (native) => ({
    cancel(...args) {
      const cancelled = apply(native, this, args), body = bodyOf(this);
      if (body && (type !== 'ReadableStream' || !this.locked)) {
        Object.assign(body, { parts: [], size: 0, isOver: true });
      }
      return cancelled;
    },
  }));
}
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
// What cannot be read that way stays the browser's: it has its own errors, or keeps the stream.
const IS_READ = {
  pipeThrough: (pair) => pair?.writable instanceof WritableStream,
  pipeTo: (destination) => destination instanceof WritableStream,
  tee: () => true,
  values: (options) => !options?.preventCancel,
};
for (const name of [...Object.keys(IS_READ), Symbol.asyncIterator]) {
  const isRead = IS_READ[name] ?? IS_READ.values;
  replaceWhenDefined('ReadableStream', name, (native) => ({
    [name](...args) { return apply(native, isRead(args[0]) ? inPieces(this) : this, args); },
  }));
}

// How much of it had come at a moment is told by the events of requests, too. Where its length is
// known, only the last progress counts, and loading begins once.
replaceClass('XMLHttpRequest', (native, args, self) => {
  const request = Reflect.construct(native, args, self);
  let isLoading = false;
  apply(nativeAddEventListener, request, ['progress', (event) => {
    const isPart = event.isTrusted && event.lengthComputable && event.loaded < event.total;
    if (isPart) event.stopImmediatePropagation();
  }]);
  apply(nativeAddEventListener, request, ['readystatechange', (event) => {
    const wasLoading = isLoading;
    isLoading = request.readyState === native.LOADING;
    const hasLength = () => request.getResponseHeader('Content-Length') !== null;
    if (isLoading && wasLoading && hasLength()) event.stopImmediatePropagation();
  }]);
  return request;
});

// Chromium stops a document's time while it reads the body of a script's own response. Where the
// stream waits for the time, or for a result, that would be for ever. So we read it, and Chromium
// makes of the bytes, or of the error, what the script wants.
const streamed = new WeakSet(), NativeResponse = globalThis.Response;
const copyOf = Uint8Array.prototype.slice;
async function wholeOf(response) {
  const parts = [], headers = response.headers, reader = response.body.getReader();
  const failing = (how) => new NativeResponse(new ReadableStream({ start: how }), { headers });
  let size = 0;
  try {
    for (let read; !(read = await reader.read()).done;) {
      const { value } = read;
      if (value?.[Symbol.toStringTag] !== 'Uint8Array') {
        apply(nativeThen, reader.cancel(), [() => {}, () => {}]);
        return failing((controller) => controller.enqueue(value));
      }
      // The script may use the same memory for the next part.
      const part = apply(copyOf, value, []);
      parts.push(part);
      size += part.length;
    }
  } catch (error) {
    return failing((controller) => controller.error(error));
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) (whole.set(part, at), at += part.length);
  return new NativeResponse(whole, { headers });
}
if (isDocument) {
  replaceClass('Response', (native, args, self) => {
    const response = Reflect.construct(native, args, self);
    if (args[0] instanceof ReadableStream) streamed.add(response);
    return response;
  });
}
