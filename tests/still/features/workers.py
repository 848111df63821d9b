"""Workers of every kind."""

from grammar import HTML, feature, script, text, worker

LOOP = "let sum = 0; for (let i = 0; i < 1e6; i++) sum += i & 7;"

feature("worker", "hear(new Worker('@/w.js'));", files={"w.js": worker("say('up');")})
feature(
    "worker-answers",
    "const w = hear(new Worker('@/w.js')); for (const n of [1, 2, 3]) w.postMessage(n);",
    files={"w.js": worker("onmessage = event => say(event.data * 2);")},
)
feature(
    "worker-blob",
    "hear(new Worker(URL.createObjectURL(new Blob([\"postMessage('up')\"], {type:"
    " 'text/javascript'}))));",
)
feature(
    "worker-module",
    "hear(new Worker('@/w.js', {type: 'module'}));",
    files={
        "w.js": worker("import {word} from '@/b.js'; say(word);"),
        "b.js": script("export const word = 'b';"),
    },
)
feature(
    "worker-imports",
    "hear(new Worker('@/w.js'));",
    files={
        "w.js": worker("importScripts('@/b.js'); say(word);"),
        "b.js": script("var word = 'b';"),
    },
)
feature(
    "worker-nested",
    "hear(new Worker('@/w.js'));",
    files={
        "w.js": worker(
            "const inner = new Worker('@/n.js'); inner.onmessage = event => say(event.data);"
            " say('outer');"
        ),
        "n.js": worker("say('inner');"),
    },
)
feature(
    "worker-fetch",
    "hear(new Worker('@/w.js'));",
    files={"w.js": worker("fetch('@/a').then(r => r.text()).then(say);"), "a": text("fetched")},
)
feature(
    "worker-pool",
    "for (const n of [0, 1, 2, 3, 4]) { const w = hear(new Worker('@/w.js')); w.postMessage(n); }",
    files={"w.js": worker("onmessage = event => {" + LOOP + "say(event.data); };")},
)
feature(
    "worker-pool-fetch",
    "for (const n of [0, 1, 2, 3]) { const w = hear(new Worker('@/w.js')); w.postMessage(n); }",
    files={
        "w.js": worker(
            "onmessage = event => fetch('@/a?' + event.data).then(r => r.text()).then(() =>"
            " say(event.data));"
        ),
        "a": text("text"),
    },
)
feature(
    "worker-timers",
    "hear(new Worker('@/w.js')); setTimeout(() => say('page'), 150);",
    files={"w.js": worker("setTimeout(() => say('100'), 100); setTimeout(() => say('200'), 200);")},
)
feature(
    "worker-interval",
    "hear(new Worker('@/w.js')); let n = 0; const id = setInterval(() => { say('p' + ++n); if (n"
    " === 4) clearInterval(id); }, 250);",
    files={
        "w.js": worker(
            "let n = 0; const id = setInterval(() => { say('w' + ++n); if (n === 4)"
            " clearInterval(id); }, 250);"
        )
    },
)
feature(
    "worker-clock",
    "const a = Date.now(); const w = new Worker('@/w.js'); w.onmessage = event =>"
    " say(Math.round((event.data - a) / 1000)); setTimeout(() => w.postMessage(0), 3000);",
    files={"w.js": script("onmessage = () => postMessage(Date.now());")},
)
feature(
    "worker-chance",
    "hear(new Worker('@/w.js'));",
    files={"w.js": worker("say(Math.random().toFixed(5)); say(crypto.randomUUID().slice(0, 6));")},
)
feature(
    "worker-raf",
    "hear(new Worker('@/w.js'));",
    files={"w.js": worker("requestAnimationFrame(() => say('frame'));")},
)
feature(
    "worker-click",
    "const w = hear(new Worker('@/w.js')); button.onclick = () => { say('clicked');"
    " w.postMessage(0); };",
    button=True,
    files={"w.js": worker("onmessage = () => say('answer');")},
)
feature(
    "worker-channel",
    """const w = new Worker('@/w.js'), c = new MessageChannel(); hear(c.port1);
    w.postMessage(0, [c.port2]);""",
    files={
        "w.js": script(
            "onmessage = event => { event.ports[0].postMessage('a');"
            " event.ports[0].postMessage('b'); };"
        )
    },
)
feature(
    "worker-broadcast",
    "const b = hear(new BroadcastChannel('@name')); new Worker('@/w.js');",
    files={
        "w.js": script(
            "const b = new BroadcastChannel('@name'); b.postMessage('one'); b.postMessage('two');"
        )
    },
)
feature(
    "worker-transfer",
    "const w = hear(new Worker('@/w.js')); const b = new ArrayBuffer(1 << 20); w.postMessage(b,"
    " [b]); say('left' + b.byteLength);",
    files={"w.js": worker("onmessage = event => say(event.data.byteLength);")},
)
feature("worker-missing", "const w = new Worker('@/none.js'); w.onerror = () => say('error');")
feature(
    "worker-throws",
    "const w = new Worker('@/w.js'); w.onerror = event => { event.preventDefault();"
    " say('error'); };",
    files={"w.js": script("throw 1;")},
)
feature(
    "worker-ends",
    "const w = hear(new Worker('@/w.js')); w.addEventListener('message', () => { w.terminate();"
    " say('ended'); });",
    files={"w.js": worker("let n = 0; say(++n);")},
)
feature(
    "shared-worker",
    "const w = new SharedWorker('@/w.js'); hear(w.port); w.port.postMessage('asked');",
    files={
        "w.js": script(
            "onconnect = event => { const port = event.ports[0]; port.postMessage('hello');"
            " port.onmessage = m => port.postMessage(m.data); };"
        )
    },
)
feature(
    "shared-worker-two",
    "for (const n of [1, 2]) { const w = new SharedWorker('@/w.js', '@name'); w.port.onmessage ="
    " event => say(n + event.data); }",
    files={
        "w.js": script("let n = 0; onconnect = event => event.ports[0].postMessage('-' + ++n);")
    },
)
feature(
    "shared-worker-timer",
    "const w = new SharedWorker('@/w.js'); hear(w.port); setTimeout(() => say('page'), 400);",
    files={
        "w.js": script(
            "onconnect = event => setTimeout(() => event.ports[0].postMessage('worker'), 300);"
        )
    },
)

REGISTER = (
    "const registration = await navigator.serviceWorker.register('@/sw.js', {scope: '@/'});"
    " say('registered');"
)
STATES = "const w = registration.installing; w.onstatechange = () => say(w.state);"
feature("service-worker", REGISTER, files={"sw.js": script("1")})
feature(
    "service-worker-states",
    REGISTER + STATES,
    files={"sw.js": script("oninstall = event => event.waitUntil(skipWaiting());")},
)
feature(
    "service-worker-message",
    REGISTER
    + """navigator.serviceWorker.addEventListener('message', event =>
    event.data === '@name' && say('answer'));
    const w = registration.installing || registration.active; w.postMessage(0);""",
    files={"sw.js": script("onmessage = event => event.source.postMessage('@name');")},
)
feature(
    "service-worker-frame",
    REGISTER
    + """const w = registration.installing; await new Promise(r => {
    w.onstatechange = () => w.state === 'activated' && r(); });
    const f = document.createElement('iframe'); f.src = '@/page.html'; here.append(f);""",
    files={
        "sw.js": script(
            "onfetch = event => event.request.url.endsWith('/a') && event.respondWith(new"
            " Response('answered'));"
        ),
        "page.html": text(
            "<!doctype html><script>fetch('@/a').then(r => r.text()).then(word =>"
            " parent.postMessage('say:@name.' + word, '*'))</script>",
            HTML,
        ),
        "a": text("network"),
    },
)
feature(
    "service-worker-page",
    """await navigator.serviceWorker.register('@/sw.js', {scope: '/p/'});
    await navigator.serviceWorker.ready; say('ready');
    if (!navigator.serviceWorker.controller) await new Promise(r => {
    navigator.serviceWorker.oncontrollerchange = r; });
    say('controlled'); say(await (await fetch('/p/@name')).text());""",
    files={
        "sw.js": script(
            """oninstall = () => skipWaiting();
            onactivate = event => event.waitUntil(clients.claim());
            onfetch = event => event.request.url.endsWith('/p/@name')
            && event.respondWith(new Response('answered'));"""
        )
    },
)
feature(
    "service-worker-cache",
    REGISTER + STATES,
    files={
        "sw.js": script(
            "oninstall = event => event.waitUntil(caches.open('v1').then(cache =>"
            " cache.addAll(['@/a', '@/b'])));"
        ),
        "a": text("a"),
        "b": text("b"),
    },
)
feature(
    "service-worker-missing",
    "navigator.serviceWorker.register('@/none.js').catch(error => say(error.name));",
)
feature(
    "worklet-paint",
    "await CSS.paintWorklet.addModule('@/w.js'); say('added');",
    files={"w.js": script("registerPaint('lab', class { paint() {} });")},
)
feature(
    "worklet-audio",
    "const context = new OfflineAudioContext(1, 1024, 44100); await"
    " context.audioWorklet.addModule('@/w.js'); say('added');",
    files={
        "w.js": script(
            "registerProcessor('lab', class extends AudioWorkletProcessor { process() { return"
            " false; } });"
        )
    },
)
feature(
    "worklet-clock",
    "const context = new OfflineAudioContext(1, 1024, 44100); await"
    " context.audioWorklet.addModule('@/w.js'); const node = new AudioWorkletNode(context, 'lab-clock');"
    " node.port.onmessage = event => say(event.data);",
    files={
        "w.js": script(
            "registerProcessor('lab-clock', class extends AudioWorkletProcessor { constructor() {"
            " super(); this.port.postMessage(Date.now() + 'x' + Math.random()); } process() { return"
            " false; } });"
        )
    },
)
