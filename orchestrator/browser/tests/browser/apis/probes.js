// One entry for each interface by which a page could tell one run from another. Each gives what it
// sees, as text or as something that JSON can say; one that is not there in a realm gives that. Run
// in documents and in workers.
const there = (thing, what) => { if (!thing) throw new Error(`no ${what}`); return thing; };
const entries = (type) => performance.getEntriesByType(type).map(e => JSON.stringify(e));
const numbers = (object, ...names) => names.map(name => object[name]);
const bytes = (buffer) => [...new Uint8Array(buffer)].slice(0, 16).join();
const after = (milliseconds) => new Promise(done => setTimeout(done, milliseconds));
const event = (target, name) => new Promise(done => target.addEventListener(name, done, { once: true }));
const observed = (type, act) => new Promise(done => {
  there(self.PerformanceObserver, 'PerformanceObserver');
  new PerformanceObserver(list => done(list.getEntries().map(e => JSON.stringify(e)))).observe({ type, buffered: true });
  act?.();
});
const url = (text, type) => URL.createObjectURL(new Blob([text], { type }));
const draw = (context) => {
  context.fillStyle = '#269'; context.font = '20px sans-serif'; context.fillText('Wörter 12', 4, 24); context.arc(60, 40, 18.3, 0, 5); context.stroke();
};
const gl = (canvas) => there(canvas.getContext('webgl'), 'webgl');
const PROBES = {
  'Date': () => [Date.now(), String(new Date()), Date(), new Date(0).getTimezoneOffset(), new Date().toLocaleString()],
  'Math.random': () => [Math.random(), Math.random()],
  'performance.now': () => [performance.now(), performance.now()],
  'performance.timeOrigin': () => performance.timeOrigin,
  'performance.timing': () => JSON.stringify(there(performance.timing, 'timing')),
  'performance.navigation': () => JSON.stringify(there(performance.navigation, 'navigation')),
  'performance.memory': () => numbers(there(performance.memory, 'memory'), 'usedJSHeapSize', 'totalJSHeapSize', 'jsHeapSizeLimit'),
  'performance.toJSON': () => JSON.stringify(performance.toJSON()),
  'performance.eventCounts': () => [...there(performance.eventCounts, 'eventCounts').entries()].filter(([, n]) => n).join(),
  'performance.interactionCount': () => String(performance.interactionCount),
  'entries navigation': () => entries('navigation'),
  'entries resource': async () => { await fetch('/data.json').then(a => a.text()); return entries('resource').sort(); },
  'entries paint': () => entries('paint'),
  'entries visibility-state': () => entries('visibility-state'),
  'performance.mark': () => [performance.mark('a').startTime, performance.mark('b', { detail: 1 }).startTime, performance.mark('c', { startTime: 5 }).startTime],
  'performance.measure': () => { performance.mark('m'); return JSON.stringify([performance.measure('x', 'm'), performance.measure('y', { start: 1, end: 3 }), performance.measure('z')]); },
  'observer mark': () => observed('mark', () => performance.mark('seen')),
  'observer resource': async () => { await fetch('/data.json').then(a => a.text()); return (await observed('resource')).sort(); },
  'observer navigation': () => observed('navigation'),
  'observer longtask': async () => { for (let n = 0, x = 0; n < 3e7; n++) x += n; await after(20); return Promise.race([observed('longtask'), after(200)]); },
  'observer long-animation-frame': () => Promise.race([observed('long-animation-frame'), after(200)]),
  'observer largest-contentful-paint': () => Promise.race([observed('largest-contentful-paint'), after(200)]),
  'observer layout-shift': () => Promise.race([observed('layout-shift'), after(200)]),
  'observer event': () => Promise.race([observed('event'), after(200)]),
  'observer element': () => Promise.race([observed('element'), after(200)]),
  'measureUserAgentSpecificMemory': async () => (await there(performance.measureUserAgentSpecificMemory, 'it').call(performance)).bytes,
  'getRandomValues': () => crypto.getRandomValues(new Uint32Array(3)).join(),
  'randomUUID': () => crypto.randomUUID(),
  'subtle.generateKey AES': async () => bytes(await crypto.subtle.exportKey('raw', await crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, ['encrypt']))),
  'subtle.generateKey HMAC': async () => bytes(await crypto.subtle.exportKey('raw', await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, ['sign']))),
  'subtle.generateKey ECDSA': async () => (await crypto.subtle.exportKey('jwk', (await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])).publicKey)).x,
  'subtle.generateKey ECDH': async () => (await crypto.subtle.exportKey('jwk', (await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])).privateKey)).d,
  'subtle.generateKey Ed25519': async () => { const k = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']); return bytes(await crypto.subtle.sign('Ed25519', k.privateKey, new Uint8Array(4))); },
  'subtle.generateKey P-521': async () => { const k = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-521' }, false, ['sign', 'verify']); return [k.privateKey.extractable, k.privateKey.usages, k.publicKey.usages, (await crypto.subtle.exportKey('jwk', k.publicKey)).y]; },
  'subtle keys agree': async () => {
    const k = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']), how = { name: 'ECDSA', hash: 'SHA-256' };
    return crypto.subtle.verify(how, k.publicKey, await crypto.subtle.sign(how, k.privateKey, new Uint8Array(4)), new Uint8Array(4));
  },
  'subtle order': async () => {
    const said = [];
    const big = new Uint8Array(1 << 18), small = new Uint8Array(4);
    await Promise.all([['SHA-512', big], ['SHA-1', small], ['SHA-256', big], ['SHA-384', small]].map(([name, data]) => crypto.subtle.digest(name, data).then(() => said.push(name))));
    return said;
  },
  'setTimeout': async () => { const start = performance.now(); await after(250); return performance.now() - start; },
  'setInterval': async () => { const seen = []; const timer = setInterval(() => seen.push(performance.now()), 130); await after(500); clearInterval(timer); return seen; },
  'requestAnimationFrame': () => new Promise(done => there(self.requestAnimationFrame, 'frames')(t => done([t, performance.now()]))),
  'requestIdleCallback': () => new Promise(done => there(self.requestIdleCallback, 'idle')(d => done([d.didTimeout, d.timeRemaining(), d instanceof IdleDeadline]), { timeout: 100 })),
  'queueMicrotask order': async () => { const said = []; setTimeout(() => said.push('timer')); queueMicrotask(() => said.push('micro')); Promise.resolve().then(() => said.push('promise')); await after(20); return said; },
  'scheduler.postTask': async () => {
    const said = [];
    const ask = (priority, delay) => there(self.scheduler, 'scheduler').postTask(() => said.push(priority + (delay ?? '')), { priority, delay });
    await Promise.all([ask('background'), ask('user-visible'), ask('user-blocking'), ask('background', 50), ask('user-blocking', 60)]); return said;
  },
  'scheduler.yield': async () => { const said = []; setTimeout(() => said.push('timer')); await there(self.scheduler?.yield, 'yield').call(scheduler).then(() => said.push('yield')); await after(20); return said; },
  'MessageChannel order': async () => {
    const said = []; const one = new MessageChannel(), two = new MessageChannel();
    one.port1.onmessage = e => said.push(e.data); two.port1.onmessage = e => said.push(e.data);
    one.port2.postMessage('a'); two.port2.postMessage('b'); one.port2.postMessage('c'); await after(50); return said;
  },
  'BroadcastChannel': async () => { const name = `b${location.pathname}`; const a = new BroadcastChannel(name), b = new BroadcastChannel(name), said = []; b.onmessage = e => said.push(e.data); a.postMessage(1); a.postMessage(2); await after(100); return said; },
  'event.timeStamp': async () => { const seen = []; addEventListener('probe', e => seen.push(e.timeStamp)); dispatchEvent(new Event('probe')); await after(40); dispatchEvent(new Event('probe')); return seen; },
  'Error.stack': () => new Error('x').stack.split('\n').length > 1,
  'Function.toString': () => [String(Date.now), String(Math.random), String(performance.now), String(setTimeout), String(Date)],
  'Date own': () => [Date.name, Date.length, Object.getOwnPropertyNames(Date).join(), new Date() instanceof Date, Object.prototype.toString.call(new Date())],
  'Intl defaults': () => [JSON.stringify(Intl.DateTimeFormat().resolvedOptions()), new Intl.NumberFormat().format(1234.5), new Intl.DateTimeFormat('en', { timeStyle: 'full' }).format()],
  'Intl formatToParts': () => JSON.stringify(new Intl.DateTimeFormat('en', { timeStyle: 'medium' }).formatToParts()),
  'Temporal': () => String(there(self.Temporal, 'Temporal').Now.instant()),
  'navigator': () => numbers(navigator, 'userAgent', 'platform', 'language', 'languages', 'onLine', 'webdriver', 'maxTouchPoints', 'pdfViewerEnabled', 'cookieEnabled', 'doNotTrack', 'vendor'),
  'hardwareConcurrency': () => numbers(navigator, 'hardwareConcurrency', 'deviceMemory'),
  'navigator.connection': () => numbers(there(navigator.connection, 'connection'), 'effectiveType', 'rtt', 'downlink', 'downlinkMax', 'type', 'saveData'),
  'userAgentData': async () => JSON.stringify(await there(navigator.userAgentData, 'userAgentData').getHighEntropyValues(['architecture', 'bitness', 'model', 'platformVersion', 'uaFullVersion', 'fullVersionList', 'wow64', 'formFactors'])),
  'getBattery': async () => numbers(await there(navigator.getBattery, 'getBattery').call(navigator), 'charging', 'level', 'chargingTime', 'dischargingTime'),
  'storage.estimate': async () => JSON.stringify(await there(navigator.storage, 'storage').estimate()),
  'storage.persisted': async () => navigator.storage.persisted(),
  'navigator.locks': async () => { const said = []; const ask = (n, t) => navigator.locks.request(`l${location.pathname}`, async () => { said.push(n); await after(t); }); await Promise.all([ask('a', 50), ask('b', 20), ask('c', 1)]); return said; },
  'locks.query': async () => { const all = await navigator.locks.query(); return [all.held.length >= 0, typeof all.held[0]?.clientId]; },
  'mediaDevices': async () => (await there(navigator.mediaDevices, 'mediaDevices').enumerateDevices()).map(d => JSON.stringify(d)),
  'mediaCapabilities': async () => JSON.stringify(await there(navigator.mediaCapabilities, 'it').decodingInfo({ type: 'file', video: { contentType: 'video/webm; codecs="vp8"', width: 800, height: 600, bitrate: 1000, framerate: 30 } })),
  'speechSynthesis': () => there(self.speechSynthesis, 'speech').getVoices().length,
  'getGamepads': () => there(navigator.getGamepads, 'gamepads').call(navigator).filter(Boolean).length,
  'permissions': async () => (await Promise.all(['geolocation', 'notifications', 'camera'].map(name => navigator.permissions.query({ name })))).map(p => p.state),
  'navigator.gpu': async () => { const a = await there(navigator.gpu, 'gpu').requestAdapter(); return a && JSON.stringify([a.info?.vendor, a.info?.architecture]); },
  'navigator.keyboard': async () => (await there(navigator.keyboard, 'keyboard').getLayoutMap()).size,
  'userActivation': () => numbers(there(navigator.userActivation, 'userActivation'), 'isActive', 'hasBeenActive'),
  'wakeLock': () => there(navigator.wakeLock, 'wakeLock').request('screen').then(l => l.type, e => e.name),
  'PressureObserver': async () => { const seen = []; const o = new (there(self.PressureObserver, 'it'))(r => seen.push(r[0].state)); await Promise.race([o.observe('cpu', { sampleInterval: 100 }).catch(e => seen.push(e.name)), after(200)]); await after(300); o.disconnect(); return seen; },
  'IdleDetector': () => typeof there(self.IdleDetector, 'it'),
  'ReportingObserver': async () => { const seen = []; new (there(self.ReportingObserver, 'it'))(r => seen.push(r.map(x => x.type))).observe(); await after(50); return seen; },
  'indexedDB order': async () => {
    const open = indexedDB.open(`d${location.pathname}`, 1); open.onupgradeneeded = () => open.result.createObjectStore('s', { autoIncrement: true });
    await event(open, 'success'); const said = [];
    const add = (n) => { const t = open.result.transaction('s', 'readwrite'); t.objectStore('s').add(n).onsuccess = e => said.push([n, e.target.result]); return event(t, 'complete').then(() => said.push(`${n} done`)); };
    await Promise.all([add(1), add(2), add(3)]); return said;
  },
  'indexedDB.databases': async () => (await indexedDB.databases()).map(d => d.version).length >= 0,
  'files of the origin': async () => {
    const root = await there(navigator.storage, 'storage').getDirectory(), begin = performance.now();
    const file = await root.getFileHandle(`f${location.pathname.slice(1)}`, { create: true });
    const writable = await there(file.createWritable && file, 'createWritable').createWritable();
    await writable.write('text'); await writable.close();
    const names = []; for await (const name of root.keys()) names.push(name);
    return [await (await file.getFile()).text(), (await file.getFile()).lastModified, names.length, performance.now() - begin];
  },
  'caches': async () => { const c = await there(self.caches, 'caches').open(`c${location.pathname}`); await c.put('/x', new Response('1')); return [(await c.keys()).length, await (await c.match('/x')).text()]; },
  'cookieStore': async () => JSON.stringify(await there(self.cookieStore, 'cookieStore').getAll()),
  'FileReader': async () => { const said = []; await Promise.all(['a', 'b', 'c'].map(n => { const r = new FileReader(); r.readAsText(new Blob([n.repeat(n === 'a' ? 1e5 : 5)])); return event(r, 'load').then(() => said.push(n)); })); return said; },
  'Blob.stream': async () => { const r = new Blob(['x'.repeat(2e5)]).stream().getReader(); let n = 0; for (;;) { const { done, value } = await r.read(); if (done) return n; n += value.length; } },
  'File.lastModified': () => [new File([''], 'f').lastModified, new File([''], 'g', { lastModified: 5 }).lastModified],
  'CompressionStream': async () => bytes(await new Response(new Blob(['hello hello hello']).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer()),
  'WebAssembly': async () => { const said = []; const m = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]); await Promise.all([WebAssembly.compile(m).then(() => said.push('c')), WebAssembly.instantiate(m).then(() => said.push('i'))]); return said.sort(); },
  'fetch order': async () => { const said = []; await Promise.all(['/a.json', '/b.json', '/data.json'].map(n => fetch(n).then(a => a.text()).then(() => said.push(n)))); return said; },
  'Response.headers': async () => [...(await fetch('/data.json')).headers.keys()].join(),
  'import()': async () => { const said = []; await Promise.all(['/a.mjs.js', '/b.mjs.js'].map(n => import(n).then(m => said.push(m.default)))); return said; },
  'AbortSignal.timeout': async () => { const start = performance.now(); const s = AbortSignal.timeout(120); await event(s, 'abort'); return performance.now() - start; },
  'SharedArrayBuffer': () => typeof self.SharedArrayBuffer,
  'Atomics.waitAsync': () => { const a = new Int32Array(new (there(self.SharedArrayBuffer, 'it'))(4)); return Atomics.waitAsync(a, 0, 0, 30).value; },
  'Atomics.wait': () => { const a = new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer); try { const t = performance.now(); return [Atomics.wait(a, 0, 0, 20), performance.now() - t]; } catch (e) { return e.name; } },
  'FinalizationRegistry': () => typeof self.FinalizationRegistry,
  'createImageBitmap': async () => { const said = []; const make = (n, s) => createImageBitmap(new ImageData(s, s)).then(() => said.push(n)); await Promise.all([make('big', 900), make('small', 4), make('mid', 60)]); return said; },
  'OffscreenCanvas': async () => { const c = new OffscreenCanvas(120, 60); draw(c.getContext('2d')); const b = await c.convertToBlob(); return [b.size, bytes(await crypto.subtle.digest('SHA-1', await b.arrayBuffer()))]; },
  'OffscreenCanvas webgl': () => { const c = gl(new OffscreenCanvas(8, 8)); const e = c.getExtension('WEBGL_debug_renderer_info'); return [c.getParameter(c.VERSION), c.getParameter(e?.UNMASKED_RENDERER_WEBGL ?? c.RENDERER), c.getSupportedExtensions().length]; },
  'canvas': () => { const c = there(self.document, 'document').createElement('canvas'); draw(c.getContext('2d')); return c.toDataURL().length + c.toDataURL().slice(-40); },
  'canvas.toBlob': () => new Promise(done => { const c = there(self.document, 'document').createElement('canvas'); draw(c.getContext('2d')); c.toBlob(b => done(b.size)); }),
  'webgl readPixels': () => { const c = gl(there(self.document, 'document').createElement('canvas')); c.clearColor(.2, .4, .6, 1); c.clear(c.COLOR_BUFFER_BIT); const p = new Uint8Array(4); c.readPixels(0, 0, 1, 1, c.RGBA, c.UNSIGNED_BYTE, p); return p.join(); },
  'AudioContext': async () => { const a = new (there(self.AudioContext, 'audio'))(); const t = numbers(a, 'currentTime', 'state', 'sampleRate', 'baseLatency', 'outputLatency'); await after(300); return [...t, a.currentTime, JSON.stringify(a.getOutputTimestamp())]; },
  'OfflineAudioContext': async () => { const a = new (there(self.OfflineAudioContext, 'audio'))(1, 4000, 44100); const o = a.createOscillator(), c = a.createDynamicsCompressor(); o.connect(c).connect(a.destination); o.start(); return (await a.startRendering()).getChannelData(0).reduce((s, x) => s + Math.abs(x), 0); },
  'video': async () => { const v = there(self.document, 'document').createElement('video'); const t = [v.currentTime, v.readyState, v.canPlayType('video/webm')]; await Promise.race([v.play().catch(e => t.push(e.name)), after(50)]); return t; },
  'RTCPeerConnection': async () => { const p = new (there(self.RTCPeerConnection, 'rtc'))(); p.createDataChannel('x'); const o = await p.createOffer(); return o.sdp.split('\r\n').filter(l => /^(o=|a=ice-ufrag|a=ice-pwd|a=fingerprint)/.test(l)).join(); },
  'RTCCertificate': async () => { const c = await there(self.RTCPeerConnection, 'rtc').generateCertificate({ name: 'ECDSA', namedCurve: 'P-256' }); return [c.expires, c.getFingerprints()[0]?.value]; },
  'IntersectionObserver': () => new Promise(done => { const d = document.body; new (there(self.IntersectionObserver, 'it'))(e => done([e[0].time, e[0].isIntersecting])).observe(d); }),
  'ResizeObserver': () => new Promise(done => new (there(self.ResizeObserver, 'it'))(e => done(e[0].contentRect.width)).observe(document.body)),
  'MutationObserver': async () => { const seen = []; const d = there(self.document, 'document').createElement('p'); new MutationObserver(r => seen.push(r.length)).observe(d, { attributes: true }); d.id = 'a'; d.title = 'b'; await 0; await after(1); return seen; },
  'Web Animations': async () => { const a = there(self.document, 'document').body.animate([{ opacity: .9 }, { opacity: 1 }], 1000); const t = [a.startTime, a.currentTime]; await a.ready; t.push(a.startTime, a.currentTime); await after(300); t.push(a.currentTime, a.playState); a.cancel(); return t; },
  'CSS animation': async () => { const d = there(self.document, 'document').createElement('i'); d.style.cssText = 'display:block;width:0;transition:width 500ms linear'; document.body.append(d); d.offsetWidth; d.style.width = '100px'; await after(200); const w = [getComputedStyle(d).width]; await after(400); w.push(getComputedStyle(d).width); d.remove(); return w; },
  'document.timeline': () => there(self.document, 'document').timeline.currentTime,
  'document.getAnimations': () => there(self.document, 'document').getAnimations().length,
  'document.lastModified': () => there(self.document, 'document').lastModified,
  'document facts': () => numbers(there(self.document, 'document'), 'readyState', 'hidden', 'visibilityState', 'referrer', 'charset', 'wasDiscarded', 'prerendering'),
  'document.hasFocus': () => there(self.document, 'document').hasFocus(),
  'fonts': async () => { const f = there(self.document?.fonts ?? self.fonts, 'fonts'); await f.ready; return [f.status, f.size, f.check('12px serif'), f.check('12px Nowhere')]; },
  'font metrics': () => { const c = new OffscreenCanvas(9, 9).getContext('2d'); return ['serif', 'sans-serif', 'monospace', 'Arial', 'system-ui', 'Nowhere'].map(f => { c.font = `31px ${f}`; return c.measureText('mmmwwWiii').width; }); },
  'screen': () => numbers(there(self.screen, 'screen'), 'width', 'height', 'availWidth', 'availHeight', 'colorDepth', 'isExtended').concat(screen.orientation.type),
  'window': () => { there(self.document, 'document'); return numbers(self, 'innerWidth', 'innerHeight', 'outerWidth', 'outerHeight', 'screenX', 'screenY', 'devicePixelRatio', 'name', 'length', 'isSecureContext', 'crossOriginIsolated'); },
  'visualViewport': () => numbers(there(self.visualViewport, 'it'), 'width', 'height', 'scale', 'offsetTop'),
  'matchMedia': () => ['(prefers-color-scheme: dark)', '(prefers-reduced-motion)', '(hover)', '(pointer: fine)', '(display-mode: browser)', '(update: fast)', '(color-gamut: p3)', '(dynamic-range: high)', '(forced-colors: active)'].map(q => there(self.matchMedia, 'it')(q).matches),
  'history': () => there(self.history, 'history').length,
  'navigation.key': () => { const e = there(self.navigation, 'navigation').currentEntry; return [e?.key, e?.id, e?.index]; },
  'blob URL': () => { const u = URL.createObjectURL(new Blob(['x'])); return [u.startsWith('blob:'), u.length]; },
  'storage event': () => { try { localStorage.setItem('k', '1'); return localStorage.length >= 1; } catch (e) { return 'no localStorage'; } },
  'structuredClone': () => JSON.stringify(structuredClone({ d: new Date(), m: new Map([[1, 2]]) })),
  'customElements': async () => { there(self.customElements, 'it'); const name = `x-${Math.floor(Math.random() * 1e9)}`; customElements.define(name, class extends HTMLElement {}); return Boolean(await customElements.whenDefined(name)); },
  'trustedTypes': () => typeof self.trustedTypes,
  'paintWorklet': () => typeof self.CSS?.paintWorklet,
  'WebTransport': () => typeof self.WebTransport,
  'WebSocket': async () => { const s = new WebSocket('ws://nobody.test/'); return (await event(s, 'close')).code; },
  'sendBeacon': () => there(navigator.sendBeacon, 'it').call(navigator, '/data.json', 'x'),
  'XMLHttpRequest': async () => { const x = new (there(self.XMLHttpRequest, 'it'))(); x.open('GET', '/data.json'); x.send(); const e = await event(x, 'load'); return [x.responseText, e.loaded, e.timeStamp]; },
  'clientId': async () => { const c = await there(self.clients, 'clients').matchAll({ includeUncontrolled: true, type: 'all' }); return c.length >= 0; },
};

async function probe(name) {
  try {
    const seen = await Promise.race([PROBES[name](), after(800).then(() => 'nothing')]);
    return `${name}: ${JSON.stringify(seen) ?? 'undefined'}`;
  } catch (error) { return `${name}: ${error?.name}: ${error?.message}`; }
}
// Each begins at a time of its own, so that what one does to the clock is not seen in those after
// it.
async function probes(realm, tell) {
  let slot = 0;
  for (const name of Object.keys(PROBES)) {
    slot += 1000;
    if (slot - performance.now() > 100) await after(slot - 100 - performance.now());
    while (performance.now() < slot) await after(1);
    tell(`${realm} ${await probe(name)}`);
  }
  tell(`${realm} is done`);
}
