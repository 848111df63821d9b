"""Sound and video."""

from bytes_of import film, wav
from grammar import WAV, feature, text

FILM = {"a.webm": text(film(), "video/webm")}
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
TOLD = (
    "for (const kind of ['loadedmetadata', 'loadeddata', 'canplay', 'canplaythrough', 'play',"
    " 'playing', 'pause', 'seeking', 'seeked', 'waiting', 'ended', 'ratechange', 'progress'])"
    " v.addEventListener(kind, () => say(kind + v.currentTime.toFixed(1)));"
)
MOVED = (
    "let s = 0; v.addEventListener('timeupdate', () => { const t = Math.floor(v.currentTime * 2);"
    " if (t !== s) say('t' + (s = t)); });"
)
feature(
    "film",
    f"const v = here.querySelector('video'); {TOLD}",
    body='<video muted src="@/a.webm"></video>',
    files=FILM,
)
feature(
    "film-plays",
    f"const v = here.querySelector('video'); {TOLD} {MOVED}",
    body='<video muted autoplay src="@/a.webm"></video>',
    files=FILM,
)
feature(
    "film-again",
    f"const v = here.querySelector('video'); {TOLD} {MOVED}",
    body='<video muted autoplay loop playsinline><source src="@/a.webm" type="video/webm"></video>',
    files=FILM,
)
feature(
    "film-controls",
    f"const v = here.querySelector('video'); {TOLD}",
    body='<video muted autoplay controls width="300" src="@/a.webm"></video>',
    files=FILM,
)
feature(
    "film-click",
    f"const v = here.querySelector('video'); {TOLD} button.onclick = () => {{ if (v.paused)"
    " v.play().then(() => say('played')); else v.pause(); };",
    body='<video muted src="@/a.webm"></video>',
    files=FILM,
    button=True,
)
feature(
    "film-rate",
    f"const v = document.createElement('video'); v.muted = true; {TOLD} {MOVED} v.src = '@/a.webm';"
    " await v.play(); v.playbackRate = 2; say(v.playbackRate); button.onclick = () => {"
    " v.currentTime = 1; v.playbackRate = .5; v.play(); };",
    files=FILM,
    button=True,
)
feature(
    "film-seek",
    f"const v = here.querySelector('video'); {TOLD} button.onclick = () => {{ v.currentTime = 2; }};",
    body='<video muted autoplay src="@/a.webm"></video>',
    files=FILM,
    button=True,
)
feature(
    "film-frames",
    "const v = here.querySelector('video'); let n = 0; const f = (now, { mediaTime, width }) => {"
    " if (++n % 10 === 1) say(mediaTime.toFixed(1) + 'x' + width); v.requestVideoFrameCallback(f);"
    " }; v.requestVideoFrameCallback(f); v.onended = () => say('ended' +"
    " v.getVideoPlaybackQuality().totalVideoFrames);",
    body='<video muted autoplay src="@/a.webm"></video>',
    files=FILM,
)
feature(
    "film-canvas",
    "const v = here.querySelector('video'), c = new OffscreenCanvas(2, 2).getContext('2d'); let p;"
    " v.ontimeupdate = () => { c.drawImage(v, 0, 0, 2, 2); const d = [...c.getImageData(0, 0, 1,"
    " 1).data].map(x => x >> 5).join(''); if (p !== (p = d)) say(d); };",
    body='<video muted autoplay src="@/a.webm"></video>',
    files=FILM,
)
feature(
    "film-words",
    "const v = here.querySelector('video'); v.textTracks[0].mode = 'showing';"
    " v.textTracks[0].oncuechange = () => say([...v.textTracks[0].activeCues].map(c =>"
    " c.text).join()); v.onended = () => say('ended');",
    body='<video muted autoplay src="@/a.webm"><track src="@/a.vtt" default></video>',
    files=FILM
    | {
        "a.vtt": text(
            "WEBVTT\n\n00:00.000 --> 00:01.000\none\n\n00:01.500 --> 00:02.500\ntwo\n", "text/vtt"
        )
    },
)
feature(
    "film-in-shadow",
    "const r = here.attachShadow({ mode: 'open' }); r.innerHTML = '<video muted autoplay"
    ' src="@/a.webm"></video>\'; const v = r.firstChild;'
    f" {TOLD} {MOVED}",
    files=FILM,
)
feature(
    "film-fed",
    "const v = here.querySelector('video'), m = new MediaSource();"
    f" {TOLD} {MOVED} v.src = URL.createObjectURL(m); m.onsourceended = () => say('whole');"
    " m.onsourceopen = async () => { say('open'); const b ="
    " m.addSourceBuffer('video/webm; codecs=\"vp8\"'); b.onupdateend = () => { say('fed' +"
    " b.buffered.end(0).toFixed(1)); if (m.readyState === 'open') m.endOfStream(); };"
    " b.appendBuffer(await (await fetch('@/a.webm')).arrayBuffer()); };",
    body="<video muted autoplay></video>",
    files=FILM,
)
feature(
    "film-fed-slowly",
    "const v = here.querySelector('video'), m = new MediaSource();"
    f" {TOLD} v.src = URL.createObjectURL(m); m.onsourceopen = async () => {{ const b ="
    " m.addSourceBuffer('video/webm; codecs=\"vp8\"'); const all = await (await"
    " fetch('@/a.webm')).arrayBuffer(); let at = 0; b.onupdateend = () => { say('fed' + at);"
    " if (at >= all.byteLength) m.endOfStream(); else setTimeout(more, 700); }; const more = () => {"
    " b.appendBuffer(all.slice(at, at += 500)); }; more(); };",
    body="<video muted autoplay></video>",
    files=FILM,
)
feature(
    "sound-ends-click",
    "button.onclick = () => { const c = new AudioContext(); c.onstatechange = () => say(c.state);"
    " for (const [at, kind] of [[.3, 'Oscillator'], [.1, 'ConstantSource']]) { const s ="
    " c['create' + kind](); s.connect(c.destination); s.onended = () => say(kind +"
    " c.currentTime.toFixed(1)); s.start(); s.stop(c.currentTime + at); } };",
    button=True,
)
feature(
    "sound-plays-click",
    "const c = new AudioContext(), b = c.createBuffer(1, 4000, 8000); button.onclick = async () => {"
    " await c.resume(); const s = c.createBufferSource(); s.buffer = b; s.connect(c.destination);"
    " s.onended = async () => { say('ended'); await c.suspend(); say(c.state); await c.close();"
    " say(c.state); }; s.start(); const a = c.createAnalyser(); s.connect(a); const d = new"
    " Uint8Array(4); a.getByteTimeDomainData(d); say(d.join()); };",
    button=True,
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
