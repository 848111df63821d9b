"""Pictures of every kind that shops and forums have, two by two, with their structural similarity as VisualWebArena takes it from
Pillow and scikit-image: one vector a line on standard output.

    pictures.py > visualwebarena.image_ssim.jsonl
"""

import base64
import io
import json
import random

import numpy
from PIL import Image, ImageDraw
from skimage.metrics import structural_similarity

# Kind of file, mode of the picture. JPEG alone is not read to the last bit by every decoder.
KINDS = [("PNG", "RGB"), ("PNG", "RGBA"), ("PNG", "L"), ("PNG", "LA"), ("PNG", "P"), ("PNG", "1"), ("GIF", "P"), ("WEBP", "RGB"),
         ("WEBP", "RGBA"), ("JPEG", "RGB"), ("JPEG", "L")]


def drawing(chance, width, height):
    """A slope of colours with some figures on it, partly transparent."""
    slope = numpy.linspace(0, 255, width * height * 4).reshape(height, width, 4)
    picture = Image.fromarray(slope.astype("uint8"), "RGBA")
    draw = ImageDraw.Draw(picture)
    for _ in range(6):
        x, y = chance.randrange(width), chance.randrange(height)
        box = [x, y, x + chance.randrange(1, width), y + chance.randrange(1, height)]
        draw.ellipse(box, fill=tuple(chance.randrange(256) for _ in range(4)))
    return picture


def written(picture, kind, mode):
    """The file of a picture."""
    file = io.BytesIO()
    settings = {"lossless": True} if kind == "WEBP" else {"quality": 90} if kind == "JPEG" else {}
    picture.convert(mode).save(file, kind, **settings)
    return file.getvalue()


def similarity(one, other):
    """What `get_image_ssim` gives."""
    one, other = Image.open(io.BytesIO(one)), Image.open(io.BytesIO(other))
    size = max(one.size[0], other.size[0]), max(one.size[1], other.size[1])
    grey = [numpy.array(picture.resize(size, Image.LANCZOS).convert("L")) for picture in (one, other)]
    return structural_similarity(*grey, full=True)[0]


def main():
    chance = random.Random(7)
    for number in range(220):
        size = chance.randrange(7, 160), chance.randrange(7, 120)
        picture = drawing(chance, *size)
        kind, mode = KINDS[number % len(KINDS)]
        other_kind, other_mode = chance.choice(KINDS)
        other = picture if number % 3 else drawing(chance, *size)
        if number % 2:
            other = other.resize((chance.randrange(7, 200), chance.randrange(7, 150)), Image.BICUBIC)
        one, other = written(picture, kind, mode), written(other, other_kind, other_mode)
        vector = {"id": f"ssim-{number}-{kind}-{mode}-{other_kind}-{other_mode}", "metric": "visualwebarena.image_ssim",
                  "one": base64.b64encode(one).decode(), "other": base64.b64encode(other).decode(),
                  "expected": round(float(similarity(one, other)), 6)}
        print(json.dumps(vector))


main()
