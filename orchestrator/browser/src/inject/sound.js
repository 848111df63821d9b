// Sound that a page makes has the page's time. Chromium would play it in real time. So as soon as
// one of its contexts runs, it is suspended without a word to the page: what the page hears of is
// the state that the context would have, a time that follows the page's clock, and the ends of its
// sources. Nobody hears the sound itself; who asks for its shape sees silence.

const Sound = globalThis.BaseAudioContext?.prototype, LiveSound = globalThis.AudioContext?.prototype;
const ownSound = (name) => Sound && Object.getOwnPropertyDescriptor(Sound, name).get;
const nativeSoundState = ownSound('state'), nativeSampleRate = ownSound('sampleRate');
const nativeSuspend = LiveSound?.suspend;
// The samples that Chromium makes at once.
const QUANTUM = 128;
// What runs, by its context: `base` is its time in seconds at `since`, an instant of the page, or
// in general if that is null. `ends` are the times at which sources end.
const sounds = new WeakMap();

function timeOf(sound) {
  const { base, since, quantum } = sound;
  return since === null ? base : base + Math.floor((elapsed() - since) / 1000 / quantum) * quantum;
}
function setRunning(sound, isRunning) {
  sound.base = timeOf(sound);
  sound.since = isRunning ? elapsed() : null;
  for (const source of sound.ends.keys()) endLater(sound, source);
}
function endLater(sound, source) {
  const wait = (sound.ends.get(source) - timeOf(sound)) * 1000;
  if (sound.since === null || !isFinite(wait)) return;
  addTimer((run) => nativeSetTimeout(run, Math.max(1, Math.ceil(wait))), () => {
    if (!sound.ends.has(source)) return;
    // The time that scripts see is behind, or the source ends at another time now.
    if (sound.ends.get(source) > timeOf(sound) + sound.quantum) return endLater(sound, source);
    sound.ends.delete(source);
    apply(nativeDispatch, source, [new NativeEvent('ended')]);
  }, false);
}
// Follows what Chromium has decided, unless that was our own suspension.
function followSound(context, sound, event) {
  const state = apply(nativeSoundState, context, []);
  if (sound.isQuieted && state === 'suspended') return event.stopImmediatePropagation();
  sound.state = state;
  sound.isQuieted = state === 'running';
  setRunning(sound, sound.isQuieted);
  if (sound.isQuieted) apply(nativeThen, apply(nativeSuspend, context, []), [undefined, () => {}]);
}
// Without a click or a key in the page nothing is allowed to sound.
const awaitSound = (context, promise = undefined) => {
  if (!navigator.userActivation?.hasBeenActive) return promise;
  blockTime(firstOf(context, ['statechange']), 'lock');
  return promise && blockTime(promise, 'lock');
};
replaceClass('AudioContext', (native, args, self) => {
  const context = Reflect.construct(native, args, self);
  const state = apply(nativeSoundState, context, []);
  const quantum = QUANTUM / apply(nativeSampleRate, context, []);
  const sound = { state, base: 0, since: null, quantum, ends: new Map(), isQuieted: false };
  sounds.set(context, sound);
  const follow = (event) => followSound(context, sound, event);
  apply(nativeAddEventListener, context, ['statechange', follow, { capture: true }]);
  awaitSound(context);
  return context;
});
replace(Sound, 'state', (native) => ({
  get state() {
    const state = apply(native, this, []), sound = sounds.get(this);
    return sound?.isQuieted && state === 'suspended' ? sound.state : state;
  },
}));
replace(Sound, 'currentTime', (native) => ({
  get currentTime() { return sounds.has(this) ? timeOf(sounds.get(this)) : apply(native, this, []); },
}));
replace(LiveSound, 'suspend', (native) => ({
  suspend() {
    const suspended = apply(native, this, []), sound = sounds.get(this);
    if (!sound?.isQuieted) return suspended;
    sound.isQuieted = false;
    return apply(nativeThen, suspended, [() => {
      // It has been resumed meanwhile.
      if (sound.isQuieted) return;
      sound.state = 'suspended';
      setRunning(sound, false);
      nativeTask(() => apply(nativeDispatch, this, [new NativeEvent('statechange')]));
    }]);
  },
}));
replace(LiveSound, 'resume', (native) => ({
  resume() {
    const isRunning = sounds.get(this)?.isQuieted && this.state === 'running';
    return isRunning ? NativePromise.resolve() : awaitSound(this, apply(native, this, []));
  },
}));
for (const name of ['baseLatency', 'outputLatency']) {
  replace(LiveSound, name, () => ({ get [name]() { return 0; } }));
}
replace(LiveSound, 'getOutputTimestamp', () => ({
  getOutputTimestamp() { return { contextTime: this.currentTime, performanceTime: elapsed() }; },
}));

const hideOwnEnd = (event) => { if (event.isTrusted) event.stopImmediatePropagation(); };
// When a source ends, if its context runs.
function endsAt(source, from, [, offset = 0, duration]) {
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
        const sound = sounds.get(this.context);
        if (!sound || name === 'stop' && !sound.ends.has(this)) return;
        if (sound.state === 'suspended' && name === 'start') awaitSound(this.context);
        apply(nativeAddEventListener, this, ['ended', hideOwnEnd, { capture: true }]);
        const from = Math.max(timeOf(sound), Number(args[0]) || 0);
        const end = name === 'start' ? endsAt(this, from, args) : Math.min(from, sound.ends.get(this) ?? Infinity);
        sound.ends.set(this, end);
        endLater(sound, this);
      },
    }));
  }
}
