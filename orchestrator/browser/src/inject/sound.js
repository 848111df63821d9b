// Audio contexts have the page's time. Chromium would render them in real time. So a context is
// suspended as soon as it runs, unseen by the page. The page gets the state that the context would
// have, a time that follows the page's clock, and `ended` of its sources. Nothing is rendered:
// analysers read silence, and processors of audio are not called. Expects `addTimer`, `blockTime`,
// `elapsed` and `firstOf`.

const BaseContext = globalThis.BaseAudioContext?.prototype;
const LiveContext = globalThis.AudioContext?.prototype;
const nativeContextState = ownGetter('BaseAudioContext', 'state');
const nativeSampleRate = ownGetter('BaseAudioContext', 'sampleRate');
const nativeSuspend = LiveContext?.suspend;
// How many samples Chromium renders at once.
const QUANTUM = 128;
// The clocks of contexts: `base` is the time in seconds at `since`, an instant of the page, or in
// general if that is null. `ends` are the times at which sources end.
const timings = new WeakMap();

function timeOf(timing) {
  const { base, since, quantum } = timing;
  return since === null ? base : base + Math.floor((elapsed() - since) / 1000 / quantum) * quantum;
}
function setRunning(timing, isRunning) {
  timing.base = timeOf(timing);
  timing.since = isRunning ? elapsed() : null;
  for (const source of timing.ends.keys()) scheduleEnd(timing, source);
}
function scheduleEnd(timing, source) {
  const wait = (timing.ends.get(source) - timeOf(timing)) * 1000;
  if (timing.since === null || !isFinite(wait)) return;
  addTimer(() => {
    if (!timing.ends.has(source)) return;
    // The time that scripts see is behind, or the source ends at another time now.
    const isLater = timing.ends.get(source) > timeOf(timing) + timing.quantum;
    if (isLater) return scheduleEnd(timing, source);
    timing.ends.delete(source);
    apply(nativeDispatch, source, [new NativeEvent('ended')]);
  }, Math.ceil(wait));
}
// Follows Chromium's state, except for our own suspension.
function onStateChange(context, timing, event) {
  const state = apply(nativeContextState, context, []);
  if (timing.isSuspendedByUs && state === 'suspended') return event.stopImmediatePropagation();
  const isRunning = state === 'running';
  timing.isSuspendedByUs = isRunning;
  setRunning(timing, isRunning);
  if (isRunning) apply(nativeThen, apply(nativeSuspend, context, []), [undefined, () => {}]);
}
// Without a click or a key in the page no context starts.
const awaitStart = (context, promise = undefined) => {
  if (!navigator.userActivation?.hasBeenActive) return promise;
  blockTime(firstOf(context, ['statechange']), 'lock');
  return promise && blockTime(promise, 'lock');
};
replaceClass('AudioContext', (native, args, self) => {
  const context = Reflect.construct(native, args, self);
  const quantum = QUANTUM / apply(nativeSampleRate, context, []);
  const timing = { base: 0, since: null, quantum, ends: new Map(), isSuspendedByUs: false };
  timings.set(context, timing);
  const follow = (event) => onStateChange(context, timing, event);
  apply(nativeAddEventListener, context, ['statechange', follow, { capture: true }]);
  awaitStart(context);
  return context;
});
replace(BaseContext, 'state', (native) => ({
  get state() {
    const state = apply(native, this, []), timing = timings.get(this);
    return timing?.isSuspendedByUs && state === 'suspended' ? 'running' : state;
  },
}));
replace(BaseContext, 'currentTime', (native) => ({
  get currentTime() {
    const timing = timings.get(this);
    return timing ? timeOf(timing) : apply(native, this, []);
  },
}));
replace(LiveContext, 'suspend', (native) => ({
  suspend() {
    const suspended = apply(native, this, []), timing = timings.get(this);
    if (!timing?.isSuspendedByUs) return suspended;
    timing.isSuspendedByUs = false;
    return apply(nativeThen, suspended, [() => {
      // It has been resumed meanwhile.
      if (timing.isSuspendedByUs) return;
      setRunning(timing, false);
      nativeTask(() => apply(nativeDispatch, this, [new NativeEvent('statechange')]));
    }]);
  },
}));
replace(LiveContext, 'resume', (native) => ({
  resume() {
    const isRunning = timings.get(this)?.isSuspendedByUs && this.state === 'running';
    return isRunning ? NativePromise.resolve() : awaitStart(this, apply(native, this, []));
  },
}));
for (const name of ['baseLatency', 'outputLatency']) {
  replace(LiveContext, name, () => ({ get [name]() { return 0; } }));
}
replace(LiveContext, 'getOutputTimestamp', () => ({
  getOutputTimestamp() { return { contextTime: this.currentTime, performanceTime: elapsed() }; },
}));

const hideNativeEnd = (event) => { if (event.isTrusted) event.stopImmediatePropagation(); };
// When a source ends, if its context runs.
function endTimeOf(source, from, [, offset = 0, duration]) {
  const { buffer, loop, playbackRate } = source;
  if (!playbackRate || !buffer) return Infinity;
  const rest = loop ? Infinity : Math.max(0, buffer.duration - offset);
  const left = Math.min(rest, duration ?? Infinity);
  return from + left / Math.abs(playbackRate.value || 1);
}
for (const type of ['AudioScheduledSourceNode', 'AudioBufferSourceNode']) {
  for (const name of ['start', 'stop']) {
    replace(globalThis[type]?.prototype, name, (native) => ({
      [name](...args) {
        apply(native, this, args);
        const timing = timings.get(this.context);
        if (!timing || name === 'stop' && !timing.ends.has(this)) return;
        if (name === 'start' && this.context.state === 'suspended') awaitStart(this.context);
        apply(nativeAddEventListener, this, ['ended', hideNativeEnd, { capture: true }]);
        const from = Math.max(timeOf(timing), Number(args[0]) || 0);
        const isStart = name === 'start';
        const end = isStart ? endTimeOf(this, from, args) : Math.min(from, timing.ends.get(this));
        timing.ends.set(this, end);
        scheduleEnd(timing, this);
      },
    }));
  }
}
