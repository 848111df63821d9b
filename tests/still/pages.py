"""Composes pages of features: page N of seed S is always the same."""

import random

import features  # noqa: F401  (fills the catalog)
from grammar import CATALOG, HOST

FEWEST, MOST = 5, 12
# The agent that plays the steps.
AGENT = "oracle"
# Features that are steps of an agent alone.
ACTION = "do-"

PRELUDE = """
const order = [];
function put(word) { order.push(word); const out = document.getElementById('out');
if (out) out.textContent = order.join(' '); }
function feature(name, run) {
  const say = word => put(word === undefined ? name : name + '.' + word);
  const at = id => document.getElementById(id + name);
  const hear = from => { from.onmessage = event => say(event.data);
  from.onerror = () => say('error'); return from; };
  run(say, at('s-'), hear, at('b-'), at('f-')).catch(error => say('throws.' + error.name));
}
addEventListener('message', event => {
if (String(event.data).startsWith('say:')) put(event.data.slice(4)); });
addEventListener('DOMContentLoaded', () => put('parsed'));
addEventListener('load', () => put('load'));
"""


def composed(seed, number):
    """The names of the features of a page, in order."""
    chance = random.Random(f"{seed}:{number}")
    actions = [name for name in CATALOG if name.startswith(ACTION)]
    others = [name for name in CATALOG if not name.startswith(ACTION)]
    count = chance.randint(FEWEST, MOST)
    steps = chance.randint(1, 3)
    return chance.sample(others, max(FEWEST - 1, count - steps)) + chance.sample(actions, steps)


def document(names):
    """The HTML of a page."""
    parts = [CATALOG[name] for name in names]
    head = "".join(part.head for part in parts)
    body = "".join(part.html() for part in parts)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>page</title>'
        f"<script>{PRELUDE}</script>{head}</head><body><h1>page</h1>"
        f'<p id="out"></p>{body}<div style="height:2000px"></div><footer>end</footer></body></html>'
    )


def address(names):
    """Where a page is."""
    return f"https://{HOST}/p/" + "/".join(names)


def steps(names):
    """What the agent does on a page, besides looking at it."""
    return [step for name in names for step in CATALOG[name].steps] + ["noop", {"answer": "done"}]


def files_of_steps(batch):
    """Addresses that a page asks for only when an agent does something."""
    stepping = {name for features in batch.values() for name in features if CATALOG[name].steps}
    paths = [f"/f/{name}/{path}" for name in sorted(stepping) for path in CATALOG[name].files]
    return [f"https://{HOST}{path}" for path in ["/plain", *paths]]
