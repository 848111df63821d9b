"""The encyclopaedia's pictures, as SVG: the map of the country, a locator for every place, and coats of arms."""
import zlib

COAST = [(12, 8), (34, 3), (58, 6), (81, 10), (95, 27), (92, 48), (97, 68), (84, 88), (62, 97), (41, 91), (22, 96), (6, 79), (9, 55), (3, 33)]
TINCTURES = ["#a8242c", "#1f4e8c", "#2f6b3c", "#26282c", "#6b2f6b"]
METALS = ["#e8c84a", "#f2f2ee"]


def outline():
    return "M" + "L".join(f"{x} {y}" for x, y in COAST) + "Z"


def svg(size, body, box="0 0 100 100"):
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{size}" height="{size}" font-family="sans-serif">{body}</svg>'


def inland(place):
    """Keeps dots off the sea: pulls a place towards the middle of the map."""
    return 50 + (place.x - 50) * 0.86, 50 + (place.y - 50) * 0.86


def ground():
    return f'<rect width="100" height="100" fill="#c9dfec"/><path d="{outline()}" fill="#f3efdf" stroke="#8a8a7a" stroke-width=".7"/>'


def locator(world, place):
    x, y = inland(place)
    return svg(220, ground() + f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.4" fill="#c0262e"/><text x="{x:.1f}" y="{y - 4:.1f}" font-size="6" text-anchor="middle">{place.name}</text>')


def country(world):
    cities = sorted(world.towns, key=lambda one: -one.population)[:14]
    dots = "".join('<circle cx="{0:.1f}" cy="{1:.1f}" r="1" fill="#333"/><text x="{0:.1f}" y="{2:.1f}" font-size="3.2" text-anchor="middle">{3}</text>'.format(
        *inland(one), inland(one)[1] - 2, one.name) for one in cities)
    return svg(300, ground() + dots)


def arms(name):
    digest = zlib.crc32(name.encode())
    field, metal = TINCTURES[digest % 5], METALS[digest // 5 % 2]
    charge = [f'<path d="M10 40h80v24H10z" fill="{metal}"/>', f'<path d="M38 4h24v104H38z" fill="{metal}"/>', f'<path d="M10 84 50 44l40 40v-18L50 26 10 66z" fill="{metal}"/>',
              f'<circle cx="50" cy="52" r="20" fill="{metal}"/>', f'<path d="M50 22l9 22h24l-19 15 7 24-21-14-21 14 7-24-19-15h24z" fill="{metal}"/>',
              f'<path d="M22 84V48h10v-9h10v9h16v-9h10v9h10v36z" fill="{metal}"/>'][digest // 10 % 6]
    other = TINCTURES[(digest // 60 % 4 + digest + 1) % 5]
    parting = ["", f'<path d="M50 0h50v120H50z" fill="{other}"/>', f'<path d="M0 54h100v66H0z" fill="{other}"/>', f'<path d="M0 0h100v120z" fill="{other}"/>'][digest // 300 % 4]
    shield = "M10 6h80v54q0 36-40 54-40-18-40-54z"
    return svg(100, f'<clipPath id="s"><path d="{shield}"/></clipPath><g clip-path="url(#s)"><path d="{shield}" fill="{field}"/>{parting}{charge}</g><path d="{shield}" fill="none" stroke="#333" stroke-width="2"/>', "0 0 100 120")
