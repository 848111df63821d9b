// Films and sounds play in the page's time. Chromium would play them in real time, on threads that
// nothing stops. So its own rate is always 0: it decides what plays, it loads and it decodes, but
// it never moves on. The position follows from the page's clock:
//
// - While an element plays, each part of a second of the page tells `timeupdate`, as Chromium does.
// - Chromium is moved there by a seek that the page does not see: each second, so that there is a
//   picture, and at the end, so that it ends.
// - What Chromium tells of such a seek is for nobody.
// - Several threads load and decode, for all elements at once. So while an element loads or seeks,
//   what Chromium tells of it is kept, and told when it is over, one element after the other.
//
// A stream of a camera or a canvas has no rate and no seeks. Its position follows the clock, too.
// Expects `addTimer`, `awaitMedia`, `blockTime`, `elapsed` and `fed`. Defines `endOf`
// and `playerOf`.

// How often a position is told and a picture is drawn, and how long a frame is, in milliseconds.
const TOLD = 250, DRAWN = 1000, FILM_FRAME = 40;
const Media = globalThis.HTMLMediaElement?.prototype;
const ownMedia = (name) => Object.getOwnPropertyDescriptor(Media, name);
const nativeTime = ownMedia('currentTime'), nativeRate = ownMedia('playbackRate');
const nativeDefaultRate = ownMedia('defaultPlaybackRate'), nativeSeeking = ownMedia('seeking').get;
const nativeReadyState = ownMedia('readyState').get, nativeBuffered = ownMedia('buffered').get;
const nativeSeekable = ownMedia('seekable').get, nativePause = Media.pause, nativePlay = Media.play;
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
    defaultRate: read(nativeDefaultRate, element), isSeeking: false, isStalled: false, isEnded: false, isScripted: false,
    isStill: false,
    told: new Set(),
    // The seek of ours that is under way, how many of its events are still to come, and the
    // position of the picture.
    seek: null, toHide: 0, drawn: 0, isTimed: false,
    // What is under way, what was told meanwhile, and how much was there before.
    keepers: new Set(), kept: [], waiting: [], level: 0,
    played: [], frames: new Map(), count: 0, isDrawing: false,
  };
  players.set(element, player);
  write(nativeDefaultRate, element, 0);
  write(nativeRate, element, 0);
  for (const name of NAMES_OF_EVENTS) {
    apply(nativeAddEventListener, element, [name, (event) => onMediaEvent(player, event), { capture: true }]);
  }
  return player;
}
const handled = new WeakSet();
function onMediaEvent(player, event) {
  const { type, isTrusted, target } = event;
  if (!isTrusted || handled.has(event)) return;
  handled.add(event);
  const isOwn = target === player.element;
  const isOfSeek = player.seek && !player.isSeeking || type === 'seeking' && player.toHide > 0;
  const isKept = isOwn && player.keepers.size && !isOfSeek && type !== 'loadstart';
  if (isKept) player.kept.push(type);
  if (isKept || isOwn && isHidden(player, type)) event.stopImmediatePropagation();
  const look = () => {
    for (const keeper of player.keepers) if (keeper.isOver(type)) keeper.done();
  };
  look();
  // The last of several sources fails a moment before the element does.
  if (!isOwn) nativeTask(look);
}
// Keeps what Chromium tells of an element until an event for which `isOver` is true.
function keepUntil(player, isOver, what = 'media', onOver = undefined) {
  const keeper = { isOver, done: null };
  if (!player.keepers.size) player.level = apply(nativeReadyState, player.element, []);
  player.keepers.add(keeper);
  const over = () => {
    onOver?.();
    if (player.keepers.delete(keeper) && !player.keepers.size) tellKept(player);
  };
  apply(nativeThen, blockTime(new NativePromise((come) => { keeper.done = come; }), what, over), [over]);
  return keeper;
}
const afterKept = (player) => player.keepers.size
  ? new NativePromise((come) => { player.waiting.push(come); })
  : undefined;
function tellKept(player) {
  while (player.kept.length && !player.keepers.size) {
    const type = player.kept.shift();
    if (!isHidden(player, type)) dispatchTo(player.element, type);
  }
  update(player);
  if (player.keepers.size) return;
  for (const come of player.waiting.splice(0)) come();
  startByItself(player);
}
// Chromium starts the films that are on the screen in any order.
function startByItself(player) {
  const { element } = player;
  const isReady = apply(nativeReadyState, element, []) === HTMLMediaElement.HAVE_ENOUGH_DATA;
  if (!element.autoplay || !element.paused || player.isScripted || !isReady) return;
  const { top, bottom, left, right } = element.getBoundingClientRect();
  const isOnScreen = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth && bottom > top;
  if (isOnScreen || !element.videoWidth) apply(nativeThen, apply(nativePlay, element, []), [() => {}, () => {}]);
}
function positionOf(player) {
  const { element, base, since, rate } = player;
  if (since === null) return base;
  const moved = base + (elapsed() - since) / 1000 * rate;
  return Math.max(0, isNaN(element.duration) ? moved : Math.min(moved, element.duration));
}
// Keeps which parts have been played, from the last known position to this one.
function notePlayed({ base, since, played }, position) {
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
    length: { value: list.length }, start: { value: part(0, 'start') }, end: { value: part(1, 'end') },
  });
};
// Follows what Chromium has decided.
function update(player) {
  const { element } = player;
  if (apply(nativeSeeking, element, []) && !player.seek) player.isSeeking = true;
  const position = positionOf(player);
  notePlayed(player, position);
  player.base = player.isSeeking ? read(nativeTime, element) : position;
  const isPlaying = !element.paused && !player.isEnded && !player.isSeeking && !player.isStalled
    && (player.seek || apply(nativeReadyState, element, []) > HTMLMediaElement.HAVE_CURRENT_DATA);
  player.since = isPlaying ? elapsed() : null;
  if (isPlaying || player.isStalled && !element.paused) tellLater(player);
  drawLater(player);
}
// What an event of Chromium's changes, and whether it is of no concern to the page.
const EVENTS = {
  loadstart(player) {
    // What was under way is over.
    const left = player.kept.filter((type) => type === 'abort' || type === 'emptied');
    player.kept = [];
    for (const type of left) if (!isHidden(player, type)) dispatchTo(player.element, type);
    player.isScripted = !player.element.paused;
    awaitMedia(player);
  },
  loadedmetadata(player) {
    restart(player);
    if (player.element.srcObject && player.element.paused) showStill(player);
  },
  emptied(player) {
    restart(player);
    player.rate = player.defaultRate;
  },
  error: endSeek,
  loadeddata: drawFrames,
  canplay: isKnown,
  canplaythrough: isKnown,
  play(player) {
    if (player.isStill) return true;
    player.isScripted = true;
    // By the browser's own button.
    if (player.isEnded) player.element.currentTime = 0;
    return false;
  },
  ended(player) { player.isEnded = true; },
  playing(player, type) {
    if (!player.isStill) return isKnown(player, type);
    apply(nativePause, player.element, []);
    return true;
  },
  pause(player) {
    const { isStill } = player;
    player.isStill = false;
    player.told.delete('playing');
    return isStill;
  },
  waiting: (player) => player.seek,
  seeking(player) {
    if (player.toHide > 0) return player.toHide--;
    player.told.clear();
    player.isSeeking = true;
    player.isEnded = false;
    return false;
  },
  seeked(player) {
    if (player.seek && !player.isSeeking) {
      endSeek(player);
      return true;
    }
    player.isSeeking = false;
    player.base = read(nativeTime, player.element);
    player.since = null;
    drawFrames(player);
    return false;
  },
  timeupdate: (player) => player.isStill || player.seek || player.since !== null && !player.isSeeking,
  // Ours take their place.
  ratechange: () => true,
  // How far the network is, is not the page's business: it has all there is.
  progress: () => true,
  stalled: () => true,
  suspend: () => true,
};
const NAMES_OF_EVENTS = [...Object.keys(EVENTS), 'abort', 'durationchange', 'resize'];
function restart(player) {
  endSeek(player);
  player.toHide = 0;
  player.told.clear();
  player.isSeeking = player.isStalled = player.isEnded = false;
  player.played = [];
  player.base = player.drawn = read(nativeTime, player.element);
  player.since = null;
}
// The headless shell draws no frame of a page with a stream that has never played.
function showStill(player) {
  player.isStill = true;
  const over = () => { player.isStill = false; };
  apply(nativeThen, apply(nativePlay, player.element, []), [() => {}, over]);
}
// After a seek of ours, these come again.
function isKnown(player, type) {
  if (player.seek || player.told.has(type)) return true;
  player.told.add(type);
  return false;
}
function isHidden(player, type) {
  if (EVENTS[type]?.(player, type)) return true;
  update(player);
  return false;
}
const dispatchTo = (element, type) => apply(nativeDispatch, element, [new NativeEvent(type)]);
// Moves Chromium to a position, without a word to the page: one element after the other. Nothing
// goes on meanwhile. Some servers send films only from their beginning; of those there is always
// the same picture.
let lastSeek = NativePromise.resolve();
function seekFor(player, position) {
  const { element } = player, ranges = apply(nativeSeekable, element, []);
  const reach = ranges.length ? ranges.end(ranges.length - 1) : 0;
  if (player.seek || element.srcObject || !element.videoWidth || position > reach) return;
  const seek = { end: null };
  const ended = new NativePromise((come) => { seek.end = come; });
  player.seek = seek;
  apply(nativeThen, lastSeek, [() => {
    if (player.seek !== seek || apply(nativeReadyState, element, []) === HTMLMediaElement.HAVE_NOTHING) {
      return seek.end();
    }
    player.toHide++;
    write(nativeTime, element, position);
  }]);
  // What a script feeds may not reach far enough yet. Then this ends later; nobody waits for it.
  lastSeek = blockTime(ended, fed.has(element.currentSrc) ? 'lock' : 'event', seek.end);
}
function endSeek(player) {
  player.seek?.end();
  player.seek = null;
  update(player);
}
// How far what is there reaches; what a script feeds may end before the film does.
function endOf({ element }, position) {
  const ranges = apply(nativeBuffered, element, []);
  if (!fed.has(element.currentSrc)) return element.duration;
  for (let i = 0; i < ranges.length; i++) {
    if (ranges.start(i) <= position + 0.1 && ranges.end(i) > position) return ranges.end(i);
  }
  return position;
}
// Chromium itself never gets as far as the end, so it is not told that it is there.
const BEFORE_END = 0.01;
function endFilm(player) {
  const { element } = player;
  player.base = element.duration;
  player.since = null;
  player.isEnded = player.isScripted = true;
  dispatchTo(element, 'timeupdate');
  // The page may have moved it.
  if (!player.isEnded) return;
  seekFor(player, element.duration - BEFORE_END);
  apply(nativePause, element, []);
  nativeTask(() => nativeTask(() => { if (player.isEnded) dispatchTo(element, 'ended'); }));
}
function tellLater(player) {
  if (player.isTimed) return;
  player.isTimed = true;
  const position = positionOf(player), end = endOf(player, position);
  const left = player.since !== null && player.rate > 0 ? (end - position) / player.rate * 1000 : TOLD;
  // The time that scripts see moves in steps.
  const delay = Math.min(TOLD, isNaN(left) ? TOLD : Math.max(1, Math.ceil(left / STEP) * STEP));
  addTimer((run) => nativeSetTimeout(run, delay), () => {
    player.isTimed = false;
    tell(player);
  }, false);
}
// Changes the state first: what a page does when it is told counts more.
function tell(player) {
  const { element } = player, position = positionOf(player), end = endOf(player, position);
  if (element.paused || player.isSeeking) return update(player);
  notePlayed(player, position);
  let told = ['timeupdate'];
  if (player.isStalled) {
    if (end - position < 0.05 && end < element.duration) return tellLater(player);
    player.isStalled = false;
    told = ['canplay', 'playing'];
  } else if (player.since === null) {
    return;
  } else if (player.rate > 0 && position >= element.duration - 0.001) {
    if (!element.loop) return endFilm(player);
    player.base = player.drawn = 0;
    player.since = elapsed();
    seekFor(player, 0);
  } else if (player.rate > 0 && position >= end - 0.001 && !element.srcObject) {
    player.isStalled = true;
    told = ['timeupdate', 'waiting'];
  } else if (Math.abs(position - player.drawn) * 1000 > DRAWN - TOLD / 2) {
    player.drawn = position;
    seekFor(player, position);
  }
  update(player);
  for (const type of told) dispatchTo(element, type);
}

replace(Media, 'currentTime', (native, nativeSet) => ({
  get currentTime() {
    const player = players.get(this);
    return player ? positionOf(player) : apply(native, this, []);
  },
  set currentTime(time) {
    const player = playerOf(this);
    endSeek(player);
    apply(nativeSet, this, [time]);
    player.isEnded = false;
    player.drawn = player.base = read(nativeTime, this);
    if (!apply(nativeSeeking, this, [])) return;
    player.isSeeking = true;
    player.isStalled = false;
    player.since = null;
    keepUntil(player, (type) => ['seeked', 'emptied', 'error'].includes(type), fed.has(this.currentSrc) ? 'fed' : 'media');
  },
}));
replace(Media, 'paused', (native) => ({
  get paused() { return Boolean(players.get(this)?.isStill) || apply(native, this, []); },
}));
replace(Media, 'ended', () => ({
  get ended() { return Boolean(players.get(this)?.isEnded); },
}));
replace(Media, 'seeking', (native) => ({
  get seeking() { return players.has(this) ? players.get(this).isSeeking : apply(native, this, []); },
}));
replace(Media, 'readyState', (native) => ({
  get readyState() {
    const player = players.get(this);
    if (player?.keepers.size) return player.level;
    if (player?.isStalled) return HTMLMediaElement.HAVE_CURRENT_DATA;
    return player?.seek && !player.isSeeking ? HTMLMediaElement.HAVE_ENOUGH_DATA : apply(native, this, []);
  },
}));
for (const [name, own] of [['playbackRate', 'rate'], ['defaultPlaybackRate', 'defaultRate']]) {
  replace(Media, name, (native, nativeSet) => ({
    get [name]() { return players.has(this) ? players.get(this)[own] : apply(native, this, []); },
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
    const isWhole = players.has(this) && !this.srcObject && !fed.has(this.currentSrc) && ranges.length;
    return isWhole && isFinite(this.duration) ? rangesOf([[0, this.duration]]) : ranges;
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
      player.isScripted = name !== 'load';
      player.isStill = false;
      if (name === 'play' && player.isEnded) this.currentTime = 0;
      const result = apply(native, this, []);
      if (name === 'load') restart(player);
      update(player);
      if (name !== 'pause') queueMicrotask(() => awaitMedia(player));
      return name === 'play' ? apply(nativeThen, result, [() => afterKept(player)]) : result;
    },
  }));
}

// The frames of a film have the page's time, too.
function drawFrames(player) {
  const { element, frames } = player;
  const called = [...frames.values()];
  frames.clear();
  if (!called.length) return;
  player.count++;
  const time = elapsed(), frame = {
    presentationTime: time, expectedDisplayTime: time, width: element.videoWidth, height: element.videoHeight,
    mediaTime: positionOf(player), presentedFrames: player.count,
  };
  for (const callback of called) {
    try { callback(time, { ...frame }); } catch (error) { reportError(error); }
  }
}
function drawLater(player) {
  if (player.isDrawing || player.since === null || !player.frames.size) return;
  player.isDrawing = true;
  addTimer((run) => nativeSetTimeout(run, FILM_FRAME), () => {
    player.isDrawing = false;
    if (player.since !== null) drawFrames(player);
  }, false);
}
let lastFrame = 0;
replace(globalThis.HTMLVideoElement?.prototype, 'requestVideoFrameCallback', (native) => ({
  requestVideoFrameCallback(callback) {
    if (typeof callback !== 'function') return apply(native, this, arguments);
    const player = playerOf(this);
    player.frames.set(++lastFrame, callback);
    drawLater(player);
    return lastFrame;
  },
}));
replace(globalThis.HTMLVideoElement?.prototype, 'cancelVideoFrameCallback', () => ({
  cancelVideoFrameCallback(handle) { players.get(this)?.frames.delete(handle); },
}));
// A film of 25 frames a second of which none is lost.
const shownFrames = (element) => Math.floor((players.get(element) ? positionOf(players.get(element)) : 0) * 25);
replace(globalThis.VideoPlaybackQuality?.prototype, 'creationTime', () => ({ get creationTime() { return elapsed(); } }));
replace(globalThis.HTMLVideoElement?.prototype, 'getVideoPlaybackQuality', (native) => ({
  getVideoPlaybackQuality() {
    const quality = apply(native, this, []);
    const total = { value: shownFrames(this), configurable: true };
    const none = { value: 0, configurable: true };
    return Object.defineProperties(quality, {
      totalVideoFrames: total, droppedVideoFrames: none, corruptedVideoFrames: none,
    });
  },
}));
for (const name of ['webkitDecodedFrameCount', 'webkitDroppedFrameCount', 'webkitAudioDecodedByteCount', 'webkitVideoDecodedByteCount']) {
  for (const type of ['HTMLVideoElement', 'HTMLMediaElement']) {
    replace(globalThis[type]?.prototype, name, () => ({
      get [name]() { return name === 'webkitDecodedFrameCount' ? shownFrames(this) : 0; },
    }));
  }
}
