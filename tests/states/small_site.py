"""What a small site is: a server part, what can be done on it in a browser, and an oracle."""

import json
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl, urlsplit

# Asks and says when it is busy, so that whoever looks at a page knows when there is more to come.
CLIENT = """
let underWay = 0;
function busy(change) {
    underWay += change;
    document.documentElement.toggleAttribute('data-busy', underWay > 0);
}
async function send(method, url, body, headers) {
    busy(1);
    try {
        const data = body === undefined ? {} : { 'Content-Type': 'application/json' };
        const text = body === undefined ? undefined : JSON.stringify(body);
        const got = await fetch(url, { method, body: text, headers: { ...data, ...headers } });
        if (!got.ok) throw new Error('the server says ' + got.status);
        return await got.json();
    } catch (error) {
        document.querySelector('#said').textContent = error.message;
        throw error;
    } finally {
        busy(-1);
    }
}
function show(selector, text) {
    document.querySelector(selector).textContent = text;
}
"""


@dataclass
class Ask:
    """A request as a site sees it."""

    method: str
    url: str
    headers: dict
    body: bytes = b""
    path: str = field(init=False)
    query: dict = field(init=False)
    cookies: dict = field(init=False)

    def __post_init__(self):
        parts = urlsplit(self.url)
        self.path, self.query = parts.path, dict(parse_qsl(parts.query))
        self.cookies = {name: morsel.value for name, morsel in SimpleCookie(self.header("cookie")).items()}

    def header(self, name):
        return self.headers.get(name, "")

    @property
    def form(self):
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))

    @property
    def data(self):
        return json.loads(self.body)

    def __str__(self):
        return f"{self.method} {self.path}"


@dataclass
class Told:
    """What a site answers."""

    body: str = ""
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    headers: list = field(default_factory=list)

    def cookie(self, name, value, rest="Path=/"):
        self.headers.append(("Set-Cookie", f"{name}={value}; {rest}"))
        return self


def page(title, *parts, script=""):
    """A page with a place where it says what went wrong."""
    if script:
        script = f"<script src=/client.js></script><script>{script}</script>"
    head = f"<!doctype html><meta charset=utf-8><title>{title}</title><link rel=icon href=data:,>"
    return Told(f"{head}<body><h1>{title}</h1>{''.join(parts)}<p id=said></p>{script}")


def data(value, status=200):
    return Told(json.dumps(value), "application/json", status)


def to(place):
    """Leads to a page after a form."""
    return Told(status=303, headers=[("Location", place)])


def absent():
    told = page("Not found")
    told.status = 404
    return told


def links(**places):
    all_links = (f"<a id={name} href='{place}'>{name}</a>" for name, place in places.items())
    return f"<nav>{' '.join(all_links)}</nav>"


def button(name, path, label=None, **fields):
    """A form of one button."""
    hidden = "".join(f"<input type=hidden name={key} value='{value}'>" for key, value in fields.items())
    return f"<form method=post action='{path}'>{hidden}<button id={name}>{label or name}</button></form>"


def listed(items):
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


@dataclass(frozen=True)
class Action:
    """What can be done on a page. `steps` are `(kind, ...)`:

    click SELECTOR            by which a script acts
    open SELECTOR             a click that shows what the next steps need
    follow SELECTOR           a click that leads to another document
    fill SELECTOR TEXT, select SELECTOR VALUE
    goto PATH
    tab NUMBER PATH           looks at this tab; it is opened at the address if it is not there yet

    It is possible where all is visible that `needs` and its steps name, up to a step that shows more.
    """

    name: str
    steps: tuple
    needs: tuple = ()

    @property
    def named(self):
        names = list(self.needs)
        for kind, name, *_ in self.steps:
            if kind in ("goto", "tab"):
                break
            names.append(name)
            if kind == "open":
                break
        return names


def click(name, selector=None):
    return Action(name, (("click", selector or f"#{name}"),))


def follow(name, selector=None):
    return Action(name, (("follow", selector or f"#{name}"),))


def goto(name, path):
    return Action(name, (("goto", path),))


class Used:
    """A site at `SCHEME://NAME.test/`, and what is done there."""

    name = ""
    scheme = "https"
    # The time at which it is recorded and replayed.
    clock = "2026-03-12T08:30:00Z"
    actions = ()
    # The actions that are recorded, in this order.
    oracle = ()

    @classmethod
    def host(cls):
        return f"{cls.name}.test"

    @classmethod
    def url(cls, path):
        return f"{cls.scheme}://{cls.host()}{path}"

    @classmethod
    def action(cls, name):
        return next(action for action in cls.actions if action.name == name)

    @staticmethod
    def lasting(text):
        """What a page shows, without what differs each time, as the time of day."""
        return text


class Site(Used):
    """A small site, served here. Its object is the state of all of it, that of a visitor is in what
    `visitor` makes."""

    scheme = "http"

    def visitor(self):
        """The state of a new visitor."""
        return {}

    def answer(self, ask, state):
        raise NotImplementedError

    def opened(self, state):
        """The texts that a new WebSocket is sent."""
        return []

    def heard(self, text, state):
        """The texts that a WebSocket is sent for one of the client's."""
        return []
