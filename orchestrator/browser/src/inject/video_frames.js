// The frames of a video, and their counts, have the page's time: 25 a second, none dropped.
// Expects `playerOf`, `positionOf` and `addTimer`. Defines `runFrameCallbacks` and `scheduleFrame`.

const FRAMES_A_SECOND = 25;
const Video = HTMLVideoElement.prototype;
function runFrameCallbacks(player) {
  const { element, frameCallbacks } = player;
  const called = [...frameCallbacks.values()];
  frameCallbacks.clear();
  if (!called.length) return;
  player.frameCount++;
  const time = elapsed(), frame = {
    presentationTime: time,
    expectedDisplayTime: time,
    width: element.videoWidth,
    height: element.videoHeight,
    mediaTime: positionOf(player),
    presentedFrames: player.frameCount,
  };
  for (const callback of called) {
    try { callback(time, { ...frame }); } catch (error) { reportError(error); }
  }
}
function scheduleFrame(player) {
  if (player.isFrameScheduled || player.since === null || !player.frameCallbacks.size) return;
  player.isFrameScheduled = true;
  addTimer(() => {
    player.isFrameScheduled = false;
    if (player.since !== null) runFrameCallbacks(player);
  }, 1000 / FRAMES_A_SECOND);
}
let lastFrame = 0;
replace(Video, 'requestVideoFrameCallback', (native) => ({
  requestVideoFrameCallback(callback) {
    if (typeof callback !== 'function') return apply(native, this, arguments);
    const player = playerOf(this);
    player.frameCallbacks.set(++lastFrame, callback);
    scheduleFrame(player);
    return lastFrame;
  },
}));
replace(Video, 'cancelVideoFrameCallback', () => ({
  cancelVideoFrameCallback(handle) { players.get(this)?.frameCallbacks.delete(handle); },
}));
const frameCountOf = (element) => {
  const player = players.get(element);
  return player ? Math.floor(positionOf(player) * FRAMES_A_SECOND) : 0;
};
const Quality = globalThis.VideoPlaybackQuality?.prototype;
const frameCounts = new WeakMap();
replace(Video, 'getVideoPlaybackQuality', (native) => ({
  getVideoPlaybackQuality() {
    const quality = apply(native, this, []);
    frameCounts.set(quality, frameCountOf(this));
    return quality;
  },
}));
replace(Quality, 'creationTime', () => ({ get creationTime() { return elapsed(); } }));
replace(Quality, 'totalVideoFrames', () => ({
  get totalVideoFrames() { return frameCounts.get(this) ?? 0; },
}));
for (const name of ['droppedVideoFrames', 'corruptedVideoFrames']) {
  replace(Quality, name, () => ({ get [name]() { return 0; } }));
}
replace(Video, 'webkitDecodedFrameCount', () => ({
  get webkitDecodedFrameCount() { return frameCountOf(this); },
}));
replace(Video, 'webkitDroppedFrameCount', () => ({ get webkitDroppedFrameCount() { return 0; } }));
for (const name of ['webkitAudioDecodedByteCount', 'webkitVideoDecodedByteCount']) {
  replace(Media, name, () => ({ get [name]() { return 0; } }));
}
