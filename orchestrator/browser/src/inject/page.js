// The part for documents: a place for the seed, and frames of animation that follow the page's clock instead of the screen's.

function place() {
  const path = [];
  for (let frame = window; frame !== frame.parent; frame = frame.parent) {
    let i = 0;
    while (i < frame.parent.length && frame.parent[i] !== frame) i++;
    path.push(i);
  }
  return `${location.href}|${path.join('.')}`;
}

const nativeSetTimeout = setTimeout;
const FRAME = 1000 / 60;
let callbacks = new Map(), nextHandle = 1, due = false;
function runFrame() {
  due = false;
  const batch = callbacks;
  callbacks = new Map();
  const time = elapsed();
  for (const callback of batch.values()) {
    try { callback(time); } catch (error) { reportError(error); }
  }
}
replace(window, 'requestAnimationFrame', (native) => ({
  requestAnimationFrame(callback) {
    if (typeof callback !== 'function') return apply(native, this, arguments);
    callbacks.set(nextHandle, callback);
    if (!due) {
      due = true;
      const time = elapsed();
      nativeSetTimeout(runFrame, Math.max(1, Math.ceil((Math.floor(time / FRAME) + 1) * FRAME - time)));
    }
    return nextHandle++;
  },
}));
replace(window, 'cancelAnimationFrame', () => ({
  cancelAnimationFrame(handle) { callbacks.delete(handle); },
}));
replace(window, 'requestIdleCallback', (native) => ({
  requestIdleCallback(callback) {
    if (typeof callback !== 'function') return apply(native, this, arguments);
    return nativeSetTimeout(() => callback({ didTimeout: false, timeRemaining: () => 50 }), 1);
  },
}));
replace(window, 'cancelIdleCallback', () => ({ cancelIdleCallback(handle) { clearTimeout(handle); } }));
replace(AnimationTimeline.prototype, 'currentTime', () => ({ get currentTime() { return elapsed(); } }));
