// The part for workers of a frozen world. Chromium's virtual time moves a page's timers but not a
// worker's. So `tick` moves a worker's clock and timers from outside, while the page's time stands
// still. The worker's messages leave it in the same pauses.

const nativePing = new MessageChannel();
const nativePostToPort = MessagePort.prototype.postMessage;
let resolvePing = null;
nativePing.port1.onmessage = () => resolvePing();
// Gives the messages that have arrived, and their results, time to run.
function nextTask() {
  return new NativePromise((resolve) => { resolvePing = resolve; apply(nativePostToPort, nativePing.port2, [0]); });
}

const timers = new Map();
let nextTimer = 1, isClosing = false;
function addTimer(callback, delay, args, repeat) {
  if (isClosing) return nextTimer++;
  const wait = Math.max(1, Math.trunc(Number(delay)) || 0);
  const run = typeof callback === 'function' ? () => apply(callback, globalThis, args) : () => (0, eval)(String(callback));
  timers.set(nextTimer, { id: nextTimer, at: current + wait, wait, repeat, run });
  return nextTimer++;
}
// A worker that has not started yet has no timers to replace. They come to its prototype later,
// where these hide them.
const timerFunctions = {
  setTimeout(callback, delay, ...args) { return addTimer(callback, delay, args, false); },
  setInterval(callback, delay, ...args) { return addTimer(callback, delay, args, true); },
  clearTimeout(id) { timers.delete(id); },
  clearInterval(id) { timers.delete(id); },
};
if (kind === 'worker') {
  timerFunctions.requestAnimationFrame = (callback) => addTimer(() => callback(elapsed()), 16, [], false);
  timerFunctions.cancelAnimationFrame = (id) => { timers.delete(id); };
}
for (const [name, value] of Object.entries(timerFunctions)) {
  const length = name.startsWith('clear') ? 0 : 1;
  Object.defineProperty(value, 'length', { value: length, configurable: true });
  const descriptor = { value: disguise(value, name), writable: true, enumerable: true, configurable: true };
  Object.defineProperty(globalThis, name, descriptor);
}

replaceDelays((run, delay) => addTimer(run, delay, [], false));

// What is to leave the worker, in the order of the calls: a function, its object and its arguments.
const outbox = [];
function queueCall(call, object, args) {
  outbox.push([call, object, args]);
}
function flushOutbox() {
  const messages = outbox.splice(0);
  for (const [call, object, args] of messages) {
    try { apply(call, object, args); } catch (error) { reportError(error); }
  }
  return messages.length;
}
// The ports of the worker's own channels, each with its other one. They lead to the worker itself
// until one of them leaves it.
const localPorts = new WeakMap();
replaceClass('MessageChannel', (native, args, self) => {
  const channel = Reflect.construct(native, args, self), { port1, port2 } = channel;
  localPorts.set(port1, port2);
  localPorts.set(port2, port1);
  return channel;
});
function transferOut(ports) {
  for (const port of ports) {
    // A port that has been transferred sends nothing any more.
    if (outbox.some(([, object]) => object === port)) flushOutbox();
    localPorts.delete(localPorts.get(port));
    localPorts.delete(port);
  }
}
const transferListOf = (options) => [...(Array.isArray(options) ? options : options?.transfer ?? [])];
const queuedPost = (native) => ({
  postMessage(message, options) {
    if (localPorts.has(this)) return apply(native, this, arguments);
    const transfer = transferListOf(options);
    transferOut(transfer);
    const sent = structuredClone([message, transfer], { transfer });
    queueCall(native, this ?? globalThis, sent);
  },
});
// Behind the messages that were sent before.
const queuedClose = (native) => ({
  close() {
    closed.add(this);
    const sends = outbox.some(([, object]) => object === this);
    if (sends) queueCall(native, this, []); else apply(native, this, []);
  },
});
// A service worker may ask its page before it answers the page's request, so its messages leave at
// once.
if (kind !== 'service_worker') {
  if (kind === 'worker') replace(globalThis, 'postMessage', queuedPost);
  replace(MessagePort.prototype, 'postMessage', queuedPost);
  replace(MessagePort.prototype, 'close', queuedClose);
  replaceWhenDefined('BroadcastChannel', 'close', queuedClose);
  replace(globalThis.Worker?.prototype, 'postMessage', (native) => ({
    postMessage(message, options) {
      transferOut(transferListOf(options));
      return apply(native, this, arguments);
    },
  }));
  // No `tick` comes while the worker's thread waits.
  replace(globalThis.Atomics, 'wait', (native) => ({
    wait(...args) {
      flushOutbox();
      return apply(native, Atomics, args);
    },
  }));
  replace(globalThis, 'close', (native) => ({
    close() {
      isClosing = true;
      timers.clear();
      queueCall(native, this ?? globalThis, []);
    },
  }));
  replaceLateTypes();
}

// A shared worker has begun only when its first page has connected, which takes a moment of real
// time.
let isConnected = kind !== 'shared_worker';
const connected = isConnected ? null : new NativePromise((resolve) => {
  addEventListener('connect', () => { isConnected = true; resolve(); }, { once: true });
});

function earliest(until) {
  let first = null;
  for (const timer of timers.values()) {
    if (timer.at <= until && (!first || timer.at < first.at)) first = timer;
  }
  return first;
}
// Moves the clock to `until` and runs the due timers on the way. Returns how many messages left the
// worker. While a reply is on its way, it returns what for and how many have come, and is to be
// called again; `giveUp` then says that no reply will come. The messages stay if `keeps` is set.
async function tick(until, giveUp, keeps) {
  if (!isConnected) await connected;
  if (giveUp) stopWaiting();
  replaceLateTypes();
  await nextTask();
  await nextTask();
  for (;;) {
    await waitForPending(nextTask);
    if (pending.size) return { pending: [...pending.values()].some(({ what }) => what === 'socket') ? 'socket' : 'reply', answered };
    const timer = earliest(until);
    if (!timer) break;
    current = Math.max(current, timer.at);
    if (timer.repeat) timer.at += timer.wait; else timers.delete(timer.id);
    try { timer.run(); } catch (error) { reportError(error); }
    await nextTask();
  }
  current = Math.max(current, until);
  return { messages: keeps ? 0 : flushOutbox() };
}
