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

from browsergym.core.observation import (
    _post_extract,
    _pre_extract,
    extract_dom_extra_properties,
    extract_dom_snapshot,
    extract_focused_element_bid,
    extract_merged_axtree,
    extract_screenshot,
)
from browsergym.utils.obs import flatten_axtree_to_str

from agent import IGNORED, Peer
from parity import HOST, record, replay

TIMES = 7
ROWS = "".join(
    f"<tr><td>{n}</td><td><a href='#{n}'>Line {n}</a></td><td><input aria-label='Amount {n}'></td><td><button>Buy {n}</button>"
    "</td></tr>" for n in range(750))
OWN = {
    "large.html": f"<title>Large</title><table>{ROWS}</table>",
    "timer.html": "<title>Timer</title><p id=p>waiting</p><script>onclick = () => setTimeout(() => p.textContent = 'done', 3000)"
                  "</script>",
}


def look(page):
    began = time.perf_counter()
    _pre_extract(page)
    dom = extract_dom_snapshot(page)
    tree = extract_merged_axtree(page)
    extract_focused_element_bid(page)
    properties = extract_dom_extra_properties(dom, scale_factor=1.0)
    _post_extract(page)
    extract_screenshot(page)
    [page.title() for page in page.context.pages]
    flatten_axtree_to_str(tree, ignored_roles=IGNORED)
    return (time.perf_counter() - began) * 1000, len(properties)


def theirs(urls):
    peer = Peer()
    for url in urls:
        peer.open(url)
        looks = [look(peer.page) for _ in range(TIMES)]
        yield {"looks_ms": [ms for ms, _ in looks], "elements": looks[0][1]}


def main():
    sandbox, observe, capture, work = (pathlib.Path(argument) for argument in sys.argv[1:5])
    pages = work / "own"
    pages.mkdir()
    for name, html in OWN.items():
        (pages / name).write_text(html)
    record(sandbox, pages, work)
    with gzip.open(capture) as records:
        asked = re.findall(rb"WARC-Target-URI: (http://www\.iana\.org/[^\s?#]*)", records.read())
    iana = sorted({url.decode() for url in asked if b"." not in url.rsplit(b"/", 1)[1]})[:10]
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
    ratios = []
    for url, mine, peer in rows:
        a, b = statistics.median(mine["looks_ms"]), statistics.median(peer["looks_ms"])
        ratios.append(b / a)
        step = statistics.median(mine["steps_ms"])
        print(f"| {url.removeprefix('http://')} | {mine['elements']} / {peer['elements']} | {a:.0f} ms | {b:.0f} ms "
              f"| {b / a:.1f}x | {step:.0f} ms |")
    print(f"\nmedian of {len(ratios)} pages: {statistics.median(ratios):.1f}x")


if __name__ == "__main__":
    main()
