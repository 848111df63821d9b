// Replies of the browser's other threads and processes come in real time. A frozen world's time
// does not move before they have come. In a document there is always another task to run meanwhile;
// in a worker `tick` tells what is awaited. Defines `blockTime`, `pending` and `waitForPending`.

// How many tasks all replies of one wait may take in a document, and a single one; one that takes
// longer may never come. Chromium moves the time regardless after 100,000 tasks. So that a busy
// machine has time for a reply, the tasks after the first ones of a reply take longer: 0.1 ms.
const TASKS = 90000, REPLY_TASKS = 20000, LOCK_TASKS = 3000, SHORT_TASKS = 100, SHORT_TASK = 5000, LONG_TASK = 200000;
// How many tasks a worker waits before it tells that it waits.
const WORKER_TASKS = 2000;
const nativeThen = Promise.prototype.then;
const nativeTask = globalThis.scheduler?.postTask?.bind(scheduler);
// The replies on their way, and what each is for; how many have come.
const pending = new Map();
let answered = 0, running = false;
function blockTime(promise, what = 'reply') {
  if (!(promise instanceof Promise)) return promise;
  const key = {};
  pending.set(key, what);
  const done = () => { pending.delete(key); answered++; };
  apply(nativeThen, promise, [done, done]);
  if (globalThis.document) spin();
  return promise;
}
function spin() {
  if (running || !nativeTask) return;
  let tasks = 0, last = 0, seen = answered;
  const next = () => {
    if (seen !== answered) (seen = answered, last = tasks);
    const limit = [...pending.values()].every((what) => what === 'lock') ? LOCK_TASKS : REPLY_TASKS;
    running = pending.size > 0 && ++tasks < TASKS && tasks - last < limit;
    if (!running) return pending.clear();
    const rounds = tasks - last < SHORT_TASKS ? SHORT_TASK : LONG_TASK;
    for (let i = 0, sum = 0; i < rounds; i++) sum = (sum + i) | 0;
    nativeTask(next);
  };
  running = true;
  nativeTask(next);
}
// For workers: one `turn` after the other, until nothing is pending.
async function waitForPending(turn) {
  for (let tasks = 0; pending.size && tasks < WORKER_TASKS; tasks++) await turn();
}

// Parallel threads finish in any order. Their results are delivered in the order of the requests.
let lastInOrder = Promise.resolve();
function inRequestOrder(promise) {
  if (!(promise instanceof Promise)) return promise;
  const ordered = lastInOrder.then(() => promise);
  lastInOrder = ordered.then(() => {}, () => {});
  promise.catch(() => {});
  return ordered;
}

// The browser's own functions, for keys.
const nativeSubtle = {};
// Much of a worker's interface exists only after its script has loaded, and no event reports it. So
// it is looked for again where scripts first use it, and at each `tick`.
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
  // This comes to the prototype later, and only where the context is secure. This hides it.
  if (/^(blob:)?(https:|http:\/\/(([^/]*\.)?localhost|127(\.\d+){3}|\[::1\])[:/])/.test(place)) {
    const { get } = Object.getOwnPropertyDescriptor({
      get caches() { replaceLateTypes(); return Reflect.get(Object.getPrototypeOf(globalThis), 'caches', globalThis); },
    }, 'caches');
    Object.defineProperty(globalThis, 'caches', { get: disguise(get, 'get caches'), enumerable: true, configurable: true });
  }
}

const ORDERED_REPLIES = {
  SubtleCrypto: 'encrypt decrypt sign verify digest deriveBits deriveKey importKey exportKey wrapKey unwrapKey',
  Blob: 'text arrayBuffer bytes',
};
// In a document this is work for when there is no other task.
if (!globalThis.document) ORDERED_REPLIES.OffscreenCanvas = 'convertToBlob';
const REPLIES = {
  Navigator: 'getBattery', BaseAudioContext: 'decodeAudioData', OfflineAudioContext: 'startRendering', CacheStorage: 'open match has delete keys',
  Cache: 'match matchAll put delete keys', CookieStore: 'get getAll set delete', Document: 'hasStorageAccess', GPU: 'requestAdapter',
  IDBFactory: 'databases', Keyboard: 'getLayoutMap', LockManager: 'query', MediaCapabilities: 'decodingInfo encodingInfo',
  MediaDevices: 'enumerateDevices', NavigatorUAData: 'getHighEntropyValues', Permissions: 'query', PressureObserver: 'observe',
  ServiceWorkerContainer: 'register getRegistration getRegistrations', StorageManager: 'estimate persisted persist getDirectory',
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
// The chunks of a stream come as the slices of a whole blob do.
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

// Replies that come as events.
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
// A free lock is granted at once. Nothing waits for a lock that somebody holds.
replaceWhenDefined('LockManager', 'request', (native) => ({
  request(...args) {
    const last = args.length - 1, callback = args[last];
    if (typeof callback !== 'function') return apply(native, this, args);
    blockTime(new Promise((granted) => {
      args[last] = function (lock) { granted(); return apply(callback, this, [lock]); };
    }), 'lock');
    return apply(native, this, args);
  },
}));
// A message to other documents passes through another process. An additional listener shows when it
// has arrived.
replaceWhenDefined('BroadcastChannel', 'postMessage', (native) => ({
  postMessage(...args) {
    const twin = new BroadcastChannel(this.name);
    blockTime(new Promise((received) => apply(nativeAddEventListener, twin, ['message', received]))).then(() => twin.close());
    return apply(native, this, args);
  },
}));
// A socket opens, or is refused, at the instant of its request. After a refusal Chromium makes a
// process wait before it tries again, which may take seconds.
const NativeSocket = globalThis.WebSocket;
if (NativeSocket) {
  const SocketProxy = new Proxy(NativeSocket, {
    construct(target, args, self) {
      const socket = Reflect.construct(target, args, self);
      const settled = new Promise((done) => ['open', 'close'].forEach((name) => apply(nativeAddEventListener, socket, [name, done])));
      blockTime(settled, 'socket');
      return socket;
    },
  });
  disguise(SocketProxy, 'WebSocket');
  Object.defineProperty(NativeSocket.prototype, 'constructor', { value: SocketProxy, writable: true, configurable: true });
  Object.defineProperty(globalThis, 'WebSocket', { value: SocketProxy, writable: true, configurable: true });
}
