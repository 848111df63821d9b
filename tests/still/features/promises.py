"""Promises that another process, thread or device keeps: each is asked for, and says what came."""

from grammar import feature, text

CANVAS = "document.createElement('canvas')"
WASM = "new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])"
REGISTERED = "(await navigator.serviceWorker.register('@/sw.js', {scope: '@/'}))"
CLEAR = (
    "navigator.requestMediaKeySystemAccess('org.w3.clearkey', [{initDataTypes: ['cenc'],"
    " videoCapabilities: [{contentType: 'video/webm; codecs=\"vp8\"'}]}])"
)
WORKER = {"sw.js": text("", "text/javascript")}


def leb(number):
    """A number as WebAssembly writes it (LEB128)."""
    more = number >> 7
    return bytes([number & 127 | 128]) + leb(more) if more else bytes([number])


def module(functions):
    """A WebAssembly module of so many functions, each of which adds for a while."""
    body = b"\0" + b"\x41\1\x41\2\x6a\x1a" * 60 + b"\x0b"
    sections = {
        1: b"\1\x60\0\0",
        3: leb(functions) + b"\0" * functions,
        10: leb(functions) + (leb(len(body)) + body) * functions,
    }
    whole = (bytes([number]) + leb(len(part)) + part for number, part in sections.items())
    return b"\0asm\1\0\0\0" + b"".join(whole)


MODULES = {
    "small.wasm": text(module(1), "application/wasm"),
    "large.wasm": text(module(4000), "application/wasm"),
    "none.wasm": text(b"\0asm\1\0\0\0\1\1", "application/wasm"),
}

PROMISES = {
    "ai-availability": "LanguageModel.availability()",
    "ai-create": "LanguageModel.create()",
    "app-badge": "navigator.setAppBadge(3)",
    "audio-close": "new AudioContext().close()",
    "audio-config": "AudioDecoder.isConfigSupported({codec: 'opus', sampleRate: 48000,"
    " numberOfChannels: 2})",
    "audio-resume": "new AudioContext().resume()",
    "audio-suspend": "new AudioContext().suspend()",
    "bucket-estimate": "navigator.storageBuckets.open('a').then(bucket => bucket.estimate())",
    "bucket-open": "navigator.storageBuckets.open('b')",
    "clipboard-read": "navigator.clipboard.readText()",
    "codec-config": "VideoDecoder.isConfigSupported({codec: 'vp8'})",
    "cookie-subscriptions": REGISTERED + ".cookies.getSubscriptions()",
    "credentials-silent": "navigator.credentials.preventSilentAccess()",
    "device-motion": "DeviceMotionEvent.requestPermission()",
    "document-access": "document.hasUnpartitionedCookieAccess()",
    "document-topics": "document.browsingTopics()",
    "encrypted-access": CLEAR,
    "encrypted-keys": CLEAR + ".then(access => access.createMediaKeys())",
    "encrypted-none": CLEAR.replace("org.w3.clearkey", "com.widevine.alpha"),
    "font-local": "queryLocalFonts()",
    "font-load": "new FontFace('x', 'local(\"Nothing\")').load()",
    "fullscreen-exit": "document.exitFullscreen()",
    "gpu-adapter": "navigator.gpu.requestAdapter()",
    "hid-devices": "navigator.hid.getDevices()",
    "image-bitmap-blob": "createImageBitmap(new Blob(['x'], {type: 'image/png'}))",
    "image-decoder": "new ImageDecoder({data: new Uint8Array(9), type: 'image/png'}).decode()",
    "image-type": "ImageDecoder.isTypeSupported('image/png')",
    "keyboard-lock": "navigator.keyboard.lock()",
    "interest-group": "navigator.leaveAdInterestGroup()",
    "language-create": "LanguageDetector.create()",
    "language-detector": "LanguageDetector.availability()",
    "managed": "navigator.managed.getManagedConfiguration(['a'])",
    "login-status": "navigator.login.setStatus('logged-in')",
    "midi": "navigator.requestMIDIAccess()",
    "notifications": REGISTERED + ".getNotifications()",
    "notification-show": REGISTERED + ".showNotification('x')",
    "socket-stream": "new WebSocketStream('wss://' + location.host + '/none').opened",
    "passkey-capabilities": "PublicKeyCredential.getClientCapabilities()",
    "passkey-conditional": "PublicKeyCredential.isConditionalMediationAvailable()",
    "passkey-platform": "PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable()",
    "payment-capabilities": "PaymentRequest.securePaymentConfirmationAvailability()",
    "payment-instrument": "new PaymentRequest([{supportedMethods: 'https://bob.test/pay'}], {total:"
    " {label: 'x', amount: {currency: 'EUR', value: '1'}}}).hasEnrolledInstrument()",
    "periodic-tags": REGISTERED + ".periodicSync.getTags()",
    "permission-file": "navigator.storage.getDirectory().then(folder =>"
    " folder.queryPermission())",
    "preload-state": REGISTERED + ".navigationPreload.getState()",
    "presentation": "new PresentationRequest('https://lab.test/').getAvailability()",
    "push-permission": REGISTERED + ".pushManager.permissionState({userVisibleOnly: true})",
    "push-subscribe": REGISTERED + ".pushManager.subscribe({userVisibleOnly: true})",
    "push-subscription": REGISTERED + ".pushManager.getSubscription()",
    "related-apps": "navigator.getInstalledRelatedApps()",
    "remote-playback": "document.createElement('video').remote.watchAvailability(() => {})",
    "private-token": "document.hasPrivateToken('https://lab.test')",
    "rtc-certificate": "RTCPeerConnection.generateCertificate({name: 'ECDSA', namedCurve:"
    " 'P-256'})",
    "rtc-description": "(async peer => { peer.createDataChannel('x'); await"
    " peer.setLocalDescription(); })(new RTCPeerConnection())",
    "rtc-stats": "new RTCPeerConnection().getStats()",
    "screen-details": "getScreenDetails()",
    "screen-lock": "screen.orientation.lock('landscape')",
    "serial-ports": "navigator.serial.getPorts()",
    "sink": "new Audio().setSinkId('nothing')",
    "speech-available": "SpeechRecognition.available({langs: ['en-US'], processLocally: true})",
    "storage-access": "document.requestStorageAccess()",
    "summarizer": "Summarizer.availability()",
    "sync-tags": REGISTERED + ".sync.getTags()",
    "translator": "Translator.availability({sourceLanguage: 'en', targetLanguage: 'fr'})",
    "unregister": REGISTERED + ".unregister()",
    "usb-devices": "navigator.usb.getDevices()",
    "video-copy": "new VideoFrame(new Uint8Array(16), {format: 'RGBA', codedWidth: 2, codedHeight:"
    " 2, timestamp: 0}).copyTo(new Uint8Array(16))",
    "video-flush": "(decoder => { decoder.configure({codec: 'vp8'}); return decoder.flush(); })(new"
    " VideoDecoder({output() {}, error() {}}))",
    "wasm-compile": f"WebAssembly.compile({WASM})",
    "wasm-streaming": "WebAssembly.instantiateStreaming(fetch('@/small.wasm'))",
    "wasm-streaming-broken": "WebAssembly.compileStreaming(fetch('@/none.wasm'))",
    "wasm-streaming-large": "WebAssembly.instantiateStreaming(fetch('@/large.wasm'))",
    "wasm-streaming-text": "WebAssembly.compileStreaming(fetch('@/sw.js'))",
    "web-transport": "new WebTransport('https://' + location.host + ':4433/').ready",
    "xr-compatible": CANVAS + ".getContext('webgl').makeXRCompatible()",
    "xr-session": "navigator.xr.isSessionSupported('inline')",
}

for name, promise in PROMISES.items():
    files = WORKER | MODULES if "@/" in promise else None
    feature(
        f"promise-{name}",
        f"try {{ await {promise}; say('kept'); }} catch (error) {{ say(error.name); }}",
        files=files,
    )
