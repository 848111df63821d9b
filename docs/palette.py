#!/usr/bin/env python3
"""Makes PNG files of screenshots smaller: at most 256 colours, by Python alone.

    docs/palette.py FILE.png...    # replaces the files
"""

import pathlib
import struct
import sys
import zlib

COLOURS = 256


def read(data):
    """Width, height and the pixels as a list of (r, g, b); for 8-bit RGB and RGBA without interlacing."""
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            if depth != 8 or colour not in (2, 6) or interlaced:
                sys.exit("palette: only 8-bit RGB and RGBA pictures without interlacing can be read")
        elif kind == b"IDAT":
            packed += body
        at += size + 12
    step = 3 if colour == 2 else 4
    raw, stride, pixels = zlib.decompress(packed), width * step, []
    above = bytearray(stride)
    for row in range(height):
        start = row * (stride + 1)
        way, line = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        for x in range(stride if way else 0):
            left = line[x - step] if x >= step else 0
            if way == 1:
                guess = left
            elif way == 2:
                guess = above[x]
            elif way == 3:
                guess = (left + above[x]) // 2
            else:
                corner = above[x - step] if x >= step else 0
                both = left + above[x] - corner
                guess = min((left, above[x], corner), key=lambda value: abs(both - value))
            line[x] = (line[x] + guess) & 255
        above = line
        pixels += zip(line[0::step], line[1::step], line[2::step])
    return width, height, pixels


def palette_of(counts):
    """The most frequent colours that differ from one another enough to be seen."""
    chosen = []
    for colour, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if all(distance(colour, other) > 12 for other in chosen):
            chosen.append(colour)
        if len(chosen) == COLOURS:
            break
    return chosen


def distance(one, other):
    return sum((a - b) ** 2 for a, b in zip(one, other))


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def write(width, height, pixels):
    counts = {}
    for pixel in pixels:
        counts[pixel] = counts.get(pixel, 0) + 1
    palette = palette_of(counts)
    nearest = {colour: min(range(len(palette)), key=lambda n: distance(colour, palette[n])) for colour in counts}
    indexed = bytes(nearest[pixel] for pixel in pixels)
    rows = b"".join(b"\0" + indexed[row * width:(row + 1) * width] for row in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    colours = b"".join(map(bytes, palette))
    parts = ((b"IHDR", header), (b"PLTE", colours), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, body) for kind, body in parts)


for name in sys.argv[1:]:
    path = pathlib.Path(name)
    path.write_bytes(write(*read(path.read_bytes())))
