"""What a feature of a generated page is, and how one is written down.

A feature is a small piece of a page: HTML, a script, the files that they need, response heads of
the page, and steps of an agent. Whatever happens is said by `say(word)`, and is written into the
page in the order in which it happens.

In the text of a feature `@/` is the address of its own files, `@other/` the same files on another
origin of the same site, and `@far/` on another site.
"""

import dataclasses

HOST, OTHER, FAR = "lab.test", "other.lab.test", "far.test"
JS, HTML, CSS, TEXT, JSON = (
    "text/javascript",
    "text/html",
    "text/css",
    "text/plain",
    "application/json",
)
SVG, PNG, GIF, WAV, FONT = "image/svg+xml", "image/png", "image/gif", "audio/wav", "font/ttf"

CATALOG = {}


@dataclasses.dataclass(frozen=True)
class File:
    """A response: its body in `pieces`, with a pause of `pause` seconds before each."""

    body: bytes
    kind: str = TEXT
    status: int = 200
    heads: tuple = ()
    pieces: int = 1
    pause: float = 0.0
    # Whether a client that comes again with Last-Event-ID is sent away.
    ends: bool = False
    # Whether the body is that of the request.
    echoes: bool = False


@dataclasses.dataclass(frozen=True)
class Feature:
    """A named piece of a page."""

    name: str
    script: str = ""
    body: str = ""
    head: str = ""
    heads: tuple = ()
    files: dict = dataclasses.field(default_factory=dict)
    steps: tuple = ()

    def html(self):
        """The part of the body: a section, and the script right behind it."""
        section = f'<section id="s-{self.name}">{self.body}</section>'
        if self.script:
            section += (
                f'<script>feature("{self.name}", async (say, here, hear, button, field) =>'
                f" {{{self.script}}})</script>"
            )
        return addressed(section, self.name)


def addressed(text, name):
    """A text with the addresses of a feature's files."""
    for mark, host in (("@other/", OTHER), ("@far/", FAR)):
        text = text.replace(mark, f"https://{host}/f/{name}/")
    return text.replace("@/", f"/f/{name}/").replace("@name", name)


def feature(
    name, script="", *, body="", head="", heads=(), files=None, steps=(), button=False, field=False
):
    """Adds a feature to the catalog. A `button` or `field` has its name, and a step that uses it."""
    steps = list(steps)
    if field:
        body += f'<input id="f-{name}" aria-label="{name}">'
        steps.append({"fill": {"role": "textbox", "name": name, "value": "ab"}})
    if button:
        body += f'<button id="b-{name}">{name}</button>'
        steps.append({"click": {"role": "button", "name": name}})
    assert name not in CATALOG, name
    served = {path: of_feature(file, name) for path, file in (files or {}).items()}
    CATALOG[name] = Feature(
        name, script, body, addressed(head, name), tuple(heads), served, tuple(steps)
    )


def of_feature(file, name):
    """A file as it is served: a text has its addresses, and knows the feature's name."""
    if isinstance(file.body, bytes):
        return file
    heads = tuple(addressed(head, name) for head in file.heads)
    return dataclasses.replace(file, body=addressed(file.body, name).encode(), heads=heads)


def script(text, **more):
    """A script of a page."""
    return File(text, JS, **more)


def worker(text, **more):
    """A script of a worker, which says words by messages."""
    return File("const say = word => postMessage(word);" + text, JS, **more)


def frame(text, body="", head="", **more):
    """A document in a frame, which says words by messages to its parent."""
    said = (
        "<script>const say = word => parent.postMessage('say:@name.' + word, '*');"
        + text
        + "</script>"
    )
    return File(f"<!doctype html><title>frame</title>{head}<body>{body}{said}", HTML, **more)


def style(text, **more):
    """A style sheet."""
    return File(text, CSS, **more)


def text(body, kind=TEXT, **more):
    """Any other file."""
    return File(body, kind, **more)
