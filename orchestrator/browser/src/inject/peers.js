// Connections between peers name themselves by chance. Pages read other names, which come from the
// world's randomness; the browser gets its own ones back. Expects `numbers.js`, `randomBytes` and
// `now`.

const letters = (length) => (random) => random(length).map((byte) => SIX_BITS[byte % 62]).join('');
const digits = (length) => (random) => `1${random(length - 1).map((byte) => byte % 10).join('')}`;
const pairs = (random) => random(32).map((byte) => hexOf([byte])).join(':').toUpperCase();
const UUID = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/;
const uuid = (random) => hexOf(random(16)).replace(UUID, '$1-$2-4$3-8$4-$5');
// The names in a description of a session (RFC 8866, 8839, 8122 and 5576), and what makes others.
const NAMES = [
  [/(?<=^o=\S+ )\d+/gm, digits(19)],
  [/(?<=^a=ice-ufrag:)\S+/gm, letters(4)],
  [/(?<=^a=ice-pwd:)\S+/gm, letters(24)],
  [/(?<=^a=fingerprint:sha-256 )\S+/gm, pairs],
  [/(?<=^a=ssrc(?::|-group:.*?\b))\d{5,}/gm, digits(9)],
  [/(?<=^a=ssrc:.* cname:)\S+/gm, letters(16)],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, uuid],
];
const shownNames = new Map(), ownNames = new Map();
function shownName(own, make) {
  if (ownNames.has(own)) return own;
  if (!shownNames.has(own)) {
    const shown = make(randomBytes());
    shownNames.set(own, shown);
    ownNames.set(shown, own);
  }
  return shownNames.get(own);
}
const renamed = (text, rename) =>
  NAMES.reduce((text, [name, make]) => text.replace(name, (match) => rename(match, make)), text);
const shown = (text) => renamed(text, shownName);
const own = (text) => renamed(text, (name) => ownNames.get(name) ?? name);

// The names that others have given are shown as they are.
function keepNames(text) {
  for (const [name] of NAMES) {
    for (const [given] of text.matchAll(name)) {
      if (shownNames.has(given)) continue;
      shownNames.set(given, given);
      ownNames.set(given, given);
    }
  }
}

const sessions = globalThis.RTCSessionDescription?.prototype;
const peers = globalThis.RTCPeerConnection?.prototype;
replace(sessions, 'sdp', (native) => ({ get sdp() { return shown(apply(native, this, [])); } }));
replace(sessions, 'toJSON', (native) => ({
  toJSON() {
    const copy = apply(native, this, []);
    return { ...copy, sdp: shown(copy.sdp) };
  },
}));
for (const name of ['createOffer', 'createAnswer']) {
  replace(peers, name, (native) => ({
    [name](...args) {
      const told = (session) => session && { type: session.type, sdp: shown(session.sdp) };
      const [tell, ...rest] = args;
      if (typeof tell !== 'function') return apply(nativeThen, apply(native, this, args), [told]);
      return apply(native, this, [(session) => tell(told(session)), ...rest]);
    },
  }));
}
for (const name of ['setLocalDescription', 'setRemoteDescription']) {
  replace(peers, name, (native) => ({
    [name](session, ...rest) {
      const text = session?.sdp;
      const given = typeof text === 'string' ? { type: session.type, sdp: own(text) } : session;
      if (name === 'setRemoteDescription' && given?.sdp) keepNames(given.sdp);
      const done = apply(native, this, session === undefined ? [] : [given, ...rest]);
      if (name === 'setRemoteDescription') return done;
      apply(nativeThen, done, [() => gather(this), () => {}]);
      return done;
    },
  }));
}
// There is no way to a peer from a frozen world. The browser would look for one for seconds. So
// each connection learns at once that there is none.
const gathering = new WeakMap();
replace(peers, 'iceGatheringState', (native) => ({
  get iceGatheringState() {
    apply(native, this, []); // for its checks and its errors
    return gathering.get(this) ?? 'new';
  },
}));
function gather(peer) {
  if (gathering.has(peer) || !peer.localDescription?.sdp.includes('m=')) return;
  gathering.set(peer, 'new');
  const enter = (state) => () => {
    gathering.set(peer, state);
    apply(nativeDispatch, peer, [new NativeEvent('icegatheringstatechange')]);
  };
  const last = () => new RTCPeerConnectionIceEvent('icecandidate', { candidate: null });
  const tellLast = () => { apply(nativeDispatch, peer, [last()]); };
  // Behind the promise of the description.
  for (const task of [enter('gathering'), enter('complete'), tellLast]) nativeTask(task);
}
// A certificate is good for 30 days, of the page's time.
const GOOD_FOR = 30 * 24 * 3600 * 1000;
const ends = new WeakMap();
replace(globalThis.RTCPeerConnection, 'generateCertificate', (native) => ({
  generateCertificate(...args) {
    const end = now() + (args[0]?.expires ?? GOOD_FOR), made = apply(native, this, args);
    return apply(nativeThen, made, [(certificate) => (ends.set(certificate, end), certificate)]);
  },
}));
const certificates = globalThis.RTCCertificate?.prototype;
replace(certificates, 'expires', (native) => ({
  get expires() { return ends.get(this) ?? apply(native, this, []); },
}));
replace(certificates, 'getFingerprints', (native) => ({
  getFingerprints() {
    return apply(native, this, []).map(({ algorithm, value }) => (
      { algorithm, value: shownName(value.toUpperCase(), pairs).toLowerCase() }));
  },
}));

for (const type of ['MediaStream', 'MediaStreamTrack']) {
  replace(globalThis[type]?.prototype, 'id', (native) => ({
    get id() { return shown(apply(native, this, [])); },
  }));
}
replace(globalThis.MediaStreamTrack?.prototype, 'label', (native) => ({
  get label() {
    const label = apply(native, this, []);
    return this instanceof CanvasCaptureMediaStreamTrack ? shownName(label, letters(64)) : label;
  },
}));
replace(globalThis.MediaStream?.prototype, 'getTrackById', (native) => ({
  getTrackById(id) { return apply(native, this, [own(String(id))]); },
}));

replaceClass('RTCPeerConnection', (native, args, self) => {
  const peer = Reflect.construct(native, args, self);
  for (const type of ['icecandidate', 'icecandidateerror', 'icegatheringstatechange']) {
    const stop = (event) => { if (event.isTrusted) event.stopImmediatePropagation(); };
    apply(nativeAddEventListener, peer, [type, stop, { capture: true }]);
  }
  return peer;
});
if (globalThis.webkitRTCPeerConnection) {
  const property = { value: RTCPeerConnection, writable: true, configurable: true };
  Object.defineProperty(globalThis, 'webkitRTCPeerConnection', property);
}
