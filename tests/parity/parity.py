"""Records the pages, runs the comparing agent over them, and says where the two differ.

Usage: parity.py SANDBOX PAGES DEMO.wacz WORK [pages|sites] [TASK...]
"""

import difflib
import functools
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import threading

from explained import reason

HERE = pathlib.Path(__file__).parent
HOST = "pages.parity.test"
DEMO = ["https://www.cityscreen.test/", "https://www.hearthside.test/", "https://www.aldria-rail.test/"]

SITES = ["https://desk.test/", "https://forum.test/", "https://forum.test/f/books", "https://wiki.test/",
         "https://shop.test/", "https://map.test/", "https://hits.test/", "https://cms.test/", "https://cms.test/admin/",
         "https://projects.test/", "https://tickets.test/", "https://mail.test/", "https://forge.test/"]

MEASURES = {"with_visible": True, "with_clickable": True, "with_center_coords": True, "with_bounding_box_coords": True,
            "with_som": True, "coord_decimals": 1}
# What is compared, and how it is written: trees with BrowserGym's defaults, and acting; with all
# that can be said of elements; with what is in view; WebArena's text; pruned HTML alike; and where
# frames are drawn around elements on pictures.
PASSES = {
    "actions": ("axtree", {}),
    "measures": ("axtree", MEASURES),
    "in-view": ("axtree", {"filter_visible_only": True}),
    "webarena": ("webarena", {"viewport_only": True, "max_tokens": None}),
    "webarena-whole": ("webarena", {"viewport_only": False, "max_tokens": None}),
    "html": ("pruned_html", {}),
    "html-measures": ("pruned_html", MEASURES),
    "pictures": ("screenshot", {}),
}


def serve(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def record(sandbox, folder, work):
    port = serve(folder)
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    urls = [f"http://{HOST}/{path}" for path in paths]
    subprocess.run(
        [sandbox, "record", *urls, "--output", work / "pages.wacz", "--delay", "0", "--allow-private",
         "--connect-to", f"{HOST}:80:127.0.0.1:{port}", "--data", work / "data"],
        check=True, stdout=subprocess.DEVNULL)
    return urls


def write_suite(suite, world, urls):
    suite.mkdir()
    (suite / "suite.yaml").write_text(json.dumps({
        "name": "parity",
        "world": {**world, "seed": 7, "viewport": [1280, 720], "locale": "en-US", "timezone": "UTC", "match": "normalised"}}))
    for url in urls:
        name = re.sub(r"[^a-z0-9]+", "-", url.split("//", 1)[1].replace(".html", "").replace(HOST, "")).strip("-")
        (suite / f"{name}.yaml").write_text(json.dumps({
            "id": name, "goal": "look", "start_url": url, "max_steps": 30,
            "sites": [url.split("/")[2].removesuffix(".test")] if "sites" in world else [],
            "scorer": {"assistantbench": {"gold": "none"}}}))
    return suite


def replay(sandbox, work, demo):
    proxy = subprocess.Popen(
        [sandbox, "replay", work / "pages.wacz", demo, "--no-key", "--data", work / "data"], stdout=subprocess.PIPE, text=True)
    for line in proxy.stdout:
        found = re.match(r"proxy (http://\S+)", line)
        if found:
            return proxy, found[1]
    sys.exit("parity: the replaying proxy did not start")


def differences(ours, theirs):
    """Pairs of lines that differ; a line that only one side has stands alone."""
    ours, theirs = ours.splitlines(), theirs.splitlines()
    for kind, a, b, c, d in difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        left, right = ours[a:b], theirs[c:d]
        if len(left) == len(right):
            yield from zip(left, right)
        else:
            yield from ((line, None) for line in left)
            yield from ((None, line) for line in right)


def compare(look):
    for key in ("url", "title"):
        if look["ours"][key] != look["theirs"][key]:
            yield f"{key} {look['ours'][key]}", f"{key} {look['theirs'][key]}"
    if bool(look["ours"]["last_action_error"]) != bool(look["theirs"]["last_action_error"]):
        yield f"error {look['ours']['last_action_error']}", f"error {look['theirs']['last_action_error']}"
    yield from differences(look["ours"]["text"], look["theirs"]["text"])


def report(looks):
    lines = equal = 0
    explained, unexplained = {}, 0
    for look in looks:
        lines += len(look["theirs"]["text"].splitlines())
        found = list(compare(look))
        equal += not found
        for ours, theirs in found:
            why = reason(look, ours, theirs)
            if why:
                explained[why] = explained.get(why, 0) + 1
            else:
                unexplained += 1
                print(f"{look['task']} after {look['action']}:\n    ours   {ours}\n    theirs {theirs}")
    acted = sum(look["action"] is not None for look in looks)
    print(f"{len(looks)} looks at {len({look['task'] for look in looks})} pages, {lines} lines, {acted} actions: "
          f"{equal} looks are equal in every line")
    for why, count in sorted(explained.items()):
        print(f"{count:6} lines differ because {why}")
    print(f"{unexplained:6} differences are not explained")
    return unexplained


def town(sandbox, data):
    """Brings the sites up; where they are, and which there are."""
    up = subprocess.run([sandbox, "up", "--no-key", "--json", "--data", data], check=True, stdout=subprocess.PIPE, text=True)
    status = json.loads(up.stdout)
    reset = [str(sandbox), "reset", "--data", str(data)]
    return {"proxy": status["proxy"], "reset": reset}, {site["name"] for site in status["sites"]}


def compare_in(sandbox, suite, work, name, environment, arguments):
    """Runs the comparing agent over a suite, and counts what nothing explains."""
    looks = work / f"looks-{name}.jsonl"
    environment = {
        "PARITY_OUT": str(looks),
        "PARITY_CHROMIUM": os.environ.get("PARITY_CHROMIUM", "/usr/lib/chromium/chromium-headless-shell"), **environment}
    passed = [word for pair in environment.items() for word in ("--agent-env", "=".join(pair))]
    subprocess.run(
        [sandbox, "run", suite, "--agent", f"program:'{sys.executable}' -B -W ignore '{HERE / 'agent.py'}'",
         "--output", work / f"run-{name}", "--data", work / "data", *passed, *arguments],
        check=True, stdout=subprocess.DEVNULL)
    print(f"== {name}", flush=True)
    with open(looks, encoding="utf-8") as file:
        return report([json.loads(line) for line in file])


def compare_pages(sandbox, pages, demo, work, only):
    urls = record(sandbox, pages, work) + DEMO
    suite = write_suite(work / "suite", {
        "snapshots": [str(work / "pages.wacz"), str(demo.resolve())], "clock": "2026-03-12T08:30:00Z"}, urls)
    proxy, address = replay(sandbox, work, demo)
    try:
        return sum(
            compare_in(sandbox, suite, work, name,
                       {"PARITY_PROXY": address, "PARITY_FORM": form, "PARITY_OPTIONS": json.dumps(options)},
                       ["--workers", "2", *only])
            for name, (form, options) in PASSES.items())
    finally:
        proxy.terminate()


def compare_sites(sandbox, work, only):
    data = work / "town"
    try:
        place, names = town(sandbox, data)
        urls = [url for url in SITES if url.split("/")[2].removesuffix(".test") in names]
        suite = write_suite(work / "sites", {
            "sites": str(HERE.parent.parent / "sites"), "clock": "2023-06-15T09:00:00Z"}, urls)
        return compare_in(sandbox, suite, work, "sites", {"PARITY_TOWN": json.dumps(place)}, only)
    finally:
        subprocess.run([sandbox, "down", "--data", data], check=False)


def main():
    sandbox, pages, demo, work = (pathlib.Path(argument) for argument in sys.argv[1:5])
    parts = [argument for argument in sys.argv[5:] if argument in ("pages", "sites")] or ["pages", "sites"]
    only = [argument for task in sys.argv[5:] if task not in ("pages", "sites") for argument in ("--task", task)]
    unexplained = 0
    if "pages" in parts:
        unexplained += compare_pages(sandbox, pages, demo, work, only)
    if "sites" in parts:
        unexplained += compare_sites(sandbox, work, only)
    sys.exit(unexplained != 0)


if __name__ == "__main__":
    main()
