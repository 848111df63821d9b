// The clock of attach mode: the machine's time, shifted to the world's. Durations since the start
// of a document, such as `performance.now` and the times of frames, are the browser's own. Expects
// `shift` (milliseconds); defines `now` and `origin`.

// The window of a first, empty document may be used again for the next one. Then the script runs in
// it again.
const marker = Symbol.for(seed);
try { if (apply(nativeToString, marker, []) === seed) return; } catch { /* The browser's own, which knows no such marker. */ }
replace(Function.prototype, 'toString', (native) => ({
  toString() { return this === marker ? seed : apply(native, this, []); },
}));

const nativeNow = Date.now;
function now() { return nativeNow() + shift; }
// Not the time, which differs between runs. The place in the history, or a reload, distinguishes a
// document from the one before it.
const origin = globalThis.document ? `${history.length}|${performance.getEntriesByType('navigation')[0]?.type}` : '';

const shifted = (native) => (value) => { const time = apply(native, value, []); return time && time + shift; };
replace(Performance.prototype, 'timeOrigin', (native) => ({ get timeOrigin() { return shifted(native)(this); } }));
for (const name of Object.getOwnPropertyNames(globalThis.PerformanceTiming?.prototype ?? {})) {
  if (!Object.getOwnPropertyDescriptor(PerformanceTiming.prototype, name).get) continue;
  replace(PerformanceTiming.prototype, name, (native) => ({ get [name]() { return shifted(native)(this); } }));
}
