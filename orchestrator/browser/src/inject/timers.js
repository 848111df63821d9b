// Timers by the page's own acts. Each request moves the browser's clock by 10 ms, and how many
// overlap depends on the machine. So a timer is not due some milliseconds after the browser's time:
// it is due its delay after the time that scripts see or, where a timer has set it, after the
// time at which that one was due. Then neither the order of timers, nor how many come before a
// look, depends on requests.
//
// A timer needs a move of the page's time, as in Chrome until 2022. One of 0 ms would run at once,
// and so before or after whatever another process sends at that moment.
//
// Expects `clock`, `nativeNow`, `afterReplies` and `nativeSetTimeout`. Defines `addTimer`,
// `clearTimer`, `dueTime` and `onTimer`.

const nativeClearTimeout = clearTimeout;
// The timers that are neither over nor cleared, by their ids, and those that wait for their time in
// the order in which they are due.
const timers = new Map(), waitingTimers = [];
// When the last timer was due, at which time of the browser it ran, and how many timers had set one
// another by then.
let lastDue = 0, ranAt = -1, lastLevel = 0;
// Who is told of each timer that runs, with its delay.
let onTimer = null;
// From the fifth timer that was set by another on, as in the standard, in milliseconds.
const MAX_LEVEL = 5, LEAST_NESTED = 4;

// The time from which a delay counts, in milliseconds since 1970.
const dueTime = () => Math.max(lastDue, clock());
const leastDelay = (level) => level > MAX_LEVEL ? LEAST_NESTED : 1;
function arm(timer, begin) {
  let place = waitingTimers.length;
  while (place > 0 && waitingTimers[place - 1].due > timer.due) place--;
  waitingTimers.splice(place, 0, timer);
  timer.native = begin(comeDue, Math.max(1, timer.due - nativeNow()));
}
// Where several are late the first one runs, whichever the browser has begun first.
function comeDue() {
  // The browser shows whole milliseconds.
  if (!waitingTimers.length || waitingTimers[0].due > nativeNow() + 1) return;
  const timer = waitingTimers.shift();
  afterReplies(() => { if (timers.has(timer.id)) runTimer(timer); });
}
function runTimer(timer) {
  const { id, due, delay, callback } = timer;
  [lastDue, ranAt, lastLevel] = [Math.max(lastDue, due), nativeNow(), timer.level];
  if (timer.repeats) {
    timer.level++;
    // One that is late comes once.
    timer.due = Math.max(due + Math.max(delay, leastDelay(timer.level)), clock());
    arm(timer, nativeSetTimeout);
  } else {
    timers.delete(id);
  }
  onTimer?.(delay);
  callback();
}
// Begins a timer of `delay` milliseconds, for once or repeated. `begin` is the browser's function.
// Returns its id.
function addTimer(callback, delay, repeats = false, begin = nativeSetTimeout) {
  const level = ranAt === nativeNow() ? lastLevel + 1 : 1;
  const due = dueTime() + Math.max(delay, leastDelay(level));
  const timer = { callback, delay, due, level, repeats, id: 0, native: 0 };
  arm(timer, begin);
  timer.id = timer.native;
  timers.set(timer.id, timer);
  return timer.id;
}
// Returns whether there was such a timer.
function clearTimer(id) {
  const timer = timers.get(id);
  if (!timer) return false;
  timers.delete(id);
  const place = waitingTimers.indexOf(timer);
  if (place < 0) return true;
  waitingTimers.splice(place, 1);
  nativeClearTimeout(timer.native);
  return true;
}
for (const name of ['setTimeout', 'setInterval']) {
  replace(window, name, (native) => ({
    [name](...args) {
      if (!args.length) return apply(native, this ?? window, args);
      const [given, delay, ...values] = args;
      const code = typeof given === 'function' ? given : () => (0, eval)(String(given));
      const begin = (run, wait) => apply(nativeSetTimeout, this ?? window, [run, wait]);
      const callback = () => { apply(code, window, values); };
      return addTimer(callback, delay | 0, name === 'setInterval', begin);
    },
  }));
}
for (const name of ['clearTimeout', 'clearInterval']) {
  replace(window, name, (native) => ({
    [name](id) { if (!clearTimer(Number(id))) apply(native, this ?? window, [id]); },
  }));
}
replaceDelays((run, delay) => addTimer(run, delay));
replace(window, 'requestIdleCallback', (native) => ({
  requestIdleCallback(callback) {
    if (typeof callback !== 'function') return apply(native, this, arguments);
    return addTimer(() => callback({ didTimeout: false, timeRemaining: () => 50 }), 1);
  },
}));
replace(window, 'cancelIdleCallback', () => ({
  cancelIdleCallback(handle) { clearTimer(Number(handle)); },
}));
