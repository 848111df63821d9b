"""How long looking at a page takes, beside BrowserGym, in one run.

    bench.py SANDBOX OBSERVE CAPTURE WORK

OBSERVE is the example program of the crate `browser`; CAPTURE a web archive with pages of iana.org. Ten of its pages, and
two of our own (6,000 elements; a timer of three seconds), are looked at in full by both: the tree and its text, the measures
of all elements, a picture, the tabs. Prints a Markdown table.
"""

import gzip
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

from browsergym.core.observation import extract_screenshot

from agent import Peer
from parity import HOST, record, replay

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import measured  # noqa: E402

TIMES = 7
ROWS = "".join(
    f"<tr><td>{n}</td><td><a href='#{n}'>Line {n}</a></td><td><input aria-label='Amount {n}'></td><td><button>Buy {n}</button>"
    "</td></tr>" for n in range(750))
OWN = {
    "large.html": f"<title>Large</title><table>{ROWS}</table>",
    "timer.html": "<title>Timer</title><p id=p>waiting</p><script>onclick = () => setTimeout(() => p.textContent = 'done', 3000)"
                  "</script>",
}


def html_pages(capture):
    """The addresses at which a web archive, compressed by records, has whole HTML pages."""
    with gzip.open(capture) as archive:
        for record in archive.read().split(b"WARC/1.0\r\n"):
            head, _, http = record.partition(b"\r\n\r\n")
            answer, _, _ = http.partition(b"\r\n\r\n")
            if b"WARC-Type: response" in head and re.match(rb"HTTP/1\.. 200", answer) and b"text/html" in answer:
                yield re.search(rb"WARC-Target-URI: <?([^\s>]+)", head)[1].decode()


def theirs(urls):
    peer = Peer()
    for url in urls:
        peer.open(url)
        times = []
        for _ in range(TIMES):
            began = time.perf_counter()
            elements = peer.look()["elements"]
            extract_screenshot(peer.page)
            for page in peer.context.pages:
                page.title()
            times.append((time.perf_counter() - began) * 1000)
        yield {"looks_ms": times, "elements": elements}


def main():
    sandbox, observe, capture, work = (pathlib.Path(argument) for argument in sys.argv[1:5])
    pages = work / "own"
    pages.mkdir()
    for name, html in OWN.items():
        (pages / name).write_text(html)
    record(sandbox, pages, work)
    iana = sorted(set(html_pages(capture)))[:10]
    urls = [f"http://{HOST}/{name}" for name in OWN] + iana
    proxy, address = replay(sandbox, work, capture)
    try:
        os.environ["PARITY_PROXY"] = address
        os.environ.setdefault("PARITY_CHROMIUM", "/usr/lib/chromium/chromium-headless-shell")
        ours = subprocess.run(
            [observe, address.removeprefix("http://"), str(TIMES), *urls], check=True, capture_output=True, text=True)
        ours = [json.loads(line) for line in ours.stdout.splitlines()]
        rows = list(zip(urls, ours, theirs(urls)))
    finally:
        proxy.terminate()
    print("| page | elements | look, ours | BrowserGym's | ratio | step, ours |\n| --- | --- | --- | --- | --- | --- |")
    ratios, steps = [], []
    for url, mine, peer in rows:
        a, b = statistics.median(mine["looks_ms"]), statistics.median(peer["looks_ms"])
        ratios.append(b / a)
        step = statistics.median(mine["steps_ms"])
        steps.append(step)
        print(f"| {url.removeprefix('http://')} | {mine['elements']} / {peer['elements']} | {a:.0f} ms | {b:.0f} ms "
              f"| {b / a:.1f}x | {step:.0f} ms |")
    print(f"\nmedian of {len(ratios)} pages: {statistics.median(ratios):.1f}x")
    # The first two are our own pages: 6,000 elements, and the timer.
    measured.keep("bench-observe", {
        "observation": statistics.median(ratios), "observation-large": ratios[0], "timer-step": steps[1]})


if __name__ == "__main__":
    main()
