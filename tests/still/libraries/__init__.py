"""Pages of real libraries: a file in `pages/` each.

A file begins with a comment that has what the agent does, an action in each line. A line that
begins with `/` is an address that the page asks for only then. A line `# Open: WHY` is for a page
that still differs. The rest is the body of the page.
"""

import functools
import mimetypes
import pathlib

from grammar import HOST, HTML, File
from libraries import made
from pages import PRELUDE

HERE = pathlib.Path(__file__).resolve().parent
INSTALLED = HERE.parents[2] / "target/still-libraries"
NAMES = sorted(path.stem for path in (HERE / "pages").glob("*.html"))
KINDS = {".mjs": "text/javascript", ".js": "text/javascript", ".wasm": "application/wasm"}
OPEN = "# Open: "
# How the agent is started.
AGENT = f"program:python3 -B '{HERE / 'agent.py'}'"

MORE = """
function say(word) { put(String(word)); }
function at(selector) { return document.querySelector(selector); }
addEventListener('error', event => event.message && say('error.' + event.message), true);
addEventListener('unhandledrejection', event => say('rejected.' + event.reason));
"""


@functools.cache
def read(name):
    """The lines of the comment of a page, and its body."""
    comment, body = (HERE / f"pages/{name}.html").read_text().split("-->", 1)
    return comment.removeprefix("<!--").strip().splitlines(), body


def document(name):
    """The HTML of a page."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f"<script>{PRELUDE}{MORE}</script></head><body><h1>{name}</h1>{read(name)[1]}"
        '<p id="out"></p></body></html>'
    )


def actions(name):
    """What the agent does on a page."""
    return [line for line in read(name)[0] if not line.startswith(("/", "#"))]


def still_open():
    """The names of the pages that still differ, with the reason."""
    lines = ((name, line) for name in NAMES for line in read(name)[0])
    return {name: line[len(OPEN) :] for name, line in lines if line.startswith(OPEN)}


def found(path):
    """The file at an address: a page, or what it needs."""
    root, _, rest = path.strip("/").partition("/")
    if root == "library" and rest in NAMES:
        return File(document(rest).encode(), HTML)
    if root == "made":
        return made.file(rest)
    file = INSTALLED / {"npm": "node_modules", "built": "built"}.get(root, "none") / rest
    if ".." in rest or not file.is_file():
        return None
    kind = KINDS.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "text/plain"
    return File(file.read_bytes(), kind)


def address(names):
    """Where the page of a library is."""
    return f"https://{HOST}/library/{names[0]}"


def steps(names):
    """None that the task has: the agent knows them."""
    return []


def files_of_steps(batch):
    """Addresses that a page asks for only when an agent does something."""
    lines = [line for name in batch for line in read(name)[0] if line.startswith("/")]
    return [f"https://{HOST}{line}" for line in sorted(set(lines))]
