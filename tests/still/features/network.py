"""Requests of scripts: fetch, XMLHttpRequest, event streams, sockets, beacons."""

from grammar import JSON, feature, text

LARGE = "".join(f"{number * 7919 % 100003:06d}" for number in range(60000))
EVENTS = "retry: 300\n\nid: 1\ndata: one\n\nid: 2\ndata: two\n\nevent: last\nid: 3\ndata: three\n\n"
READ = """const reader = response.body.getReader(); let pieces = 0, bytes = 0;
    for (;;) { const part = await reader.read(); if (part.done) break; pieces++;
    bytes += part.value.length; }"""

feature(
    "fetch-json", "say((await (await fetch('@/a')).json()).n);", files={"a": text('{"n": 7}', JSON)}
)
feature("fetch-text", "say(await (await fetch('@/a')).text());", files={"a": text("text")})
feature(
    "fetch-head-then-body",
    "const response = await fetch('@/a'); say('head'); await response.text(); say('body');",
    files={"a": text("text", pause=0.02, pieces=2)},
)
feature(
    "fetch-stream",
    f"const response = await fetch('@/a'); {READ} say(pieces + 'x' + bytes);",
    files={"a": text("s" * 900, pause=0.005, pieces=6)},
)
feature(
    "fetch-stream-large",
    f"const response = await fetch('@/a'); {READ} say(pieces + 'x' + bytes);",
    files={"a": text(LARGE)},
)
feature(
    "fetch-large",
    "say((await (await fetch('@/a')).arrayBuffer()).byteLength);",
    files={"a": text(LARGE)},
)
feature(
    "fetch-abort",
    """const control = new AbortController();
    fetch('@/a', {signal: control.signal}).then(() => say('came'), error => say(error.name));
    control.abort();""",
    files={"a": text("text")},
)
feature(
    "fetch-abort-later",
    """const control = new AbortController();
    fetch('@/a', {signal: control.signal}).then(r => r.text())
    .then(() => say('came'), error => say(error.name));
    setTimeout(() => control.abort(), 5000);""",
    files={"a": text("text", pause=0.02)},
)
feature(
    "fetch-timeout",
    "fetch('@/a', {signal: AbortSignal.timeout(4000)}).then(r => r.text()).then(say, error =>"
    " say(error.name));",
    files={"a": text("in-time", pause=0.02)},
)
feature(
    "fetch-keepalive",
    "await fetch('@/a', {keepalive: true, method: 'POST', body: 'k'}); say();",
    files={"a": text("", echoes=True)},
)
feature(
    "fetch-post",
    "say(await (await fetch('@/a', {method: 'POST', body: 'sent'})).text());",
    files={"a": text("", echoes=True)},
)
feature(
    "fetch-parallel",
    "for (const n of [1, 2, 3, 4, 5, 6]) fetch('@/a?' + n).then(r => r.text()).then(() => say(n));",
    files={"a": text("text")},
)
feature(
    "fetch-parallel-uneven",
    "for (const part of ['a', 'b', 'c']) fetch('@/' + part).then(r => r.text()).then(() =>"
    " say(part));",
    files={"a": text("a", pause=0.03), "b": text("b", pause=0.01), "c": text("c")},
)
feature(
    "fetch-sequence",
    "for (const n of [1, 2, 3, 4]) { await fetch('@/a?' + n); say(n); }",
    files={"a": text("text")},
)
feature("fetch-missing", "const response = await fetch('@/none'); say(response.status);")
feature(
    "fetch-bad-json",
    "const response = await fetch('@/a'); response.json().catch(error => say(error.message));",
    files={"a": text("<html>", JSON)},
)
feature(
    "fetch-other-origin", "say(await (await fetch('@other/a')).text());", files={"a": text("other")}
)
feature(
    "fetch-far-preflight",
    "fetch('@far/a', {headers: {'x-lab': '1'}}).then(r => say(r.status), error =>"
    " say(error.name));",
    files={"a": text("far")},
)
feature(
    "fetch-no-cors",
    "const response = await fetch('@far/a', {mode: 'no-cors'}); say(response.type);",
    files={"a": text("far")},
)
feature("fetch-refused-host", "fetch('https://nowhere.invalid/').catch(error => say(error.name));")
feature(
    "fetch-redirect",
    "const response = await fetch('@/a'); say(response.redirected);",
    files={"a": text("", status=302, heads=("Location: @/b",)), "b": text("b")},
)
feature(
    "fetch-after-load",
    "addEventListener('load', async () => { await fetch('@/a'); say(); });",
    files={"a": text("text")},
)
feature(
    "fetch-click",
    "button.onclick = async () => { say('clicked'); say(await (await fetch('@/a')).text()); };",
    button=True,
    files={"a": text("text", pause=0.01)},
)
feature(
    "fetch-typed",
    "field.oninput = async () => say(await (await fetch('@/a?' + field.value)).text());",
    field=True,
    files={"a": text("found")},
)
feature(
    "fetch-later",
    "setTimeout(async () => { await fetch('@/a'); say(); }, 700);",
    files={"a": text("text")},
)
feature(
    "fetch-poll",
    "let n = 0; const ask = async () => { await fetch('@/a'); say(++n); if (n < 4) setTimeout(ask,"
    " 400); }; ask();",
    files={"a": text("text")},
)
feature(
    "fetch-blob-address",
    "const url = URL.createObjectURL(new Blob(['blob'])); say(await (await fetch(url)).text());",
)
feature("fetch-data-address", "say(await (await fetch('data:,data')).text());")
feature(
    "fetch-priority",
    "for (const priority of ['low', 'high', 'auto']) fetch('@/' + priority, {priority}).then(() =>"
    " say(priority));",
    files={name: text("p") for name in ("low", "high", "auto")},
)

feature(
    "xhr",
    "const x = new XMLHttpRequest(); x.open('GET', '@/a'); x.onload = () => say(x.responseText);"
    " x.send();",
    files={"a": text("text")},
)
feature(
    "xhr-states",
    "const x = new XMLHttpRequest(); x.onreadystatechange = () => say(x.readyState); x.open('GET',"
    " '@/a'); x.send();",
    files={"a": text("x" * 100, pause=0.005, pieces=4)},
)
feature(
    "xhr-progress",
    """const x = new XMLHttpRequest(); x.open('GET', '@/a');
    for (const kind of ['loadstart', 'progress', 'load', 'loadend'])
    x.addEventListener(kind, event => say(kind + event.loaded)); x.send();""",
    files={"a": text(LARGE)},
)
feature(
    "xhr-sync",
    "const x = new XMLHttpRequest(); x.open('GET', '@/a', false); x.send(); say(x.responseText);",
    files={"a": text("text")},
)
feature(
    "xhr-abort",
    "const x = new XMLHttpRequest(); x.open('GET', '@/a'); x.onabort = () => say('abort');"
    " x.send(); x.abort();",
    files={"a": text("text")},
)
feature(
    "xhr-error",
    "const x = new XMLHttpRequest(); x.open('GET', 'https://nowhere.invalid/'); x.onerror = () =>"
    " say('error'); x.send();",
)

feature(
    "events",
    """const events = new EventSource('@/a'); events.onopen = () => say('open');
    events.onmessage = event => say(event.data);
    events.addEventListener('last', () => { say('last'); events.close(); });""",
    files={"a": text(EVENTS, "text/event-stream", pause=0.005, pieces=4)},
)
feature(
    "events-reconnect",
    """const events = new EventSource('@/a'); events.onmessage = event => say(event.data);
    events.onerror = () => say('error' + events.readyState);""",
    files={"a": text(EVENTS, "text/event-stream", ends=True)},
)
feature(
    "events-missing",
    "const events = new EventSource('@/none'); events.onerror = () => say('error' +"
    " events.readyState);",
)

SOCKET = (
    "const socket = new WebSocket('wss://' + location.host + '/ws?%d'); socket.onmessage = event =>"
    " say(event.data);"
)
feature(
    "socket",
    SOCKET % 1 + "socket.onopen = () => { say('open'); socket.send('a'); socket.send('b'); };",
)
feature(
    "socket-close",
    SOCKET % 1
    + "socket.onopen = () => { say('open'); socket.send('bye'); }; socket.onclose = event =>"
    " say('close' + event.code);",
)
feature("socket-many", SOCKET % 6)
feature(
    "socket-talk",
    SOCKET % 0
    + "let n = 0; socket.onopen = () => socket.send('0'); socket.addEventListener('message', () =>"
    " ++n < 4 && socket.send(n));",
)
feature("socket-later", SOCKET % 1 + "setTimeout(() => socket.send('later'), 900);")
feature(
    "socket-refused",
    "const socket = new WebSocket('wss://' + location.host + '/none'); socket.onerror = () =>"
    " say('error'); socket.onclose = event => say('close' + event.code);",
)
feature("beacon", "say(navigator.sendBeacon('@/a', 'b'));", files={"a": text("", echoes=True)})
