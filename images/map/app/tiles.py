"""Tiles of 256 pixels, drawn when first asked for, at twice the size and then halved so that edges are smooth."""

import bisect
import functools
import io
import math

from PIL import Image, ImageDraw, ImageFont

from world import HOUSES, NODES, PLACES, SHAPES, WAYS

SIZE, SCALE = 256, 2
FILL = {"sea": "#aad3df", "river": "#aad3df", "park": "#c8e6b4"}
COLOUR = {"primary": ("#fcd6a4", "#c8893f"), "secondary": ("#f7fabf", "#a5a35d"), "residential": ("#ffffff", "#c3bcb6")}
WIDTH = {"primary": 11, "secondary": 9, "residential": 7}  # metres
DOT = {"amenity": "#c77400", "shop": "#ac39ac", "tourism": "#0092da", "leisure": "#2d8a3f", "highway": "#3d6fb5", "landmark": "#8b1a1a"}
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
BOLD = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"


@functools.lru_cache(maxsize=None)
def font(size, path=FONT):
    return ImageFont.truetype(path, size)


def unit(lat, lon):
    """Where a point is on the map of the world, whose sides are 1."""
    return (lon + 180) / 360, (1 - math.asinh(math.tan(math.radians(lat))) / math.pi) / 2


# Worked out once, as every tile asks for nearly all of them.
LINES = [(w, unit(*NODES[w["a"]]), unit(*NODES[w["b"]])) for w in WAYS]
AREAS = [(kind, [unit(*point) for point in points]) for kind, points in SHAPES]
SPOTS = [(place, unit(place["lat"], place["lon"])) for place in PLACES]
# From west to east; each with its place in the order in which they are drawn.
DOORS = sorted((*unit(lat, lon), order, number) for order, (_, number, lat, lon) in enumerate(HOUSES))


def text(pen, xy, words, size, fill, path=FONT):
    pen.text(xy, words, font=font(size * SCALE, path), fill=fill, anchor="mm", stroke_width=2 * SCALE, stroke_fill="#ffffff")


def street_name(image, middle, angle, words, size):
    box = font(size * SCALE).getbbox(words, stroke_width=2 * SCALE)
    w, h = box[2] - box[0] + 8, box[3] - box[1] + 8
    patch = Image.new("RGBA", (w, h), (255, 255, 255, 0))
    ImageDraw.Draw(patch).text((w / 2, h / 2), words, font=font(size * SCALE), fill="#333333", anchor="mm", stroke_width=2 * SCALE, stroke_fill="#ffffff")
    angle = (angle + 90) % 180 - 90
    patch = patch.rotate(angle, expand=True, resample=Image.BICUBIC)
    image.paste(patch, (int(middle[0] - patch.width / 2), int(middle[1] - patch.height / 2)), patch)


@functools.lru_cache(maxsize=2048)
def draw(zoom, column, row):
    """The tile as PNG. The town never changes, so a tile is drawn once; two thousand of them take some 30 MB."""
    side = SIZE * SCALE
    left, top, n = column * side, row * side, side * 2**zoom
    image = Image.new("RGB", (side, side), "#f2efe9")
    pen = ImageDraw.Draw(image)
    metre = side * 2**zoom / 40075017 / math.cos(math.radians(54.6))

    def at(point):
        x, y = point
        return x * n - left, y * n - top

    def near(x, y, margin):
        return -margin < x < side + margin and -margin < y < side + margin

    for kind, points in AREAS:
        if kind != "railway":
            pen.polygon([at(p) for p in points], fill=FILL[kind])
    if zoom >= 16:
        doors = DOORS[bisect.bisect(DOORS, ((left - 50) / n,)):bisect.bisect(DOORS, ((left + side + 50) / n,))]
        for *door, _, number in sorted(doors, key=lambda door: door[2]):
            x, y = at(door)
            if near(x, y, 40):
                r = 6.5 * metre
                pen.rectangle([x - r, y - r, x + r, y + r], fill="#d9d0c9", outline="#bbaea3")
                if zoom >= 18:
                    pen.text((x, y), number, font=font(9 * SCALE), fill="#665a50", anchor="mm")
    lines = [(w, at(a), at(b)) for w, a, b in LINES]
    lines = [(w, a, b) for w, a, b in lines if max(a[0], b[0]) > -300 and min(a[0], b[0]) < side + 300 and max(a[1], b[1]) > -300 and min(a[1], b[1]) < side + 300]
    for w, a, b in lines:
        if w["level"] in ("footway", "path") and zoom >= 14:
            pen.line([a, b], fill="#f08a75" if w["level"] == "footway" else "#8a7a55", width=max(2, int(1.6 * metre)))
    for layer in (1, 0):
        for level in ("residential", "secondary", "primary"):
            if zoom < 13 and level == "residential":
                continue
            width = max(2.0 if level == "primary" else 1.4, WIDTH[level] * metre) + (2.4 if layer else 0)
            for w, a, b in lines:
                if w["level"] == level:
                    colour = COLOUR[level][layer]
                    pen.line([a, b], fill=colour, width=int(width))
                    if width > 6:
                        for x, y in (a, b):
                            pen.ellipse([x - width / 2, y - width / 2, x + width / 2, y + width / 2], fill=colour)
    for kind, points in AREAS:
        if kind == "railway":
            pen.line([at(p) for p in points], fill="#707070", width=max(3, int(3 * metre)))
            if zoom >= 14:
                pen.line([at(p) for p in points], fill="#e8e8e8", width=max(1, int(1.2 * metre)))
    if zoom >= 15:
        for w, a, b in lines:
            long = math.dist(a, b)
            if w["level"] != "path" and (zoom >= 17 or w["id"] % (3 if zoom == 16 else 6) == 0):
                words = w["name"] + ("  →" if w["oneway"] and zoom >= 17 else "")
                if font(9 * SCALE).getlength(words) < long * 1.15:
                    street_name(image, ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2), -math.degrees(math.atan2(b[1] - a[1], b[0] - a[0])), words, 9)
    for p, spot in SPOTS:
        x, y = at(spot)
        if not near(x, y, 260):
            continue
        if p["kind"] == "District":
            if zoom <= 16:
                text(pen, (x, y), p["name"] if zoom > 12 else p["name"], 13 if zoom > 13 else 10, "#5a4a42", BOLD)
        elif p["kind"] == "Park":
            if zoom >= 14:
                text(pen, (x, y), p["name"], 11, "#2d6a2f")
        elif zoom >= 17 or (p["key"] == "landmark" and zoom >= 15) or zoom == 16:
            colour, r = DOT.get(p["key"], "#555555"), (4.5 if zoom >= 17 or p["key"] == "landmark" else 2.5) * SCALE
            pen.ellipse([x - r, y - r, x + r, y + r], fill=colour, outline="#ffffff")
            if zoom >= 18 or (zoom == 17 and p["kind"] != "Bus stop") or p["key"] == "landmark":
                text(pen, (x, y + 11 * SCALE), p["name"], 9, colour)
    if zoom <= 12:
        text(pen, at(unit(54.612, 0.932)), "Port Ellery", 16, "#222222", BOLD)
    out = io.BytesIO()
    image.resize((SIZE, SIZE), Image.LANCZOS).save(out, "PNG", compress_level=1)
    return out.getvalue()
