"""What an agent does on any page. These have steps alone."""

from grammar import HOST, feature

feature("do-look", steps=["noop"])
feature("do-look-twice", steps=["noop", "noop"])
feature("do-scroll", steps=[{"scroll": {"dx": 0, "dy": 600}}])
feature(
    "do-scroll-and-back",
    steps=[{"scroll": {"dx": 0, "dy": 900}}, {"scroll": {"dx": 0, "dy": -900}}],
)
feature("do-scroll-to-end", steps=[{"scroll": {"dx": 0, "dy": 9000}}, "noop"])
feature("do-back", steps=[{"goto": f"https://{HOST}/plain"}, "go_back", "noop"])
feature("do-back-and-forward", steps=[{"goto": f"https://{HOST}/plain"}, "go_back", "go_forward"])
feature("do-tab", steps=["new_tab", {"focus_tab": 0}, "noop"])
feature(
    "do-type",
    "field.addEventListener('input', () => say(field.value)); field.addEventListener('change', ()"
    " => say('change'));",
    field=True,
)
feature(
    "do-press",
    "field.addEventListener('keydown', event => say(event.key)); field.addEventListener('keyup', ()"
    " => say('up'));",
    body='<input id="f-do-press" aria-label="do-press">',
    steps=[{"press": {"role": "textbox", "name": "do-press", "keys": "Enter"}}],
)
feature(
    "do-click",
    "for (const kind of ['pointerdown', 'mousedown', 'focus', 'mouseup', 'click'])"
    " button.addEventListener(kind, () => say(kind));",
    button=True,
)
feature(
    "do-select",
    "here.querySelector('select').onchange = event => say(event.target.value);",
    body='<select aria-label="do-select"><option>one<option>two</select>',
    steps=[{"select": {"role": "combobox", "name": "do-select", "options": ["two"]}}],
)
