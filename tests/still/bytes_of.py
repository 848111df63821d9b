"""Pictures, sounds and a film, made here but for the film."""

import pathlib
import struct
import zlib


def png(width, height, colour=(40, 90, 160)):
    """A picture of one colour."""

    def chunk(kind, content):
        return (
            struct.pack(">I", len(content))
            + kind
            + content
            + struct.pack(">I", zlib.crc32(kind + content))
        )

    rows = (b"\0" + bytes(colour) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def gif(frames, loops=0, delay=10):
    """An animated picture of one pixel. `delay` is in 1/100 s; 0 `loops` never end."""
    head = b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + b"\xff\0\0\0\0\xff"
    head += b"!\xff\x0bNETSCAPE2.0\x03\x01" + struct.pack("<H", loops) + b"\0"
    for number in range(frames):
        head += b"!\xf9\x04\x04" + struct.pack("<H", delay) + b"\0\0"
        head += (
            b","
            + struct.pack("<HHHHB", 0, 0, 1, 1, 0)
            + b"\x02\x02"
            + (b"\x44\x01", b"\x4c\x01")[number % 2]
            + b"\0"
        )
    return head + b";"


def wav(seconds, rate=8000):
    """A tone of eight bits."""
    samples = bytes(128 + (40 if at // 10 % 2 else -40) for at in range(int(seconds * rate)))
    kind = struct.pack("<HHIIHH", 1, 1, rate, rate, 1, 8)
    body = (
        b"WAVEfmt "
        + struct.pack("<I", len(kind))
        + kind
        + b"data"
        + struct.pack("<I", len(samples))
        + samples
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def film():
    """WebM (VP8): 16 x 16, three seconds, four frames a second, a key frame each second."""
    return pathlib.Path(__file__).with_name("film.webm").read_bytes()
