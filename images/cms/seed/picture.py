"""Flat pictures of a harbour town, drawn from a number: sky, sea, hills, houses, boats, sun."""

import io
import random

from PIL import Image, ImageDraw

SKIES = [("#f6d9b0", "#e8a87c"), ("#cfe5ee", "#9cc4d8"), ("#f3e6d0", "#d9b8a0"), ("#d8dfe8", "#a9b8cc"), ("#fbe3c6", "#f0b98d")]
HOUSES = ["#b5533c", "#d98c5f", "#e9d8a6", "#7a9e9f", "#4f6d7a", "#c9ada7", "#f2cc8f", "#8d5b4c"]


def draw(number, size=(1200, 750)):
    rng = random.Random(f"picture {number}")
    w, h = size
    image = Image.new("RGB", size)
    pen = ImageDraw.Draw(image)
    top, low = [tuple(int(c[i:i + 2], 16) for i in (1, 3, 5)) for c in rng.choice(SKIES)]
    for y in range(h):
        k = y / h
        pen.line([(0, y), (w, y)], fill=tuple(int(a + (b - a) * k) for a, b in zip(top, low)))
    sun = rng.randrange(150, w - 150)
    pen.ellipse([sun - 60, 90, sun + 60, 210], fill="#fff4d6")
    horizon = int(h * rng.uniform(0.5, 0.6))
    for shade, lift in (("#8aa399", 130), ("#6b8a7a", 70)):
        points = [(0, h)] + [(x, horizon - rng.randrange(lift // 3, lift)) for x in range(0, w + 150, 150)] + [(w, h)]
        pen.polygon(points, fill=shade)
    x = -20
    while x < w:
        width, height = rng.randrange(60, 120), rng.randrange(90, 190)
        colour, base = rng.choice(HOUSES), horizon + 40
        pen.rectangle([x, base - height, x + width, base], fill=colour)
        pen.polygon([(x - 6, base - height), (x + width / 2, base - height - rng.randrange(30, 60)), (x + width + 6, base - height)], fill="#5b3a34")
        for wx in range(x + 12, x + width - 18, 28):
            for wy in range(base - height + 18, base - 30, 36):
                pen.rectangle([wx, wy, wx + 13, wy + 19], fill=rng.choice(["#fdf6e3", "#2f3e46", "#ffe8a3"]))
        x += width + rng.choice([0, 0, 0, 26])
    pen.rectangle([0, horizon + 40, w, horizon + 66], fill="#9a8c7c")
    pen.rectangle([0, horizon + 66, w, h], fill="#3d7189")
    for _ in range(60):
        wx, wy = rng.randrange(w), rng.randrange(horizon + 76, h)
        pen.line([(wx, wy), (wx + rng.randrange(30, 110), wy)], fill=rng.choice(["#5b8fa6", "#336179", "#7fb0c2"]), width=3)
    for _ in range(rng.randrange(1, 5)):
        bx, by, s = rng.randrange(60, w - 160), rng.randrange(horizon + 130, h - 30), rng.uniform(0.8, 1.7)
        pen.polygon([(bx, by), (bx + 110 * s, by), (bx + 90 * s, by + 26 * s), (bx + 18 * s, by + 26 * s)], fill=rng.choice(["#7f2f2f", "#f4f1ea", "#22313f"]))
        pen.polygon([(bx + 52 * s, by - 6), (bx + 52 * s, by - 110 * s), (bx + 100 * s, by - 6)], fill="#f7f3e9")
        pen.polygon([(bx + 46 * s, by - 6), (bx + 46 * s, by - 90 * s), (bx + 14 * s, by - 6)], fill="#e4d9c4")
    out = io.BytesIO()
    image.save(out, "JPEG", quality=82)
    return out.getvalue()
