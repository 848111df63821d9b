"""Records the pages, runs the comparing agent over them, and says where the two differ.

Usage: parity.py SANDBOX PAGES DEMO.wacz WORK [TASK...]
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

# Ways to write trees: with BrowserGym's defaults, and acting; with all that can be said of elements; with what is in view.
PASSES = {
    "actions": {},
    "measures": {"with_visible": True, "with_clickable": True, "with_center_coords": True,
                 "with_bounding_box_coords": True, "with_som": True, "coord_decimals": 1},
    "in-view": {"filter_visible_only": True},
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


def write_suite(work, urls, demo):
    suite = work / "suite"
    suite.mkdir()
    (suite / "suite.yaml").write_text(json.dumps({
        "name": "parity",
        "world": {"snapshots": [str(work / "pages.wacz"), str(demo)], "clock": "2026-03-12T08:30:00Z", "seed": 7,
                  "viewport": [1280, 720], "locale": "en-US", "timezone": "UTC", "match": "normalised"}}))
    for url in urls:
        name = re.sub(r"[^a-z0-9]+", "-", url.split("//", 1)[1].replace(".html", "").replace(HOST, "")).strip("-")
        (suite / f"{name}.yaml").write_text(json.dumps({
            "id": name, "goal": "look", "start_url": url, "max_steps": 30,
            "scorer": {"assistantbench": {"gold": "none"}}}))
    return suite


def replay(sandbox, work, demo):
    proxy = subprocess.Popen(
        [sandbox, "replay", work / "pages.wacz", demo, "--data", work / "data"], stdout=subprocess.PIPE, text=True)
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
    yield from differences(look["ours"]["axtree"], look["theirs"]["axtree"])


def report(looks):
    lines = equal = 0
    explained, unexplained = {}, 0
    for look in looks:
        lines += len(look["theirs"]["axtree"].splitlines())
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


def main():
    sandbox, pages, demo, work = (pathlib.Path(argument) for argument in sys.argv[1:5])
    urls = record(sandbox, pages, work) + DEMO
    suite = write_suite(work, urls, demo)
    proxy, address = replay(sandbox, work, demo)
    only = [argument for task in sys.argv[5:] for argument in ("--task", task)]
    unexplained = 0
    try:
        for name, options in PASSES.items():
            looks = work / f"looks-{name}.jsonl"
            environment = {
                **os.environ, "PARITY_PROXY": address, "PARITY_OUT": str(looks), "PARITY_OPTIONS": json.dumps(options),
                "PARITY_CHROMIUM": os.environ.get("PARITY_CHROMIUM", "/usr/lib/chromium/chromium-headless-shell")}
            subprocess.run(
                [sandbox, "run", suite, "--agent", f"program:'{sys.executable}' -B -W ignore '{HERE / 'agent.py'}'",
                 "--workers", "2", "--out", work / f"run-{name}", "--data", work / "data", *only],
                check=True, env=environment, stdout=subprocess.DEVNULL)
            print(f"== {name}")
            with open(looks, encoding="utf-8") as file:
                unexplained += report([json.loads(line) for line in file])
    finally:
        proxy.terminate()
    sys.exit(unexplained != 0)


if __name__ == "__main__":
    main()
