// Films and sounds are read and decoded by other threads. One that is to be played, or loaded as a
// whole, is awaited until it can be played, any other one until its first frame is there. What a
// script feeds bit by bit is awaited after each bit, as far as the bit reaches; more may need the
// page's time. Expects `playerOf`, `keepUntil` and `endOf`. Defines `awaitMedia` and
// `fed`.
// The sources that scripts feed, by their addresses, and what plays them.
const fed = new Map(), eaters = new WeakMap();
const loading = new WeakSet();
replace(URL, 'createObjectURL', (native) => ({
  createObjectURL(object) {
    const url = apply(native, this, [object]);
    if (globalThis.MediaSource && object instanceof MediaSource) fed.set(url, object);
    return url;
  },
}));
// How far ahead of the position there has to be something, in seconds, so that it plays.
const AHEAD = 0.5;
// Whether Chromium has taken in what there is. It says so only of what it needs.
function isEaten({ element }) {
  const { HAVE_NOTHING, HAVE_FUTURE_DATA } = HTMLMediaElement;
  const level = apply(nativeReadyState, element, []), position = element.currentTime;
  if (element.error || level >= HAVE_FUTURE_DATA) return true;
  return level > HAVE_NOTHING && endOf(playerOf(element), position) < Math.min(position + AHEAD, element.duration);
}
// From here on, and at least until `buffer` is updated if there is one.
function keepUntilEaten(source, buffer) {
  const player = eaters.get(source);
  let isUpdated = !buffer;
  const keeper = player && keepUntil(player, () => isUpdated && isEaten(player), 'fed');
  const look = () => {
    isUpdated = true;
    if (keeper?.isOver()) keeper.done();
  };
  if (!buffer) return look();
  apply(nativeThen, blockTime(firstOf(buffer, ['updateend']), 'event'), [look]);
}
const sourceOf = new WeakMap();
replace(globalThis.MediaSource?.prototype, 'addSourceBuffer', (native) => ({
  addSourceBuffer(type) {
    const buffer = apply(native, this, [type]);
    sourceOf.set(buffer, this);
    return buffer;
  },
}));
for (const name of ['appendBuffer', 'appendEncodedChunks', 'remove']) {
  replace(globalThis.SourceBuffer?.prototype, name, (native) => ({
    [name](...args) {
      const result = apply(native, this, args);
      if (this.updating) keepUntilEaten(sourceOf.get(this), this);
      return result;
    },
  }));
}
replace(globalThis.MediaSource?.prototype, 'endOfStream', (native) => ({
  endOfStream(...args) {
    apply(native, this, args);
    keepUntilEaten(this);
  },
}));
function awaitMedia(player) {
  const { element } = player;
  const { HAVE_CURRENT_DATA, HAVE_ENOUGH_DATA, NETWORK_LOADING, NETWORK_IDLE } = HTMLMediaElement;
  if (element.srcObject || loading.has(element) || element.networkState !== NETWORK_LOADING) return;
  const source = fed.get(element.currentSrc);
  if (source) {
    eaters.set(source, player);
    if (source.readyState === 'closed') blockTime(firstOf(source, ['sourceopen']), 'event');
    return;
  }
  loading.add(element);
  keepUntil(player, () => {
    const isWhole = element.preload === 'auto' || element.autoplay || !element.paused;
    const isThere = element.error || ![NETWORK_LOADING, NETWORK_IDLE].includes(element.networkState)
      || apply(nativeReadyState, element, []) >= (isWhole ? HAVE_ENOUGH_DATA : HAVE_CURRENT_DATA);
    return isThere;
  }, 'media', () => loading.delete(element));
}
// Before all listeners of the page, those of ancestors among them. Such events do not leave a
// shadow tree.
function findMediaIn(root) {
  for (const name of NAMES_OF_EVENTS) {
    apply(nativeAddEventListener, root, [name, (event) => {
      const { target } = event;
      if (target instanceof HTMLMediaElement) onMediaEvent(playerOf(target), event);
    }, true]);
  }
  return root;
}
findMediaIn(window);
replace(Element.prototype, 'attachShadow', (native) => ({
  attachShadow(options) { return findMediaIn(apply(native, this, [options])); },
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
replace(globalThis.HTMLMediaElement?.prototype, 'src', (native, nativeSet) => ({
  get src() { return apply(native, this, []); },
  set src(url) {
    const player = playerOf(this);
    apply(nativeSet, this, [url]);
    if (apply(nativeReadyState, this, []) === HTMLMediaElement.HAVE_NOTHING) restart(player);
  },
}));
replaceClass('Audio', (native, args, self) => {
  const element = Reflect.construct(native, args, self);
  playerOf(element);
  return element;
});
