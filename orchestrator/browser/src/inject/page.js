// The part for documents of a frozen world: animation frames that follow the page's clock instead
// of the screen's, and mutation observers that do not see our marks.

// Without a `Last-Modified` header this is the browser's own time. Scripts get the time at which
// the document began.
const parseDate = Date.parse;
replace(Document.prototype, 'lastModified', (native) => ({
  get lastModified() {
    const text = apply(native, this, []);
    if (Math.abs(parseDate(text) - nativeNow()) >= 2000) return text;
    const date = new NativeDate(origin);
    const two = (number) => (number < 10 ? `0${number}` : `${number}`);
    const day = `${two(date.getMonth() + 1)}/${two(date.getDate())}/${date.getFullYear()}`;
    return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  },
}));

// A timer needs a move of the page's time, as in Chrome until 2022. One of 0 ms would run at once,
// and so before or after whatever another process sends at that moment. Nor does the browser's own
// time hold a timer back: the end of a request moves it, too.
const nativeSetTimeout = setTimeout, nativeClearTimeout = clearTimeout;
const timers = new Map();
for (const name of ['setTimeout', 'setInterval']) {
  replace(window, name, (native) => ({
    [name](...args) {
      if (args.length && !(args[1] >= 1)) args[1] = Math.max(1, Number(args[1]) || 0);
      const callback = args[0];
      if (typeof callback !== 'function') return apply(native, this ?? window, args);
      let id = 0, isHeld = false;
      args[0] = function (...values) {
        if (isHeld) return;
        isHeld = true;
        afterReplies(() => {
          isHeld = false;
          if (!timers.has(id)) return;
          if (name === 'setTimeout') timers.delete(id);
          apply(callback, this, values);
        });
      };
      id = apply(native, this ?? window, args);
      timers.set(id, callback);
      return id;
    },
  }));
}
for (const name of ['clearTimeout', 'clearInterval']) {
  replace(window, name, (native) => ({
    [name](id) {
      timers.delete(Number(id));
      return apply(native, this ?? window, [id]);
    },
  }));
}
const FRAME = 1000 / 60;
let callbacks = new Map(), nextHandle = 1, isScheduled = false;
function runFrame() {
  isScheduled = false;
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
    if (!isScheduled) {
      isScheduled = true;
      const time = elapsed();
      const left = Math.max(1, Math.ceil((Math.floor(time / FRAME) + 1) * FRAME - time));
      nativeSetTimeout(() => afterReplies(runFrame), left);
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
    const run = () => callback({ didTimeout: false, timeRemaining: () => 50 });
    return nativeSetTimeout(() => afterReplies(run), 1);
  },
}));
replace(window, 'cancelIdleCallback', () => ({ cancelIdleCallback(handle) { nativeClearTimeout(handle); } }));

// The marks that elements have during an observation (`marks.js`) are not for the page's observers.
const MARK_ATTRIBUTES = ['aria-roledescription', 'aria-description'];
const withoutMarks = (records) => records.filter((record) => !MARK_ATTRIBUTES.includes(record.attributeName));
const NativeObserver = MutationObserver;
const ObserverProxy = new Proxy(NativeObserver, {
  construct(target, [callback, ...rest], self) {
    const filtered = typeof callback !== 'function' ? callback : function (records, observer) {
      const remaining = withoutMarks(records);
      if (remaining.length) apply(callback, this, [remaining, observer]);
    };
    return Reflect.construct(target, [filtered, ...rest], self);
  },
});
disguise(ObserverProxy, 'MutationObserver');
Object.defineProperty(NativeObserver.prototype, 'constructor', { value: ObserverProxy, writable: true, configurable: true });
for (const name of ['MutationObserver', 'WebKitMutationObserver']) {
  Object.defineProperty(window, name, { value: ObserverProxy, writable: true, configurable: true });
}
replace(NativeObserver.prototype, 'takeRecords', (native) => ({
  takeRecords() { return withoutMarks(apply(native, this, [])); },
}));

// A click with the middle button pastes the last selection of any page of the browser, of any
// episode. Here it pastes nothing.
let isMiddleButton = false;
for (const type of ['mousedown', 'mouseup', 'keydown']) {
  apply(nativeAddEventListener, window, [type, (event) => { isMiddleButton = event.button === 1; }, true]);
}
apply(nativeAddEventListener, window, ['paste', (event) => {
  if (!isMiddleButton || !event.isTrusted) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true]);

// Where the history goes is another process's business.
for (const name of ['back', 'forward', 'go']) {
  replace(History.prototype, name, (native) => ({
    [name](...args) {
      const result = apply(native, this, args);
      blockTime(new Promise((gone) => ['popstate', 'pagehide'].forEach((type) => {
        apply(nativeAddEventListener, window, [type, gone, { once: true }]);
      })), 'lock');
      return result;
    },
  }));
}

// The browser makes up the names of history entries.
const entryNames = new Map(), entries = new Map();
function entryName(nativeName) {
  if (!nativeName) return nativeName;
  if (!entryNames.has(nativeName)) {
    const [e, f, g, h] = hash(`${seed}|${place}|step ${entryNames.size}`).map((part) => (part >>> 0).toString(16).padStart(8, '0'));
    const name = `${e}-${f.slice(4)}-4${f.slice(5)}-a${g.slice(5)}-${g.slice(4)}${h}`;
    entryNames.set(nativeName, name);
    entries.set(name, nativeName);
  }
  return entryNames.get(nativeName);
}
for (const name of ['key', 'id']) {
  replace(globalThis.NavigationHistoryEntry?.prototype, name, (native) => ({
    get [name]() { return entryName(apply(native, this, [])); },
  }));
}
replace(globalThis.Navigation?.prototype, 'traverseTo', (native) => ({
  traverseTo(key, ...rest) { return apply(native, this, [entries.get(key) ?? key, ...rest]); },
}));

// Films and sounds are read and decoded by other threads. One that is to be played, or loaded as a
// whole, is awaited until it can be played, any other one until its first frame is there.
const MEDIA_EVENTS = ['loadeddata', 'canplay', 'canplaythrough', 'error', 'abort', 'emptied', 'suspend'];
const loading = new WeakSet();
function awaitMedia(element) {
  if (loading.has(element) || element.networkState !== HTMLMediaElement.NETWORK_LOADING) return;
  loading.add(element);
  const { HAVE_CURRENT_DATA, HAVE_ENOUGH_DATA, NETWORK_LOADING, NETWORK_IDLE } = HTMLMediaElement;
  const isThere = () => {
    const isWhole = element.preload === 'auto' || element.autoplay || !element.paused;
    return element.error || element.readyState >= (isWhole ? HAVE_ENOUGH_DATA : HAVE_CURRENT_DATA)
      || ![NETWORK_LOADING, NETWORK_IDLE].includes(element.networkState);
  };
  const come = new Promise((done) => {
    const look = () => { if (isThere()) done(); };
    // The last of several sources fails a moment before the element does.
    const lookLater = () => { look(); nativeTask(look); };
    for (const name of MEDIA_EVENTS) apply(nativeAddEventListener, element, [name, lookLater, true]);
  });
  blockTime(come, 'event').then(() => loading.delete(element));
}
apply(nativeAddEventListener, window, ['loadstart', ({ target }) => {
  if (target instanceof HTMLMediaElement) awaitMedia(target);
}, true]);
for (const name of ['load', 'play']) {
  replace(globalThis.HTMLMediaElement?.prototype, name, (native) => ({
    [name]() {
      const result = apply(native, this, []);
      queueMicrotask(() => awaitMedia(this));
      return result;
    },
  }));
}
replace(globalThis.HTMLMediaElement?.prototype, 'src', (native, nativeSet) => ({
  get src() { return apply(native, this, []); },
  set src(url) {
    apply(nativeSet, this, [url]);
    apply(nativeAddEventListener, this, ['loadstart', () => awaitMedia(this), { once: true }]);
  },
}));
if (globalThis.Audio) {
  const NativeAudio = Audio;
  const AudioProxy = new Proxy(NativeAudio, {
    construct(target, args, self) {
      const element = Reflect.construct(target, args, self);
      apply(nativeAddEventListener, element, ['loadstart', () => awaitMedia(element), { once: true }]);
      return element;
    },
  });
  Object.defineProperty(window, 'Audio', { value: disguise(AudioProxy, 'Audio'), writable: true, configurable: true });
}
