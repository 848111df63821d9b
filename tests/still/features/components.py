"""Elements with behaviour: dialogs, popovers, custom elements, shadow roots, slots, details."""

from grammar import feature, script, text

feature(
    "dialog",
    "const d = here.querySelector('dialog'); d.onclose = () => say('close-' + d.returnValue);"
    " d.showModal(); say(d.open); setTimeout(() => d.close('v'), 200);",
    body="<dialog>asks</dialog>",
)
feature(
    "dialog-click",
    "const d = here.querySelector('dialog'); d.onclose = () => say('close'); button.onclick = () =>"
    " { d.show(); say('shown'); setTimeout(() => d.close(), 300); };",
    body="<dialog>asks</dialog>",
    button=True,
)
feature(
    "popover",
    "const p = here.querySelector('div'); p.onbeforetoggle = event => say('before-' +"
    " event.newState); p.ontoggle = event => say(event.newState); p.showPopover(); setTimeout(() =>"
    " p.hidePopover(), 100);",
    body="<div popover>pop</div>",
)
feature(
    "popover-click",
    "const p = here.querySelector('div'); p.ontoggle = event => say(event.newState);"
    " button.popoverTargetElement = p;",
    body="<div popover=manual>pop</div>",
    button=True,
)
feature(
    "details",
    "const d = here.querySelector('details'); d.ontoggle = event => say(event.newState); d.open ="
    " true;",
    body="<details><summary>more</summary>text</details>",
)
feature(
    "custom-element",
    "customElements.define('lab-one', class extends HTMLElement { connectedCallback() {"
    " say('connected'); } disconnectedCallback() { say('gone'); } }); say('defined');"
    " here.firstChild.remove();",
    body="<lab-one></lab-one>",
)
feature(
    "custom-element-late",
    "customElements.whenDefined('lab-two').then(() => say('when')); setTimeout(() =>"
    " customElements.define('lab-two', class extends HTMLElement { constructor() { super();"
    " say('made'); } }), 60);",
    body="<lab-two></lab-two><lab-two></lab-two>",
)
feature(
    "custom-element-module",
    body='<lab-three></lab-three><script type=module src="@/a.js"></script>',
    files={
        "a.js": script(
            "customElements.define('lab-three', class extends HTMLElement { async"
            " connectedCallback() { this.textContent = await (await fetch('@/b')).text();"
            " put('@name.filled'); } });"
        ),
        "b": text("filled"),
    },
)
feature(
    "shadow-root",
    "const r = here.querySelector('div').attachShadow({mode: 'open'}); r.innerHTML = '<style>p {"
    " width: 77px }</style><p>in</p>'; say(getComputedStyle(r.querySelector('p')).width);",
    body="<div></div>",
)
feature(
    "shadow-declared",
    "say(!!here.querySelector('div').shadowRoot);",
    body="<div><template shadowrootmode=open><p>declared</p></template></div>",
)
feature(
    "shadow-stylesheet",
    "const r = here.querySelector('div').attachShadow({mode: 'open'}); r.innerHTML = '<link"
    " rel=stylesheet href=\"@/a.css\"><p>in</p>'; r.querySelector('link').onload = () =>"
    " say(getComputedStyle(r.querySelector('p')).width);",
    body="<div></div>",
    files={"a.css": text("p { width: 78px }", "text/css")},
)
feature(
    "slot",
    "const h = here.querySelector('div'); const r = h.attachShadow({mode: 'closed'}); r.innerHTML ="
    " '<slot></slot>'; r.querySelector('slot').onslotchange = () => say(h.children.length);"
    " h.append(document.createElement('b'));",
    body="<div><i>a</i></div>",
)
feature(
    "slot-button",
    "const h = here.querySelector('div'); h.attachShadow({mode: 'open'}).innerHTML ="
    " '<button><slot></slot></button>'; h.shadowRoot.firstChild.onclick = () => say('pressed');",
    body="<div>slotted</div>",
    steps=[{"click": {"role": "button", "name": "slotted"}}],
)
feature(
    "template",
    "here.append(here.querySelector('template').content.cloneNode(true));"
    " say(here.children.length);",
    body="<template><b>one</b><b>two</b></template>",
)
feature(
    "invoker",
    "const d = here.querySelector('dialog'); d.onclose = () => say('closed');"
    " button.commandForElement = d; button.command = 'show-modal'; d.ontoggle = () => {"
    " say('open'); setTimeout(() => d.close(), 200); };",
    body="<dialog>asks</dialog>",
    button=True,
)
feature(
    "select-changes",
    "const s = here.querySelector('select'); setTimeout(() => { s.add(new Option('three')); s.value"
    " = 'three'; say(s.selectedIndex); }, 30);",
    body="<select aria-label=list><option>one<option>two</select>",
)
feature(
    "progress",
    "const p = here.querySelector('progress'); let n = 0; const id = setInterval(() => { p.value ="
    " ++n / 5; if (n === 5) { clearInterval(id); say('full'); } }, 90);",
    body="<progress value=0></progress>",
)
feature(
    "carousel",
    "let n = 0; setInterval(() => { here.firstChild.textContent = 'slide ' + ++n; }, 1100);",
    body="<p>slide 0</p>",
)
feature(
    "countdown",
    "let n = 9; const id = setInterval(() => { here.firstChild.textContent = --n; if (n === 5) {"
    " clearInterval(id); say('done'); } }, 1000);",
    body="<p>9</p>",
)
feature(
    "virtual-list",
    "const box = here.querySelector('div'); const draw = () => { const first ="
    " Math.floor(box.scrollTop / 20); box.firstChild.textContent = 'row ' + first; say(first); };"
    " box.onscroll = draw; draw(); setTimeout(() => box.scrollTop = 300, 120);",
    body='<div style="height:100px;overflow:auto"><p style="height:2000px"></p></div>',
)
feature(
    "edit-context",
    "here.querySelector('p').oninput = () => say('input'); const r = new Range();"
    " r.selectNodeContents(here.querySelector('p')); r.deleteContents(); say('emptied');",
    body="<p contenteditable>text</p>",
)
feature(
    "inert",
    "here.querySelector('div').inert = true; setTimeout(() => { here.querySelector('div').inert ="
    " false; say('back'); }, 100);",
    body="<div><button>inner</button></div>",
)
