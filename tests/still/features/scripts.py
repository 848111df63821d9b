"""Scripts of every kind."""

from grammar import JSON, feature, script, text

feature(
    "script-external",
    body='<script src="@/a.js"></script>',
    files={"a.js": script("put('@name');")},
)
feature(
    "script-async",
    body='<script async src="@/a.js"></script>',
    files={"a.js": script("put('@name');")},
)
feature(
    "script-async-two",
    body='<script async src="@/a.js"></script><script async src="@/b.js"></script>',
    files={"a.js": script("put('@name.a');", pause=0.02), "b.js": script("put('@name.b');")},
)
feature(
    "script-defer",
    body='<script defer src="@/a.js"></script>',
    files={"a.js": script("put('@name');")},
)
feature(
    "script-slow",
    body='<script src="@/a.js"></script>',
    files={"a.js": script("put('@name');", pause=0.03, pieces=2)},
)
feature(
    "script-module",
    body='<script type=module src="@/a.js"></script>',
    files={
        "a.js": script("import {word} from '@/b.js'; put('@name.' + word);"),
        "b.js": script("export const word = 'b';"),
    },
)
feature("script-module-inline", body='<script type=module>put("script-module-inline")</script>')
feature(
    "script-module-async",
    body='<script type=module async src="@/a.js"></script>',
    files={"a.js": script("put('@name');")},
)
feature(
    "script-module-await",
    body='<script type=module src="@/a.js"></script>',
    files={
        "a.js": script(
            "put('@name.before'); const r = await (await fetch('@/d')).text(); put('@name.' + r);"
        ),
        "d": text("d"),
    },
)
feature(
    "script-dynamic-import",
    "say((await import('@/a.js')).word);",
    files={"a.js": script("export const word = 'a';")},
)
feature(
    "script-import-map",
    "say((await import('lab')).word);",
    files={"a.js": script("export const word = 'mapped';")},
    head='<script type=importmap>{"imports": {"lab": "@/a.js"}}</script>',
)
feature(
    "script-import-json",
    "say((await import('@/a.json', {with: {type: 'json'}})).default.n);",
    files={"a.json": text('{"n": 7}', JSON)},
)
feature(
    "script-preload",
    body=(
        '<link rel=preload as=script href="@/a.js" onload="put(\'script-preload.loaded\')"><script'
        ' defer src="@/a.js"></script>'
    ),
    files={"a.js": script("put('@name.run');")},
)
feature(
    "script-module-preload",
    body='<link rel=modulepreload href="@/a.js"><script type=module src="@/a.js"></script>',
    files={"a.js": script("put('@name');")},
)
feature(
    "script-prefetch",
    body='<link rel=prefetch href="@/a.js" onload="put(\'script-prefetch\')">',
    files={"a.js": script("1")},
)
feature(
    "script-inserted",
    """for (const part of ['a', 'b']) { const s = document.createElement('script');
    s.src = '@/' + part + '.js';
    s.onload = () => say(part + '.loaded'); document.head.append(s); }""",
    files={"a.js": script("put('@name.a');"), "b.js": script("put('@name.b');")},
)
feature(
    "script-inserted-in-order",
    """for (const part of ['a', 'b']) { const s = document.createElement('script'); s.async = false;
    s.src = '@/' + part + '.js'; document.head.append(s); }""",
    files={"a.js": script("put('@name.a');", pause=0.02), "b.js": script("put('@name.b');")},
)
feature(
    "script-missing",
    body='<script async src="@/none.js" onerror="put(\'script-missing\')"></script>',
)
feature(
    "script-throws",
    "addEventListener('error', event => event.message.includes('lab error') && say('caught'));"
    " setTimeout(() => { throw new Error('lab error'); });",
)
feature(
    "script-rejects",
    "addEventListener('unhandledrejection', event => event.reason === 'lab' && say('unhandled'));"
    " Promise.reject('lab');",
)
feature(
    "script-other-origin",
    body='<script async crossorigin src="@other/a.js"></script>',
    files={"a.js": script("put('@name');")},
)
feature(
    "script-blob",
    """const s = document.createElement('script');
    s.src = URL.createObjectURL(new Blob(["put('script-blob.run')"], {type: 'text/javascript'}));
    s.onload = () => say('loaded'); document.head.append(s);""",
)
feature("script-busy", "let sum = 0; for (let i = 0; i < 3e6; i++) sum += i & 7; say(sum);")
feature(
    "script-document-write",
    body="<script>document.write('<b>written</b>'); put('script-document-write')</script>",
)
