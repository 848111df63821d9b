#!/usr/bin/env python3
"""How long a reset takes as its users feel it, beside a container that is removed and started again.

    reset.py SANDBOX [RESETS] [SITE...]

Brings up a town in a folder of its own. For each site: RESETS resets (200) of a site that was just written to, each with a
copy waiting, timed from the question to the answer, when the route leads to a pristine copy; then resets one upon the
other for ten seconds; then, for sites in containers, `docker rm -f && docker run` until the site is ready, three times.
"""

import http.client
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import measured

SUSTAINED = 10
AGAIN = 3


class Control(http.client.HTTPConnection):
    """The town's control socket."""

    def __init__(self, path):
        super().__init__("town", timeout=600)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def ask(self, method, path):
        self.request(method, path)
        answer = self.getresponse()
        body = answer.read()
        if answer.status >= 300:
            sys.exit(f"{method} {path}: {answer.status} {body.decode()}")
        return json.loads(body) if body else None


def site(control, name):
    return next(site for site in control.ask("GET", "/status")["sites"] if site["name"] == name)


def wait_for_spare(control, name, within=120):
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if site(control, name)["spares"] > 0:
            return
        time.sleep(0.005)
    sys.exit(f"{name} had no spare within {within} s")


def write_to(proxy, url):
    """A request that may have changed something; what the site makes of it does not matter."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
    try:
        opener.open(urllib.request.Request(url.replace("https:", "http:"), data=b"a=b"), timeout=30).read()
    except urllib.error.HTTPError as refused:
        refused.read()


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def recreated(image, path):
    """Seconds of `docker rm -f && docker run` until the site answers."""
    name = "sandbox-bench-reset"
    run = lambda *words: subprocess.run(["docker", *words], check=True, capture_output=True, text=True).stdout.strip()
    run("run", "-d", "--name", name, image)
    took = []
    for _ in range(AGAIN):
        began = time.monotonic()
        run("rm", "-f", name)
        run("run", "-d", "--name", name, image)
        address = run("inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", name)
        while time.monotonic() - began < 120:
            try:
                if urllib.request.urlopen(f"http://{address}:8000{path}", timeout=5).status < 400:
                    break
            except OSError:
                time.sleep(0.02)
        took.append(time.monotonic() - began)
    run("rm", "-f", name)
    return statistics.median(took)


def manifest(name):
    """Image and first path that must answer, from the manifest's own lines."""
    image, path = None, "/"
    for line in open(f"sites/{name}/site.yaml"):
        if line.startswith("image:"):
            image = line.split()[1]
        if "{get:" in line and path == "/":
            path = line.split("{get:")[1].split(",")[0].strip().strip('"')
            break
    return image, path


def main():
    sandbox, resets, names = sys.argv[1], int((sys.argv[2:] or ["200"])[0]), sys.argv[3:]
    with tempfile.TemporaryDirectory(prefix="sandbox-bench-") as data:
        options = ["--data", data]
        began = time.monotonic()
        up = subprocess.run([sandbox, "up", *options, "--no-key", "--reset-listen", "127.0.0.1:0", "--json", *names], text=True, stdout=subprocess.PIPE)
        first = time.monotonic() - began
        if up.returncode:
            sys.exit("the town did not come up")
        try:
            rows = measure(options, data, resets, json.loads(up.stdout), first)
        finally:
            subprocess.run([sandbox, "down", *options], check=True)
    if not names:
        keep(rows)


def keep(rows):
    """`rows` are of all sites: name, median and 99th percentile in ms, resets a second, memory, and
    the container's ratio."""
    # The targets are of ten sites.
    _, p50, p99, _, _, _ = zip(*(row for row in rows if row[0] != "projects"))
    ratios = [row[5] for row in rows if row[5]]
    values = {"median": p50, "p99": p99, "docker": ratios}
    sustained = [[name, f"{measured.rounded(rate):,}", memory] for name, _, _, rate, memory, _ in rows]
    measured.keep("bench-reset", {id: [min(ends), max(ends)] for id, ends in values.items()}, {"sustained": sustained})


def measure(options, data, resets, status, first):
    print(f"{len(status['sites'])} sites up after {first:.1f} s, golden states made on the way")
    print(f"{'site':10} {'p50':>8} {'p99':>8} {'a second':>9} {'memory':>7} {'rm, run':>8} {'ratio':>7}")
    rows = []
    for seen in status["sites"]:
        name = seen["name"]
        control = Control(f"{data}/town/control")
        took = []
        for _ in range(resets):
            wait_for_spare(control, name) if seen["copies"][1:] or seen["spares"] else None
            write_to(status["proxy"], seen["url"])
            began = time.monotonic()
            control.ask("POST", f"/reset/{name}")
            took.append((time.monotonic() - began) * 1000)
        count, began = 0, time.monotonic()
        while time.monotonic() - began < SUSTAINED:
            write_to(status["proxy"], seen["url"])
            control.ask("POST", f"/reset/{name}")
            count += 1
        rate = count / (time.monotonic() - began)
        now = site(control, name)
        copies = [copy["memory"] for copy in now["copies"] if copy["memory"]]
        memory = f"{max(copies) / 2**20:.0f}M" if copies else "-"
        image, path = manifest(name)
        p50, p99 = statistics.median(took), percentile(took, 0.99)
        peer = recreated(image, path) if image else None
        beside = f"{peer:7.2f}s {peer * 1000 / p50:6.0f}x" if peer else f"{'-':>8} {'-':>7}"
        print(f"{name:10} {p50:6.1f}ms {p99:6.1f}ms {rate:9.1f} {memory:>7} {beside}", flush=True)
        memory = f"{max(copies) / 2**20:.0f} MB" if copies else "in our process"
        rows.append((name, p50, p99, rate, memory, peer * 1000 / p50 if peer else None))
        if now["drifts"]:
            sys.exit(f"{name} drifted {now['drifts']} times")
    return rows


if __name__ == "__main__":
    main()
