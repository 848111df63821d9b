"""Files that the pages of libraries ask for: tiles, sound, a document, parts of a page."""

import json

from bytes_of import png
from grammar import HTML, JS, JSON, PNG, File

SEGMENT, SEGMENTS = 2, 5
RATE = 44100
# The number of samples in a frame of AAC.
SAMPLES = 1024


def tile(level, across, down):
    """A tile of a map, with a colour of its own."""
    number = int(level) * 97 + int(across) * 31 + int(down) * 17
    return File(png(256, 256, (number % 256, number * 3 % 256, number * 7 % 256)), PNG)


def bits(*fields):
    """Fields, each of a value and a width in bits, as bytes."""
    text = "".join(format(value, f"0{width}b") for value, width in fields)
    text += "0" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big")


def silence():
    """A frame of AAC without sound, for one channel, behind its ADTS head."""
    frame = bits((0, 7), (0, 8), (0, 4), (0, 6), (0, 1), (0, 3), (7, 3))
    length = len(frame) + 7
    head = [(0xFFF, 12), (0, 3), (1, 1), (1, 2), (4, 4), (0, 1), (1, 3), (0, 4)]
    return bits(*head, (length, 13), (0x7FF, 11), (0, 2)) + frame


def sound(number):
    """A segment of a stream: its time in an ID3 tag, then frames."""
    per_segment = SEGMENT * RATE // SAMPLES
    time = number * per_segment * SAMPLES * 90000 // RATE
    content = b"com.apple.streaming.transportStreamTimestamp\0" + time.to_bytes(8, "big")
    tag = b"PRIV" + len(content).to_bytes(4, "big") + b"\0\0" + content
    return b"ID3\4\0\0" + bytes([0, 0, 0, len(tag)]) + tag + silence() * per_segment


def playlist():
    """The list of the segments."""
    seconds = SEGMENT * RATE // SAMPLES * SAMPLES / RATE
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", f"#EXT-X-TARGETDURATION:{SEGMENT}"]
    for number in range(SEGMENTS):
        lines += [f"#EXTINF:{seconds:.5f},", f"{number}.aac"]
    return "\n".join([*lines, "#EXT-X-ENDLIST", ""]).encode()


def paper(pages=3):
    """A PDF with a line of text on each page."""
    kids = " ".join(f"{4 + 2 * page} 0 R" for page in range(pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for page in range(pages):
        text = f"BT /F1 24 Tf 40 200 Td (Sheet number {page + 1}) Tj ET"
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % (5 + 2 * page)
        )
        objects.append(f"<< /Length {len(text)} >>\nstream\n{text}\nendstream".encode())
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    count = len(objects) + 1
    end = f"xref\n0 {count}\n0000000000 65535 f \n{table}"
    end += f"trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + end.encode()


WORKER = """
importScripts('/npm/workbox-sw/build/workbox-sw.js');
workbox.setConfig({debug: false, modulePathCb: name => `/npm/${name}/build/${name}.prod.js`});
workbox.precaching.precacheAndRoute([{url: '/made/rows/2', revision: '1'}]);
workbox.routing.registerRoute(({url}) => url.pathname.startsWith('/made/rows/1'),
  new workbox.strategies.CacheFirst({cacheName: 'first'}));
workbox.routing.registerRoute(({url}) => url.pathname.startsWith('/made/rows/3'),
  new workbox.strategies.StaleWhileRevalidate({cacheName: 'stale'}));
workbox.routing.registerRoute(({url}) => url.pathname.startsWith('/made/rows/5'),
  new workbox.strategies.NetworkFirst({cacheName: 'network'}));
workbox.core.skipWaiting();
workbox.core.clientsClaim();
"""
PARTS = {
    "part/first": "<p>The first part</p><button hx-get='/made/part/second'>deeper</button>",
    "part/second": "<p>The second part</p>",
    "part/row": "<li>one more</li>",
    "part/slow": "<p>It took a while</p>",
    "part/seen": "<p>It was seen</p>",
    "part/tick": "<b>tick</b>",
}


def file(path):
    """A file by its path, or nothing."""
    kind, *parts = path.split("/")
    if path in PARTS:
        return File(PARTS[path].encode(), HTML, pause=0.3 if path == "part/slow" else 0)
    if kind == "tile" and len(parts) == 3:
        return tile(*parts[:2], parts[2].partition(".")[0])
    if kind == "rows" and len(parts) == 1:
        rows = [
            {"id": at, "name": f"row {at}", "sum": at * 37 % 101} for at in range(int(parts[0]))
        ]
        return File(json.dumps(rows).encode(), JSON)
    if path == "sound/list.m3u8":
        return File(playlist(), "application/vnd.apple.mpegurl")
    if kind == "sound":
        return File(sound(int(parts[0].partition(".")[0])), "audio/aac")
    if path == "paper.pdf":
        return File(paper(), "application/pdf")
    if path == "worker.js":
        return File(WORKER.encode(), JS)
    return None
