"""A TrueType font with one glyph, a square for `A`, made here so that no file has to be."""

import struct

EM = 1000


def table_glyf():
    """A square of 800 units."""
    points = [(100, 0), (900, 0), (900, 800), (100, 800)]
    head = struct.pack(">hhhhh", 1, 100, 0, 900, 800) + struct.pack(">HH", len(points) - 1, 0)
    xs = [points[0][0]] + [b[0] - a[0] for a, b in zip(points, points[1:])]
    ys = [points[0][1]] + [b[1] - a[1] for a, b in zip(points, points[1:])]
    return head + bytes([1] * len(points)) + struct.pack(">4h", *xs) + struct.pack(">4h", *ys)


def table_cmap():
    """`A` is glyph 1."""
    ends, starts, deltas = (0x41, 0xFFFF), (0x41, 0xFFFF), (1 - 0x41, 1)
    body = struct.pack(">HHHH", 4, 4, 1, 0) + struct.pack(">2H", *ends) + struct.pack(">H", 0)
    body += struct.pack(">2H", *starts) + struct.pack(">2h", *deltas) + struct.pack(">2H", 0, 0)
    return struct.pack(">HHHHI", 0, 1, 3, 1, 12) + struct.pack(">HHH", 4, len(body) + 6, 0) + body


def table_os2():
    """Version 0, with the widths and heights that readers check."""
    fixed = (
        struct.pack(">HhHHH", 0, EM, 400, 5, 0)
        + struct.pack(">10h", *([100] * 10))
        + struct.pack(">h", 0)
    )
    return (
        fixed
        + bytes(10)
        + bytes(16)
        + b"LAB "
        + struct.pack(">HHH", 0x40, 0x41, 0x41)
        + struct.pack(">hhhHH", 800, -200, 0, 900, 200)
    )


def table_name():
    """Family, style, full name and PostScript name, all the same word."""
    word = "Lab".encode("utf-16-be")
    records = b"".join(struct.pack(">6H", 3, 1, 0x409, kind, len(word), 0) for kind in (1, 2, 4, 6))
    return struct.pack(">HHH", 0, 4, 6 + len(records)) + records + word


def tables():
    """All tables by their tags."""
    glyf = table_glyf()
    glyf += bytes(-len(glyf) % 4)
    return {
        b"OS/2": table_os2(),
        b"cmap": table_cmap(),
        b"glyf": glyf,
        b"head": struct.pack(
            ">IIIIHHQQhhhhHHhhh",
            0x10000,
            0x10000,
            0,
            0x5F0F3CF5,
            3,
            EM,
            0,
            0,
            100,
            0,
            900,
            800,
            0,
            8,
            2,
            1,
            0,
        ),
        b"hhea": struct.pack(
            ">IhhhHhhhhhhhhhhhH", 0x10000, 800, -200, 0, EM, 0, 0, 900, 1, 0, 0, 0, 0, 0, 0, 0, 2
        ),
        b"hmtx": struct.pack(">HhHh", EM, 0, EM, 100),
        b"loca": struct.pack(">III", 0, 0, len(glyf)),
        b"maxp": struct.pack(">IH13H", 0x10000, 2, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0),
        b"name": table_name(),
        b"post": struct.pack(">IIhhIIIII", 0x30000, 0, 0, 0, 0, 0, 0, 0, 0),
    }


def checksum(content):
    """The sum of a table's words."""
    padded = content + bytes(-len(content) % 4)
    return sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF


def made():
    """The bytes of the font."""
    parts = tables()
    place = 12 + 16 * len(parts)
    directory, content = (
        struct.pack(">IHHHH", 0x10000, len(parts), 128, 3, len(parts) * 16 - 128),
        b"",
    )
    for tag, part in parts.items():
        directory += struct.pack(">4sIII", tag, checksum(part), place + len(content), len(part))
        content += part + bytes(-len(part) % 4)
    whole = directory + content
    adjustment = (0xB1B0AFBA - checksum(whole)) & 0xFFFFFFFF
    at = place + sum(len(part) + -len(part) % 4 for tag, part in parts.items() if tag < b"head") + 8
    return whole[:at] + struct.pack(">I", adjustment) + whole[at + 4 :]


FONT_BYTES = made()
