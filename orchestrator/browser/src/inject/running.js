// The clock of a world whose time runs on: the machine's, moved to the world's. What only counts from the beginning of a document, as
// `performance.now` and the times of frames do, is the browser's own. Expects `shift` (milliseconds); defines `now` and `origin`.

// The window of a first, empty document may be used again for the next one, and the script is run in it again.
const marker = Symbol.for(seed);
try { if (apply(nativeToString, marker, []) === seed) return; } catch { /* The browser's own, which knows no such marker. */ }
replace(Function.prototype, 'toString', (native) => ({
  toString() { return this === marker ? seed : apply(native, this, []); },
}));

const nativeNow = Date.now;
function now() { return nativeNow() + shift; }
// Not the time, which differs from run to run. A document is told from the one before it by its place in the history, or by its being a reload.
const origin = globalThis.document ? `${history.length}|${performance.getEntriesByType('navigation')[0]?.type}` : '';

const shifted = (native) => (value) => { const time = apply(native, value, []); return time && time + shift; };
replace(Performance.prototype, 'timeOrigin', (native) => ({ get timeOrigin() { return shifted(native)(this); } }));
for (const name of Object.getOwnPropertyNames(globalThis.PerformanceTiming?.prototype ?? {})) {
  if (!Object.getOwnPropertyDescriptor(PerformanceTiming.prototype, name).get) continue;
  replace(PerformanceTiming.prototype, name, (native) => ({ get [name]() { return shifted(native)(this); } }));
}
