#!/usr/bin/env python3
"""Holds a site's image to what is promised of every image: `tests/images/check.py NAME`, with docker and the built image.

Starts two copies as an unknown user on a read-only root, logs in, crawls, moves the clock, changes something, puts the
golden state back under the running application, and compares the copies. Prints what was measured; fails on any breach.
"""
import argparse
import collections
import filecmp
import hashlib
import html.parser
import http.client
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

from sites import SITES

FIRST, LATER, EARLIER = "2023-06-15 09:00:00", "2023-07-02 14:30:00", "2023-06-15 09:05:00"
BREACHES = []
Answer = collections.namedtuple("Answer", "status body headers seconds path")


def expect(truth, promise):
    print(f"  {'ok  ' if truth else 'FAIL'} {promise}")
    if not truth:
        BREACHES.append(promise)


def docker(*words):
    return subprocess.run(["docker", *words], check=True, capture_output=True, text=True).stdout.strip()


class Page(html.parser.HTMLParser):
    """The links, subresources and forms of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.parts, self.forms = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, pairs):
        has = {key: value or "" for key, value in pairs}
        if tag == "a" and "href" in has:
            self.links.append(has["href"])
        elif tag == "form":
            self.forms.append((has.get("action", ""), {}))
        elif tag in ("input", "textarea", "select", "button") and self.forms and has.get("name"):
            if has.get("type") not in ("checkbox", "radio", "submit") or "checked" in has:
                self.forms[-1][1].setdefault(has["name"], has.get("value", ""))
        if tag == "link" and has.get("rel") not in ("canonical", "alternate"):
            self.parts.append(has.get("href", ""))
        self.parts += [has[key] for key in ("src", "data", "poster") if key in has and tag != "a"]
        self.parts += re.findall(r"url\(['\"]?([^'\")]+)", has.get("style", ""))


class Copy:
    """One running container with a state folder and a clock of its own, and a visitor's cookies."""

    def __init__(self, name, golden, letter):
        self.name, self.cookies = name, {}
        self.folder = tempfile.mkdtemp(prefix=f"check-{name}-{letter}-")
        os.chmod(self.folder, 0o755)
        self.state = f"{self.folder}/state"
        shutil.copytree(golden, self.state, symlinks=True)
        for root, folders, files in os.walk(self.state):
            for one in [".", *folders, *files]:
                os.chown(f"{root}/{one}", 1234, 1234, follow_symlinks=False)
        subprocess.run(["chmod", "-R", "a+rwX", self.state], check=True)
        os.mkdir(f"{self.folder}/clock", 0o755)
        self.set_clock(FIRST)
        started = time.monotonic()
        self.box = docker("run", "-d", "--user", "23456:23456", "--read-only", "--tmpfs", "/tmp:mode=1777", "--tmpfs", "/run:mode=1777",
                          "-v", f"{self.state}:/state", "-v", f"{self.folder}/clock:/clock:ro", "-e", "SITE_CLOCK_FILE=/clock/now",
                          "-e", f"SITE_URL=https://{name}.test", f"sandbox/{name}:1")
        self.address = docker("inspect", "-f", "{{.NetworkSettings.IPAddress}}", self.box)
        self.await_ready(started)

    def await_ready(self, started):
        page = SITES[self.name]["start"][0]
        while time.monotonic() - started < 60:
            try:
                if self.get(page).status < 400:
                    self.cold = time.monotonic() - started
                    self.cookies.clear()
                    return
            except OSError:
                time.sleep(0.02)
        raise SystemExit(f"check: {page} did not answer within 60 s:\n{docker('logs', self.box)}")

    def set_clock(self, now):
        with open(f"{self.folder}/clock/new", "w") as file:
            file.write(now + "\n")
        os.replace(f"{self.folder}/clock/new", f"{self.folder}/clock/now")

    def get(self, path, fields=None):
        """One request, redirects followed; `fields` makes it a posted form."""
        for _ in range(8):
            body = urllib.parse.urlencode(fields) if fields is not None else None
            headers = {"Host": f"{self.name}.test", "X-Forwarded-Proto": "https", "Referer": f"https://{self.name}.test/",
                       "Cookie": "; ".join(f"{key}={value}" for key, value in self.cookies.items())}
            if body is not None:
                headers["Content-Type"] = "application/x-www-form-urlencoded"
            line = http.client.HTTPConnection(self.address, 8000, timeout=30)
            path = urllib.parse.quote(path, safe="%/?&=:;,+@!$'()*~#[]")
            begun = time.monotonic()
            line.request("POST" if body is not None else "GET", path, body, headers)
            answer = line.getresponse()
            content, spent = answer.read(), time.monotonic() - begun
            line.close()
            for cookie in answer.headers.get_all("Set-Cookie") or []:
                key, value = cookie.split(";")[0].split("=", 1)
                self.cookies[key] = value
            if answer.status in (301, 302, 303, 307, 308):
                path, fields = urllib.parse.urljoin(path, answer.headers["Location"]), None
                path = re.sub(rf"^https?://{self.name}\.test", "", path) or "/"
                continue
            return Answer(answer.status, content, answer.headers, spent, path)
        raise SystemExit(f"check: {path} redirects in a circle")

    def submit(self, page, fields):
        """Fills in the form on `page` that has all the fields."""
        shown = self.get(page)
        for action, hidden in Page(shown.body.decode("utf-8", "replace")).forms:
            if set(fields) <= set(hidden):
                return self.get(urllib.parse.urljoin(shown.path, action or shown.path), {**hidden, **fields})
        raise SystemExit(f"check: no form with {', '.join(fields)} on {page} (status {shown.status})")

    def contents(self):
        """A digest of each database and each tree."""
        found = {}
        for name in SITES[self.name]["sqlite"]:
            with sqlite3.connect(f"file:{self.state}/{name}?mode=ro", uri=True) as base:
                # Full-text tables cannot be dumped by every Python; the tables they stand on can.
                lines = (line for line in base.iterdump() if not line.startswith("INSERT INTO sqlite_master"))
                found[name] = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        return found | {tree: tree_digest(f"{self.state}/{tree}") for tree in SITES[self.name]["trees"]}

    def restore(self, golden):
        begun = time.monotonic()
        for name in SITES[self.name]["sqlite"]:
            with sqlite3.connect(f"file:{golden}/{name}?mode=ro", uri=True) as source, sqlite3.connect(f"{self.state}/{name}", timeout=5) as live:
                source.backup(live)
        for tree in SITES[self.name]["trees"]:
            put_back(f"{golden}/{tree}", f"{self.state}/{tree}")
        if "flush" in SITES[self.name]:
            docker("exec", self.box, *SITES[self.name]["flush"])
        return time.monotonic() - begun

    def stop(self):
        begun = time.monotonic()
        docker("stop", "-t", "10", self.box)
        return time.monotonic() - begun

    def remove(self):
        docker("rm", "-f", self.box)
        shutil.rmtree(self.folder, ignore_errors=True)


def put_back(golden, live):
    """Makes the live folder what the golden one is, and touches only what differs."""
    names = {name: entry for name in (golden, live) for entry in [{one.name: one for one in os.scandir(name)}]}
    for name, extra in names[live].items():
        if name not in names[golden]:
            shutil.rmtree(extra) if extra.is_dir(follow_symlinks=False) else os.unlink(extra)
    for name, entry in names[golden].items():
        target = f"{live}/{name}"
        if entry.is_dir(follow_symlinks=False):
            os.makedirs(target, mode=0o777, exist_ok=True)
            put_back(entry.path, target)
        elif entry.is_symlink():
            os.path.lexists(target) or os.symlink(os.readlink(entry.path), target)
        elif not (os.path.isfile(target) and filecmp.cmp(entry.path, target, shallow=False)):
            shutil.copyfile(entry.path, f"{target}.new")
            os.chmod(f"{target}.new", entry.stat().st_mode | 0o666)
            os.replace(f"{target}.new", target)


def tree_digest(folder):
    """One digest over the names and contents of all files below a folder."""
    digest = hashlib.sha256()
    for root, folders, files in sorted(os.walk(folder)):
        for name in sorted(files):
            path = f"{root}/{name}"
            digest.update(os.path.relpath(path, folder).encode() + b"\0")
            digest.update(os.readlink(path).encode() if os.path.islink(path) else open(path, "rb").read())
    return digest.hexdigest()


def crawl(copy, limit):
    """Visits pages of the site, nearest first, and their style sheets; returns the answers by path."""
    site, seen, found, outside = SITES[copy.name], set(), {}, set()
    queue = collections.deque(site["start"])
    while queue and len(found) < limit:
        path = queue.popleft()
        if path in seen:
            continue
        seen.add(path)
        answer = copy.get(path)
        found[path] = answer
        kind, text = answer.headers.get("Content-Type", ""), answer.body.decode("utf-8", "replace")
        page = Page(text) if "html" in kind else None
        parts = page.parts if page else re.findall(r"url\(['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", text) if "css" in kind else []
        for part in (one if isinstance(one, str) else one[0] or one[1] for one in parts):
            target = urllib.parse.urljoin(f"https://{copy.name}.test{answer.path}", part.strip())
            if target.startswith("http") and urllib.parse.urlsplit(target).hostname != f"{copy.name}.test":
                outside.add(f"{target} on {path}")
            elif ".css" in target and target.startswith("http"):
                queue.appendleft(urllib.parse.urlsplit(target).path)
        for link in page.links if page else []:
            target = urllib.parse.urlsplit(urllib.parse.urljoin(f"https://{copy.name}.test{answer.path}", link))
            plain = target.path + (f"?{target.query}" if target.query else "")
            if target.hostname == f"{copy.name}.test" and not re.search(site["skip"], plain):
                queue.append(plain)
    return found, outside


def check(name, limit):
    site, work = SITES[name], tempfile.mkdtemp(prefix=f"check-{name}-")
    image = f"sandbox/{name}:1"
    size = int(docker("image", "inspect", "-f", "{{.Size}}", image)) / 1e6
    box = docker("create", image)
    docker("cp", f"{box}:/seed", f"{work}/seed")
    docker("rm", box)
    golden, copies = f"{work}/seed", []
    try:
        copies = [Copy(name, golden, letter) for letter in "ab"]
        one = copies[0]
        expect(one.cold < 5, f"first good answer within 5 s: {one.cold:.1f} s and {copies[1].cold:.1f} s")
        if site["login"]:
            page, fields, shown, text = site["login"]
            for copy in copies:
                copy.submit(page, fields)
            expect(text in one.get(shown).body.decode(), f"log-in as {list(fields.values())[0]}")
        crawls = [crawl(copy, limit) for copy in copies]
        pages, outside = crawls[0]
        expect(not outside, f"no part of {len(pages)} pages comes from elsewhere {sorted(outside)[:5] or ''}")
        bad = [f"{path} {answer.status}" for path, answer in pages.items() if answer.status >= 400]
        expect(not bad, f"every page linked to answers {bad[:5] or ''}")
        unlike = [path for path in pages if path not in crawls[1][0] or crawls[1][0][path].body != pages[path].body]
        expect(not unlike, f"two copies give the same {len(pages)} pages {unlike[:5] or ''}")
        if "staff" in site:
            page, fields, shown = site["staff"]
            kept, one.cookies = one.cookies, {}
            one.submit(page, fields)
            bad = [f"{path} {answer.status}" for path in shown if (answer := one.get(path)).status != 200 or answer.path != path]
            expect(not bad, f"staff pages answer {bad or ''}")
            one.cookies = kept
        if site.get("clock", True):
            for now in (LATER, EARLIER):
                one.set_clock(now)
                told = one.get(site["start"][0]).headers["Date"]
                expect(time.strftime("%Y-%m-%d %H:%M:%S", time.strptime(told, "%a, %d %b %Y %H:%M:%S GMT")) == now, f"the clock says {told}")
        if site["change"]:
            one.restore(golden)
            before = one.contents()
            for page, fields in site["change"]:
                answer = one.submit(page, fields) if fields else one.get(page)
                expect(answer.status < 400, f"a change at {page} is taken ({answer.status} at {answer.path})")
            expect(one.contents() != before, "the change is in the state")
            took = one.restore(golden)
            expect(one.contents() == before, f"a reset under the running application puts all back ({took * 1000:.0f} ms)")
            expect(site["login"][3] in one.get(site["login"][2]).body.decode(), "the log-in outlives the reset")
            one.restore(golden)
        times = sorted(answer.seconds * 1000 for path, answer in pages.items() if "html" in answer.headers.get("Content-Type", ""))
        group = docker("inspect", "-f", "{{.Id}}", one.box)
        used = docker("stats", "--no-stream", "--format", "{{.MemUsage}}", group).split("/")[0].strip()
        diff = docker("diff", one.box)
        expect(not [line for line in diff.splitlines() if not re.match(r"C? ?A? ?/(run|tmp|state|clock|dev|etc)?", line)], "nothing outside /state is written")
        stops = one.stop()
        expect(stops < 3, f"stops within 2 s of being asked ({stops:.1f} s with docker's own part)")
        print(f"{name}: image {size:.0f} MB, cold start {one.cold:.1f} s, memory {used}, pages median {statistics.median(times):.0f} ms, "
              f"95 % within {times[int(len(times) * 0.95)]:.0f} ms, slowest {times[-1]:.0f} ms ({len(times)} pages)")
    finally:
        for copy in copies:
            copy.remove()
        shutil.rmtree(work, ignore_errors=True)


def seed_of(image):
    """The names and digests of the files of the image's golden state."""
    lines = docker("run", "--rm", "--network", "none", "--entrypoint", "sh", image, "-c",
                   "find /seed -type l -exec sh -c 'echo $(readlink $1) $1' - {} ';'; find /seed -type f -exec sha256sum {} +")
    return {path: digest for digest, path in (line.split(None, 1) for line in lines.splitlines())}


def check_seed(name, program):
    """Builds the image once more, from its first step, and compares the golden states."""
    before = seed_of(f"sandbox/{name}:1")
    subprocess.run([program, "images", "build", "--force", name], check=True)
    after = seed_of(f"sandbox/{name}:1")
    unlike = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    expect(not unlike, f"two builds give the same {len(after)} files of /seed {unlike[:5] or ''}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=SITES)
    parser.add_argument("--pages", type=int, default=80, help="how many pages to visit in each copy")
    parser.add_argument("--seed", metavar="SANDBOX", help="instead, build the image anew with this program, which must give the same /seed")
    options = parser.parse_args()
    check_seed(options.name, options.seed) if options.seed else check(options.name, options.pages)
    sys.exit(1 if BREACHES else 0)
