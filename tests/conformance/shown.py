"""Has every capture shown in Chromium by `sandbox replay --check`, and beside pywb in proxy mode.

What is wrong, and ends with exit code 1: a page that differs between two visits; a hole whose URL the capture holds; a page
that pywb shows right and we do not. Usage: shown.py TOOLS SANDBOX CAPTURES FOLDER [PART_OF_A_NAME ...]
"""

import html
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

from replay_with_pywb import free_port
from warcio.archiveiterator import ArchiveIterator

ENDINGS = (".warc", ".warc.gz", ".arc", ".arc.gz", ".wacz", ".har")
# Documents of one capture that are visited, and how many of them beside pywb; PAGES=40 visits
# nearly all.
CHECKED = int(os.environ.get("PAGES", "2"))
COMPARED = max(1, CHECKED // 5)
# Words that pywb shows and we have to show as well; clocks and counters may differ.
ALIKE = 0.8

# Holes whose URL the capture holds, and why that is no answer: (capture, part of the URL, reason).
EXPLAINED = []


def plain(url):
    """A URL as far as rules of replay look through it: without scheme, `www.`, fragment and trailing slash."""
    rest = re.sub(r"^(https?|wss?)://(www\.)?", "", url.split("#")[0], flags=re.I)
    return rest.rstrip("/").lower()


def warc_urls(stream, urls):
    """Counts the answers of a WARC by URL."""
    try:
        for record in ArchiveIterator(stream, arc2warc=True):
            url = record.rec_headers.get_header("WARC-Target-URI")
            if url and record.rec_type in ("response", "revisit", "resource"):
                urls[plain(url.strip("<>"))] += 1
    except Exception as error:  # a damaged capture holds what was read before the damage
        print(f"      warcio stops: {error}")


def urls_of(path):
    """How many answers a capture holds by URL, read by others than us."""
    urls = Counter()
    if path.suffix == ".har":
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        entries = json.loads(text).get("log", {}).get("entries", [])
        return Counter(plain(entry["request"]["url"]) for entry in entries)
    if path.suffix != ".wacz":
        with path.open("rb") as stream:
            warc_urls(stream, urls)
        return urls
    with zipfile.ZipFile(path) as package:
        for name in package.namelist():
            if name.startswith("archive/"):
                with package.open(name) as stream:
                    warc_urls(stream, urls)
    return urls


def check(sandbox, path, data):
    command = [sandbox, "replay", path, "--check", "--json", "--pages", str(CHECKED)]
    ended = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "SANDBOX_DATA": str(data)})
    if not ended.stdout.strip():
        return None, ended.stderr.strip().splitlines()[-1:] or ["nothing was said"]
    return json.loads(ended.stdout), []


def wait_until_open(port, server, deadline):
    while time.monotonic() < deadline:
        if server.poll() is not None:
            return False
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            time.sleep(0.1)
    return False


def words_through(port, url):
    """The words of a page's document after its scripts, as Chromium has it through a proxy."""
    # Processes of Chromium outlive its first one for a moment, and write there.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--ignore-certificate-errors",
            f"--user-data-dir={profile}", f"--proxy-server=http://127.0.0.1:{port}", "--proxy-bypass-list=<-loopback>",
            "--virtual-time-budget=8000", "--timeout=20000", "--dump-dom", url,
        ]
        try:
            dom = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60).stdout
        except subprocess.TimeoutExpired:
            return "", set()
    title = re.search(r"<title[^>]*>(.*?)</title>", dom, re.S | re.I)
    text = re.sub(r"<(script|style|template|noscript)\b.*?</\1>|<!--.*?-->", " ", dom, flags=re.S | re.I)
    words = set(re.findall(r"\w{2,}", html.unescape(re.sub(r"<[^>]*>", " ", text))))
    return (title.group(1).strip() if title else ""), words


class Ours:
    def __init__(self, sandbox, path, data):
        environment = {**os.environ, "SANDBOX_DATA": str(data)}
        command = [sandbox, "replay", path, "--no-search", "--no-key"]
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        self.port = int(self.server.stdout.readline().strip().rpartition(":")[2])


class Pywb:
    def __init__(self, tools, path, folder):
        site = folder / "pywb-shown"
        shutil.rmtree(site, ignore_errors=True)
        site.mkdir(parents=True)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": site}
        subprocess.run([tools / "wb-manager", "init", "made"], check=True, **quiet)
        # pywb indexes by the ending of the name.
        copy = site / path.name
        shutil.copy(path, copy)
        wacz = ["--unpack-wacz"] if path.suffix == ".wacz" else []
        subprocess.run([tools / "wb-manager", "add", *wacz, "made", copy], check=False, **quiet)
        (site / "config.yaml").write_text("proxy:\n  coll: made\n  enable_content_rewrite: false\n  enable_banner: false\n")
        self.port = free_port()
        command = [tools / "wayback", "--proxy", "made", "-p", str(self.port), "-b", "127.0.0.1"]
        self.server = subprocess.Popen(command, env={**os.environ, "GEVENT_MONKEY_PATCH": "1"}, **quiet)
        self.up = wait_until_open(self.port, self.server, time.monotonic() + 60)


def compare(tools, sandbox, path, data, folder, pages, held):
    """Pages that pywb shows right and we do not. Of several captures of a page pywb shows the last, and we the first:
    there it is enough that one is shown."""
    worse = []
    if path.suffix == ".har":
        return worse, 0
    pywb, ours = Pywb(tools, path, folder), Ours(sandbox, path, data)
    try:
        if not pywb.up:
            return worse, 0
        for url in pages:
            title, theirs = words_through(pywb.port, url)
            if title in ("Pywb Error", "URL Not Found") or len(theirs) < 3 or {"URL", "Not", "Found", "proxy"} <= theirs:
                continue
            _, own = words_through(ours.port, url)
            share = len(theirs & own) / len(theirs)
            if len(own) >= 3 and held[plain(url)] > 1:
                continue
            if share < ALIKE:
                worse.append(f"{url} ({share:.0%} of pywb's {len(theirs)} words)")
    finally:
        for server in (pywb.server, ours.server):
            server.terminate()
            server.wait(timeout=30)
    return worse, len(pages)


def explained(path, hole):
    return next((why for name, part, why in EXPLAINED if path.name == name and part in hole), None)


def main(tools, sandbox, captures, folder, parts):
    data = folder / "shown-data"
    totals, wrong, refused = {}, [], 0
    files = sorted(path for path in captures.rglob("*") if path.name.lower().endswith(ENDINGS))
    for path in files:
        name = path.relative_to(captures)
        if parts and not any(part in str(name) for part in parts):
            continue
        report, said = check(sandbox, path, data)
        if report is None:
            refused += 1
            print(f"{name}: not checked: {' '.join(said)}", flush=True)
            continue
        counts = {}
        for page in report["pages"]:
            counts[page["verdict"]] = counts.get(page["verdict"], 0) + 1
            totals[page["verdict"]] = totals.get(page["verdict"], 0) + 1
        left_out = f", {len(report['left_out'])} left out" if report["left_out"] else ""
        print(f"{name}: {', '.join(f'{count} {verdict}' for verdict, count in sorted(counts.items()))}{left_out}", flush=True)
        held = urls_of(path)
        told = set()
        for page in report["pages"]:
            if page["verdict"] == "different":
                wrong.append(f"{name}: {page['url']} differs between two visits")
            if page["verdict"] == "not-shown":
                print(f"      not shown: {page['url']}: {page['why']}")
                # A page may lead on by itself to an address that the capture lacks.
                missed = re.search(r"https?://\S+$", page["why"] or "")
                if missed and plain(missed.group()) in held and not explained(path, page["url"]):
                    wrong.append(f"{name}: {page['url']} is in the capture and is not shown: {page['why']}")
            for hole in page["holes"]:
                url = hole.split(" ", 2)[2]
                if hole in told:
                    continue
                told.add(hole)
                if plain(url) not in held:
                    print(f"      absent: {hole}")
                elif hole.split(" ")[1] != "GET":
                    print(f"      recorded with another body, and no rule for what differs: {hole}")
                elif why := explained(path, hole):
                    print(f"      {why}: {hole}")
                else:
                    wrong.append(f"{name}: {hole} is a hole, and the capture holds its URL")
        web = [page["url"] for page in report["pages"] if urlsplit(page["url"]).scheme in ("http", "https")]
        worse, compared = compare(tools, sandbox, path, data, folder, web[:COMPARED], held)
        totals["beside pywb"] = totals.get("beside pywb", 0) + compared
        wrong += [f"{name}: pywb shows it and we do not: {page}" for page in worse]
    print(f"{totals}, {refused} captures not checked")
    for line in wrong:
        print(f"WRONG  {line}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    tools, sandbox, captures, folder = (Path(argument).resolve() for argument in sys.argv[1:5])
    main(tools, sandbox, captures, folder, sys.argv[5:])
