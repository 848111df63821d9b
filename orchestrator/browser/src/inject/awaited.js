// What other threads and processes of the browser answer comes in real time. A frozen world's time
// does not move before it has come: in a document because there is always another task to run, in a
// worker because `tick` waits until `pendingCount` is nothing. Defines `blockTime`, `pendingCount` and `waitForPending`.

// How many tasks an answer may take; what takes longer may never come. Fewer than Chromium lets go
// by before it moves the time regardless.
const TASKS = 50000;
// The same for a worker with a socket that is neither open nor refused: some seconds.
const SOCKET_TASKS = 1000000;
const nativeThen = Promise.prototype.then;
const nativeTask = globalThis.scheduler?.postTask?.bind(scheduler);
let pendingCount = 0, connecting = 0, running = false;
function blockTime(promise) {
  if (!(promise instanceof Promise)) return promise;
  let open = true;
  pendingCount++;
  const done = () => { if (open) { open = false; pendingCount--; } };
  apply(nativeThen, promise, [done, done]);
  if (globalThis.document) spin(done);
  return promise;
}
function spin(done) {
  let tasks = 0;
  if (running || !nativeTask) return;
  running = true;
  const next = () => {
    running = pendingCount > 0 && ++tasks < TASKS;
    for (let i = 0; running && i < 5000; i++) tasks += 0;
    if (running) nativeTask(next); else if (pendingCount) done();
  };
  nativeTask(next);
}
// For workers: lets everything come that is held, one `turn` after the other.
async function waitForPending(turn) {
  for (let tasks = 0; pendingCount && tasks < (connecting ? SOCKET_TASKS : TASKS); tasks++) await turn();
}

// Threads that work side by side are done in any order; what they made is handed over in the order
// in which it was asked for.
let lastInOrder = Promise.resolve();
function inRequestOrder(promise) {
  if (!(promise instanceof Promise)) return promise;
  const ordered = lastInOrder.then(() => promise);
  lastInOrder = ordered.then(() => {}, () => {});
  promise.catch(() => {});
  return ordered;
}

// The browser's own, for keys.
const nativeSubtle = {};
// Much of a worker comes to be only when its script is there, unseen. It is looked for again where
// scripts get at it.
let lateTypes = [];
function replaceWhenDefined(type, name, make) { lateTypes.push([type, name, make]); }
function replaceLateTypes() {
  lateTypes = lateTypes.filter(([type, name, make]) => {
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
    replace(owner, name, (native) => ({ get [name]() { replaceLateTypes(); return apply(native, this ?? globalThis, []); } }));
  }
}

const ORDERED_REPLIES = {
  SubtleCrypto: 'encrypt decrypt sign verify digest deriveBits deriveKey importKey exportKey wrapKey unwrapKey',
  Blob: 'text arrayBuffer bytes', OffscreenCanvas: 'convertToBlob',
};
const REPLIES = {
  Navigator: 'getBattery', BaseAudioContext: 'decodeAudioData', OfflineAudioContext: 'startRendering', CacheStorage: 'open match has delete keys',
  Cache: 'match matchAll put delete keys', CookieStore: 'get getAll set delete', Document: 'hasStorageAccess', GPU: 'requestAdapter',
  IDBFactory: 'databases', Keyboard: 'getLayoutMap', LockManager: 'query', MediaCapabilities: 'decodingInfo encodingInfo',
  MediaDevices: 'enumerateDevices', NavigatorUAData: 'getHighEntropyValues', Permissions: 'query', PressureObserver: 'observe',
  ServiceWorkerContainer: 'getRegistration getRegistrations', StorageManager: 'estimate persisted persist getDirectory',
  WakeLock: 'request', Clients: 'matchAll get claim',
};
for (const [table, order] of [[ORDERED_REPLIES, inRequestOrder], [REPLIES, (promise) => promise]]) {
  for (const [type, names] of Object.entries(table)) {
    for (const name of names.split(' ')) {
      replaceWhenDefined(type, name, (native) => {
        if (type === 'SubtleCrypto') nativeSubtle[name] = native;
        return { [name](...args) { return blockTime(order(apply(native, this, args))); } };
      });
    }
  }
}
replace(globalThis, 'createImageBitmap', (native) => ({
  createImageBitmap(...args) { return blockTime(inRequestOrder(apply(native, globalThis, args))); },
}));
for (const name of ['compile', 'instantiate']) {
  replace(globalThis.WebAssembly, name, (native) => ({ [name](...args) { return blockTime(inRequestOrder(apply(native, this, args))); } }));
}
// The pieces of a stream come as the pieces of a whole do.
const CHUNK = 65536;
replaceWhenDefined('Blob', 'stream', (native) => ({
  stream() {
    apply(native, this, []).cancel(); // for its checks and its errors
    let at = 0;
    return new ReadableStream({
      type: 'bytes',
      pull: async (controller) => {
        const chunk = await this.slice(at, at += CHUNK).arrayBuffer();
        if (chunk.byteLength) return controller.enqueue(new Uint8Array(chunk));
        controller.close();
        controller.byobRequest?.respond(0);
      },
    });
  },
}));

// Answers that come as events.
const nativeAddEventListener = EventTarget.prototype.addEventListener;
function blockTimeUntil(target, ...names) {
  blockTime(new Promise((done) => names.forEach((name) => apply(nativeAddEventListener, target, [name, done]))));
  return target;
}
for (const name of ['open', 'deleteDatabase']) {
  replaceWhenDefined('IDBFactory', name, (native) => ({
    [name](...args) { return blockTimeUntil(apply(native, this, args), 'success', 'error', 'blocked'); },
  }));
}
replaceWhenDefined('IDBDatabase', 'transaction', (native) => ({
  transaction(...args) { return blockTimeUntil(apply(native, this, args), 'complete', 'abort', 'error'); },
}));
for (const name of ['readAsText', 'readAsDataURL', 'readAsArrayBuffer', 'readAsBinaryString']) {
  replaceWhenDefined('FileReader', name, (native) => ({
    [name](...args) { apply(native, this, args); blockTimeUntil(this, 'loadend'); },
  }));
}
// A lock that nobody holds is given at once; for one that somebody holds, nothing is waited for.
replaceWhenDefined('LockManager', 'request', (native) => ({
  request(...args) {
    const last = args.length - 1, callback = args[last];
    if (typeof callback !== 'function') return apply(native, this, args);
    blockTime(new Promise((granted) => {
      args[last] = function (lock) { granted(); return apply(callback, this, [lock]); };
    }));
    return apply(native, this, args);
  },
}));
// What is told to other documents goes by way of another process. One more who listens knows when
// it has come.
replaceWhenDefined('BroadcastChannel', 'postMessage', (native) => ({
  postMessage(...args) {
    const twin = new BroadcastChannel(this.name);
    blockTime(new Promise((received) => apply(nativeAddEventListener, twin, ['message', received]))).then(() => twin.close());
    return apply(native, this, args);
  },
}));
// A socket opens, or is refused, at the instant at which it was asked for. Chromium lets a process
// that has been refused wait before it asks again; that may take it seconds.
const NativeSocket = globalThis.WebSocket;
if (NativeSocket) {
  const SocketProxy = new Proxy(NativeSocket, {
    construct(target, args, self) {
      const socket = Reflect.construct(target, args, self);
      const settled = new Promise((done) => ['open', 'close'].forEach((name) => apply(nativeAddEventListener, socket, [name, done])));
      connecting++;
      apply(nativeThen, settled, [() => { connecting--; }]);
      blockTime(settled);
      return socket;
    },
  });
  disguise(SocketProxy, 'WebSocket');
  Object.defineProperty(NativeSocket.prototype, 'constructor', { value: SocketProxy, writable: true, configurable: true });
  Object.defineProperty(globalThis, 'WebSocket', { value: SocketProxy, writable: true, configurable: true });
}
