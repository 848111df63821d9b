"""Style sheets and fonts."""

from font import FONT_BYTES
from grammar import FONT, feature, script, style, text

GREEN = "h1 { color: green }"
WIDTH = "getComputedStyle(here).width"

feature("style-inline", f"say({WIDTH});", head="<style>#s-style-inline { width: 301px }</style>")
feature(
    "style-external",
    f"say({WIDTH});",
    head='<link rel=stylesheet href="@/a.css">',
    files={"a.css": style("#s-@name { width: 302px }")},
)
feature(
    "style-external-events",
    body='<link rel=stylesheet href="@/a.css" onload="put(\'style-external-events\')">',
    files={"a.css": style(GREEN)},
)
feature(
    "style-slow",
    f"say({WIDTH});",
    head='<link rel=stylesheet href="@/a.css">',
    files={"a.css": style("#s-@name { width: 303px }", pause=0.03, pieces=3)},
)
feature(
    "style-late",
    """const link = document.createElement('link'); link.rel = 'stylesheet'; link.href = '@/a.css';
    link.onload = () => say(); setTimeout(() => document.head.append(link), 20);""",
    files={"a.css": style(GREEN)},
)
feature(
    "style-imported",
    "const all = here.querySelector('style'); all.onload = () =>"
    " say(all.sheet.cssRules[0].styleSheet.cssRules.length);",
    body='<style>@import "@/a.css";</style>',
    files={"a.css": style('@import "@/b.css"; i { color: red }'), "b.css": style(GREEN)},
)
feature(
    "style-missing", body='<link rel=stylesheet href="@/none.css" onerror="put(\'style-missing\')">'
)
feature(
    "style-media",
    body='<link rel=stylesheet media=print href="@/a.css" onload="put(\'style-media\')">',
    files={"a.css": style(GREEN)},
)
feature(
    "style-constructed",
    """const sheet = new CSSStyleSheet(); await sheet.replace('section { margin: 2px }');
    document.adoptedStyleSheets.push(sheet); say(getComputedStyle(here).marginTop);""",
)
feature(
    "style-other-origin",
    body=(
        '<link rel=stylesheet crossorigin href="@other/a.css" onload="put(\'style-other-origin\')">'
    ),
    files={"a.css": style(GREEN)},
)
feature(
    "style-preload",
    """const link = document.createElement('link');
    Object.assign(link, {rel: 'preload', as: 'style', href: '@/a.css'});
    link.onload = () => { link.rel = 'stylesheet'; link.onload = () => say('applied');
    say('loaded'); }; document.head.append(link);""",
    files={"a.css": style(GREEN)},
)
feature(
    "style-before-script",
    "say('inline');",
    body='<link rel=stylesheet href="@/a.css"><script src="@/a.js"></script>',
    files={"a.css": style(GREEN, pause=0.01), "a.js": script("put('@name.external');")},
)
feature(
    "style-in-body",
    "requestAnimationFrame(() => say(getComputedStyle(here).paddingTop));",
    body='<link rel=stylesheet href="@/a.css">',
    files={"a.css": style("#s-@name { padding: 4px }", pause=0.01)},
)

feature(
    "font-face",
    "document.fonts.load('16px lab1').then(list => say(list.length));",
    head="<style>@font-face { font-family: lab1; src: url(@/a.ttf) }</style>",
    body='<b style="font-family: lab1">AAA</b>',
    files={"a.ttf": text(FONT_BYTES, FONT)},
)
feature("font-ready", "document.fonts.ready.then(fonts => say(fonts.size));")
feature(
    "font-ready-loading",
    """document.fonts.onloading = () => say('loading');
    document.fonts.onloadingdone = () => say('done');
    document.fonts.ready.then(() => say('ready'));""",
    head="<style>@font-face { font-family: lab2; src: url(@/a.ttf); font-display: swap }</style>",
    body='<b style="font-family: lab2">AAA</b>',
    files={"a.ttf": text(FONT_BYTES, FONT, pause=0.02)},
)
feature(
    "font-script",
    """const font = new FontFace('lab3', 'url(@/a.ttf)'); document.fonts.add(font);
    await font.load(); say(font.status);""",
    files={"a.ttf": text(FONT_BYTES, FONT)},
)
feature(
    "font-broken",
    "new FontFace('lab4', 'url(@/a.ttf)').load().catch(error => say(error.name));",
    files={"a.ttf": text("this is no font", FONT)},
)
feature(
    "font-measured",
    """const wide = () => here.firstChild.offsetWidth; const before = wide();
    await document.fonts.load('40px lab5', 'A'); say(before === wide() ? 'same' : 'wider');""",
    head="<style>@font-face { font-family: lab5; src: url(@/a.ttf) }</style>",
    body='<b style="font: 40px lab5, serif">AAA</b>',
    files={"a.ttf": text(FONT_BYTES, FONT)},
)
