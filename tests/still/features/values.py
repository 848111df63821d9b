"""What a page can read of its browser and machine: the values that scripts take for fingerprints.

Every value that can be reached from the window is read, and what a table of calls gives. They are
said as digests: the same in each visit, on each machine.
"""

from grammar import feature, text

DIGEST = """
const digest = text => { let sum = 0; for (const letter of text)
  sum = Math.imul(sum ^ letter.codePointAt(0), 16777619) >>> 0; return sum.toString(36); };
"""
# Reads all members, four names deep. What a page has made itself is left out.
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
      if (value instanceof Promise) value.catch(() => 0);
      else if (value === null || typeof value !== 'object') found.push([path + name, told(value)]);
      else if (!(value instanceof Node && depth > 0 || seen.has(value))) {
        seen.add(value);
        found.push([path + name, told(value).slice(0, 200)]);
        if (depth < 4) walk(value, path + name + '.', depth + 1);
      }
    }
  }
}
"""
feature(
    "values",
    WALK
    + DIGEST
    + """
walk(window, '', 0);
const by = Object.create(null);
for (const [path, value] of found) (by[path.split('.')[0]] ||= []).push(path + '=' + value);
for (const name of Object.keys(by).filter(name => by[name].length > 5))
  say(name + '.' + digest(by[name].join()));
say(digest(found.join()));
""",
)

EXPONENT = "publicExponent: new Uint8Array([1, 0, 1])"
OAEP = f"{{name: 'RSA-OAEP', modulusLength: 1024, {EXPONENT}, hash: 'SHA-1'}}"
ASKED = {
    "agent": """navigator.userAgentData.getHighEntropyValues(['architecture', 'bitness', 'model',
        'platformVersion', 'fullVersionList', 'wow64', 'formFactors'])""",
    "estimate": "navigator.storage.estimate()",
    "bucket": "navigator.storageBuckets.open('a').then(bucket => bucket.estimate())",
    "devices": "navigator.mediaDevices.enumerateDevices()",
    "battery": "navigator.getBattery()",
    "keyboard": "navigator.keyboard.getLayoutMap().then(map => [...map])",
    "voices": "speechSynthesis.getVoices()",
    "gpu": "navigator.gpu.requestAdapter().then(adapter => adapter && adapter.info)",
    "audio": "new AudioContext()",
    "audio-rendered": """(context => {
        const tone = new OscillatorNode(context), pressed = new DynamicsCompressorNode(context);
        tone.connect(pressed).connect(context.destination);
        tone.start();
        return context.startRendering();
    })(new OfflineAudioContext(1, 5000, 44100))
        .then(buffer => buffer.getChannelData(0).reduce((sum, value) => sum + Math.abs(value)))""",
    "webgl": """(gl => {
        const info = gl.getExtension('WEBGL_debug_renderer_info');
        return [gl.getParameter(info.UNMASKED_VENDOR_WEBGL),
            gl.getParameter(info.UNMASKED_RENDERER_WEBGL), gl.getSupportedExtensions(),
            ...[3379, 3386, 34024, 34921, 34930, 35660, 35661, 36347, 36348, 36349, 7937, 7938]
                .map(name => gl.getParameter(name))];
    })(document.createElement('canvas').getContext('webgl'))""",
    "webgl2": """(gl => [gl.getSupportedExtensions(),
        ...[32883, 35071, 35373, 36063, 36183].map(name => gl.getParameter(name))]
    )(document.createElement('canvas').getContext('webgl2'))""",
    "canvas": """(canvas => {
        const context = canvas.getContext('2d');
        context.font = '16px sans-serif';
        context.fillText('Cwm fjordbank \U0001f600 \u6f22', 2, 20);
        context.shadowBlur = 3;
        context.arc(50, 50, 20, 0, 7);
        context.fill();
        return canvas.toDataURL();
    })(document.createElement('canvas'))""",
    "fonts": """['Arial', 'Times', 'Courier New', 'Verdana', 'Noto Sans', 'DejaVu Sans', 'Ubuntu',
        'Liberation Sans', 'Segoe UI', 'system-ui', 'emoji', 'monospace'].map(name => {
        const context = document.createElement('canvas').getContext('2d');
        context.font = `20px "${name}", serif`;
        return context.measureText('mmmmWWllii \u6f22\U0001f600').width;
    })""",
    "intl": """[new Intl.DateTimeFormat().resolvedOptions(),
        new Intl.NumberFormat().resolvedOptions(), new Intl.Collator().resolvedOptions(), new Date(0).toString(), new Date(0).toLocaleString(),
        new Date(0).getTimezoneOffset(), Intl.supportedValuesOf('timeZone').length,
        (1234.5).toLocaleString(), new Intl.DisplayNames(['ja'], {type: 'region'}).of('DE')]""",
    "media-queries": """['prefers-color-scheme: dark', 'prefers-reduced-motion: reduce',
        'pointer: fine', 'any-pointer: none', 'hover: hover', 'forced-colors: active',
        'inverted-colors: inverted', 'color-gamut: p3', 'dynamic-range: high', 'update: fast',
        'prefers-contrast: more', 'display-mode: browser', 'prefers-reduced-data: reduce',
        'prefers-reduced-transparency: reduce', 'video-dynamic-range: high', 'monochrome', 'grid'
        ].map(query => matchMedia(`(${query})`).matches)""",
    "system-styles": """['caption', 'menu', 'icon', 'status-bar'].map(font => {
        here.style.font = font;
        return [getComputedStyle(here).fontFamily, getComputedStyle(here).fontSize];
    }).concat(['AccentColor', 'Canvas', 'Highlight', 'LinkText', 'ButtonFace'].map(color => {
        here.style.color = color;
        return getComputedStyle(here).color;
    }))""",
    "controls": """['select', 'input', 'textarea', 'button', 'progress', 'meter', 'video'].concat(
        ['date', 'week', 'color', 'file', 'range', 'number', 'month', 'checkbox']).map(name => {
        const isType = here.ownerDocument.createElement(name) instanceof HTMLUnknownElement;
        const element = document.createElement(isType ? 'input' : name);
        if (isType) element.type = name;
        here.append(element);
        const {width, height} = element.getBoundingClientRect();
        return [name, width, height];
    })""",
    "scrollbar": """(() => {
        here.style = 'overflow: scroll; width: 100px; height: 100px';
        return [here.offsetWidth - here.clientWidth, here.offsetHeight - here.clientHeight];
    })()""",
    "codecs": """['video/mp4; codecs="avc1.42E01E"', 'video/webm; codecs="vp9"', 'audio/flac',
        'video/mp4; codecs="hev1.1.6.L93.B0"', 'audio/mp4; codecs="mp4a.40.2"'].map(type =>
        [document.createElement('video').canPlayType(type), MediaSource.isTypeSupported(type),
        MediaRecorder.isTypeSupported(type)])""",
    "capabilities": """navigator.mediaCapabilities.decodingInfo({type: 'file', video: {contentType:
        'video/webm; codecs="vp9"', width: 1920, height: 1080, bitrate: 1e6, framerate: 30}})""",
    "permissions": """Promise.all(['geolocation', 'notifications', 'camera', 'microphone', 'midi',
        'clipboard-read', 'persistent-storage', 'accelerometer', 'background-sync', 'local-fonts',
        'screen-wake-lock', 'window-management', 'storage-access', 'idle-detection'].map(name =>
        navigator.permissions.query({name}).then(({state}) => state, error => error.name)))""",
    "rtc-offer": """(async peer => {
        peer.createDataChannel('x');
        peer.addTransceiver('audio');
        return (await peer.createOffer()).sdp;
    })(new RTCPeerConnection())""",
    "rtc-candidates": """new Promise(done => {
        const peer = new RTCPeerConnection(), all = [];
        peer.createDataChannel('x');
        peer.onicecandidate = ({candidate: one}) => one ? all.push(one.candidate) : done(all);
        peer.setLocalDescription();
    })""",
    "rtc-peers": """(async (one, other) => {
        one.createDataChannel('x');
        await one.setLocalDescription();
        await other.setRemoteDescription(one.localDescription);
        await other.setLocalDescription(await other.createAnswer());
        await one.setRemoteDescription(new RTCSessionDescription(other.localDescription.toJSON()));
        return [one.signalingState, one.localDescription.sdp === other.remoteDescription.sdp,
            JSON.stringify(one.remoteDescription), one.iceGatheringState];
    })(new RTCPeerConnection(), new RTCPeerConnection())""",
    "rtc-certificate": """RTCPeerConnection
        .generateCertificate({name: 'ECDSA', namedCurve: 'P-256'}).then(made => [made.expires, made.getFingerprints()])""",
    "rtc-codecs": """[RTCRtpReceiver.getCapabilities('video'),
        RTCRtpSender.getCapabilities('audio')]""",
    "stream": """(stream => [stream.id, stream.getTracks().map(track =>
        [track.id, stream.getTrackById(track.id) === track, track.label])]
    )(document.createElement('canvas').captureStream())""",
    "key-rsa": f"""crypto.subtle.generateKey({OAEP}, true, ['encrypt', 'decrypt'])
        .then(key => crypto.subtle.exportKey('jwk', key.publicKey))""",
    "sign-ec": """Promise.all(['P-256', 'P-384', 'P-521'].map(async namedCurve => {
        const key = await crypto.subtle.generateKey({name: 'ECDSA', namedCurve}, false,
            ['sign', 'verify']);
        const how = {name: 'ECDSA', hash: 'SHA-384'}, data = new Uint8Array(99);
        const signed = await crypto.subtle.sign(how, key.privateKey, data);
        const holds = await crypto.subtle.verify(how, key.publicKey, signed, data);
        return [holds, new Uint8Array(signed)];
    }))""",
    "sign-pss": f"""(async () => {{
        const key = await crypto.subtle.generateKey({{name: 'RSA-PSS', modulusLength: 1024,
            {EXPONENT}, hash: 'SHA-256'}}, false, ['sign', 'verify']);
        const how = {{name: 'RSA-PSS', saltLength: 20}}, data = new Uint8Array(99);
        const signed = await crypto.subtle.sign(how, key.privateKey, data);
        const holds = await crypto.subtle.verify(how, key.publicKey, signed, data);
        return [holds, new Uint8Array(signed)];
    }})()""",
    "encrypt-rsa": f"""(async () => {{
        const uses = ['encrypt', 'decrypt', 'wrapKey'];
        const key = await crypto.subtle.generateKey({OAEP}, true, uses);
        const how = {{name: 'RSA-OAEP', label: new Uint8Array([7])}};
        const hidden = await crypto.subtle.encrypt(how, key.publicKey, new Uint8Array([1, 2, 3]));
        const aes = await crypto.subtle.generateKey({{name: 'AES-GCM', length: 256}}, true,
            ['encrypt']);
        const wrapped = await crypto.subtle.wrapKey('raw', aes, key.publicKey, how);
        return [new Uint8Array(hidden), new Uint8Array(wrapped),
            new Uint8Array(await crypto.subtle.decrypt(how, key.privateKey, hidden)),
            new Uint8Array(await crypto.subtle.decrypt(how, key.privateKey, wrapped))];
    }})()""",
    "import-rsa": f"""(async () => {{
        const key = await crypto.subtle.generateKey({OAEP}, true, ['encrypt', 'decrypt']);
        const spki = await crypto.subtle.exportKey('spki', key.publicKey);
        const own = await crypto.subtle.importKey('spki', spki, {{name: 'RSA-OAEP', hash: 'SHA-1'}},
            false, ['encrypt']);
        const hidden = await crypto.subtle.encrypt('RSA-OAEP', own, new Uint8Array([5]));
        return [new Uint8Array(await crypto.subtle.decrypt('RSA-OAEP', key.privateKey, hidden)),
            new Uint8Array(hidden)];
    }})()""",
    "timing": """[performance.getEntriesByType('navigation').map(entry => entry.toJSON()),
        performance.timing.toJSON(), performance.eventCounts.size]""",
    "resource": """fetch('@/data').then(response => response.text()).then(() =>
        performance.getEntriesByType('resource').filter(entry => entry.name.endsWith('/data'))
        .map(entry => entry.toJSON()))""",
    "stack": "(() => { try { null.x; } catch (error) { return [error.message, error.stack]; } })()",
    "ids": """[crypto.randomUUID(), Math.random(), crypto.getRandomValues(new Uint8Array(4)),
        navigation.currentEntry.key]""",
    "worker": """new Promise(done => {
        new Worker(URL.createObjectURL(new Blob([`postMessage([self.name, navigator.hardwareConcurrency, navigator.cpuPerformance, navigator.deviceMemory,
        navigator.userAgent, navigator.language, performance.now(), performance.timeOrigin,
        Date.now(), Math.random(), crypto.randomUUID(), new Date(0).toString(), navigator.connection.rtt])`
        ]))).onmessage = ({data}) => done(data); })""",
    "frame": """new Promise(done => {
        const frame = document.createElement('iframe');
        frame.srcdoc = '<p>x';
        frame.onload = () => {
            const {navigator, Math, crypto, performance, navigation, screen} = frame.contentWindow;
            done([navigator.hardwareConcurrency, navigator.cpuPerformance, navigator.deviceMemory,
                Math.random(), crypto.randomUUID(), performance.timeOrigin, screen.width,
                navigation.currentEntry && navigation.currentEntry.key]);
        };
        here.append(frame);
    })""",
    "math": """[Math.tan(-1e300), Math.sinh(1), Math.expm1(1), Math.cbrt(100), Math.acosh(1e308),
        Math.pow(Math.PI, -100), Math.atanh(0.5)]""",
}
# What can be read of a value, four names deep.
TELL = """
const known = new Set();
function tell(value, depth) {
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Node || value instanceof Window || known.has(value) || depth > 4) return '';
  known.add(value);
  if (ArrayBuffer.isView(value)) return [...value].join();
  const names = [];
  for (const name in value) names.push(name);
  return '{' + names.map(name => {
    let inner;
    try { inner = value[name]; } catch { inner = 'throws'; }
    return typeof inner === 'function' ? '' : name + '=' + tell(inner, depth + 1);
  }).join() + '}';
}
"""
for name, asked in ASKED.items():
    feature(
        f"value-{name}",
        f"{TELL}{DIGEST} say(digest(tell(await {asked}, 0)));",
        files={"data": text("data")} if "@/" in asked else None,
    )
