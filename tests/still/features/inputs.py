"""Handlers of scrolling and of input."""

from grammar import feature

feature(
    "scroll-handler",
    "let n = 0; addEventListener('scroll', () => { if (++n < 9) say(Math.round(scrollY)); });",
)
feature("scroll-end", "addEventListener('scrollend', () => say(Math.round(scrollY)));")
feature(
    "wheel-handler",
    "let n = 0; addEventListener('wheel', event => { if (++n < 9) say(event.deltaY); }, {passive:"
    " true});",
)
feature(
    "wheel-prevented",
    "addEventListener('wheel', event => { event.preventDefault(); say(); }, {passive: false, once:"
    " true});",
)
feature(
    "scroll-raf",
    "let asked = false; addEventListener('scroll', () => { if (asked) return; asked = true;"
    " requestAnimationFrame(() => { asked = false; say(scrollY > 0); }); });",
)
feature(
    "scroll-script",
    "addEventListener('scroll', () => say('event'), {once: true}); scrollTo(0, 300); say(scrollY);",
)
feature(
    "scroll-into-view",
    "const e = here.querySelector('b'); addEventListener('load', () => { e.scrollIntoView();"
    " say(Math.round(scrollY / 100)); });",
    body='<div style="height:1000px"></div><b>mark</b>',
)
feature(
    "scroll-anchoring",
    "setTimeout(() => { const d = document.createElement('div'); d.style.height = '200px';"
    " document.body.prepend(d); requestAnimationFrame(() => say(Math.round(scrollY))); }, 400);"
    " scrollTo(0, 500);",
)
feature(
    "scroll-snap",
    "const box = here.querySelector('div'); box.onscrollend = () => say(box.scrollLeft);"
    " box.scrollLeft = 130;",
    body=(
        '<div style="width:100px;overflow:auto;display:flex;scroll-snap-type:x mandatory"><p'
        ' style="flex:0 0 100px;scroll-snap-align:start">1<p style="flex:0 0'
        ' 100px;scroll-snap-align:start">2<p style="flex:0 0 100px;scroll-snap-align:start">3</div>'
    ),
)
feature(
    "scroll-sticky",
    "const e = here.querySelector('b'); addEventListener('scroll', () =>"
    " say(Math.round(e.getBoundingClientRect().top)), {once: true});",
    body='<b style="position:sticky;top:0">sticky</b>',
)
feature(
    "click-order",
    "button.addEventListener('click', () => { say('click'); queueMicrotask(() => say('micro'));"
    " setTimeout(() => say('timer')); requestAnimationFrame(() => say('frame')); });",
    button=True,
)
feature(
    "click-counts",
    "let n = 0; button.onclick = () => say(++n);",
    button=True,
    steps=[{"click": {"role": "button", "name": "click-counts"}}],
)
feature(
    "click-pointer",
    "for (const kind of ['pointerover', 'pointerenter', 'pointermove', 'pointerdown', 'pointerup'])"
    " button.addEventListener(kind, () => say(kind.slice(7)), {once: true});",
    button=True,
)
feature(
    "click-toast",
    "button.onclick = () => { const d = document.createElement('div'); d.setAttribute('role',"
    " 'status'); d.textContent = 'saved'; here.append(d); say('shown'); setTimeout(() => {"
    " d.remove(); say('gone'); }, 1500); };",
    button=True,
)
feature(
    "click-layout",
    "button.onclick = () => { here.style.height = '200px'; say(here.offsetHeight); };",
    button=True,
)
feature("click-dialog-confirm", "button.onclick = () => say(confirm('sure?'));", button=True)
feature(
    "typed-debounced",
    "let id; field.oninput = () => { clearTimeout(id); id = setTimeout(() => say(field.value),"
    " 300); };",
    field=True,
)
feature(
    "typed-events",
    "for (const kind of ['focus', 'keydown', 'beforeinput', 'input', 'change', 'blur'])"
    " field.addEventListener(kind, () => say(kind));",
    field=True,
)
feature(
    "typed-validity",
    "field.required = true; field.pattern = '[0-9]+'; field.oninput = () =>"
    " say(field.validity.valid); field.oninvalid = () => say('invalid'); field.onchange = () =>"
    " field.checkValidity();",
    field=True,
)
feature(
    "selection",
    "document.addEventListener('selectionchange', () => say(String(getSelection()).length));"
    " setTimeout(() => getSelection().selectAllChildren(here), 50);",
    body="<p>text</p>",
)
feature(
    "focus-script",
    "const e = here.querySelector('input'); e.onfocus = () => say('focus'); e.onblur = () =>"
    " say('blur'); e.focus(); setTimeout(() => e.blur(), 80);",
    body='<input aria-label="focused">',
)
feature(
    "autofocus",
    "here.querySelector('input').onfocus = () => say('focus');",
    body='<input autofocus aria-label="auto">',
)
feature(
    "hover-menu",
    "button.onmouseenter = () => say('enter'); button.onmouseleave = () => say('leave');",
    button=True,
)
feature(
    "form-data",
    "here.querySelector('form').onsubmit = event => { event.preventDefault(); say(new"
    " FormData(event.target).get('q')); }; button.onclick = () =>"
    " here.querySelector('form').requestSubmit();",
    body="<form><input name=q value=v aria-label=q></form>",
    button=True,
)
feature(
    "keyboard-global",
    "addEventListener('keydown', event => say(event.key), {once: true});",
    field=True,
)
feature(
    "clipboard",
    "navigator.clipboard.writeText('x').then(() => say('written'), error => say(error.name));",
)
feature(
    "range-input",
    "const r = here.querySelector('input'); r.oninput = () => say(r.value); r.value = 7;"
    " say(r.value);",
    body="<input type=range max=9 aria-label=range>",
)
