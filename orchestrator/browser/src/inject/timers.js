// Timers by the page's own acts. Each request moves the browser's clock by 10 ms, and how many
// overlap depends on the machine. So a timer is not due some milliseconds after the browser's time:
// it is due its delay after the time that scripts see or, where a timer has set it, after the
// time at which that one was due. Then neither the order of a document's timers, nor how many come
// before a look, depends on requests. What remains is the time that a timer sees, where requests
// have moved the clock into the next step of it.
//
// A timer needs a move of the page's time, as in Chrome until 2022. One of 0 ms would run at once,
// and so before or after whatever another process sends at that moment.
//
// Each timer that waits has one of the browser's, which wakes whichever timer is the first by then.
// So no wake-up may be cleared for a timer that does not wait: another may have only that one.
//
// Expects `clock`, `nativeNow`, `nativeTask`, `afterReplies` and `nativeSetTimeout`. Defines
// `addTimer`, `dueTime` and `onTimer`.

const nativeClearTimeout = clearTimeout;
// The timers that scripts have begun and that are neither over nor cleared, by their ids. Ours are
// not among them: a page that clears all ids has no say in them.
const pageTimers = new Map(), idleCallbacks = new Map();
// All that wait for their time, in the order in which they are due.
const waitingTimers = [];
// When the last timer was due, and how many timers had set one another by then. The task of a timer
// ends its `level`.
let lastDue = 0, level = 0;
// Who is told of each timer that runs, with its delay.
let onTimer = null;
// From the fifth timer that was set by another on, as in the standard, in milliseconds.
const MAX_LEVEL = 5, LEAST_NESTED = 4;

// The time from which a delay counts, in milliseconds since 1970.
const dueTime = () => Math.max(lastDue, clock());
const leastDelay = (timerLevel) => timerLevel > MAX_LEVEL ? LEAST_NESTED : 1;
// The browser shows and waits for whole milliseconds. `begin` may throw.
function arm(timer, begin) {
  timer.native = begin(wake, Math.max(1, timer.due - nativeNow()));
  let place = waitingTimers.length;
  while (place > 0 && waitingTimers[place - 1].due > timer.due) place--;
  waitingTimers.splice(place, 0, timer);
}
function wake() {
  afterReplies(() => {
    if (waitingTimers.length && Math.floor(waitingTimers[0].due) <= nativeNow()) {
      runTimer(waitingTimers.shift());
    }
  });
}
function runTimer(timer) {
  const { due, delay, callback } = timer;
  lastDue = Math.max(lastDue, due);
  level = timer.level;
  // Behind the microtasks of this task. Below the clamp nobody sees the level.
  if (level >= MAX_LEVEL) nativeTask(() => { level = 0; }, { priority: 'user-blocking' });
  if (timer.repeats) {
    timer.level++;
    // One that is late comes once.
    timer.due = Math.max(due + Math.max(delay, leastDelay(timer.level)), clock());
    arm(timer, nativeSetTimeout);
  } else {
    timer.own.delete(timer.id);
  }
  onTimer?.(delay);
  callback();
}
const OURS = new Map();
// Begins a timer of `delay` milliseconds, for once or repeated, among those of `own`. `begin` is
// the browser's function. Returns its id. Only timers of scripts nest.
function addTimer(callback, delay, { own = OURS, repeats = false, begin = nativeSetTimeout } = {}) {
  const nested = own === OURS ? 0 : level + 1;
  const due = dueTime() + Math.max(delay, leastDelay(nested));
  const timer = { callback, delay, due, level: nested, repeats, own, id: 0, native: 0 };
  arm(timer, begin);
  timer.id = timer.native;
  own.set(timer.id, timer);
  return timer.id;
}
function clearTimer(own, id) {
  const timer = own.get(id);
  own.delete(id);
  const place = waitingTimers.indexOf(timer);
  if (place < 0) return;
  waitingTimers.splice(place, 1);
  nativeClearTimeout(timer.native);
}
for (const name of ['setTimeout', 'setInterval']) {
  replace(window, name, (native) => ({
    [name](...args) {
      if (!args.length) return apply(native, this ?? window, args);
      const [given, delay, ...values] = args;
      const code = typeof given === 'function' ? given : () => (0, eval)(String(given));
      const begin = (run, wait) => apply(nativeSetTimeout, this ?? window, [run, wait]);
      const callback = () => { apply(code, window, values); };
      const repeats = name === 'setInterval';
      return addTimer(callback, delay | 0, { own: pageTimers, repeats, begin });
    },
  }));
}
for (const name of ['clearTimeout', 'clearInterval']) {
  replace(window, name, () => ({ [name](id) { clearTimer(pageTimers, id | 0); } }));
}
replaceDelays((run, delay) => addTimer(run, delay));
replace(window, 'requestIdleCallback', (native) => ({
  requestIdleCallback(callback) {
    if (typeof callback !== 'function') return apply(native, this, arguments);
    const run = () => callback({ didTimeout: false, timeRemaining: () => 50 });
    return addTimer(run, 1, { own: idleCallbacks });
  },
}));
replace(window, 'cancelIdleCallback', () => ({
  cancelIdleCallback(handle) { clearTimer(idleCallbacks, handle >>> 0); },
}));
