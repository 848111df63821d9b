"""Sound and video."""

from bytes_of import wav
from grammar import WAV, feature, text

SOUND = {"a.wav": text(wav(0.4), WAV)}
EVENTS = (
    "for (const kind of ['loadedmetadata', 'canplay', 'canplaythrough', 'playing', 'ended'])"
    " a.addEventListener(kind, () => say(kind));"
)

feature(
    "audio",
    "const a = new Audio('@/a.wav'); a.preload = 'auto'; for (const kind of ['loadedmetadata',"
    " 'canplaythrough']) a.addEventListener(kind, () => say(kind));",
    files=SOUND,
)
feature(
    "audio-metadata",
    "const a = new Audio(); a.preload = 'metadata'; a.onloadedmetadata = () =>"
    " say(a.duration.toFixed(1)); a.src = '@/a.wav';",
    files=SOUND,
)
feature(
    "audio-muted",
    f"const a = new Audio('@/a.wav'); a.muted = true; {EVENTS} a.play().then(() => say('played'),"
    " error => say(error.name));",
    files=SOUND,
)
feature(
    "audio-click",
    f"const a = new Audio('@/a.wav'); {EVENTS} button.onclick = () => a.play().then(() =>"
    " say('played'), error => say(error.name));",
    files=SOUND,
    button=True,
)
feature(
    "audio-seek",
    "const a = new Audio('@/a.wav'); a.preload = 'auto'; a.onloadedmetadata = () => { a.currentTime"
    " = .2; }; a.onseeked = () => say(a.currentTime.toFixed(1));",
    files=SOUND,
)
feature(
    "audio-element",
    body='<audio controls src="@/a.wav" onloadeddata="put(\'audio-element\')"></audio>',
    files=SOUND,
)
feature(
    "audio-missing",
    "const a = new Audio('@/none.wav'); a.onerror = () => say('error' + a.error.code); a.load();",
)
feature(
    "audio-time-updates",
    "const a = new Audio('@/a.wav'); a.muted = true; let n = 0; a.ontimeupdate = () => n++;"
    " a.onended = () => say(n > 0); a.play();",
    files=SOUND,
)
feature(
    "video-sound",
    "const a = here.querySelector('video'); for (const kind of ['loadedmetadata', 'canplay',"
    " 'ended']) a.addEventListener(kind, () => say(kind)); a.play().catch(error =>"
    " say(error.name));",
    body='<video muted src="@/a.wav"></video>',
    files=SOUND,
)
feature(
    "video-missing",
    "here.querySelector('video').addEventListener('error', () => say('error'), true);",
    body='<video><source src="@/none.mp4"></video>',
)
feature(
    "video-broken",
    "const v = here.querySelector('video'); v.onerror = () => say('error' + v.error.code);",
    body='<video src="@/a.mp4"></video>',
    files={"a.mp4": text("no video", "video/mp4")},
)
feature(
    "video-stream",
    "const v = here.querySelector('video'), c = document.createElement('canvas');"
    " c.getContext('2d').fillRect(0, 0, 9, 9); v.onloadedmetadata = () => say(v.videoWidth);"
    " v.srcObject = c.captureStream(5);",
    body="<video muted></video>",
)
feature(
    "media-source",
    "const m = new MediaSource(); m.onsourceopen = () => say(m.readyState); const v ="
    " document.createElement('video'); v.src = URL.createObjectURL(m); here.append(v);",
)
feature(
    "sound-offline",
    "const c = new OfflineAudioContext(1, 800, 8000); const o = c.createOscillator();"
    " o.connect(c.destination); o.onended = () => say('ended'); o.start(0); o.stop(.05); const b ="
    " await c.startRendering(); say(b.length);",
)
feature(
    "sound-context",
    "const c = new AudioContext(); say(c.state); c.onstatechange = () => say('to-' + c.state);",
)
feature(
    "sound-context-click",
    "const c = new AudioContext(); c.onstatechange = () => say('to-' + c.state); button.onclick ="
    " () => c.resume().then(() => say('resumed'));",
    button=True,
)
feature(
    "sound-decode",
    "const c = new OfflineAudioContext(1, 1, 8000); const b = await c.decodeAudioData(await (await"
    " fetch('@/a.wav')).arrayBuffer()); say(b.length);",
    files=SOUND,
)
feature(
    "media-devices",
    "const list = await navigator.mediaDevices.enumerateDevices(); say(list.length);",
)
feature(
    "media-capabilities",
    "say((await navigator.mediaCapabilities.decodingInfo({type: 'file', audio: {contentType:"
    " 'audio/wav; codecs=1'}})).supported);",
)
feature(
    "speech",
    "speechSynthesis.onvoiceschanged = () => say('voices');"
    " say(speechSynthesis.getVoices().length);",
)
