"""History, navigation, reloads, redirects, popups."""

from grammar import HTML, feature, text

BACK = (
    "<!doctype html><title>there</title><script>onload = () => setTimeout(() => history.back(),"
    " 100)</script>there"
)
ONCE = "if (!sessionStorage['@name']) { sessionStorage['@name'] = 1; %s } else say('again');"

feature(
    "history-push",
    "addEventListener('popstate', () => say('pop')); history.pushState(1, '', '?pushed');"
    " say(location.search); history.back();",
)
feature(
    "history-hash",
    "addEventListener('hashchange', () => say(location.hash)); location.hash = 'a'; setTimeout(()"
    " => { location.hash = 'b'; }, 60);",
)
feature("history-replace", "history.replaceState({n: 1}, ''); say(history.state.n);")
feature(
    "history-go",
    "history.pushState(1, '', '#one'); history.pushState(2, '', '#two');"
    " addEventListener('popstate', event => say(event.state)); history.go(-1);",
)
feature(
    "navigation-api",
    "navigation.addEventListener('navigate', event => { if (event.destination.url.includes('step'))"
    " event.intercept({async handler() { say('handler'); }}); }); const n ="
    " navigation.navigate('#step'); n.committed.then(() => say('committed')); n.finished.then(() =>"
    " say('finished'));",
)
feature(
    "navigation-events",
    "for (const kind of ['navigate', 'currententrychange', 'navigatesuccess'])"
    " navigation.addEventListener(kind, () => say(kind)); setTimeout(() => history.pushState(0, '',"
    " '#n'), 50);",
)
feature(
    "navigation-click",
    "here.querySelector('a').onclick = () => say('clicked'); addEventListener('hashchange', () =>"
    " say('hash'));",
    body='<a href="#there">to-there</a>',
    steps=[{"click": {"role": "link", "name": "to-there"}}],
)
feature("reload", ONCE % "say('first'); setTimeout(() => location.reload(), 200);")
feature("reload-at-once", ONCE % "location.reload();")
feature(
    "meta-refresh",
    ONCE
    % "const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '1';"
    " document.head.append(m);",
)
feature(
    "leave-and-back",
    ONCE % "setTimeout(() => { location.href = '@/there.html'; }, 150);",
    files={"there.html": text(BACK, HTML)},
)
feature(
    "bfcache",
    "addEventListener('pageshow', event => event.persisted && say('restored'));"
    " addEventListener('pagehide', event => { sessionStorage['@name'] = 1; }); if"
    " (!sessionStorage['@name']) setTimeout(() => { location.href = '@/there.html'; }, 150);",
    files={"there.html": text(BACK, HTML)},
)
feature(
    "redirect-frame",
    body='<iframe src="@/a" onload="put(\'redirect-frame\')"></iframe>',
    files={"a": text("", status=301, heads=("Location: @/b",)), "b": text("arrived", HTML)},
)
feature(
    "redirect-chain",
    "say((await (await fetch('@/a')).text()));",
    files={
        "a": text("", status=302, heads=("Location: @/b",)),
        "b": text("", status=307, heads=("Location: @other/c",)),
        "c": text("end"),
    },
)
feature(
    "redirect-page",
    ONCE
    % "setTimeout(() => { sessionStorage.back = location.href; location.href = '@/a'; }, 100);",
    files={
        "a": text("", status=302, heads=("Location: @/b",)),
        "b": text(
            "<!doctype html><script>onload = () => location.replace(sessionStorage.back)</script>",
            HTML,
        ),
    },
)
feature(
    "before-unload",
    "addEventListener('beforeunload', () => put('unload')); addEventListener('pagehide', () =>"
    " sessionStorage.hidden = 1); say(sessionStorage.hidden);",
)
feature(
    "popup",
    "button.onclick = () => { const w = open('@/a.html'); say(!!w); };",
    button=True,
    steps=[{"focus_tab": 0}],
    files={
        "a.html": text(
            "<!doctype html><title>popup</title><script>opener.postMessage('say:@name.popup',"
            " '*')</script>",
            HTML,
        )
    },
)
feature(
    "popup-no-opener",
    "here.querySelector('a').onclick = () => say('clicked');",
    body='<a target=_blank rel=noopener href="/plain">to-plain</a>',
    steps=[{"click": {"role": "link", "name": "to-plain"}}, {"focus_tab": 0}],
)
feature(
    "prerender",
    "say(HTMLScriptElement.supports('speculationrules'));",
    body=(
        '<script type=speculationrules>{"prerender": [{"source": "list", "urls": ["/plain"],'
        ' "eagerness": "immediate"}]}</script>'
    ),
)
feature(
    "prefetch-rules",
    "say(document.prerendering);",
    body=(
        '<script type=speculationrules>{"prefetch": [{"source": "list", "urls":'
        ' ["/plain?prefetched"], "eagerness": "immediate"}]}</script>'
    ),
)
feature(
    "form-sent",
    "button.onclick = () => say('clicked');",
    body=(
        '<form action="/plain"><input type=hidden name=q value=1><button>send-form</button></form>'
    ),
    steps=[{"click": {"role": "button", "name": "send-form"}}, "go_back"],
)
feature(
    "preconnect",
    "say('asked');",
    head=(
        '<link rel=preconnect href="https://other.lab.test"><link rel=dns-prefetch'
        ' href="https://far.test">'
    ),
)
feature(
    "download",
    "here.querySelector('a').onclick = () => say('clicked');",
    body='<a href="@/a" download="a.txt">get-file</a>',
    files={"a": text("file")},
    steps=[{"click": {"role": "link", "name": "get-file"}}],
)
