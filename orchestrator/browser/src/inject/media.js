// What media elements load, and what scripts append to them. An element that is to play, or to load
// as a whole, is awaited until it can play, any other one until its first frame is there. What a
// script appends is awaited after each part, as far as the part reaches: more may need the page's
// time. Expects `playerOf`, `holdEventsUntil` and `bufferedEnd`. Defines `awaitMedia` and
// `mediaSources`.

// The media sources of scripts by their URLs, the players that they are attached to, and the
// sources of their buffers.
const mediaSources = new Map(), attachedPlayers = new WeakMap(), sourceOfBuffer = new WeakMap();
replace(URL, 'createObjectURL', (native) => ({
  createObjectURL(object) {
    const url = apply(native, this, [object]);
    if (globalThis.MediaSource && object instanceof MediaSource) mediaSources.set(url, object);
    return url;
  },
}));
// That a source is open comes from another thread. It is told in its turn among the results.
const openings = new WeakMap();
replaceClass('MediaSource', (native, args, self) => {
  const source = Reflect.construct(native, args, self);
  let arrive = null;
  openings.set(source, new NativePromise((come) => { arrive = come; }));
  apply(nativeAddEventListener, source, ['sourceopen', (event) => {
    if (!event.isTrusted) return;
    event.stopImmediatePropagation();
    arrive();
    const tell = () => apply(nativeDispatch, source, [new NativeEvent('sourceopen')]);
    apply(nativeThen, letInByOrder(NativePromise.resolve(), 'reply'), [tell]);
  }, { capture: true }]);
  return source;
});
// How far ahead of the position media have to be buffered so that they play, in seconds.
const AHEAD = 0.5;
// Whether Chromium has processed what was appended, as far as events tell.
function hasProcessedAppend(player) {
  const { element } = player, level = levelOf(element), position = positionOf(player);
  if (element.error || level >= HAVE_FUTURE_DATA) return true;
  const needed = Math.min(position + AHEAD, element.duration);
  return level > HAVE_NOTHING && bufferedEnd(player, position) < needed;
}
// Also until `buffer` is updated, if there is one.
function holdEventsUntilAppended(source, buffer) {
  const player = attachedPlayers.get(source);
  let isUpdated = !buffer;
  const isOver = () => isUpdated && hasProcessedAppend(player);
  const hold = player && holdEventsUntil(player, isOver, 'append');
  const look = () => {
    isUpdated = true;
    if (hold?.isOver()) hold.done();
  };
  if (!buffer) return look();
  apply(nativeThen, blockTime(firstOf(buffer, ['updateend']), 'decoding'), [look]);
}
replace(globalThis.MediaSource?.prototype, 'addSourceBuffer', (native) => ({
  addSourceBuffer(type) {
    const buffer = apply(native, this, [type]);
    sourceOfBuffer.set(buffer, this);
    return buffer;
  },
}));
for (const name of ['appendBuffer', 'appendEncodedChunks', 'remove']) {
  replace(globalThis.SourceBuffer?.prototype, name, (native) => ({
    [name](...args) {
      const result = apply(native, this, args);
      if (this.updating) holdEventsUntilAppended(sourceOfBuffer.get(this), this);
      return result;
    },
  }));
}
replace(globalThis.MediaSource?.prototype, 'endOfStream', (native) => ({
  endOfStream(...args) {
    apply(native, this, args);
    holdEventsUntilAppended(this);
  },
}));
function awaitMedia(player) {
  const { element } = player, { NETWORK_LOADING, NETWORK_IDLE } = HTMLMediaElement;
  const isAwaited = player.holds.has(player.loading);
  if (element.srcObject || isAwaited || element.networkState !== NETWORK_LOADING) return;
  const source = mediaSources.get(element.currentSrc);
  if (source) {
    attachedPlayers.set(source, player);
    if (source.readyState === 'closed') blockTime(openings.get(source), 'event');
    return;
  }
  player.loading = holdEventsUntil(player, () => {
    const isWhole = element.preload === 'auto' || element.autoplay || !element.paused;
    return element.error || ![NETWORK_LOADING, NETWORK_IDLE].includes(element.networkState)
      || levelOf(element) >= (isWhole ? HAVE_ENOUGH_DATA : HAVE_CURRENT_DATA);
  });
}
// Before all listeners of the page, those of ancestors among them. Such events do not leave a
// shadow tree.
function watchMediaIn(root) {
  for (const name of MEDIA_EVENTS) {
    apply(nativeAddEventListener, root, [name, (event) => {
      const { target } = event;
      if (target instanceof HTMLMediaElement) onMediaEvent(playerOf(target), event);
    }, true]);
  }
  return root;
}
watchMediaIn(window);
replace(Element.prototype, 'attachShadow', (native) => ({
  attachShadow(options) { return watchMediaIn(apply(native, this, [options])); },
}));
for (const name of ['createElement', 'createElementNS']) {
  replace(Document.prototype, name, (native) => ({
    [name](...args) {
      const element = apply(native, this, args);
      if (element instanceof HTMLMediaElement) playerOf(element);
      return element;
    },
  }));
}
replace(Media, 'src', (native, nativeSet) => ({
  get src() { return apply(native, this, []); },
  set src(url) {
    const player = playerOf(this);
    apply(nativeSet, this, [url]);
    if (levelOf(this) === HAVE_NOTHING) resetPlayback(player);
  },
}));
// A stream may have nothing to show before a frame is drawn. That of a peer never has.
replace(Media, 'srcObject', (native, nativeSet) => ({
  get srcObject() { return apply(native, this, []); },
  set srcObject(stream) {
    apply(nativeSet, this, [stream]);
    const shows = ({ readyState, muted }) => readyState === 'live' && !muted;
    if (stream?.getTracks?.().some(shows)) blockTime(firstOf(this, ['loadedmetadata', 'error']), 'stream');
  },
}));
replaceClass('Audio', (native, args, self) => {
  const element = Reflect.construct(native, args, self);
  playerOf(element);
  return element;
});
