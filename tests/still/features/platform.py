"""What the browser offers beside pages: crypto, compression, permissions, texts, WebAssembly."""

from grammar import feature

ZIP = (
    "new Response(new Blob(['a'.repeat(9000)]).stream().pipeThrough(new CompressionStream('gzip')))"
)

feature(
    "crypto-digest",
    "say(new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(9)))[0]);",
)
feature(
    "crypto-two",
    "crypto.subtle.digest('SHA-512', new Uint8Array(3e6)).then(() => say('large'));"
    " crypto.subtle.digest('SHA-1', new Uint8Array(3)).then(() => say('small')); setTimeout(() =>"
    " say('timer'));",
)
feature(
    "crypto-key",
    "const k = await crypto.subtle.generateKey({name: 'AES-GCM', length: 256}, true, ['encrypt']);"
    " say((await crypto.subtle.encrypt({name: 'AES-GCM', iv: new Uint8Array(12)}, k, new"
    " Uint8Array(5))).byteLength);",
)
feature(
    "crypto-sign",
    "const k = await crypto.subtle.importKey('raw', new Uint8Array(16), {name: 'HMAC', hash:"
    " 'SHA-256'}, false, ['sign']); say(new Uint8Array(await crypto.subtle.sign('HMAC', k, new"
    " Uint8Array(4)))[0]);",
)
feature(
    "crypto-derive",
    "const k = await crypto.subtle.importKey('raw', new Uint8Array(16), 'PBKDF2', false,"
    " ['deriveBits']); say((await crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', salt:"
    " new Uint8Array(8), iterations: 20000}, k, 128)).byteLength);",
)
feature("compression", f"say((await {ZIP}.arrayBuffer()).byteLength);")
feature(
    "decompression",
    f"const z = await {ZIP}.blob(); say((await new Response(z.stream().pipeThrough(new"
    " DecompressionStream('gzip'))).text()).length);",
)
feature(
    "streams",
    "const s = new ReadableStream({start(c) { for (const n of [1, 2, 3]) c.enqueue(n); c.close();"
    " }}); for await (const n of s) say(n);",
)
feature(
    "streams-text",
    "const t = new TextDecoderStream(); const w = t.writable.getWriter(); w.write(new"
    " Uint8Array([97])); w.close(); say((await t.readable.getReader().read()).value);",
)
feature(
    "wasm",
    "const m = await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); say(m"
    " instanceof WebAssembly.Module);",
)
feature(
    "wasm-instance",
    "const i = await WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));"
    " say(!!i.instance);",
)
feature(
    "permissions",
    "for (const name of ['geolocation', 'notifications'])"
    " navigator.permissions.query({name}).then(p => say(p.state));",
)
feature("notification", "say(Notification.permission); Notification.requestPermission().then(say);")
feature(
    "geolocation",
    "navigator.geolocation.getCurrentPosition(() => say('place'), error => say('error' +"
    " error.code), {timeout: 3000});",
)
feature("battery", "say(navigator.getBattery ? (await navigator.getBattery()).level : 'absent');")
feature(
    "network-state",
    "say(navigator.onLine); say(navigator.connection ? navigator.connection.effectiveType :"
    " 'absent');",
)
feature(
    "user-agent-data",
    "say((await navigator.userAgentData.getHighEntropyValues(['platformVersion'])).mobile);",
)
feature(
    "wake-lock",
    "navigator.wakeLock.request('screen').then(() => say('held'), error => say(error.name));",
)
feature("gamepads", "say(navigator.getGamepads().filter(Boolean).length);")
feature(
    "credentials",
    "navigator.credentials.get({password: true, mediation: 'silent'}).then(c => say(String(c)),"
    " error => say(error.name));",
)
feature("structured-clone", "say(structuredClone(new Map([[1, new Date(0)]])).size);")
feature(
    "intl",
    "say(new Intl.DateTimeFormat('en', {timeStyle: 'short', timeZone: 'UTC'}).format(new"
    " Date(0)));",
)
feature("memory", "say(performance.memory ? 'there' : 'absent'); say(navigator.deviceMemory);")
feature(
    "garbage",
    "let kept = []; for (let n = 0; n < 60; n++) kept.push(new Array(20000).fill(n)); kept = null;"
    " setTimeout(() => say('after'), 40);",
)
feature("screen", "say(screen.width); screen.orientation && say(screen.orientation.type);")
feature("share-can", "say(navigator.canShare ? navigator.canShare({text: 'a'}) : 'absent');")
feature(
    "payment",
    "try { say(await new PaymentRequest([{supportedMethods: 'https://nowhere.invalid/pay'}],"
    " {total: {label: 'a', amount: {currency: 'EUR', value: '1'}}}).canMakePayment()); } catch"
    " (error) { say(error.name); }",
)
feature("idle-detector", "say(typeof IdleDetector);")
feature(
    "rtc",
    "const c = new RTCPeerConnection(); c.createDataChannel('d'); const o = await c.createOffer();"
    " say(o.type); c.onicegatheringstatechange = () => say(c.iceGatheringState);",
)
