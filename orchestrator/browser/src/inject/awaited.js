// Replies of the browser's other threads and processes come in real time. Here they are let in at
// points that do not depend on it:
//
// - No timer of a document runs, and its time does not move, while a reply is awaited.
// - The results of promises are let in one at a time, in the order of the calls, when the document
//   has no other task to run and awaits no event.
// - What servers say over sockets and streams comes after them (`arrivals.js`).
//
// So the document's own tasks come first, then events, then results, then what servers say, then
// timers. In a worker `tick` tells what is awaited. Defines `blockTime`, `blockTimeUntil`,
// `pending`, `waitForPending` and `afterReplies`.

// How many tasks all replies of one wait may take in a document, and a single one; one that takes
// longer may never come. Chromium moves the time regardless after 100,000 tasks. So that a busy
// machine has time for a reply, the tasks after the first ones of a reply take longer: 0.1 ms.
const TASKS = 90000, REPLY_TASKS = 20000, LOCK_TASKS = 3000;
const SHORT_TASKS = 100, SHORT_TASK = 5000, LONG_TASK = 200000;
// After how many tasks without news a result is let in though earlier calls or events lack a reply:
// they may wait for what follows from it. Work of another thread never does, and media take long.
const STUCK_TASKS = 600;
const PATIENCE = {
  work: REPLY_TASKS, media: 10000, decoding: 10000, append: 10000, reply: 5000, stream: LOCK_TASKS,
  load: 10000,
};
// How many tasks a worker waits before it tells that it waits.
const WORKER_TASKS = 2000;
// Libraries put a class of their own in the place of `Promise`, and change `then`.
const NativePromise = Promise, nativeThen = Promise.prototype.then, nativeParse = JSON.parse;
const nativeSetTimeout = globalThis.setTimeout;
const nativeTask = globalThis.scheduler?.postTask?.bind(scheduler);
const isDocument = Boolean(globalThis.document && nativeTask);
// The events on their way; in a worker the promises, too. Each has what it is for, and what is to
// be done when it is given up.
const pending = new Map();
// The promises whose results are to be let in, in the order of the calls.
const results = [];
// Promises that come true by themselves once others have: nothing but time waits for them.
const wholes = new Set();
// The timers that came due meanwhile.
const held = [];
let answered = 0, running = false;

// The promise that takes the place of one of the browser's.
function blockTime(promise, what = 'reply', onGiveUp = undefined) {
  if (!(promise instanceof NativePromise)) return promise;
  if (isDocument && ['work', 'reply', 'short', 'body', 'media', 'append'].includes(what)) {
    return letInByOrder(promise, what, onGiveUp);
  }
  const key = {};
  if (isDocument && what === 'whole') wholes.add(key); else pending.set(key, { what, onGiveUp });
  const done = () => { pending.delete(key); wholes.delete(key); answered++; };
  apply(nativeThen, promise, [done, done]);
  if (isDocument) spin();
  return promise;
}
function letInByOrder(promise, what, onGiveUp) {
  const result = { isAwaited: true, letIn: null, what, onGiveUp };
  results.push(result);
  spin();
  return new NativePromise((resolve, reject) => {
    const come = (settle) => (value) => {
      result.letIn = () => settle(value);
      answered++;
      if (!result.isAwaited) result.letIn();
    };
    apply(nativeThen, promise, [come(resolve), come(reject)]);
  });
}
// Runs a timer, or keeps it until nothing is awaited.
function afterReplies(timer) {
  if (running) held.push(timer); else timer();
}
function stopWaiting() {
  while (isDocument && heldLifecycle.length) releaseLifecycle();
  const events = [...pending.values()];
  pending.clear();
  wholes.clear();
  for (const { onGiveUp } of events) onGiveUp?.();
  for (const result of results.splice(0)) {
    result.isAwaited = false;
    result.letIn?.();
    result.onGiveUp?.();
  }
}
// Media delay the event `load`. So results are let in behind it, and those of media when all are
// there.
const isMedia = ({ what }) => what === 'media' || what === 'append';
const isLoaded = () => document.readyState === 'complete' && !heldLifecycle.length
  && results.every((result) => !isMedia(result) || !isDue(result));
// What was waited for in vain is late: nothing else waits for it any more.
const isDue = (awaited) => !awaited.letIn && !awaited.isLate;
const isDueEvent = () => pending.values().some(isDue);
// Whether what is awaited may itself wait for what is not let in yet.
const isPast = ({ what }) => tasks - last >= (PATIENCE[what] ?? STUCK_TASKS);
function isStuck() {
  if (!isPast({})) return false;
  const due = [...pending.values(), ...results].filter(isDue);
  if (!due.every(isPast)) return false;
  for (const awaited of due) awaited.isLate = true;
  return true;
}
// Which result may be let in now; -1 is none.
function nextResult() {
  if (isStuck()) return results.findIndex((result) => result.letIn);
  if (isDueEvent() || !isLoaded()) return -1;
  const next = results.findIndex((result) => !result.isLate || result.letIn);
  return results[next]?.letIn ? next : -1;
}
const isShort = ({ what }) => ['lock', 'short', 'stream', 'body', 'append'].includes(what);
// Below all other tasks, so that each step finds the document without any.
const BEHIND = { priority: 'background' };
let tasks = 0, last = 0, seen = 0, turn = 0;
const isAwaiting = () => pending.size || results.length || wholes.size;
// Whether `load` may itself wait for what servers say. Nothing tells how far it is, so it gets the
// time that media get.
let isLoadLate = false;
function mayArrive() {
  if (!hasArrival()) return false;
  if (!isLoadLate && !isLoaded()) isLoadLate = isPast({ what: 'load' }) && isStuck();
  if (!isLoadLate && !isLoaded()) return false;
  const isFree = !wholes.size && !isDueEvent() && !results.some(isDue);
  return isFree || isStuck();
}
function next() {
  const own = ++turn;
  nativeTask(() => { if (own === turn) step(); }, BEHIND);
}
function step() {
  if (seen !== answered) (seen = answered, last = tasks);
  const come = nextResult();
  if (heldLifecycle.length && (!isDueEvent() || isStuck())) {
    last = tasks;
    next();
    releaseLifecycle();
  } else if (come >= 0) {
    last = tasks;
    next();
    results.splice(come, 1)[0].letIn();
  } else if (mayArrive()) {
    last = tasks;
    next();
    letInArrival();
  } else if (isAwaiting() || hasArrival()) {
    next();
    wait();
  } else if (held.length) {
    next();
    try { held.shift()(); } catch (error) { reportError(error); }
  } else {
    running = false;
  }
}
function wait() {
  const isAllShort = isAwaiting() && !wholes.size && results.every(isShort)
    && [...pending.values()].every(isShort) && (!hasArrival() || isLoaded());
  if (++tasks >= TASKS || tasks - last >= (isAllShort ? LOCK_TASKS : REPLY_TASKS)) {
    return stopWaiting();
  }
  const rounds = tasks - last < SHORT_TASKS ? SHORT_TASK : LONG_TASK;
  for (let i = 0, sum = 0; i < rounds; i++) sum = (sum + i) | 0;
}
// Where the document's own tasks never end, no step comes. Then Chromium moves the time at last, by
// more than the end of a request moves it, and this timer makes a step.
const STARVED = 50, FEW_STEPS = 5;
let isGuarded = false;
function guard() {
  if (isGuarded) return;
  isGuarded = true;
  const before = turn;
  nativeSetTimeout(() => {
    isGuarded = false;
    if (!running) return;
    if (turn - before < FEW_STEPS) {
      while (heldLifecycle.length) releaseLifecycle();
      step();
    }
    guard();
  }, STARVED);
}
function spin() {
  if (running) return;
  running = true;
  tasks = last = 0;
  seen = answered;
  next();
  guard();
}
// For workers: one `turn` after the other, until nothing is pending.
async function waitForPending(turn) {
  for (let tasks = 0; pending.size && tasks < WORKER_TASKS; tasks++) await turn();
}
// A promise of the first of some events.
function firstOf(target, names) {
  return new NativePromise((come) => {
    for (const name of names) apply(nativeAddEventListener, target, [name, come, { capture: true, once: true }]);
  });
}
// We do all the waiting, also for these. `after` runs a function after some milliseconds.
function replaceDelays(after) {
  replace(globalThis.Scheduler?.prototype, 'postTask', (native) => ({
    postTask(callback, options) {
      const delay = Number(options?.delay) || 0;
      if (delay <= 0 || typeof callback !== 'function') return apply(native, this, arguments);
      const due = new NativePromise((done) => after(done, delay));
      const run = () => apply(native, this, [callback, { ...options, delay: 0 }]);
      return apply(nativeThen, due, [run]);
    },
  }));
  replace(AbortSignal, 'timeout', (native) => ({
    timeout(milliseconds) {
      apply(native, AbortSignal, [milliseconds]); // for its checks and its errors
      const aborting = new AbortController();
      const error = () => new DOMException('signal timed out', 'TimeoutError');
      after(() => aborting.abort(error()), milliseconds);
      return aborting.signal;
    },
  }));
}

// Parallel threads finish in any order. In a worker, their results are delivered in the order of
// the requests.
let lastInOrder = NativePromise.resolve();
function inRequestOrder(promise) {
  if (isDocument || !(promise instanceof NativePromise)) return promise;
  const ordered = apply(nativeThen, lastInOrder, [() => promise]);
  lastInOrder = apply(nativeThen, ordered, [() => {}, () => {}]);
  apply(nativeThen, promise, [undefined, () => {}]);
  return ordered;
}

// The browser's own functions, for keys.
const nativeSubtle = {};
// Much of a worker's interface exists only after its script has loaded, and no event reports it. So
// it is looked for again where scripts first use it, and at each `tick`.
let lateTypes = [];
function replaceWhenDefined(type, name, make) {
  lateTypes.push([() => globalThis[type]?.prototype, name, make]);
}
function replaceStaticWhenDefined(type, name, make) {
  lateTypes.push([() => globalThis[type], name, make]);
}
const isNative = (method) => /\[native code\]\s*\}$/.test(apply(nativeToString, method, []));
function replaceLateTypes() {
  lateTypes = lateTypes.filter(([find, name, make]) => {
    const object = find();
    const descriptor = object && Object.getOwnPropertyDescriptor(object, name);
    if (!descriptor) return true;
    // A worker may have a class of its own with this name.
    const method = descriptor.value ?? descriptor.get;
    if (typeof method === 'function' && isNative(method)) replace(object, name, make);
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

// A response of a cache has its body in another process. Any other one comes through the gateway,
// in the order of the requests.
const cachedResponses = new WeakSet();
for (const [type, names] of [['Cache', 'match matchAll'], ['CacheStorage', 'match']]) {
  for (const name of names.split(' ')) {
    replaceWhenDefined(type, name, (native) => ({
      [name](...args) {
        const found = apply(native, this, args);
        if (!(found instanceof NativePromise)) return found;
        return blockTime(apply(nativeThen, found, [(responses) => {
          for (const response of [responses].flat()) if (response) cachedResponses.add(response);
          return responses;
        }]));
      },
    }));
  }
}
replaceWhenDefined('Response', 'clone', (native) => ({
  clone() {
    const copy = apply(native, this, []);
    for (const known of [cachedResponses, streamed]) if (known.has(this)) known.add(copy);
    return copy;
  },
}));
function readBody(response, read) {
  const isOwn = streamed.has(response) && !response.bodyUsed && !response.body.locked;
  const body = isOwn ? apply(nativeThen, wholeOf(response), [read]) : read(response);
  return cachedResponses.has(response) ? blockTime(body, 'body') : body;
}
for (const type of ['Response', 'Request']) {
  // Chromium words the error of a text that is no JSON by whether the body had come already.
  replaceWhenDefined(type, 'json', (native) => {
    const { text } = globalThis[type].prototype;
    return {
      json() {
        if (this.bodyUsed) return apply(native, this, []);
        const parse = (json) => nativeParse(json);
        return readBody(this, (whole) => apply(nativeThen, apply(text, whole, []), [parse]));
      },
    };
  });
  for (const name of ['text', 'arrayBuffer', 'blob', 'bytes', 'formData']) {
    replaceWhenDefined(type, name, (native) => ({
      [name]() { return readBody(this, (whole) => apply(native, whole, [])); },
    }));
  }
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
const nativeDispatch = EventTarget.prototype.dispatchEvent, NativeEvent = Event;
function blockTimeUntil(target, ...names) {
  blockTime(firstOf(target, names), 'event');
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
// A change of a cookie is told by another process. What changes nothing is waited for in vain, for
// as long as for a lock.
let changingStore = null;
// Whoever wants to be told of changes is, from the beginning of the document.
if (isDocument && globalThis.cookieStore) {
  apply(nativeAddEventListener, cookieStore, ['change', () => {}]);
}
const awaitChange = () => {
  const store = changingStore;
  if (store) blockTime(firstOf(store, ['change']), 'lock');
};
replace(globalThis, 'cookieStore', (native) => ({
  get cookieStore() { return changingStore = apply(native, this ?? globalThis, []); },
}));
for (const name of ['set', 'delete']) {
  replaceWhenDefined('CookieStore', name, (native) => ({
    [name](...args) {
      changingStore = this;
      awaitChange();
      return blockTime(apply(native, this, args));
    },
  }));
}
replace(globalThis.Document?.prototype, 'cookie', (native, nativeSet) => ({
  get cookie() { return apply(native, this, []); },
  set cookie(cookie) {
    awaitChange();
    apply(nativeSet, this, [cookie]);
  },
}));
// A free lock is granted at once. Nothing waits for one that this document holds; when it lets go
// of it, those who want it are waited for. That a lock was taken away and who has it now are told
// in any order: as the standard has it, who lost it learns of it first.
const locks = new Map();
replaceWhenDefined('LockManager', 'request', (native) => ({
  request(...args) {
    const last = args.length - 1, callback = args[last];
    if (typeof callback !== 'function') return apply(native, this, args);
    const name = String(args[0]);
    if (!locks.has(name)) locks.set(name, { holders: new Set(), wanted: new Set() });
    const lock = locks.get(name);
    let granted = null, ended = null;
    const grant = new NativePromise((come) => { granted = come; });
    // Its turn among the results; one that was not waited for gets it when it is granted.
    const wish = { turn: null, wait() { this.turn = blockTime(grant, 'short'); } };
    const end = new NativePromise((come) => { ended = come; });
    const isSteal = last > 1 && Boolean(args[1]?.steal);
    args[last] = function (given) {
      granted();
      lock.wanted.delete(wish);
      if (isDocument && !wish.turn) wish.wait();
      const grantedCall = () => apply(callback, this, [given]);
      const call = () => isDocument ? apply(nativeThen, wish.turn, [grantedCall]) : grantedCall();
      const brokenHolders = isSteal ? [...lock.holders] : [];
      if (given) lock.holders.add(end);
      if (!brokenHolders.length) return call();
      for (const holder of brokenHolders) blockTime(holder, 'lock');
      const after = (before, holder) => apply(nativeThen, before, [() => holder]);
      return apply(nativeThen, brokenHolders.reduce(after, NativePromise.resolve()), [call]);
    };
    const isFree = !lock.holders.size;
    lock.wanted.add(wish);
    const request = apply(native, this, args);
    if (isFree || isSteal) wish.wait();
    // Also where it was taken away, or is never to be had.
    const over = () => {
      granted();
      ended();
      lock.wanted.delete(wish);
      lock.holders.delete(end);
      for (const wanted of lock.wanted) wanted.wait();
      if (!lock.holders.size && !lock.wanted.size) locks.delete(name);
    };
    apply(nativeThen, request, [over, over]);
    return request;
  },
}));
// A message to other documents passes through another process. An additional listener shows when it
// has arrived.
const NativeChannel = globalThis.BroadcastChannel;
// The channels and ports of a worker that are closed, or will be once their messages have left.
const closed = new WeakSet();
replaceWhenDefined('BroadcastChannel', 'postMessage', (native) => {
  function post(message) {
    const twin = new (NativeChannel ?? BroadcastChannel)(this.name);
    try {
      apply(native, this, [message]);
    } catch (error) {
      twin.close();
      throw error;
    }
    const received = blockTime(firstOf(twin, ['message']), 'event');
    apply(nativeThen, received, [() => twin.close()]);
  }
  return {
    postMessage(message) {
      const isQueued = !isDocument && kind !== 'service_worker' && !closed.has(this);
      if (!isQueued) return apply(post, this, [message]);
      queueCall(post, this, [structuredClone(message)]);
    },
  };
});
// What other documents tell comes at any time. So it is let in as a result is, behind all events
// that are awaited.
function letInEvents(target, types, copy) {
  if (!isDocument) return;
  for (const type of types) {
    apply(nativeAddEventListener, target, [type, (event) => {
      if (!event.isTrusted) return;
      event.stopImmediatePropagation();
      const tell = () => apply(nativeDispatch, target, [copy(event)]);
      apply(nativeThen, letInByOrder(NativePromise.resolve(), 'reply'), [tell]);
    }, { capture: true }]);
  }
}
replaceClass('BroadcastChannel', (native, args, self) => {
  const channel = Reflect.construct(native, args, self);
  letInEvents(channel, ['message', 'messageerror'], ({ type, data, origin }) => (
    new MessageEvent(type, { data, origin })
  ));
  return channel;
});
letInEvents(globalThis, ['storage'], (event) => new StorageEvent('storage', event));
// A socket opens, or is refused, at the instant of its request. After a refusal Chromium makes a
// process wait before it tries again, which may take seconds. One to a port that no page may use
// fails after some time of the page, and reaches nobody.
const ownGetter = (type, name) => {
  const prototype = globalThis[type]?.prototype;
  return prototype && Object.getOwnPropertyDescriptor(prototype, name)?.get;
};
const socketURL = ownGetter('WebSocket', 'url'), streamURL = ownGetter('WebSocketStream', 'url');
// What pages read where such a promise is one of the browser's.
const orderedPromises = new WeakMap();
for (const [type, name] of [['WebSocketStream', 'opened'], ['WebTransport', 'ready']]) {
  replace(globalThis[type]?.prototype, name, (native) => ({
    get [name]() {
      const promise = apply(native, this, []);
      return orderedPromises.get(promise) ?? promise;
    },
  }));
}
const awaitOpening = (object, name, what) => {
  const promise = object[name], ordered = blockTime(promise, isDocument ? 'reply' : what);
  // One that nobody looks at fails without a word.
  apply(nativeThen, ordered, [undefined, () => {}]);
  orderedPromises.set(promise, ordered);
};
const portOf = (url) => Number(/^wss?:\/\/[^/?#]*?:(\d+)[/?#]/.exec(url)?.[1]);
replaceClass('WebSocket', (native, args, self) => {
  const socket = Reflect.construct(native, args, self);
  if (!BAD_PORTS.includes(portOf(apply(socketURL, socket, [])))) {
    blockTime(firstOf(socket, ['open', 'error', 'close']), 'socket');
  }
  return socket;
});
replaceClass('WebSocketStream', (native, args, self) => {
  const socket = Reflect.construct(native, args, self);
  if (!BAD_PORTS.includes(portOf(apply(streamURL, socket, [])))) {
    awaitOpening(socket, 'opened', 'socket');
  }
  return socket;
});
replaceClass('WebTransport', (native, args, self) => {
  const transport = Reflect.construct(native, args, self);
  awaitOpening(transport, 'ready', 'event');
  return transport;
});
