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

const FRAME = 1000 / 60;
// Those of the next frame, and those of the frame that runs.
let callbacks = new Map(), batch = new Map(), nextHandle = 1, isScheduled = false;
function runFrame() {
  isScheduled = false;
  batch = callbacks;
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
      // After a frame this is the time of the frame, but for what a double cannot hold.
      const time = dueTime() - origin, next = Math.floor((time + 0.5) / FRAME) + 1;
      addTimer(runFrame, next * FRAME - time);
    }
    return nextHandle++;
  },
}));
replace(window, 'cancelAnimationFrame', () => ({
  cancelAnimationFrame(handle) {
    callbacks.delete(handle >>> 0);
    batch.delete(handle >>> 0);
  },
}));

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
const awaitTraversal = () => blockTime(firstOf(window, ['popstate', 'pagehide']), 'lock');
for (const [type, names] of [['History', 'back forward go'], ['Navigation', 'back forward']]) {
  for (const name of names.split(' ')) {
    replace(globalThis[type]?.prototype, name, (native) => ({
      [name](...args) {
        const result = apply(native, this, args);
        awaitTraversal();
        return result;
      },
    }));
  }
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
  traverseTo(key, ...rest) {
    const result = apply(native, this, [entries.get(key) ?? key, ...rest]);
    awaitTraversal();
    return result;
  },
}));
