"""Timers, idle callbacks, microtasks, messages within a page."""

from grammar import feature

for delay in (0, 1, 4, 10, 16, 17, 50, 100, 250, 500, 1000, 2500, 4999, 5000):
    feature(f"timeout-{delay}", f"setTimeout(() => say(), {delay});")
feature("ticks", "let n = 0; (function tick() { say(++n); if (n < 24) setTimeout(tick); })();")
feature(
    "ticks-slow",
    "let n = 0; const id = setInterval(() => { say(++n); if (n === 20) clearInterval(id); }, 50);",
)
feature(
    "interval-16",
    "let n = 0; const id = setInterval(() => { say(++n); if (n === 12) clearInterval(id); }, 16);",
)
feature(
    "timers-equal",
    "for (const n of [1, 2, 3]) { setTimeout(() => say('a' + n), 100); setTimeout(() => say('b' +"
    " n), 100 + n % 2); }",
)
feature("idle", "requestIdleCallback(() => say());")
feature(
    "idle-deadline", "requestIdleCallback(deadline => say(deadline.didTimeout), {timeout: 60});"
)
feature(
    "idle-chain",
    "let n = 0; requestIdleCallback(function idle() { say(++n); if (n < 4)"
    " requestIdleCallback(idle); });",
)
feature(
    "microtasks",
    "queueMicrotask(() => say('micro')); Promise.resolve().then(() => say('then')); setTimeout(()"
    " => say('timer'));",
)
feature("raf", "requestAnimationFrame(() => say());")
feature(
    "raf-chain",
    "let n = 0; requestAnimationFrame(function draw() { say(++n); if (n < 8)"
    " requestAnimationFrame(draw); });",
)
feature(
    "raf-then-timer",
    "requestAnimationFrame(() => { say('frame'); setTimeout(() => say('after')); });",
)
feature("raf-twice", "requestAnimationFrame(() => requestAnimationFrame(() => say('painted')));")
feature(
    "raf-time", "requestAnimationFrame(a => requestAnimationFrame(b => say(Math.round(b - a))));"
)
feature(
    "raf-against-timers",
    "let n = 0; const id = setInterval(() => n++, 5); let f = 0; requestAnimationFrame(function"
    " draw() { if (++f < 10) requestAnimationFrame(draw); else { clearInterval(id); say(n); } });",
)
feature(
    "message-channel",
    "const c = new MessageChannel(); c.port1.onmessage = event => say(event.data); for (const n of"
    " [1, 2, 3]) c.port2.postMessage(n);",
)
feature(
    "message-channel-loop",
    "const c = new MessageChannel(); let n = 0; c.port1.onmessage = () => { n++; if (n % 10 === 0)"
    " say(n); if (n < 40) c.port2.postMessage(0); }; c.port2.postMessage(0);",
)
feature(
    "post-message-self",
    "addEventListener('message', event => event.data === 'self' && say()); postMessage('self',"
    " '*');",
)
feature(
    "broadcast",
    "const a = new BroadcastChannel('@name'), b = new BroadcastChannel('@name'); hear(b);"
    " a.postMessage(1); a.postMessage(2);",
)
feature(
    "broadcast-talk",
    "const a = new BroadcastChannel('@name'), b = new BroadcastChannel('@name'); let n = 0;"
    " a.onmessage = b.onmessage = event => { say(++n); if (n < 6) event.target.postMessage(0); };"
    " a.postMessage(0);",
)
feature(
    "scheduler",
    "for (const priority of ['background', 'user-visible', 'user-blocking']) scheduler.postTask(()"
    " => say(priority), {priority});",
)
feature("scheduler-delay", "scheduler.postTask(() => say(), {delay: 120});")
feature("scheduler-yield", "for (const n of [1, 2, 3]) { await scheduler.yield(); say(n); }")
feature(
    "clock",
    "const a = performance.now(); setTimeout(() => say(Math.round(performance.now() - a)), 200);",
)
feature("clock-date", "setTimeout(() => say(new Date().toISOString().slice(11, 22)), 333);")
feature(
    "chance",
    "say(Math.random().toFixed(6)); say(crypto.getRandomValues(new Uint8Array(2)).join('-'));"
    " say(crypto.randomUUID().slice(0, 8));",
)
feature("abort-timeout", "AbortSignal.timeout(80).onabort = () => say();")
feature(
    "weak-ref",
    "let kept = new WeakRef({}); await new Promise(r => setTimeout(r, 50)); say(typeof kept);",
)
feature(
    "count-between-frames",
    "let n = 0; const c = new MessageChannel(); c.port1.onmessage = () => { n++; if (n < 500)"
    " c.port2.postMessage(0); }; c.port2.postMessage(0); requestAnimationFrame(() => say(n < 500 ?"
    " 'early' : 'late'));",
)
