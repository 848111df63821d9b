"""Draws a product: its shape in its colour on a pale ground with a soft shadow."""
import colorsys

from PIL import Image, ImageColor, ImageDraw, ImageFilter, ImageFont

from shapes import SHAPES

SIDE, SCALE = 300, 4
GROUNDS = ["#f4f1ea", "#eef2f3", "#f1eef4", "#eff3ec", "#f5eeee", "#edf0f6"]
FIXED = {"k": "#26282c", "w": "#fbfaf6", "g": "#a9afb6", "o": "#b98a56", "y": "#d0a24a", "f": "#4f8a53"}


def shade(colour, by):
    hue, light, rich = colorsys.rgb_to_hls(*(part / 255 for part in ImageColor.getrgb(colour)[:3]))
    return tuple(round(part * 255) for part in colorsys.hls_to_rgb(hue, min(0.95, max(0.05, light + by)), rich))


def piece(pen, words, inks, title):
    kind, ink = words[0], inks.get(words[-1], inks["c"])
    at = [float(word) * SCALE for word in words[1:-1]]
    if kind == "R":
        pen.rounded_rectangle(at[:4], at[4], fill=ink)
    elif kind == "E":
        pen.ellipse(at, fill=ink)
    elif kind == "P":
        pen.polygon(at, fill=ink)
    elif kind == "A":
        pen.arc(at[:4], at[4] / SCALE, at[5] / SCALE, fill=ink, width=round(at[6]))
    elif kind == "L":
        pen.line(at[:-1], fill=ink, width=round(at[-1]), joint="curve")
    elif kind == "T":
        font = ImageFont.load_default(at[2])
        for row, text in enumerate(wrapped(title)):
            pen.text((at[0], at[1] + row * at[2] * 1.25), text, fill=inks["k"], font=font)


def wrapped(title, width=11):
    rows = [""]
    for word in title.split():
        if rows[-1] and len(rows[-1]) + 1 + len(word) > width:
            rows.append("")
        rows[-1] = f"{rows[-1]} {word}".strip()
    return rows[:4]


def draw(shape, colour, title, ground, turn):
    side = 100 * SCALE
    inks = {**{name: ImageColor.getrgb(value) for name, value in FIXED.items()}, "c": ImageColor.getrgb(colour),
            "d": shade(colour, -0.12), "l": shade(colour, 0.16)}
    thing = Image.new("RGBA", (side, side))
    pen = ImageDraw.Draw(thing)
    for words in filter(None, (part.split() for part in SHAPES[shape].split(";"))):
        piece(pen, words, inks, title)
    thing = thing.rotate(turn, Image.Resampling.BICUBIC)
    picture = Image.new("RGBA", (side, side), GROUNDS[ground % len(GROUNDS)])
    blurred = thing.getchannel("A").reduce(4).filter(ImageFilter.GaussianBlur(4)).resize((side, side))
    picture.paste("#6a6a72", (0, 8), blurred.point(lambda alpha: alpha * 0.27))
    picture.alpha_composite(thing)
    return picture.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BICUBIC)
