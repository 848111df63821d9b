// Animations have the page's time. The browser counts the time of a document's timeline from the
// start of the navigation, which is in real time or within a step of the page's. Expects `elapsed`,
// `origin`, `STEP` and `nativeTimeOrigin` (function: milliseconds since 1970).

const isTime = (value) => typeof value === 'number';
// How far the browser's timelines are ahead of the page's, in milliseconds.
const lead = () => origin - nativeTimeOrigin();

replace(AnimationTimeline.prototype, 'currentTime', (native) => ({
  get currentTime() {
    const time = apply(native, this, []);
    // A timeline that follows a scrollbar has no time.
    if (!isTime(time)) return time;
    // A timeline that the page has made may begin at another time than the document's.
    const own = this === document.timeline ? 0 : time - apply(native, document.timeline, []);
    return elapsed() + Math.round(own);
  },
}));
// The start times that the page has set, each with what the browser then has.
const startTimes = new WeakMap();
replace(Animation.prototype, 'startTime', (native, nativeSet) => ({
  get startTime() {
    const time = apply(native, this, []);
    if (!isTime(time)) return time;
    const own = startTimes.get(this);
    if (own && own.native === time) return own.time;
    // Frames have real time where the browser draws them by itself.
    if (time - lead() < -Math.abs(lead()) / 2 - STEP) return 0;
    // Otherwise an animation begins with a frame: less than a millisecond before a step of the
    // page's time, or within one where the document began within it.
    return Math.floor((time - lead() + 0.8) / STEP) * STEP;
  },
  set startTime(time) {
    apply(nativeSet, this, [isTime(time) ? time + lead() : time]);
    startTimes.set(this, { time, native: apply(native, this, []) });
  },
}));
replace(Animation.prototype, 'currentTime', (native) => ({
  get currentTime() {
    const time = apply(native, this, []);
    if (!isTime(time)) return time;
    // The browser's time moves on within a step of the page's.
    const { startTime, playbackRate } = this, timeline = this.timeline?.currentTime;
    const isRunning = this.playState === 'running' && isTime(startTime) && isTime(timeline);
    return Math.round(isRunning ? (timeline - startTime) * playbackRate : time);
  },
}));
for (const name of ['timelineTime', 'currentTime']) {
  replace(globalThis.AnimationPlaybackEvent?.prototype, name, (native) => ({
    get [name]() {
      const time = apply(native, this, []);
      if (!this.isTrusted || !isTime(time)) return time;
      return name === 'timelineTime' ? elapsed() : Math.round(time);
    },
  }));
}
