// Media elements play in the page's time. Chromium would play them in real time, on threads that
// nothing stops. So its own playback rate is always 0. It decides what plays, and it loads and
// decodes, but it never moves on. The position follows from the page's clock:
//
// - While an element plays, `timeupdate` is dispatched every 250 ms, as Chromium does.
// - Each second, and just before the end, Chromium seeks to the position, so that there is a
//   picture. The page does not see the events of these seeks.
// - Several threads load and decode, for all elements at once. So the events of an element that
//   loads or seeks are held, and released when that is over, one element after the other.
//
// A stream of a camera or a canvas has no rate and no seeks. Its position follows the clock, too.
// Expects `addTimer`, `awaitMedia`, `blockTime`, `elapsed`, `mediaSources` and `runFrameCallbacks`.
// Defines `playerOf`, `positionOf`, `bufferedEnd`, `holdEventsUntil` and `resetPlayback`.

// In milliseconds.
const TIMEUPDATE_INTERVAL = 250, SYNC_INTERVAL = 1000;
// How far the position has moved at least when there is a new picture.
const LEAST_MOVE = SYNC_INTERVAL - TIMEUPDATE_INTERVAL / 2;
const { HAVE_NOTHING, HAVE_CURRENT_DATA, HAVE_FUTURE_DATA, HAVE_ENOUGH_DATA } = HTMLMediaElement;
const Media = HTMLMediaElement.prototype;
const ownMedia = (name) => Object.getOwnPropertyDescriptor(Media, name);
const nativeTime = ownMedia('currentTime'), nativeRate = ownMedia('playbackRate');
const nativeDefaultRate = ownMedia('defaultPlaybackRate'), nativeSeeking = ownMedia('seeking').get;
const nativeReadyState = ownMedia('readyState').get, nativeBuffered = ownMedia('buffered').get;
const nativeSeekable = ownMedia('seekable').get, nativePause = Media.pause, nativePlay = Media.play;
const levelOf = (element) => apply(nativeReadyState, element, []);
const read = (property, element) => apply(property.get, element, []);
const write = (property, element, value) => apply(property.set, element, [value]);
// What plays, by its element: `base` is the position in seconds at `since`, an instant of the page,
// or in general if that is null.
const players = new WeakMap();

function playerOf(element) {
  const known = players.get(element);
  if (known) return known;
  const player = {
    element, base: read(nativeTime, element), since: null, rate: read(nativeRate, element),
    defaultRate: read(nativeDefaultRate, element), played: [], isScheduled: false,
    isSeeking: false, isStalled: false, isEnded: false,
    // Whether `autoplay` may start it: until a script or a person starts or stops it.
    canAutoplay: true,
    // Whether a stream plays for its first picture only.
    isPriming: false,
    // The events of readiness that the page knows.
    announced: new Set(),
    // Our seek that is under way, how many `seeking` events of ours are still to come, and the
    // position of the picture.
    sync: null, hiddenSeekings: 0, syncedPosition: 0,
    // What is under way, the loading among it, the events and the promises that wait for it, and
    // `readyState` before it.
    holds: new Set(), loading: null, heldEvents: [], waiting: [], level: 0,
    frameCallbacks: new Map(), frameCount: 0, isFrameScheduled: false,
  };
  players.set(element, player);
  write(nativeDefaultRate, element, 0);
  write(nativeRate, element, 0);
  const listener = (event) => onMediaEvent(player, event);
  for (const name of MEDIA_EVENTS) apply(nativeAddEventListener, element, [name, listener, true]);
  return player;
}
const handledEvents = new WeakSet();
function onMediaEvent(player, event) {
  const { type, isTrusted, target } = event;
  if (!isTrusted || handledEvents.has(event)) return;
  handledEvents.add(event);
  const isOwn = target === player.element;
  const isLateSeeking = type === 'seeking' && player.hiddenSeekings > 0;
  const isOfSync = player.sync && !player.isSeeking || isLateSeeking;
  const isHeld = isOwn && player.holds.size && !isOfSync && type !== 'loadstart';
  if (isHeld) player.heldEvents.push(type);
  if (isHeld || isOwn && isHidden(player, type)) event.stopImmediatePropagation();
  const look = () => {
    for (const hold of player.holds) if (hold.isOver(type)) hold.done();
  };
  look();
  // The last of several sources fails a moment before the element does.
  if (!isOwn) nativeTask(look);
}
// Holds the events of an element until one for which `isOver` is true. Returns an object whose
// `done` ends that, too.
function holdEventsUntil(player, isOver, what = 'media') {
  const hold = { isOver, done: null };
  if (!player.holds.size) player.level = levelOf(player.element);
  player.holds.add(hold);
  const over = () => {
    if (player.holds.delete(hold) && !player.holds.size) releaseHeldEvents(player);
  };
  const done = new NativePromise((come) => { hold.done = come; });
  apply(nativeThen, blockTime(done, what, over), [over]);
  return hold;
}
const whenReleased = (player) => player.holds.size
  ? new NativePromise((come) => { player.waiting.push(come); })
  : undefined;
function releaseHeldEvents(player) {
  while (player.heldEvents.length && !player.holds.size) {
    const type = player.heldEvents.shift();
    if (!isHidden(player, type)) dispatchTo(player.element, type);
  }
  update(player);
  if (player.holds.size) return;
  for (const come of player.waiting.splice(0)) come();
  autoplay(player);
}
// Chromium starts the elements that are on the screen in any order.
function autoplay(player) {
  const { element } = player;
  const isReady = levelOf(element) === HAVE_ENOUGH_DATA;
  if (!element.autoplay || !element.paused || !player.canAutoplay || !isReady) return;
  const { top, bottom, left, right } = element.getBoundingClientRect();
  const isInRows = bottom > Math.max(0, top) && top < innerHeight;
  if (element.videoWidth && !(isInRows && right > 0 && left < innerWidth)) return;
  apply(nativeThen, apply(nativePlay, element, []), [() => {}, () => {}]);
}
function positionOf(player) {
  const { element, base, since, rate } = player;
  if (since === null) return base;
  const moved = base + (elapsed() - since) / 1000 * rate;
  return Math.max(0, isNaN(element.duration) ? moved : Math.min(moved, element.duration));
}
// Adds what has been played since the last known position.
function addPlayed({ base, since, played }, position) {
  const last = played.at(-1);
  if (since === null || position <= base) return;
  if (last && base >= last[0] && base <= last[1]) last[1] = Math.max(last[1], position);
  else played.push([base, position]);
}
const rangesOf = (list) => {
  const part = (side, name) => disguise((at) => {
    if (at in list) return list[at][side];
    throw new DOMException(`The index provided (${at}) is not in the list.`, 'IndexSizeError');
  }, name);
  return Object.create(TimeRanges.prototype, {
    length: { value: list.length },
    start: { value: part(0, 'start') },
    end: { value: part(1, 'end') },
  });
};
// Follows what Chromium has decided.
function update(player) {
  const { element } = player;
  if (apply(nativeSeeking, element, []) && !player.sync) player.isSeeking = true;
  const position = positionOf(player);
  addPlayed(player, position);
  player.base = player.isSeeking ? read(nativeTime, element) : position;
  const isPlaying = !element.paused && !player.isEnded && !player.isSeeking && !player.isStalled
    && (player.sync || levelOf(element) > HAVE_CURRENT_DATA);
  player.since = isPlaying ? elapsed() : null;
  if (isPlaying || player.isStalled && !element.paused) scheduleAdvance(player);
  scheduleFrame(player);
}
// What an event of Chromium's changes. The result is true if the page is not to see it.
const EVENT_EFFECTS = {
  loadstart(player) {
    // What was under way is over.
    const left = player.heldEvents.filter((type) => type === 'abort' || type === 'emptied');
    player.heldEvents = [];
    for (const type of left) if (!isHidden(player, type)) dispatchTo(player.element, type);
    player.canAutoplay = player.element.paused;
    awaitMedia(player);
  },
  loadedmetadata(player) {
    resetPlayback(player);
    if (player.element.srcObject && player.element.paused) primeStream(player);
  },
  emptied(player) {
    resetPlayback(player);
    player.rate = player.defaultRate;
  },
  error: endSync,
  loadeddata: runFrameCallbacks,
  canplay: isRepeated,
  canplaythrough: isRepeated,
  play(player) {
    if (player.isPriming) return true;
    player.canAutoplay = false;
    // By the browser's own button.
    if (player.isEnded) player.element.currentTime = 0;
    return false;
  },
  ended(player) { player.isEnded = true; },
  playing(player, type) {
    if (!player.isPriming) return isRepeated(player, type);
    apply(nativePause, player.element, []);
    return true;
  },
  pause(player) {
    const { isPriming } = player;
    player.isPriming = false;
    player.announced.delete('playing');
    return isPriming;
  },
  waiting: (player) => player.sync,
  seeking(player) {
    if (player.hiddenSeekings > 0) return player.hiddenSeekings--;
    player.announced.clear();
    player.isSeeking = true;
    player.isEnded = false;
    return false;
  },
  seeked(player) {
    if (player.sync && !player.isSeeking) {
      endSync(player);
      return true;
    }
    player.isSeeking = false;
    player.base = read(nativeTime, player.element);
    player.since = null;
    runFrameCallbacks(player);
    return false;
  },
  timeupdate({ isPriming, sync, since, isSeeking }) {
    return isPriming || sync || since !== null && !isSeeking;
  },
  // Ours take their place.
  ratechange: () => true,
  // These depend on the speed of the network. The page sees all of a file as loaded.
  progress: () => true,
  stalled: () => true,
  suspend: () => true,
};
const MEDIA_EVENTS = [...Object.keys(EVENT_EFFECTS), 'abort', 'durationchange', 'resize'];
function resetPlayback(player) {
  endSync(player);
  player.hiddenSeekings = 0;
  player.announced.clear();
  player.isSeeking = player.isStalled = player.isEnded = false;
  player.played = [];
  player.base = player.syncedPosition = read(nativeTime, player.element);
  player.since = null;
}
// The headless shell draws no frame of a page with a stream that has never played.
function primeStream(player) {
  player.isPriming = true;
  const over = () => { player.isPriming = false; };
  apply(nativeThen, apply(nativePlay, player.element, []), [() => {}, over]);
}
// After a seek of ours, these come again.
function isRepeated(player, type) {
  if (player.sync || player.announced.has(type)) return true;
  player.announced.add(type);
  return false;
}
function isHidden(player, type) {
  if (EVENT_EFFECTS[type]?.(player, type)) return true;
  update(player);
  return false;
}
const dispatchTo = (element, type) => apply(nativeDispatch, element, [new NativeEvent(type)]);
// Moves Chromium to a position, unseen by the page, one element after the other. Time stands still
// meanwhile. A server without range requests allows no seeks, so that the picture stays.
let lastSync = NativePromise.resolve();
function syncPosition(player, position) {
  const { element } = player;
  if (player.sync || element.srcObject || !element.videoWidth) return;
  const ranges = apply(nativeSeekable, element, []);
  if (!ranges.length || position > ranges.end(ranges.length - 1)) return;
  const sync = { end: null };
  const ended = new NativePromise((come) => { sync.end = come; });
  player.sync = sync;
  apply(nativeThen, lastSync, [() => {
    if (player.sync !== sync || levelOf(element) === HAVE_NOTHING) return sync.end();
    player.hiddenSeekings++;
    write(nativeTime, element, position);
  }]);
  // Too little may have been appended. Then this ends later, and nobody waits for it.
  lastSync = blockTime(ended, mediaSources.has(element.currentSrc) ? 'lock' : 'decoding', sync.end);
}
function endSync(player) {
  player.sync?.end();
  player.sync = null;
  update(player);
}
// How far the media reach that are there at a position. What scripts append may end early.
function bufferedEnd({ element }, position) {
  if (!mediaSources.has(element.currentSrc)) return element.duration;
  const ranges = apply(nativeBuffered, element, []);
  for (let i = 0; i < ranges.length; i++) {
    if (ranges.start(i) <= position + 0.1 && ranges.end(i) > position) return ranges.end(i);
  }
  return position;
}
// How far before the end Chromium stays, in seconds, so that it does not end by itself.
const BEFORE_END = 0.01;
function endPlayback(player) {
  const { element } = player;
  player.base = element.duration;
  player.since = null;
  player.isEnded = true;
  player.canAutoplay = false;
  dispatchTo(element, 'timeupdate');
  // The page may have moved it.
  if (!player.isEnded) return;
  syncPosition(player, element.duration - BEFORE_END);
  apply(nativePause, element, []);
  nativeTask(() => nativeTask(() => { if (player.isEnded) dispatchTo(element, 'ended'); }));
}
function scheduleAdvance(player) {
  if (player.isScheduled) return;
  player.isScheduled = true;
  const position = positionOf(player), end = bufferedEnd(player, position);
  const isMoving = player.since !== null && player.rate > 0;
  const left = isMoving ? (end - position) / player.rate * 1000 : Infinity;
  // The time that scripts see moves in steps.
  const inSteps = isNaN(left) ? Infinity : Math.max(1, Math.ceil(left / STEP) * STEP);
  const delay = Math.min(TIMEUPDATE_INTERVAL, inSteps);
  addTimer(() => {
    player.isScheduled = false;
    advance(player);
  }, delay);
}
// Changes the state before it dispatches: what a page does in a listener is the last word.
function advance(player) {
  const { element } = player, position = positionOf(player), end = bufferedEnd(player, position);
  if (element.paused || player.isSeeking) return update(player);
  addPlayed(player, position);
  let events = ['timeupdate'];
  if (player.isStalled) {
    if (end - position < 0.05 && end < element.duration) return scheduleAdvance(player);
    player.isStalled = false;
    events = ['canplay', 'playing'];
  } else if (player.since === null) {
    return;
  } else if (player.rate > 0 && position >= element.duration - 0.001) {
    if (!element.loop) return endPlayback(player);
    player.base = player.syncedPosition = 0;
    player.since = elapsed();
    syncPosition(player, 0);
  } else if (player.rate > 0 && position >= end - 0.001 && !element.srcObject) {
    player.isStalled = true;
    events = ['timeupdate', 'waiting'];
  } else if (Math.abs(position - player.syncedPosition) * 1000 > LEAST_MOVE) {
    player.syncedPosition = position;
    syncPosition(player, position);
  }
  update(player);
  for (const type of events) dispatchTo(element, type);
}

replace(Media, 'currentTime', (native, nativeSet) => ({
  get currentTime() {
    const player = players.get(this);
    return player ? positionOf(player) : apply(native, this, []);
  },
  set currentTime(time) {
    const player = playerOf(this);
    endSync(player);
    apply(nativeSet, this, [time]);
    player.isEnded = false;
    player.syncedPosition = player.base = read(nativeTime, this);
    if (!apply(nativeSeeking, this, [])) return;
    player.isSeeking = true;
    player.isStalled = false;
    player.since = null;
    const isOver = (type) => ['seeked', 'emptied', 'error'].includes(type);
    holdEventsUntil(player, isOver, mediaSources.has(this.currentSrc) ? 'append' : 'media');
  },
}));
replace(Media, 'paused', (native) => ({
  get paused() { return players.get(this)?.isPriming || apply(native, this, []); },
}));
replace(Media, 'ended', (native) => ({
  get ended() { return players.get(this)?.isEnded ?? apply(native, this, []); },
}));
replace(Media, 'seeking', (native) => ({
  get seeking() { return players.get(this)?.isSeeking ?? apply(native, this, []); },
}));
replace(Media, 'readyState', (native) => ({
  get readyState() {
    const player = players.get(this);
    if (player?.holds.size) return player.level;
    if (player?.isStalled) return HAVE_CURRENT_DATA;
    const isSynced = !player?.sync || player.isSeeking;
    return isSynced ? apply(native, this, []) : HAVE_ENOUGH_DATA;
  },
}));
for (const [name, own] of [['playbackRate', 'rate'], ['defaultPlaybackRate', 'defaultRate']]) {
  replace(Media, name, (native, nativeSet) => ({
    get [name]() { return players.get(this)?.[own] ?? apply(native, this, []); },
    set [name](rate) {
      const player = playerOf(this), before = player[own];
      apply(nativeSet, this, [rate]); // for its checks and its errors
      update(player);
      player[own] = Number(rate);
      apply(nativeSet, this, [0]);
      if (player[own] !== before) nativeTask(() => dispatchTo(this, 'ratechange'));
    },
  }));
}
replace(Media, 'buffered', (native) => ({
  get buffered() {
    const ranges = apply(native, this, []);
    const isFile = players.has(this) && !this.srcObject && !mediaSources.has(this.currentSrc);
    const isWhole = isFile && ranges.length && isFinite(this.duration);
    return isWhole ? rangesOf([[0, this.duration]]) : ranges;
  },
}));
replace(Media, 'played', (native) => ({
  get played() {
    const player = players.get(this);
    if (!player) return apply(native, this, []);
    update(player);
    return rangesOf(player.played.toSorted(([a], [b]) => a - b));
  },
}));
for (const name of ['play', 'pause', 'load']) {
  replace(Media, name, (native) => ({
    [name]() {
      const player = playerOf(this);
      player.canAutoplay = name === 'load';
      player.isPriming = false;
      if (name === 'play' && player.isEnded) this.currentTime = 0;
      const result = apply(native, this, []);
      if (name === 'load') resetPlayback(player);
      update(player);
      if (name !== 'pause') queueMicrotask(() => awaitMedia(player));
      return name === 'play' ? apply(nativeThen, result, [() => whenReleased(player)]) : result;
    },
  }));
}
