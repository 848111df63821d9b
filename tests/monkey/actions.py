"""What the monkey can do, and how often it does it."""

CLICKED = ("link", "button", "checkbox", "radio", "tab", "menuitem", "option", "switch", "combobox", "DisclosureTriangle",
           "ColorWell", "Date", "DateTime", "InputTime", "slider", "summary", "treeitem", "menuitemcheckbox", "menuitemradio")
WRITTEN = ("textbox", "searchbox", "spinbutton", "combobox", "Date", "DateTime", "InputTime", "ColorWell", "slider")
TICKED = ("checkbox", "radio", "switch", "menuitemcheckbox")
TEXTS = ("", " ", "a", "London", "12", "-1", "1e309", "2026-02-30", "2026-03-04", "10:30", "#ff0000", "ann@example.test",
         "<b>bold</b>", "'\"\\", "'; DROP TABLE users; --", "%00%ff", "\U0001f642\u200d", "\u202eright", "\u0645\u0631\u062d\u0628\u0627",
         "line one\nline two\ttab", "x" * 3000, "\x00\x07", "{{7*7}}", "\u00e9e\u0301")
KEYS = ("Enter", "Escape", "Tab", "Shift+Tab", "Space", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "Home", "End",
        "PageDown", "PageUp", "Backspace", "Delete", "Insert", "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F10", "F11", "F12",
        "Alt+ArrowDown", "Alt+ArrowLeft", "Alt+ArrowRight", "Alt+F4", "Control+a", "Control+c", "Control+x", "Control+v",
        "Control+z", "Control+f", "Control+p", "Control+s", "Control+n", "Control+t", "Control+w", "Control+r", "Control+u",
        "Control+Enter", "Control+Home", "Control+End", "Control+Shift+i", "Control++", "Control+-", "Control+0", "Meta+a",
        "ContextMenu", "Shift+F10", "CapsLock", "a", "Z", "5", "?", "/", "\u00e9", "NoSuchKey")
HELD = ("Shift", "Control", "Alt", "Meta", "a", "Enter")
BUTTONS = ("left", "left", "left", "middle", "right")
MODIFIERS = ([], [], [], ["Shift"], ["Control"], ["Alt"], ["Control", "Shift"], ["Meta"])
ODD_ADDRESSES = ("about:blank", "javascript:alert(1)", "data:text/html,<p>hello", "file:///etc/passwd", "http://nowhere.invalid/",
                 "chrome://version", "not an address", "mailto:a@b.test", "view-source:about:blank", "http://127.0.0.1:1/", "")
WINDOW = (1280, 720)


def call(name, *arguments, **named):
    words = [repr(argument) for argument in arguments] + [f"{key}={value!r}" for key, value in named.items()]
    return f"{name}({', '.join(words)})"


def choose(dice, page):
    """One action for a page."""
    weighted = [(weight, make) for weight, make in on_page(dice, page) + ANYWHERE]
    makers = [make for _, make in weighted]
    make = dice.choices(makers, weights=[weight for weight, _ in weighted])[0]
    return make(dice, page)


def on_page(dice, page):
    """What can be done with what is there, each kind with its weight."""
    def pick(*roles):
        return [element for element in page.elements if element.role in roles]
    clicked = pick(*CLICKED) + [element for element in page.elements if element.clickable]
    written, ticked = pick(*WRITTEN), pick(*TICKED)
    lists = [element for element in pick("combobox", "listbox") if element.options]
    files = [element for element in pick("button") if "file" in element.name.lower()]
    kinds = []

    def add(weight, elements, make):
        if elements:
            kinds.append((weight, lambda dice, page: make(dice.choice(elements))))
    add(30, clicked, lambda element: call("click", element.bid))
    add(4, clicked, lambda element: call("click", element.bid, button=dice.choice(BUTTONS), modifiers=dice.choice(MODIFIERS)))
    add(2, clicked, lambda element: call("dblclick", element.bid))
    add(14, lists, lambda element: call("select_option", element.bid, dice.choice(element.options)))
    add(2, lists, lambda element: call("select_option", element.bid, dice.sample(element.options, min(2, len(element.options)))))
    add(6, lists, lambda element: call("press", element.bid, dice.choice(("Space", "Enter", "Alt+ArrowDown", "F4", "ArrowDown", "c"))))
    add(14, written, lambda element: call("fill", element.bid, dice.choice(TEXTS)))
    add(2, written, lambda element: call("fill", element.bid, dice.choice(TEXTS), enable_autocomplete_menu=True))
    add(1, written, lambda element: call("clear", element.bid))
    add(5, ticked, lambda element: call(dice.choice(("check", "uncheck")), element.bid))
    add(8, files, lambda element: call("upload_file", element.bid, dice.choice(page.downloads + ["monkey.txt", "../../etc/passwd"])))
    everything = page.elements
    add(2, everything, lambda element: call("click", element.bid))
    add(3, everything, lambda element: call("hover", element.bid))
    add(2, everything, lambda element: call("focus", element.bid))
    add(3, everything, lambda element: call("press", element.bid, dice.choice(KEYS)))
    add(2, everything, lambda element: call("drag_and_drop", element.bid, dice.choice(everything).bid))
    add(1, everything, lambda element: call("fill", element.bid, dice.choice(TEXTS)))
    add(1, everything, lambda element: call("select_option", element.bid, "none of these"))
    add(1, everything, lambda element: call("upload_file", element.bid, "monkey.txt"))
    return kinds


def place(dice, page):
    """Somewhere on the screen, now and then outside of it."""
    places = page.places()
    if places and dice.random() < 0.5:
        return dice.choice(places)
    if dice.random() < 0.05:
        return dice.choice(((-5, -5), (5000, 5000), (0, 0), (1279.5, 719.5)))
    return dice.randrange(WINDOW[0]), dice.randrange(WINDOW[1])


def mouse(dice, page):
    name = dice.choice(("mouse_click", "mouse_click", "mouse_dblclick", "mouse_move", "mouse_down", "mouse_up", "mouse_drag_and_drop"))
    where = place(dice, page)
    if name == "mouse_drag_and_drop":
        return call(name, *where, *place(dice, page))
    return call(name, *where) if name == "mouse_move" else call(name, *where, button=dice.choice(BUTTONS))


def keyboard(dice, page):
    name = dice.choice(("keyboard_press",) * 6 + ("keyboard_type", "keyboard_insert_text", "keyboard_down", "keyboard_up"))
    if name == "keyboard_press":
        return call(name, dice.choice(KEYS))
    return call(name, dice.choice(HELD if name in ("keyboard_down", "keyboard_up") else TEXTS))


def scroll(dice, page):
    by = dice.choice((0, 0, 0, 300, -300)), dice.choice((120, 600, 5000, -120, -600, -5000))
    return call("scroll", *by) if dice.random() < 0.5 else call("scroll_at", *place(dice, page), *by)


def tabs(dice, page):
    name = dice.choice(("new_tab", "tab_close", "tab_focus", "tab_focus"))
    return call(name, dice.randrange(page.tabs + 1)) if name == "tab_focus" else call(name)


def history(dice, page):
    return call(dice.choice(("go_back", "go_back", "go_forward")))


def goto(dice, page):
    return call("goto", dice.choice((page.start, page.start, page.url, dice.choice(ODD_ADDRESSES))))


def rest(dice, page):
    return call("noop")


def dialogs(dice, page):
    return call("handle_dialogs", dice.random() < 0.5)


def upload(dice, page):
    return call("mouse_upload_file", *place(dice, page), "monkey.txt")


def missing(dice, page):
    return dice.choice((call("click", "99999"), call("fill", "a1", "x"), call("hover", "zz9"), "click(", "dance()", "click()"))


def end(dice, page):
    return dice.choice((call("send_msg_to_user", dice.choice(TEXTS)), call("report_infeasible", "tired")))


ANYWHERE = [(10, keyboard), (10, mouse), (5, scroll), (4, history), (4, tabs), (4, goto), (3, rest), (1, dialogs), (1, upload),
            (1, missing), (0.3, end)]
