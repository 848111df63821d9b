"""Pictures: eager, lazy, animated, decoded late, chosen."""

from bytes_of import gif, png
from grammar import GIF, PNG, SVG, feature, text

SMALL, LARGE = png(20, 20), png(1200, 900)
SAYS = "onload=\"put('@name')\""
DRAWN = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="30"><circle r="9"/></svg>'


def picture(content=SMALL, **more):
    """The file of a picture."""
    return {"a.png": text(content, PNG, **more)}


feature("picture", body=f'<img src="@/a.png" {SAYS}>', files=picture())
feature("picture-large", body=f'<img src="@/a.png" width=60 {SAYS}>', files=picture(LARGE))
feature("picture-slow", body=f'<img src="@/a.png" {SAYS}>', files=picture(pause=0.02, pieces=3))
feature(
    "picture-shifts",
    "new ResizeObserver(() => say(here.offsetHeight)).observe(here);",
    body='<img src="@/a.png" style="display:block">',
    files=picture(png(40, 130), pause=0.01),
)
feature("picture-lazy", body=f'<img loading=lazy src="@/a.png" {SAYS}>', files=picture())
feature(
    "picture-lazy-below",
    body=(
        '<div style="height:1900px"></div><img loading=lazy src="@/a.png" width=20 height=20'
        f" {SAYS}>"
    ),
    files=picture(),
)
feature(
    "picture-missing", body='<img src="@/none.png" alt="none" onerror="put(\'picture-missing\')">'
)
feature(
    "picture-broken",
    body='<img src="@/a.png" alt="broken" onerror="put(\'picture-broken\')">',
    files=picture(b"no picture"),
)
feature(
    "picture-data",
    body=(
        f"<img src=\"data:image/svg+xml,{DRAWN.replace(chr(34), '%22').replace('<', '%3C')}\""
        f" {SAYS}>"
    ),
)
feature("picture-svg", body=f'<img src="@/a.svg" {SAYS}>', files={"a.svg": text(DRAWN, SVG)})
feature(
    "picture-decode",
    "const i = new Image(); i.src = '@/a.png'; await i.decode(); say(i.naturalWidth);",
    files=picture(LARGE),
)
feature(
    "picture-decode-async",
    body=f'<img decoding=async src="@/a.png" width=60 {SAYS}>',
    script="requestAnimationFrame(() => say('frame'));",
    files=picture(LARGE),
)
feature(
    "picture-three",
    body="".join(f'<img src="@/{n}.png" onload="put(\'@name.{n}\')">' for n in "abc"),
    files={f"{n}.png": text(png(10 + 300 * at, 10), PNG) for at, n in enumerate("abc")},
)
feature(
    "picture-srcset",
    body=f'<img srcset="@/a.png 1x, @/b.png 2x" src="@/b.png" {SAYS}>',
    files=picture() | {"b.png": text(SMALL, PNG)},
)
feature(
    "picture-element",
    "const i = here.querySelector('img'); i.addEventListener('load', () =>"
    " say(i.currentSrc.slice(-5)));",
    body=(
        '<picture><source media="(max-width: 300px)" srcset="@/b.png"><img src="@/a.png"></picture>'
    ),
    files=picture() | {"b.png": text(SMALL, PNG)},
)
feature(
    "picture-sizes-auto",
    body=(
        '<img loading=lazy sizes=auto srcset="@/a.png 40w, @/b.png 900w" width=40 height=20'
        f" {SAYS}>"
    ),
    files=picture() | {"b.png": text(SMALL, PNG)},
)
feature(
    "picture-animated",
    body=f'<img src="@/a.gif" width=20 height=20 {SAYS}>',
    files={"a.gif": text(gif(4), GIF)},
)
feature(
    "picture-animated-once",
    body=f'<img src="@/a.gif" width=20 height=20 {SAYS}>',
    files={"a.gif": text(gif(3, loops=1, delay=30), GIF)},
)
feature(
    "picture-animated-below",
    body=f'<div style="height:1000px"></div><img src="@/a.gif" width=20 height=20 {SAYS}>',
    files={"a.gif": text(gif(4, delay=5), GIF)},
)
feature(
    "picture-background",
    "requestAnimationFrame(() => say('frame'));",
    body='<div style="height:30px;background:url(@/a.png)"></div>',
    files=picture(),
)
feature(
    "picture-background-late",
    "new PerformanceObserver(list => list.getEntries().some(e => e.name.includes('@name')) &&"
    " say('asked')).observe({type: 'resource'}); setTimeout(() => here.style.backgroundImage ="
    " 'url(@/a.png)', 200);",
    files=picture(),
)
feature("picture-other-origin", body=f'<img crossorigin src="@far/a.png" {SAYS}>', files=picture())
feature(
    "picture-changed",
    "const i = here.querySelector('img'); i.onload = () => { say(i.width); i.onload = () =>"
    " say(i.width); i.src = '@/b.png'; };",
    body='<img src="@/a.png">',
    files=picture() | {"b.png": text(png(50, 5), PNG)},
)
feature("picture-priority", body=f'<img fetchpriority=high src="@/a.png" {SAYS}>', files=picture())
feature(
    "picture-preload",
    body=(
        '<link rel=preload as=image href="@/a.png" onload="put(\'@name.loaded\')"><img'
        ' src="@/a.png" onload="put(\'@name.shown\')">'
    ),
    files=picture(),
)
