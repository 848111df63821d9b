// The browser's measurements of itself differ in each run, so they read as zero. Expects `elapsed`
// and `origin`.

const TIMING_TYPES = /^(Performance|LargestContentfulPaint|LayoutShift|VisibilityStateEntry|TaskAttribution)/;
// Fields that the page has set, or that follow from what it shows.
const UNMEASURED_FIELDS = /size|status|redirectCount|^value$|^type$|^(NAVIGATE|TYPE)_/i;
for (const type of Object.getOwnPropertyNames(globalThis).filter((name) => TIMING_TYPES.test(name))) {
  const prototype = globalThis[type]?.prototype;
  if (type === 'Performance' || type === 'PerformanceServerTiming' || !prototype) continue;
  for (const name of Object.getOwnPropertyNames(prototype)) {
    if (!Object.getOwnPropertyDescriptor(prototype, name).get || UNMEASURED_FIELDS.test(name)) continue;
    replace(prototype, name, (native) => ({
      get [name]() {
        const value = apply(native, this, []);
        if (typeof value !== 'number') return value;
        if (type === 'PerformanceTiming') return value && origin;
        const isOwn = name !== 'navigationId' && (this.entryType === 'mark' || this.entryType === 'measure');
        return isOwn ? value : 0;
      },
    }));
  }
}
// A copy is made of the values of the getters.
for (const type of Object.getOwnPropertyNames(globalThis).filter((name) => TIMING_TYPES.test(name))) {
  replace(globalThis[type]?.prototype, 'toJSON', (native) => ({
    toJSON() {
      const copy = apply(native, this, []);
      for (const name of Object.keys(copy)) {
        const value = this[name];
        copy[name] = typeof value?.toJSON === 'function' ? value.toJSON() : value;
      }
      return copy;
    },
  }));
}
replace(globalThis.IntersectionObserverEntry?.prototype, 'time', () => ({ get time() { return elapsed(); } }));
for (const name of ['usedJSHeapSize', 'totalJSHeapSize']) {
  replace(globalThis.MemoryInfo?.prototype, name, () => ({ get [name]() { return 10000000; } }));
}
// The browser states by chance how far its measurements can be trusted.
replace(globalThis.PerformanceTimingConfidence?.prototype, 'value', () => ({ get value() { return 'high'; } }));
// A file that a page creates has the page's time.
replaceClass('File', (native, args, self) => {
  if (args.length >= 2 && args[2]?.lastModified === undefined) args[2] = { ...args[2], lastModified: now() };
  return Reflect.construct(native, args, self);
});
// The duration of tasks and frames depends on the machine, so none of them is ever reported as
// long.
if (globalThis.PerformanceObserver) {
  const LONG = ['long-animation-frame', 'longtask'];
  replace(PerformanceObserver.prototype, 'observe', (native) => ({
    observe(options) {
      if (LONG.includes(options?.type)) return undefined;
      const types = options?.entryTypes;
      const left = Array.isArray(types) ? types.filter((type) => !LONG.includes(type)) : types;
      if (types && left !== types && types.length && !left.length) return undefined;
      return apply(native, this, [types ? { ...options, entryTypes: left } : options]);
    },
  }));
}
