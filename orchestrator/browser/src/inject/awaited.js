// What other threads and processes of the browser answer comes in real time. A frozen world's time
// does not move before it has come: in a document because there is always another task to run, in a
// worker because `tick` waits until `held` is nothing. Defines `hold`, `held` and `calm`.

// How many tasks an answer may take; what takes longer may never come. Fewer than Chromium lets go
// by before it moves the time regardless.
const TASKS = 50000;
// The same for a worker with a socket that is neither open nor refused: some seconds.
const SOCKET_TASKS = 1000000;
const nativeThen = Promise.prototype.then;
const nativeTask = globalThis.scheduler?.postTask?.bind(scheduler);
let held = 0, connecting = 0, running = false;
function hold(promise) {
  if (!(promise instanceof Promise)) return promise;
  let open = true;
  held++;
  const done = () => { if (open) { open = false; held--; } };
  apply(nativeThen, promise, [done, done]);
  if (globalThis.document) spin(done);
  return promise;
}
function spin(done) {
  let tasks = 0;
  if (running || !nativeTask) return;
  running = true;
  const next = () => {
    running = held > 0 && ++tasks < TASKS;
    for (let i = 0; running && i < 5000; i++) tasks += 0;
    if (running) nativeTask(next); else if (held) done();
  };
  nativeTask(next);
}
// For workers: lets everything come that is held, one `turn` after the other.
async function calm(turn) {
  for (let tasks = 0; held && tasks < (connecting ? SOCKET_TASKS : TASKS); tasks++) await turn();
}

// Threads that work side by side are done in any order; what they made is handed over in the order
// in which it was asked for.
let before = Promise.resolve();
function inOrder(promise) {
  if (!(promise instanceof Promise)) return promise;
  const mine = before.then(() => promise);
  before = mine.then(() => {}, () => {});
  promise.catch(() => {});
  return mine;
}

// The browser's own, for keys.
const nativeKeys = {};
// Much of a worker comes to be only when its script is there, unseen. It is looked for again where
// scripts get at it.
let missing = [];
function replaceWhenThere(type, name, make) { missing.push([type, name, make]); }
function look() {
  missing = missing.filter(([type, name, make]) => {
    const prototype = globalThis[type]?.prototype;
    if (!prototype || !Object.getOwnPropertyDescriptor(prototype, name)) return true;
    replace(prototype, name, make);
    return false;
  });
}
if (!globalThis.document) {
  for (const name of ['crypto', 'navigator', 'indexedDB', 'scheduler']) {
    let owner = globalThis;
    while (owner && !Object.getOwnPropertyDescriptor(owner, name)) owner = Object.getPrototypeOf(owner);
    if (!owner || !Object.getOwnPropertyDescriptor(owner, name).get) continue;
    replace(owner, name, (native) => ({ get [name]() { look(); return apply(native, this ?? globalThis, []); } }));
  }
}

const ORDERED = {
  SubtleCrypto: 'encrypt decrypt sign verify digest deriveBits deriveKey importKey exportKey wrapKey unwrapKey',
  Blob: 'text arrayBuffer bytes', OffscreenCanvas: 'convertToBlob',
};
const AWAITED = {
  Navigator: 'getBattery', BaseAudioContext: 'decodeAudioData', OfflineAudioContext: 'startRendering', CacheStorage: 'open match has delete keys',
  Cache: 'match matchAll put delete keys', CookieStore: 'get getAll set delete', Document: 'hasStorageAccess', GPU: 'requestAdapter',
  IDBFactory: 'databases', Keyboard: 'getLayoutMap', LockManager: 'query', MediaCapabilities: 'decodingInfo encodingInfo',
  MediaDevices: 'enumerateDevices', NavigatorUAData: 'getHighEntropyValues', Permissions: 'query', PressureObserver: 'observe',
  ServiceWorkerContainer: 'getRegistration getRegistrations', StorageManager: 'estimate persisted persist getDirectory',
  WakeLock: 'request', Clients: 'matchAll get claim',
};
for (const [table, order] of [[ORDERED, inOrder], [AWAITED, (promise) => promise]]) {
  for (const [type, names] of Object.entries(table)) {
    for (const name of names.split(' ')) {
      replaceWhenThere(type, name, (native) => {
        if (type === 'SubtleCrypto') nativeKeys[name] = native;
        return { [name](...args) { return hold(order(apply(native, this, args))); } };
      });
    }
  }
}
replace(globalThis, 'createImageBitmap', (native) => ({
  createImageBitmap(...args) { return hold(inOrder(apply(native, globalThis, args))); },
}));
for (const name of ['compile', 'instantiate']) {
  replace(globalThis.WebAssembly, name, (native) => ({ [name](...args) { return hold(inOrder(apply(native, this, args))); } }));
}
// The pieces of a stream come as the pieces of a whole do.
const PIECE = 65536;
replaceWhenThere('Blob', 'stream', (native) => ({
  stream() {
    apply(native, this, []).cancel(); // for its checks and its errors
    let at = 0;
    return new ReadableStream({
      type: 'bytes',
      pull: async (controller) => {
        const piece = await this.slice(at, at += PIECE).arrayBuffer();
        if (piece.byteLength) return controller.enqueue(new Uint8Array(piece));
        controller.close();
        controller.byobRequest?.respond(0);
      },
    });
  },
}));

// Answers that come as events.
const nativeListen = EventTarget.prototype.addEventListener;
function until(target, ...names) {
  hold(new Promise((done) => names.forEach((name) => apply(nativeListen, target, [name, done]))));
  return target;
}
for (const name of ['open', 'deleteDatabase']) {
  replaceWhenThere('IDBFactory', name, (native) => ({
    [name](...args) { return until(apply(native, this, args), 'success', 'error', 'blocked'); },
  }));
}
replaceWhenThere('IDBDatabase', 'transaction', (native) => ({
  transaction(...args) { return until(apply(native, this, args), 'complete', 'abort', 'error'); },
}));
for (const name of ['readAsText', 'readAsDataURL', 'readAsArrayBuffer', 'readAsBinaryString']) {
  replaceWhenThere('FileReader', name, (native) => ({
    [name](...args) { apply(native, this, args); until(this, 'loadend'); },
  }));
}
// A lock that nobody holds is given at once; for one that somebody holds, nothing is waited for.
replaceWhenThere('LockManager', 'request', (native) => ({
  request(...args) {
    const last = args.length - 1, callback = args[last];
    if (typeof callback !== 'function') return apply(native, this, args);
    hold(new Promise((given) => {
      args[last] = function (lock) { given(); return apply(callback, this, [lock]); };
    }));
    return apply(native, this, args);
  },
}));
// What is told to other documents goes by way of another process. One more who listens knows when
// it has come.
replaceWhenThere('BroadcastChannel', 'postMessage', (native) => ({
  postMessage(...args) {
    const twin = new BroadcastChannel(this.name);
    hold(new Promise((heard) => apply(nativeListen, twin, ['message', heard]))).then(() => twin.close());
    return apply(native, this, args);
  },
}));
// A socket opens, or is refused, at the instant at which it was asked for. Chromium lets a process
// that has been refused wait before it asks again; that may take it seconds.
const NativeSocket = globalThis.WebSocket;
if (NativeSocket) {
  const OurSocket = new Proxy(NativeSocket, {
    construct(target, args, self) {
      const socket = Reflect.construct(target, args, self);
      const known = new Promise((done) => ['open', 'close'].forEach((name) => apply(nativeListen, socket, [name, done])));
      connecting++;
      apply(nativeThen, known, [() => { connecting--; }]);
      hold(known);
      return socket;
    },
  });
  disguise(OurSocket, 'WebSocket');
  Object.defineProperty(NativeSocket.prototype, 'constructor', { value: OurSocket, writable: true, configurable: true });
  Object.defineProperty(globalThis, 'WebSocket', { value: OurSocket, writable: true, configurable: true });
}
