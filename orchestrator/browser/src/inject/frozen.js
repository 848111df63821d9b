// The clock of a frozen world. Expects `clock` (function: milliseconds); defines `now`, `elapsed`
// and `origin`.

// Time stands still while a script runs. A script that waits for the clock in a loop would never
// end. So after very many reads at the same instant the clock moves with each further read: by
// count, so equally in every run. Programs that measure pages read it some ten thousand times
// without waiting for anything.
const MAX_READS = 1000000;
let latest = 0, reads = 0;
function now() {
  const time = clock();
  if (time > latest) { latest = time; reads = 0; } else if (++reads > MAX_READS) latest += 1;
  return latest;
}
const origin = now();
function elapsed() { return now() - origin; }

replace(globalThis.Performance?.prototype, 'now', () => ({ now() { return elapsed(); } }));
replace(globalThis.Performance?.prototype, 'timeOrigin', () => ({ get timeOrigin() { return origin; } }));
replace(globalThis.Performance?.prototype, 'mark', (native) => ({
  mark(name, options) { return apply(native, this, [name, { startTime: elapsed(), ...options }]); },
}));
replace(globalThis.Performance?.prototype, 'measure', (native) => ({
  measure(name, from, to) {
    const range = from !== null && typeof from === 'object' ? from : { start: from, end: to };
    const { start = 0, end, duration, detail } = range;
    if (end !== undefined || duration !== undefined) return apply(native, this, arguments);
    return apply(native, this, [name, { start, end: elapsed(), detail }]);
  },
}));
replace(globalThis.Event?.prototype, 'timeStamp', () => ({ get timeStamp() { return elapsed(); } }));
