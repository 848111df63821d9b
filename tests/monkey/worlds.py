"""The worlds that the monkey visits: for each a function that gives a suite and the tasks of it that can be played."""

import gzip
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import zipfile

# Captures with pages that a browser shows, below SHARED/captures.
CAPTURES = (
    "sanjari-orb+warc-bench/web_archives/capsule/capsule-archive.wacz",
    "sanjari-orb+warc-bench/web_archives/material_ui/material_ui.wacz",
    "sanjari-orb+warc-bench/web_archives/multiplan/multiplan.wacz",
    "sanjari-orb+warc-bench/web_archives/svelte/svelte_toolbar.wacz",
    "sanjari-orb+warc-bench/web_archives/synthetic/synthetic_dev.wacz",
    "sanjari-orb+warc-bench/web_archives/triwest/triwest.wacz",
    "sanjari-orb+warc-bench/web_archives/wellcare/wellcare_form.wacz",
    "sanjari-orb+warc-bench/web_archives/windy/windy-archive.wacz",
    "webrecorder+pywb/sample_archive/warcs/iana.warc.gz",
    "archivesunleashed+aut/src/test/resources/warc/example.warc.gz",
)
STEPS = 25


def of_suite(suite):
    return sorted(path.stem for path in pathlib.Path(suite).glob("*.yaml") if path.name != "suite.yaml")


def demo(sandbox, folder, root):
    return root / "tasks/demo", of_suite(root / "tasks/demo")


def town(sandbox, folder, root):
    """The tasks on sites that need no container."""
    embedded = {path.parent.name for path in (root / "sites").glob("*/site.yaml") if "embedded:" in path.read_text()}

    def runs_here(task):
        sites = re.search(r"^sites: \[(.*)\]", (root / f"tasks/town/{task}.yaml").read_text(), re.M)
        return sites and set(sites[1].replace(" ", "").split(",")) <= embedded
    return root / "tasks/town", [task for task in of_suite(root / "tasks/town") if runs_here(task)]


def miniwob(sandbox, folder, root):
    package = importlib.util.find_spec("miniwob")
    if package is None:
        print("miniwob: left out: its package is not installed")
        return folder, []
    html = pathlib.Path(package.submodule_search_locations[0]) / "html"
    suite = folder / "suite"
    subprocess.run([sandbox, "tasks", "import", "miniwob", html, "--output", suite, "--seed", "7"], check=True,
                   stdout=subprocess.DEVNULL)
    return suite, of_suite(suite)


def captures(sandbox, folder, root):
    """One suite over all of them; a task for each, which starts on its first page."""
    shared = os.environ.get("SHARED", "")
    suite = folder / "suite"
    suite.mkdir(parents=True)
    (suite / "files").mkdir()
    (suite / "files/monkey.txt").write_text("from the monkey\n")
    snapshots, found = [], []
    for name in CAPTURES:
        capture = pathlib.Path(shared) / "captures" / name
        page = first_page(capture) if shared and capture.exists() else None
        if page is None:
            print(f"captures: left out: {name}")
            continue
        snapshots.append(str(capture))
        task = re.sub(r"[^a-z0-9]+", "-", capture.name.split(".")[0].lower())
        (suite / f"{task}.yaml").write_text(
            f"id: {task}\ngoal: Do anything.\nstart_url: {page!r}\nmax_steps: {STEPS}\n"
            "scorer:\n  assistantbench:\n    gold: nothing\n")
        found.append(task)
    world = "".join(f"  - {snapshot!r}\n" for snapshot in snapshots)
    (suite / "suite.yaml").write_text(
        f"name: captures\nworld:\n  files: files\n  snapshots:\n{world}  clock: 2026-03-12T08:30:00Z\n  seed: 7\n  match: fuzzy\n")
    return suite, found


def first_page(capture):
    """The first page of HTML that a capture holds: of a WACZ the first that it lists, of a WARC the first answer."""
    if capture.suffix == ".wacz":
        with zipfile.ZipFile(capture) as files, files.open("pages/pages.jsonl") as pages:
            listed = [json.loads(line) for line in pages if line.strip()]
        return next((page["url"] for page in listed if page.get("url", "").startswith("http")), None)
    with gzip.open(capture, "rt", encoding="latin-1", newline="\n") as lines:
        url = status = None
        for line in map(str.rstrip, lines):
            if line.startswith("WARC/"):
                url = status = None
            elif line.startswith("WARC-Target-URI: "):
                url = line.split(": ", 1)[1].strip("<>")
            elif line.startswith("HTTP/1"):
                status = line.split(" ")[1]
            elif url and status == "200" and line.lower().startswith("content-type: text/html"):
                return url
    return None


WORLDS = {"demo": demo, "town": town, "miniwob": miniwob, "captures": captures}
