"""An agent that looks at each page with BrowserGym too, acts in both browsers alike, and writes down where they differ.

Speaks the agent protocol on standard input and output. Reads PARITY_PROXY (the replaying proxy for BrowserGym's browser),
PARITY_CHROMIUM (its program), PARITY_TOWN (where its sites are: `proxy`, and `reset`, the command that makes one of them
pristine), PARITY_FORM (what is compared: `axtree`, `webarena`, `pruned_html` or `screenshot`), PARITY_OPTIONS (how it is
written: what the protocol's `observe` takes) and PARITY_OUT (a file of JSON lines: one for each look). Only where trees are
compared without options, pages are acted on; otherwise they are only looked at.
"""

import json
import os
import re
import subprocess
import sys
import time

import numpy
import PIL.Image
from browsergym.core import _get_global_playwright
from browsergym.core.action.base import execute_python_code
from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.core.observation import (
    _post_extract,
    _pre_extract,
    extract_dom_extra_properties,
    extract_dom_snapshot,
    extract_focused_element_bid,
    extract_merged_axtree,
    extract_screenshot,
)
from browsergym.utils.obs import flatten_axtree_to_str, flatten_dom_to_str, overlay_som, prune_html
from webarena.browser_env import processors

MOST_ACTIONS = 14
TOWN = json.loads(os.environ.get("PARITY_TOWN", "null"))
FORM = os.environ.get("PARITY_FORM", "axtree")
OPTIONS = json.loads(os.environ.get("PARITY_OPTIONS", "{}"))
ASKED = {
    "axtree": {"axtree": OPTIONS},
    "webarena": {"axtree": None, "webarena": OPTIONS},
    "pruned_html": {"axtree": None, "pruned_html": OPTIONS},
    "screenshot": {"axtree": None, "properties": True, "screenshot": {"marks": "browsergym"}},
}
ACTS = FORM == "axtree" and not OPTIONS
ACTIONS = HighLevelActionSet(subsets=["chat", "infeas", "bid", "coord", "nav", "tab"], strict=True)
# BrowserGym's own choice, and what newer Chromiums have added to their trees: the boxes of a text,
# which repeat it.
IGNORED = ["LineBreak", "InlineTextBox"]
# The same for WebArena, whose browser did not tell where links lead either, and called images
# otherwise.
processors.IGNORED_ACTREE_PROPERTIES += ("url",)
LINE = re.compile(r"^\t*\[(\w+)\] (\w+) '((?:[^'\\]|\\.)*)'(.*)$")


class OlderBrowser:
    """A connection to the page that shows trees as the browser of WebArena's time did."""

    def __init__(self, page):
        self.client = page.context.new_cdp_session(page)

    def send(self, method, params):
        answer = self.client.send(method, params)
        if method == "Accessibility.getFullAXTree":
            boxes = {node["nodeId"] for node in answer["nodes"] if node["role"]["value"] == "InlineTextBox"}
            answer["nodes"] = [node for node in answer["nodes"] if node["nodeId"] not in boxes]
            for node in answer["nodes"]:
                node["childIds"] = [child for child in node.get("childIds", []) if child not in boxes]
                if node["role"]["value"] == "image":
                    node["role"]["value"] = "img"
        return answer


class Peer:
    """BrowserGym's way to see and act, in a browser of its own."""

    def __init__(self):
        playwright = _get_global_playwright()
        playwright.selectors.set_test_id_attribute("bid")
        self.browser = playwright.chromium.launch(
            executable_path=os.environ["PARITY_CHROMIUM"],
            args=["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
                  "--disable-component-update", "--disable-sync", "--font-render-hinting=none",
                  "--force-prefers-reduced-motion"],
        )
        self.context = None
        # What its environment keeps for its actions.
        self.page = None
        # The page without ids on it.
        self.plain = None

    def open(self, url):
        if self.context:
            self.context.close()
        server = TOWN["proxy"] if TOWN else os.environ["PARITY_PROXY"]
        if TOWN:
            subprocess.run([*TOWN["reset"], re.match(r"https?://(\w+)\.", url)[1]], check=True, stdout=subprocess.DEVNULL)
        self.context = self.browser.new_context(
            viewport={"width": 1280, "height": 720}, ignore_https_errors=True, locale="en-US", timezone_id="UTC",
            proxy={"server": server, "bypass": "<-loopback>"})
        self.context.set_default_timeout(3000)
        self.context.on("page", self.turn_to)
        self.page = self.context.new_page()
        self.page.goto(url)
        self.wait()

    def turn_to(self, page):
        self.page = page

    def wait(self):
        time.sleep(0.4)
        self.context.cookies()
        if self.page.is_closed():
            self.page = self.context.pages[-1]
        try:
            self.page.wait_for_load_state("networkidle", timeout=3000)
        except Exception:
            pass

    def look(self):
        if FORM == "webarena":
            window = {"width": 1280, "height": 720}
            processor = processors.TextObervationProcessor("accessibility_tree", OPTIONS["viewport_only"], window)
            text = without_ids(processor.process(self.page, OlderBrowser(self.page)))
            return {"url": self.page.url, "title": self.page.title(), "text": text}
        _pre_extract(self.page)
        dom = extract_dom_snapshot(self.page)
        tree = extract_merged_axtree(self.page)
        focused = extract_focused_element_bid(self.page)
        properties = extract_dom_extra_properties(dom, scale_factor=1.0)
        _post_extract(self.page)
        if FORM == "axtree":
            text = flatten_axtree_to_str(tree, properties, ignored_roles=IGNORED, **OPTIONS)
        elif FORM == "pruned_html":
            text = prune_html(flatten_dom_to_str(dom, properties, **OPTIONS))
        else:
            self.plain = extract_screenshot(self.page)
            text = frames(self.plain, overlay_som(self.plain, properties), properties)
        return {"url": self.page.url, "title": self.page.title(), "focused": focused, "elements": len(properties),
                "text": text}

    def act(self, action):
        try:
            execute_python_code(ACTIONS.to_python_code(action), self.page, print, print)
            error = None
        except Exception as failure:
            error = str(failure).splitlines()[0]
        self.wait()
        return error


def frames(plain, drawn, properties):
    """Each element whose frame is drawn, with its edges that can be told from the page; by the pixels, not by the measures."""
    lines = []
    height, width = drawn.shape[:2]
    dark = drawn.max(axis=2) < 40
    told = plain.max(axis=2) >= 40
    for bid, known in properties.items():
        if not (known["set_of_marks"] and known["bbox"]):
            continue
        x, y, w, h = known["bbox"]
        edges = []
        for name, dash in (("top", lambda at: (x + at, y)), ("bottom", lambda at: (x + w - at, y + h)),
                           ("left", lambda at: (x, y + h - at)), ("right", lambda at: (x + w, y + at))):
            length = w if name in ("top", "bottom") else h
            places = [dash(at + 2) for at in range(0, int(length) - 4, 12)]
            places = [(round(a), round(b)) for a, b in places if 2 <= a < width - 2 and 2 <= b < height - 2]
            places = [(a, b) for a, b in places if told[b - 1:b + 2, a - 1:a + 2].all()]
            found = sum(dark[b - 1:b + 2, a - 1:a + 2].any() for a, b in places)
            if places and found / len(places) > 0.6:
                edges.append(name)
        lines.append(f"{bid} {' '.join(edges)}")
    return "\n".join(lines)


def without_ids(text):
    return re.sub(r"^(\t*)\[\w*\]", r"\1[]", text, flags=re.MULTILINE)


def shown(message, peer):
    """What we show of a page, in the form that is compared."""
    if FORM == "webarena":
        return without_ids(message[FORM])
    if FORM != "screenshot":
        return message[FORM]
    drawn = numpy.array(PIL.Image.open(message["screenshot"]).convert("RGB"))
    return frames(peer.plain, drawn, message["properties"])


def plan(axtree):
    """What can be done on a page, a few of each kind."""
    found, kinds = [], {}
    for line in axtree.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        bid, role, _, rest = match.groups()
        if kinds.setdefault(role, 0) >= 3 or "disabled=True" in rest:
            continue
        kinds[role] += 1
        if role in ("textbox", "searchbox"):
            found += [f"fill('{bid}', 'ab c')", f"press('{bid}', 'Backspace')"]
        elif role in ("checkbox", "radio"):
            found += [f"click('{bid}')"]
        elif role == "combobox" and "hasPopup='menu'" in rest:
            options = re.findall(r"option '([^']+)'", axtree)
            found += [f"select_option('{bid}', '{option}')" for option in options[-1:]]
        elif role == "slider":
            found += [f"focus('{bid}')", "keyboard_press('ArrowRight')"]
        elif role == "link":
            found += [f"hover('{bid}')"]
        elif role == "button":
            found += [f"click('{bid}')", f"dblclick('{bid}')"]
        elif role in ("heading", "paragraph", "generic"):
            found += [f"hover('{bid}')"]
    links = [bid for bid, role in re.findall(r"\[(\w+)\] (\w+)", axtree) if role == "link"]
    found = found[: MOST_ACTIONS - 5] + ["scroll(0, 300)", "keyboard_press('Tab')", "noop(10)"]
    return found + [f"click('{bid}')" for bid in links[-1:]] + ["go_back()"]


def main():
    out = open(os.environ["PARITY_OUT"], "a", encoding="utf-8")
    peer = Peer()
    task, actions, done, error = None, None, None, None
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer = {"protocol": message["protocol"], "name": "parity", "observe": ASKED[FORM]}
        elif message["type"] == "task":
            task, actions, done, error = message, None, None, None
            peer.open(message["start_url"])
            continue
        elif message["type"] == "observation":
            theirs = {**peer.look(), "last_action_error": error}
            ours = {key: message[key] for key in ("url", "title", "last_action_error")}
            ours["text"] = shown(message, peer)
            out.write(json.dumps({"task": task["task"], "action": done, "ours": ours, "theirs": theirs}) + "\n")
            out.flush()
            if actions is None:
                actions = plan(theirs["text"]) if ACTS else []
            # Beyond the recording the two browsers see different pages; and BrowserGym can go back
            # to the empty page that every tab begins with, which is no part of a world.
            if theirs["title"].startswith("Not in this"):
                actions = []
            if actions == ["go_back()"] and theirs["url"] == task["start_url"]:
                actions = []
            if not actions:
                answer = {"stop": True}
            else:
                done = actions.pop(0)
                error = peer.act(done)
                answer = {"action": done}
        else:
            continue
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
