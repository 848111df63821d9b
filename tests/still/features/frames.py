"""Frames of the same origin, of others, and without one."""

from grammar import feature, frame, text

SRCDOC = "&lt;script>parent.postMessage('say:@name.in','*')&lt;/script>"


def embedded(more=""):
    """A frame that tells when it has loaded."""
    return f"<iframe {more} onload=\"put('@name.load')\"></iframe>"


feature("frame", body=embedded('src="@/a.html"'), files={"a.html": frame("say('in');")})
feature(
    "frame-other-origin",
    body=embedded('src="@other/a.html"'),
    files={"a.html": frame("say('in');")},
)
feature("frame-far", body=embedded('src="@far/a.html"'), files={"a.html": frame("say('in');")})
feature("frame-srcdoc", body=embedded(f'srcdoc="{SRCDOC}"'))
feature(
    "frame-sandboxed",
    body=embedded('sandbox="allow-scripts" src="@/a.html"'),
    files={"a.html": frame("say(origin);")},
)
feature(
    "frame-lazy",
    body='<div style="height:1500px"></div>' + embedded('loading=lazy src="@/a.html"'),
    files={"a.html": frame("say('in');")},
)
feature("frame-blank", body=embedded(), script="say(here.firstChild.contentDocument.readyState);")
feature(
    "frame-two",
    body=embedded('src="@/a.html"') + embedded('src="@/b.html"'),
    files={"a.html": frame("say('a');"), "b.html": frame("say('b');")},
)
feature(
    "frame-two-far",
    body=embedded('src="@far/a.html"') + embedded('src="@other/b.html"'),
    files={"a.html": frame("say('a');"), "b.html": frame("say('b');")},
)
feature(
    "frame-nested",
    body=embedded('src="@/a.html"'),
    files={
        "a.html": frame(
            "addEventListener('message', event => parent.postMessage(event.data, '*')); say('a');",
            body='<iframe src="@far/b.html"></iframe>',
        ),
        "b.html": frame("say('b');"),
    },
)
feature(
    "frame-talk",
    "const f = here.querySelector('iframe'); f.onload = () => f.contentWindow.postMessage(1, '*');",
    body='<iframe src="@/a.html"></iframe>',
    files={"a.html": frame("onmessage = event => say('got' + event.data);")},
)
feature(
    "frame-far-talk",
    "const f = here.querySelector('iframe'); f.onload = () => { for (const n of [1, 2, 3])"
    " f.contentWindow.postMessage(n, '*'); };",
    body='<iframe src="@far/a.html"></iframe>',
    files={"a.html": frame("onmessage = event => say('got' + event.data);")},
)
feature(
    "frame-far-timers",
    "setTimeout(() => say('page'), 200);",
    body='<iframe src="@far/a.html"></iframe>',
    files={
        "a.html": frame("setTimeout(() => say('100'), 100); setTimeout(() => say('300'), 300);")
    },
)
feature(
    "frame-far-raf",
    "requestAnimationFrame(() => say('page'));",
    body='<iframe src="@far/a.html"></iframe>',
    files={"a.html": frame("requestAnimationFrame(() => say('frame'));")},
)
feature(
    "frame-far-fetch",
    body='<iframe src="@far/a.html"></iframe>',
    files={"a.html": frame("fetch('@/b').then(r => r.text()).then(say);"), "b": text("fetched")},
)
feature(
    "frame-far-slow",
    body=embedded('src="@far/a.html"'),
    files={"a.html": frame("say('in');", pause=0.02, pieces=3)},
)
feature(
    "frame-far-clock",
    "const a = Date.now(); addEventListener('message', event => event.data.now &&"
    " say(Math.round((event.data.now - a) / 1000)));",
    body='<iframe src="@far/a.html"></iframe>',
    files={"a.html": frame("setTimeout(() => parent.postMessage({now: Date.now()}, '*'), 2000);")},
)
feature(
    "frame-isolated",
    body=embedded('src="@/a.html"'),
    files={"a.html": frame("say(self.originAgentCluster);", heads=("Origin-Agent-Cluster: ?1",))},
)
feature(
    "frame-credentialless",
    body=embedded('credentialless src="@far/a.html"'),
    files={"a.html": frame("say('in');")},
)
feature(
    "frame-navigates",
    "const f = here.querySelector('iframe'); f.onload = () => { f.onload = () => say('second');"
    " f.src = '@/b.html'; };",
    body='<iframe src="@/a.html"></iframe>',
    files={"a.html": frame("say('a');"), "b.html": frame("say('b');")},
)
feature(
    "frame-removed",
    "setTimeout(() => { here.querySelector('iframe').remove(); say('removed'); }, 100);",
    body='<iframe src="@far/a.html"></iframe>',
    files={"a.html": frame("addEventListener('pagehide', () => say('hide')); say('in');")},
)
feature(
    "frame-form",
    "here.querySelector('form').submit(); here.querySelector('iframe').onload = () =>"
    " say('answered');",
    body=(
        '<iframe name="t-@name"></iframe><form target="t-@name" action="@/a.html"><input name=q'
        " value=1></form>"
    ),
    files={"a.html": frame("say(location.search);")},
)
feature(
    "frame-click",
    "button.onclick = () => { const f = document.createElement('iframe'); f.src = '@far/a.html';"
    " f.onload = () => say('load'); here.append(f); };",
    button=True,
    files={"a.html": frame("say('in');")},
)
feature(
    "frame-resized",
    "let w = 100; const f = here.querySelector('iframe'); f.onload = () => { f.style.width ="
    " '200px'; };",
    body='<iframe style="width:100px" src="@/a.html"></iframe>',
    files={"a.html": frame("addEventListener('resize', () => say(innerWidth));")},
)
feature(
    "frame-far-storage",
    body='<iframe src="@far/a.html"></iframe>',
    files={
        "a.html": frame(
            "localStorage.k = 'v'; say(localStorage.k); document.cookie = 'a=b; SameSite=None;"
            " Secure'; say(document.cookie);"
        )
    },
)
feature(
    "frame-object",
    body='<object type="text/html" data="@/a.html" onload="put(\'@name.load\')"></object>',
    files={"a.html": frame("say('in');")},
)
feature(
    "frame-refused",
    body=embedded('src="@/a.html"'),
    files={"a.html": frame("say('in');", heads=("X-Frame-Options: DENY",))},
)
feature(
    "frame-worker",
    body='<iframe src="@far/a.html"></iframe>',
    files={
        "a.html": frame("new Worker('@/w.js').onmessage = event => say(event.data);"),
        "w.js": text("postMessage('worker')", "text/javascript"),
    },
)
feature(
    "frame-intersection-far",
    body='<iframe src="@far/a.html"></iframe>',
    files={
        "a.html": frame(
            "new IntersectionObserver(e => say(e[0].isIntersecting)).observe(document.body);"
        )
    },
)
