"""Canvas, bitmaps, WebGL, codecs of frames."""

from bytes_of import png
from grammar import PNG, feature, text, worker

SMALL = {"a.png": text(png(30, 20), PNG)}
CANVAS = "<canvas width=40 height=30></canvas>"
AT = "const canvas = here.querySelector('canvas');"

feature(
    "canvas",
    AT
    + "const c = canvas.getContext('2d'); c.fillRect(0, 0, 9, 9); say(c.getImageData(5, 5, 1,"
    " 1).data[3]);",
    body=CANVAS,
)
feature(
    "canvas-text",
    AT + "const c = canvas.getContext('2d'); say(Math.round(c.measureText('lab').width));",
    body=CANVAS,
)
feature(
    "canvas-to-blob",
    AT
    + "canvas.getContext('2d').fillRect(0, 0, 9, 9); canvas.toBlob(blob => say(blob.size));"
    " say('asked');",
    body=CANVAS,
)
feature(
    "canvas-picture",
    AT
    + "const i = new Image(); i.onload = () => { const c = canvas.getContext('2d'); c.drawImage(i,"
    " 0, 0); say(c.getImageData(3, 3, 1, 1).data[0]); }; i.src = '@/a.png';",
    body=CANVAS,
    files=SMALL,
)
feature(
    "bitmap",
    "const r = await fetch('@/a.png'); const b = await createImageBitmap(await r.blob());"
    " say(b.width);",
    files=SMALL,
)
feature(
    "bitmap-resized",
    AT
    + "const b = await createImageBitmap(canvas, {resizeWidth: 10, resizeHeight: 10, resizeQuality:"
    " 'high'}); say(b.width);",
    body=CANVAS,
)
feature(
    "bitmap-two",
    AT
    + "createImageBitmap(canvas).then(() => say('a')); createImageBitmap(new ImageData(900,"
    " 900)).then(() => say('b')); setTimeout(() => say('timer'));",
    body=CANVAS,
)
feature(
    "offscreen",
    "const o = new OffscreenCanvas(20, 20); o.getContext('2d').fillRect(0, 0, 5, 5); say((await"
    " o.convertToBlob()).size);",
)
feature(
    "offscreen-worker",
    AT
    + "const o = canvas.transferControlToOffscreen(); const w = hear(new Worker('@/w.js'));"
    " w.postMessage(o, [o]);",
    body=CANVAS,
    files={
        "w.js": worker(
            "onmessage = event => { const c = event.data.getContext('2d'); let n = 0; (function"
            " draw() { c.fillRect(n, 0, 2, 2); if (++n < 4) requestAnimationFrame(draw); else"
            " say('drawn'); })(); };"
        )
    },
)
feature(
    "webgl",
    AT
    + "const gl = canvas.getContext('webgl'); if (!gl) say('none'); else { gl.clearColor(1, 0, 0,"
    " 1); gl.clear(gl.COLOR_BUFFER_BIT); const p = new Uint8Array(4); gl.readPixels(0, 0, 1, 1,"
    " gl.RGBA, gl.UNSIGNED_BYTE, p); say(p.join('-')); }",
    body=CANVAS,
)
feature(
    "webgl-frames",
    AT
    + "const gl = canvas.getContext('webgl2'); let n = 0; requestAnimationFrame(function draw() {"
    " if (gl) { gl.clearColor(n / 5, 0, 0, 1); gl.clear(gl.COLOR_BUFFER_BIT); } say(++n); if (n <"
    " 4) requestAnimationFrame(draw); });",
    body=CANVAS,
)
feature(
    "webgl-sync",
    AT
    + """const gl = canvas.getContext('webgl2'); if (!gl) return say('none');
    const s = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0); gl.flush();
    let n = 0; const ask = () => { n++;
    if (gl.clientWaitSync(s, 0, 0) === gl.TIMEOUT_EXPIRED && n < 50) setTimeout(ask, 5);
    else say('done'); }; ask();""",
    body=CANVAS,
)
feature(
    "webgpu",
    "say(navigator.gpu ? ((await navigator.gpu.requestAdapter()) ? 'adapter' : 'none') :"
    " 'absent');",
)
feature(
    "codec-video-frame",
    AT
    + "canvas.getContext('2d').fillRect(0, 0, 9, 9); const f = new VideoFrame(canvas, {timestamp:"
    " 0}); const b = new Uint8Array(f.allocationSize()); await f.copyTo(b); say(b.length);"
    " f.close();",
    body=CANVAS,
)
feature(
    "codec-support",
    "say((await VideoEncoder.isConfigSupported({codec: 'vp8', width: 40, height: 30})).supported);",
)
feature(
    "codec-encode",
    AT
    + """canvas.getContext('2d').fillRect(0, 0, 9, 9);
    const e = new VideoEncoder({output: c => say(c.type), error: x => say(x.name)});
    e.configure({codec: 'vp8', width: 40, height: 30});
    const f = new VideoFrame(canvas, {timestamp: 0}); e.encode(f, {keyFrame: true}); f.close();
    await e.flush(); say('flushed');""",
    body=CANVAS,
)
feature(
    "codec-image",
    "const r = await fetch('@/a.png'); const d = new ImageDecoder({data: r.body, type:"
    " 'image/png'}); const i = await d.decode(); say(i.image.codedWidth);",
    files=SMALL,
)
feature(
    "codec-audio",
    "const d = new AudioData({format: 'f32', sampleRate: 8000, numberOfFrames: 4, numberOfChannels:"
    " 1, timestamp: 0, data: new Float32Array(4)}); say(d.duration);",
)
feature(
    "canvas-stream",
    AT + "const s = canvas.captureStream(10); say(s.getVideoTracks()[0].readyState);",
    body=CANVAS,
)
feature(
    "svg-filter",
    "requestAnimationFrame(() => say(here.querySelector('svg').getBBox().width));",
    body=(
        "<svg width=50 height=20><filter id=f><feGaussianBlur stdDeviation=2 /></filter><rect"
        ' width=30 height=10 filter="url(#f)"/></svg>'
    ),
)
