"""What a page can read without asking: every value that can be reached from the window."""

from grammar import feature, text

# Reads all members, four names deep, and says a digest of those below each name of the window. What
# a page has made itself is left out.
WALK = """
const seen = new Set([window]), found = [];
const own = new Set(['order', 'put', 'feature', 'out']);
const told = value => {
  if (typeof value === 'function') return 'function';
  try { return String(value); } catch { return 'nothing'; }
};
function walk(of, path, depth) {
  for (let level = of; level && level !== Object.prototype; level = Object.getPrototypeOf(level)) {
    for (const name of Object.getOwnPropertyNames(level)) {
      if (depth === 0 && own.has(name) || /^\\d+$/.test(name)) continue;
      let value;
      try { value = of[name]; } catch (error) { found.push([path + name, error.name]); continue; }
      if (value instanceof Promise) { value.catch(() => 0); continue; }
      if (value === null || typeof value !== 'object') found.push([path + name, told(value)]);
      else if (value instanceof Node && depth > 0 || seen.has(value)) continue;
      else {
        seen.add(value);
        found.push([path + name, told(value).slice(0, 200)]);
        if (depth < 4) walk(value, path + name + '.', depth + 1);
      }
    }
  }
}
"""
DIGEST = """
const digest = text => { let sum = 0; for (const letter of text)
  sum = Math.imul(sum ^ letter.codePointAt(0), 16777619) >>> 0; return sum.toString(36); };
"""
feature("values", WALK + DIGEST + """
walk(window, '', 0);
const by = {};
for (const [path, value] of found) (by[path.split('.')[0]] ||= []).push(path + '=' + value);
for (const name of Object.keys(by)) say(name + '.' + digest(by[name].join()));
say(found.length);
""")
ASKED = {
    "agent": "navigator.userAgentData.getHighEntropyValues(['architecture', 'bitness', 'model', 'platformVersion', 'fullVersionList', 'wow64', 'formFactors'])",
    "estimate": "navigator.storage.estimate()",
    "bucket": "navigator.storageBuckets.open('a').then(bucket => bucket.estimate())",
    "devices": "navigator.mediaDevices.enumerateDevices()",
    "battery": "navigator.getBattery()",
    "keyboard": "navigator.keyboard.getLayoutMap().then(map => [...map])",
    "screens": "getScreenDetails()",
    "voices": "speechSynthesis.getVoices()",
    "gpu": "navigator.gpu.requestAdapter().then(adapter => adapter && adapter.info)",
    "memory": "performance.measureUserAgentSpecificMemory()",
    "audio": "new AudioContext()",
    "audio-offline": "(c => { const o = new OscillatorNode(c), d = new DynamicsCompressorNode(c); o.connect(d).connect(c.destination); o.start(); return c.startRendering(); })(new OfflineAudioContext(1, 5000, 44100)).then(b => b.getChannelData(0).reduce((a, x) => a + Math.abs(x)))",
    "webgl": "(g => { const i = g.getExtension('WEBGL_debug_renderer_info'); return [i && g.getParameter(i.UNMASKED_VENDOR_WEBGL), i && g.getParameter(i.UNMASKED_RENDERER_WEBGL), g.getSupportedExtensions(), ...[3379, 3386, 34024, 34921, 34930, 35660, 35661, 36347, 36348, 36349, 7937, 7938, 35724].map(n => g.getParameter(n))]; })(document.createElement('canvas').getContext('webgl'))",
    "webgl2": "(g => [g.getSupportedExtensions(), ...[32883, 35071, 35373, 36063, 36183].map(n => g.getParameter(n))])(document.createElement('canvas').getContext('webgl2'))",
    "canvas": "(c => { const x = c.getContext('2d'); x.font = '16px sans-serif'; x.fillText('Cwm fjordbank 😀 漢', 2, 20); x.shadowBlur = 3; x.arc(50, 50, 20, 0, 7); x.fill(); return c.toDataURL(); })(document.createElement('canvas'))",
    "fonts": "['Arial', 'Times', 'Courier New', 'Verdana', 'Noto Sans', 'DejaVu Sans', 'Liberation Sans', 'Comic Sans MS', 'Ubuntu', 'Segoe UI', 'system-ui', 'emoji', 'monospace'].map(f => { const x = document.createElement('canvas').getContext('2d'); x.font = '20px \"' + f + '\", serif'; return x.measureText('mmmmWWllii 漢😀').width; })",
    "intl": "[new Intl.DateTimeFormat().resolvedOptions(), new Intl.NumberFormat().resolvedOptions(), new Intl.Collator().resolvedOptions(), new Date().toString(), new Date().toLocaleString(), new Date(0).getTimezoneOffset(), Intl.supportedValuesOf('timeZone').length, (1234.5).toLocaleString(), new Intl.DisplayNames(['ja'], {type: 'region'}).of('DE')]",
    "media-queries": "['(prefers-color-scheme: dark)', '(prefers-reduced-motion: reduce)', '(pointer: fine)', '(any-pointer: fine)', '(any-pointer: none)', '(hover: hover)', '(forced-colors: active)', '(inverted-colors: inverted)', '(color-gamut: p3)', '(dynamic-range: high)', '(prefers-contrast: more)', '(update: fast)', '(display-mode: browser)', '(prefers-reduced-data: reduce)', '(scripting: enabled)', '(resolution: 1dppx)', '(prefers-reduced-transparency: reduce)', '(video-dynamic-range: high)', '(device-posture: folded)', '(monochrome)', '(grid)'].map(q => matchMedia(q).matches)",
    "system-styles": "['caption', 'menu', 'icon', 'status-bar', 'small-caption', 'message-box'].map(f => { const e = document.createElement('i'); e.style.font = f; document.body.append(e); const s = getComputedStyle(e); return [s.fontFamily, s.fontSize]; }).concat(['AccentColor', 'Canvas', 'Highlight', 'LinkText', 'ButtonFace', 'Mark', 'Field', 'SelectedItem'].map(c => { const e = document.createElement('i'); e.style.color = c; document.body.append(e); return getComputedStyle(e).color; }))",
    "scrollbar": "(e => { e.style = 'overflow: scroll; width: 100px; height: 100px'; document.body.append(e); return [e.offsetWidth - e.clientWidth, e.offsetHeight - e.clientHeight]; })(document.createElement('div'))",
    "controls": "['select', 'input', 'textarea', 'button', 'progress', 'meter', 'video', 'audio'].map(n => { const e = document.createElement(n); if (n.length === 5) e.controls = true; document.body.append(e); const r = e.getBoundingClientRect(); return [n, r.width, r.height]; })",
    "inputs": "['date', 'time', 'color', 'file', 'range', 'number', 'month', 'datetime-local', 'checkbox'].map(t => { const e = document.createElement('input'); e.type = t; document.body.append(e); const r = e.getBoundingClientRect(); return [t, r.width, r.height]; })",
    "codecs": "['video/mp4; codecs=\"avc1.42E01E\"', 'video/webm; codecs=\"vp9\"', 'video/mp4; codecs=\"hev1.1.6.L93.B0\"', 'video/mp4; codecs=\"av01.0.04M.08\"', 'audio/mp4; codecs=\"mp4a.40.2\"', 'audio/flac', 'audio/ogg; codecs=opus'].map(t => [document.createElement('video').canPlayType(t), MediaSource.isTypeSupported(t)])",
    "capabilities": "navigator.mediaCapabilities.decodingInfo({type: 'file', video: {contentType: 'video/webm; codecs=\"vp9\"', width: 1920, height: 1080, bitrate: 1e6, framerate: 30}})",
    "permissions": "Promise.all(['geolocation', 'notifications', 'camera', 'microphone', 'clipboard-read', 'persistent-storage', 'midi', 'accelerometer', 'background-sync', 'screen-wake-lock', 'local-fonts', 'window-management', 'storage-access', 'idle-detection'].map(name => navigator.permissions.query({name}).then(s => name + s.state, e => name + e.name)))",
    "rtc-offer": "(async peer => { peer.createDataChannel('x'); peer.addTransceiver('audio'); return (await peer.createOffer()).sdp; })(new RTCPeerConnection())",
    "rtc-candidates": "new Promise(done => { const peer = new RTCPeerConnection(), all = []; peer.createDataChannel('x'); peer.onicecandidate = e => e.candidate ? all.push(e.candidate.candidate) : done(all); peer.setLocalDescription(); })",
    "rtc-certificate": "RTCPeerConnection.generateCertificate({name: 'ECDSA', namedCurve: 'P-256'}).then(c => [c.expires, c.getFingerprints()])",
    "rtc-peers": "(async () => { const a = new RTCPeerConnection(), b = new RTCPeerConnection(); a.createDataChannel('x'); await a.setLocalDescription(); await b.setRemoteDescription(a.localDescription); await b.setLocalDescription(await b.createAnswer()); await a.setRemoteDescription(new RTCSessionDescription(b.localDescription.toJSON())); return [a.signalingState, a.localDescription.sdp === b.remoteDescription.sdp, JSON.stringify(a.remoteDescription), a.iceGatheringState]; })()",
    "stream": "(s => [s.id, s.getTracks().map(t => [t.id, s.getTrackById(t.id) === t, t.label])])(document.createElement('canvas').captureStream())",
    "rtc-codecs": "[RTCRtpReceiver.getCapabilities('video'), RTCRtpSender.getCapabilities('audio')]",
    "key-aes": "crypto.subtle.generateKey({name: 'AES-GCM', length: 256}, true, ['encrypt']).then(k => crypto.subtle.exportKey('jwk', k))",
    "key-hmac": "crypto.subtle.generateKey({name: 'HMAC', hash: 'SHA-256'}, true, ['sign']).then(k => crypto.subtle.exportKey('jwk', k))",
    "key-ec": "crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-256'}, true, ['sign']).then(k => crypto.subtle.exportKey('jwk', k.publicKey))",
    "key-rsa": "crypto.subtle.generateKey({name: 'RSA-OAEP', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['encrypt', 'decrypt']).then(k => crypto.subtle.exportKey('jwk', k.publicKey))",
    "key-ed": "crypto.subtle.generateKey('Ed25519', true, ['sign']).then(k => crypto.subtle.exportKey('jwk', k.publicKey))",
    "key-x": "crypto.subtle.generateKey('X25519', true, ['deriveBits']).then(k => crypto.subtle.exportKey('jwk', k.publicKey))",
    "sign-ec": "Promise.all(['P-256', 'P-384', 'P-521'].map(async namedCurve => { const k = await crypto.subtle.generateKey({name: 'ECDSA', namedCurve}, false, ['sign', 'verify']); const how = {name: 'ECDSA', hash: 'SHA-384'}, data = new Uint8Array(99); const s = await crypto.subtle.sign(how, k.privateKey, data); return [await crypto.subtle.verify(how, k.publicKey, s, data), s.byteLength, new Uint8Array(s).slice(0, 9)]; }))",
    "sign-pss": "(async () => { const k = await crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, false, ['sign', 'verify']); const how = {name: 'RSA-PSS', saltLength: 20}, data = new Uint8Array(99); const s = await crypto.subtle.sign(how, k.privateKey, data); return [await crypto.subtle.verify(how, k.publicKey, s, data), new Uint8Array(s).slice(0, 9)]; })()",
    "encrypt-rsa": "(async () => { const k = await crypto.subtle.generateKey({name: 'RSA-OAEP', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-1'}, true, ['encrypt', 'decrypt', 'wrapKey']); const how = {name: 'RSA-OAEP', label: new Uint8Array([7])}; const s = await crypto.subtle.encrypt(how, k.publicKey, new Uint8Array([1, 2, 3])); const aes = await crypto.subtle.generateKey({name: 'AES-GCM', length: 256}, true, ['encrypt']); const w = await crypto.subtle.wrapKey('raw', aes, k.publicKey, how); return [new Uint8Array(await crypto.subtle.decrypt(how, k.privateKey, s)), new Uint8Array(s).slice(0, 9), (await crypto.subtle.decrypt(how, k.privateKey, w)).byteLength, new Uint8Array(w).slice(0, 9)]; })()",
    "import-rsa": "(async () => { const k = await crypto.subtle.generateKey({name: 'RSA-OAEP', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['encrypt', 'decrypt']); const spki = await crypto.subtle.exportKey('spki', k.publicKey); const i = await crypto.subtle.importKey('spki', spki, {name: 'RSA-OAEP', hash: 'SHA-256'}, false, ['encrypt']); const s = await crypto.subtle.encrypt('RSA-OAEP', i, new Uint8Array([5])); return [new Uint8Array(await crypto.subtle.decrypt('RSA-OAEP', k.privateKey, s)), new Uint8Array(s).slice(0, 9)]; })()",
    "timing": "[performance.getEntries().map(e => e.toJSON()), performance.timing.toJSON(), performance.now(), document.timeline.currentTime, performance.eventCounts.size]",
    "resource": "fetch('@/data').then(r => r.text()).then(() => performance.getEntriesByType('resource').map(e => e.toJSON()))",
    "observer": "new Promise(done => new PerformanceObserver(l => done(l.getEntries().map(e => e.toJSON()))).observe({type: 'paint', buffered: true}))",
    "observer-layout": "new Promise(done => { setTimeout(() => done('none'), 900); new PerformanceObserver(l => done(l.getEntries().map(e => e.toJSON()))).observe({type: 'largest-contentful-paint', buffered: true}); })",
    "observer-frames": "new Promise(done => { setTimeout(() => done('none'), 900); new PerformanceObserver(l => done(l.getEntries().map(e => e.toJSON()))).observe({type: 'long-animation-frame', buffered: true}); })",
    "events": "new Promise(done => addEventListener('x', e => done(e.timeStamp), {once: true}) || dispatchEvent(new Event('x')))",
    "stack": "(() => { try { null.x; } catch (e) { return [e.message, e.stack]; } })()",
    "recursion": "(() => { let n = 0; const f = () => { n++; f(); }; try { f(); } catch (e) { return [e.message, n > 5000]; } })()",
    "ids": "[crypto.randomUUID(), Math.random(), crypto.getRandomValues(new Uint8Array(4)), URL.createObjectURL(new Blob([])), navigation.currentEntry.key]",
    "worker": "new Promise(done => { new Worker(URL.createObjectURL(new Blob([`postMessage([self.name, navigator.hardwareConcurrency, navigator.cpuPerformance, navigator.deviceMemory, navigator.userAgent, navigator.language, performance.now(), performance.timeOrigin, Date.now(), Math.random(), crypto.randomUUID(), new Date().toString(), location.href, performance.memory && performance.memory.usedJSHeapSize, navigator.connection && navigator.connection.rtt])`]))).onmessage = e => done(e.data); })",
    "frame": "new Promise(done => { const f = document.createElement('iframe'); f.srcdoc = '<p>x'; f.onload = () => { const w = f.contentWindow; done([w.navigator.hardwareConcurrency, w.navigator.cpuPerformance, w.navigator.deviceMemory, w.Math.random(), w.crypto.randomUUID(), w.performance.timeOrigin, w.Date.now(), w.navigation.currentEntry && w.navigation.currentEntry.key, w.screen.width, w.devicePixelRatio]); }; document.body.append(f); })",
    "recorder": "[MediaRecorder.isTypeSupported('video/webm; codecs=vp9'), MediaRecorder.isTypeSupported('video/mp4')]",
    "support": "['display: grid', 'color: color(display-p3 1 1 1)', 'font-tech(color-COLRv1)', 'backdrop-filter: blur(1px)', 'anchor-name: --a'].map(c => CSS.supports(c))",
    "pressure": "PressureObserver.knownSources",
    "pointer": "[navigator.maxTouchPoints, 'ontouchstart' in window, navigator.getGamepads().length]",
    "speech-synthesis": "[speechSynthesis.pending, speechSynthesis.speaking]",
    "math": "[Math.tan(-1e300), Math.sinh(1), Math.expm1(1), Math.cbrt(100), Math.acosh(1e308), Math.pow(Math.PI, -100), (0.1 + 0.2), Math.atanh(0.5), Math.fround(5.5)]",
}
TELL = """
const known = new Set();
function tell(value, depth) {
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Node || value instanceof Window || known.has(value) || depth > 4) return '';
  known.add(value);
  if (ArrayBuffer.isView(value)) return [...value].join();
  const names = new Set(Array.isArray(value) ? value.keys() : []);
  if (!Array.isArray(value)) for (const name in value) names.add(name);
  return '{' + [...names].map(name => { let inner; try { inner = value[name]; } catch { inner = 'throws'; }
    return typeof inner === 'function' ? '' : name + '=' + tell(inner, depth + 1); }).filter(Boolean).join() + '}';
}
"""
for name, asked in ASKED.items():
    feature(
        f"value-{name}",
        f"{TELL}{DIGEST} let told; try {{ told = tell(await {asked}, 0); }} catch (error) {{ told ="
        " error.name; } say(digest(told));",
        files={"data": text("data")} if "@/" in asked else None,
    )
