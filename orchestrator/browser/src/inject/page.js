// The part for documents of a frozen world: frames of animation that follow the page's clock instead of the screen's, and observers that are not
// told of our marks.

const nativeSetTimeout = setTimeout;
const FRAME = 1000 / 60;
let callbacks = new Map(), nextHandle = 1, due = false;
function runFrame() {
  due = false;
  const batch = callbacks;
  callbacks = new Map();
  const time = elapsed();
  for (const callback of batch.values()) {
    try { callback(time); } catch (error) { reportError(error); }
  }
}
replace(window, 'requestAnimationFrame', (native) => ({
  requestAnimationFrame(callback) {
    if (typeof callback !== 'function') return apply(native, this, arguments);
    callbacks.set(nextHandle, callback);
    if (!due) {
      due = true;
      const time = elapsed();
      nativeSetTimeout(runFrame, Math.max(1, Math.ceil((Math.floor(time / FRAME) + 1) * FRAME - time)));
    }
    return nextHandle++;
  },
}));
replace(window, 'cancelAnimationFrame', () => ({
  cancelAnimationFrame(handle) { callbacks.delete(handle); },
}));
replace(window, 'requestIdleCallback', (native) => ({
  requestIdleCallback(callback) {
    if (typeof callback !== 'function') return apply(native, this, arguments);
    return nativeSetTimeout(() => callback({ didTimeout: false, timeRemaining: () => 50 }), 1);
  },
}));
replace(window, 'cancelIdleCallback', () => ({ cancelIdleCallback(handle) { clearTimeout(handle); } }));
replace(AnimationTimeline.prototype, 'currentTime', () => ({ get currentTime() { return elapsed(); } }));
// Frames come some hundredths of a millisecond after each other where time stands still.
for (const name of ['currentTime', 'startTime']) {
  replace(Animation.prototype, name, (native) => ({
    get [name]() {
      const time = apply(native, this, []);
      return typeof time === 'number' ? Math.round(time) : time;
    },
  }));
}

// The marks that are on the elements while a page is looked at (`marks.js`) are not for its observers.
const MARKED = ['aria-roledescription', 'aria-description'];
const told = (records) => records.filter((record) => !MARKED.includes(record.attributeName));
const NativeObserver = MutationObserver;
const OurObserver = new Proxy(NativeObserver, {
  construct(target, [callback, ...rest], self) {
    const filtered = typeof callback !== 'function' ? callback : function (records, observer) {
      const left = told(records);
      if (left.length) apply(callback, this, [left, observer]);
    };
    return Reflect.construct(target, [filtered, ...rest], self);
  },
});
disguise(OurObserver, 'MutationObserver');
Object.defineProperty(NativeObserver.prototype, 'constructor', { value: OurObserver, writable: true, configurable: true });
for (const name of ['MutationObserver', 'WebKitMutationObserver']) {
  Object.defineProperty(window, name, { value: OurObserver, writable: true, configurable: true });
}
replace(NativeObserver.prototype, 'takeRecords', (native) => ({
  takeRecords() { return told(apply(native, this, [])); },
}));

// A click with the middle button pastes what was last marked in any page of the browser, of whatever episode. Here it pastes nothing.
let middle = false;
for (const type of ['mousedown', 'mouseup', 'keydown']) {
  apply(nativeListen, window, [type, (event) => { middle = event.button === 1; }, true]);
}
apply(nativeListen, window, ['paste', (event) => {
  if (!middle || !event.isTrusted) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true]);

// The names of the steps in a history are made up by the browser.
const stepNames = new Map(), steps = new Map();
function stepName(given) {
  if (!given) return given;
  if (!stepNames.has(given)) {
    const [e, f, g, h] = hash(`${seed}|${place}|step ${stepNames.size}`).map((word) => (word >>> 0).toString(16).padStart(8, '0'));
    const name = `${e}-${f.slice(4)}-4${f.slice(5)}-a${g.slice(5)}-${g.slice(4)}${h}`;
    stepNames.set(given, name);
    steps.set(name, given);
  }
  return stepNames.get(given);
}
for (const name of ['key', 'id']) {
  replace(globalThis.NavigationHistoryEntry?.prototype, name, (native) => ({
    get [name]() { return stepName(apply(native, this, [])); },
  }));
}
replace(globalThis.Navigation?.prototype, 'traverseTo', (native) => ({
  traverseTo(key, ...rest) { return apply(native, this, [steps.get(key) ?? key, ...rest]); },
}));
