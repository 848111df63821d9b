"""Storage: IndexedDB, Cache, files, locks, cookies, events of storage."""

from grammar import feature, frame, text

OPEN = (
    "const asked = indexedDB.open('@name', 1); asked.onupgradeneeded = () => {"
    " asked.result.createObjectStore('s'); say('upgrade'); };"
)
feature("idb", OPEN + "asked.onsuccess = () => say('open');")
feature(
    "idb-put-get",
    OPEN
    + """asked.onsuccess = () => {
    const s = asked.result.transaction('s', 'readwrite').objectStore('s');
    s.put(1, 1).onsuccess = () => say('put');
    s.get(1).onsuccess = event => say('got' + event.target.result);
    s.transaction.oncomplete = () => say('complete'); };""",
)
feature(
    "idb-many",
    OPEN
    + """asked.onsuccess = () => {
    const t = asked.result.transaction('s', 'readwrite'), s = t.objectStore('s');
    for (let n = 0; n < 50; n++) s.put(n, n); t.oncomplete = () => { say('written'); let k = 0;
    asked.result.transaction('s').objectStore('s').openCursor().onsuccess = event => {
    const c = event.target.result; if (c) { k++; c.continue(); } else say(k); }; }; };""",
)
feature("idb-two", "for (const n of [1, 2]) indexedDB.open('@name' + n).onsuccess = () => say(n);")
feature(
    "idb-delete",
    OPEN
    + "asked.onsuccess = () => { asked.result.close(); indexedDB.deleteDatabase('@name').onsuccess"
    " = () => say('deleted'); };",
)
feature(
    "idb-click",
    OPEN
    + "button.onclick = () => { asked.result.transaction('s', 'readwrite').objectStore('s').put(1,"
    " 1).onsuccess = () => say('put'); };",
    button=True,
)
feature("idb-list", "say((await indexedDB.databases()).filter(d => d.name === 'none').length);")
feature(
    "cache",
    "const c = await caches.open('@name'); say('open'); await c.put('/k', new Response('v'));"
    " say('put'); say(await (await c.match('/k')).text());",
)
feature(
    "cache-add",
    "const c = await caches.open('@name'); await c.addAll(['@/a', '@/b']); say((await"
    " c.keys()).length);",
    files={"a": text("a"), "b": text("b")},
)
feature(
    "cache-delete",
    "await caches.open('@name'); say(await caches.has('@name')); say(await"
    " caches.delete('@name'));",
)
feature(
    "opfs",
    "const root = await navigator.storage.getDirectory(); say('root'); const f = await"
    " root.getFileHandle('@name', {create: true}); const w = await f.createWritable(); await"
    " w.write('abc'); await w.close(); say((await f.getFile()).size);",
)
feature(
    "opfs-list",
    "const root = await navigator.storage.getDirectory(); const d = await"
    " root.getDirectoryHandle('@name', {create: true}); for (const n of ['a', 'b']) await"
    " d.getFileHandle(n, {create: true}); let k = 0; for await (const e of d.keys()) k++; say(k);",
)
feature("storage-estimate", "say((await navigator.storage.estimate()).usage >= 0);")
feature("storage-persist", "say(await navigator.storage.persisted());")
feature("locks", "for (const n of [1, 2, 3]) navigator.locks.request('@name', () => say(n));")
feature(
    "locks-held",
    "navigator.locks.request('@name', () => new Promise(r => { say('held'); setTimeout(r, 200);"
    " })); navigator.locks.request('@name', () => say('next')); navigator.locks.request('@name',"
    " {ifAvailable: true}, lock => say(lock ? 'free' : 'taken'));",
)
feature(
    "locks-query",
    "await navigator.locks.request('@name', () => say('in')); say((await"
    " navigator.locks.query()).held.length);",
)
feature("local-storage", "localStorage.setItem('@name', 1); say(localStorage.getItem('@name'));")
feature(
    "storage-event",
    "addEventListener('storage', event => event.key === '@name' && say(event.newValue));",
    body='<iframe src="@/a.html"></iframe>',
    files={"a.html": frame("localStorage.setItem('@name', 'set'); say('in');")},
)
feature(
    "session-storage", "sessionStorage.n = (+sessionStorage.n || 0) + 1; say(sessionStorage.n);"
)
feature("cookie", "document.cookie = '@name=1'; say(document.cookie.includes('@name'));")
feature(
    "cookie-store",
    "await cookieStore.set('@name', 'v'); say((await cookieStore.get('@name')).value);",
)
feature(
    "cookie-store-event",
    "cookieStore.onchange = event => event.changed.forEach(c => c.name === '@name' &&"
    " say('changed')); document.cookie = '@name=1';",
)
feature(
    "cookie-from-server",
    "await fetch('@/a'); say(document.cookie.includes('@name'));",
    files={"a": text("a", heads=("Set-Cookie: @name=1; Path=/",))},
)
feature(
    "file-reader",
    "const r = new FileReader(); r.onload = () => say(r.result); r.readAsText(new Blob(['abc']));",
)
feature(
    "blob-text",
    "say(await new Blob(['a', 'b']).text()); say((await new"
    " Blob(['abc']).slice(1).arrayBuffer()).byteLength);",
)
feature(
    "blob-large",
    "const b = new Blob([new Uint8Array(3e6)]); say((await b.arrayBuffer()).byteLength);",
)
feature(
    "blob-stream",
    "let pieces = 0; for await (const part of new Blob([new Uint8Array(4e5)]).stream()) pieces++;"
    " say(pieces);",
)
