"""Draws up the town of Port Ellery: a bent grid of streets with a river, bridges, parks and a shore, addresses and places.

Usage: build.py OUT.db. Metres east and north of the south-west corner; degrees are put in at the end.
"""

import math
import random
import sqlite3
import sys

from names import ADJECTIVES, DISTRICTS, KINDS, LANDMARKS, NOUNS, PEOPLE

COLUMNS, ROWS, STEP = 36, 25, 120
LAT, LON = 54.6000, 0.9000
RIVER = 24  # between this column and the next
BRIDGES = {3: "Old Bridge", 11: "Station Bridge", 19: "Eastfield Bridge"}
PARKS = {"Priory Park": (3, 15, 7, 19), "Castle Green": (7, 8, 9, 10), "Saltmarsh Reserve": (30, 3, 35, 7), "Eastfield Common": (19, 20, 22, 23)}
RNG = random.Random("Port Ellery")


def degrees(x, y):
    return round(LAT + y / 111320, 6), round(LON + x / (111320 * math.cos(math.radians(LAT))), 6)


def lay_nodes():
    nodes = {}
    for i in range(COLUMNS):
        for j in range(ROWS):
            x, y = i * STEP + RNG.uniform(-22, 22), j * STEP + RNG.uniform(-22, 22)
            x += 70 * math.sin(y / 620) + (90 if i > RIVER else 0)
            y += 90 * math.sin(x / 900) + 0.0
            nodes[i, j] = (x, y)
    return nodes


def district(i, j):
    if i > RIVER:
        names = ("Northbank", "Saltmarsh")
    else:
        names = [n for n in DISTRICTS if n not in ("Northbank", "Saltmarsh")]
    return min(names, key=lambda n: math.hypot(DISTRICTS[n][0] - i, DISTRICTS[n][1] - j))


def in_park(i, j):
    return any(a < i < c and b < j < d for a, b, c, d in PARKS.values())


def lay_streets(nodes):
    """Each run along a row or column within one district is a street of its own name."""
    left = {name: DISTRICTS[name][3].split(";") for name in DISTRICTS}
    used, edges = {}, []
    runs = [[(i, j) for i in range(COLUMNS)] for j in range(ROWS)] + [[(i, j) for j in range(ROWS)] for i in range(COLUMNS)]
    order = sorted(range(len(runs)), key=lambda r: (r % 4, r))
    for r in order:
        run, name, last = runs[r], None, None
        horizontal = r < ROWS
        major = (r % 8 == 3) if horizontal else ((r - ROWS) % 9 == 4)
        middle = (r % 4 == 0) if horizontal else ((r - ROWS) % 3 == 1)
        for a, b in zip(run, run[1:]):
            bridge = a[0] == RIVER and b[0] == RIVER + 1
            if bridge and a[1] not in BRIDGES:
                name = None
                continue
            here = district(*a)
            if bridge:
                edges.append((a, b, BRIDGES[a[1]], "primary", here, 0))
                name = None
                continue
            if here != last or name is None:
                last = here
                pool = left[here]
                if pool:
                    name = pool.pop(0)
                else:
                    full = RNG.choice(DISTRICTS[here][3].split(";"))
                    for ending in ("Upper {0}", "Lower {0}", "{1} Close", "{1} Terrace", "Little {0}", "Back {0}", "{1} Gardens", "{1} Mews", "New {0}", "{1} Rise", "{1} Court"):
                        name = ending.format(full, full.rsplit(" ", 1)[0])
                        if name not in used:
                            break
                used[name] = here
            park = in_park(*a) or in_park(*b)
            chance = RNG.random()
            if park:
                if chance < 0.55:
                    edges.append((a, b, RNG.choice(["Park path", "Long walk", "Bank path"]), "path", here, 0))
                continue
            level = "primary" if major else "secondary" if middle else "residential"
            if level == "residential" and chance < 0.13:
                if chance < 0.05:
                    edges.append((a, b, name, "footway", here, 0))
                continue
            edges.append((a, b, name, level, here, 1 if level == "residential" and chance > 0.9 else 0))
    return edges


def biggest_part(nodes, edges):
    """Only what can be reached on foot from the harbour stays."""
    near = {}
    for e in edges:
        near.setdefault(e[0], []).append(e[1])
        near.setdefault(e[1], []).append(e[0])
    seen, todo = {(9, 0)}, [(9, 0)]
    while todo:
        for other in near.get(todo.pop(), []):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return [e for e in edges if e[0] in seen]


def beside(nodes, edge, share, side):
    (x1, y1), (x2, y2) = nodes[edge[0]], nodes[edge[1]]
    length = math.hypot(x2 - x1, y2 - y1)
    return x1 + (x2 - x1) * share - side * 17 * (y2 - y1) / length, y1 + (y2 - y1) * share + side * 17 * (x2 - x1) / length


def postcode(here, x, y):
    return f"{DISTRICTS[here][2]}{'ABCDEFGHJK'[int(x / 430) % 10]}{'LMNPRSTUVW'[int(y / 300) % 10]}"


def number_houses(nodes, edges):
    """House numbers run along each street, odd on one side and even on the other."""
    counters, houses = {}, []
    for e in sorted(edges, key=lambda e: (e[2], e[0], e[1])):
        if e[3] in ("path", "footway") or "Bridge" in e[2] and e[0][0] == RIVER:
            continue
        for k in range(5):
            n = counters.get(e[2], 0)
            counters[e[2]] = n + 1
            for side, odd in ((1, 1), (-1, 2)):
                x, y = beside(nodes, e, (k + 0.7) / 5.4, side)
                houses.append((x, y, 2 * n + odd, e[2], e[4]))
    return houses


def settle(houses):
    """Landmarks at their address, then the other places at houses drawn by lot."""
    free = list(houses)
    RNG.shuffle(free)
    by_address = {(h[3], h[2]): h for h in houses}
    taken, places, names = set(), [], set()
    for name, kind, here, street, number in LANDMARKS:
        house = by_address.get((street, number)) or next(h for h in houses if h[4] == here)
        taken.add(house)
        places.append((name, kind, "landmark", house))
    for kind, (count, key, patterns) in KINDS.items():
        for i in range(count):
            house = free.pop()
            while house in taken:
                house = free.pop()
            for _ in range(30):
                name = RNG.choice(patterns.split(";")).format(adj=RNG.choice(ADJECTIVES), noun=RNG.choice(NOUNS), noun2=RNG.choice(NOUNS),
                                                             person=RNG.choice(PEOPLE), street=house[3], district=house[4])
                if (name, kind) not in names:
                    break
            names.add((name, kind))
            places.append((name, kind, key, house))
    return places


def details(kind):
    if kind in ("Cafe", "Bakery"):
        return RNG.choice(["Mo-Sa 07:00-17:00", "Tu-Su 08:00-18:00", "Mo-Fr 06:30-15:00"])
    if kind in ("Restaurant", "Pub", "Fast food"):
        return RNG.choice(["Mo-Su 11:30-22:00", "We-Su 12:00-23:00", "Tu-Sa 17:00-23:30"])
    if "shop" in kind.lower() or kind in ("Supermarket", "Convenience store", "Pharmacy", "Bank", "Post office", "Hairdresser", "Museum", "Gallery"):
        return RNG.choice(["Mo-Sa 09:00-18:00", "Mo-Fr 09:00-17:30", "Mo-Sa 08:00-20:00"])
    return ""


def write(path, nodes, edges, houses, places):
    db = sqlite3.connect(path)
    db.executescript("""
        create table node (id integer primary key, lat real, lon real);
        create table way (id integer primary key, a integer, b integer, name text, level text, district text, oneway integer, metres real);
        create table place (id integer primary key, name text, kind text, key text, housenumber text, street text, district text, postcode text, lat real, lon real, hours text, phone text);
        create virtual table words using fts5(name, kind, street, housenumber, district, postcode, content='place', content_rowid='id', tokenize='unicode61 remove_diacritics 2');
    """)
    ids = {n: k for k, n in enumerate(sorted({p for e in edges for p in e[:2]}), 1)}
    for n, k in ids.items():
        db.execute("insert into node values (?, ?, ?)", (k, *degrees(*nodes[n])))
    for a, b, name, level, here, oneway in edges:
        db.execute("insert into way (a, b, name, level, district, oneway, metres) values (?,?,?,?,?,?,?)",
                   (ids[a], ids[b], name, level, here, oneway, round(math.dist(nodes[a], nodes[b]), 1)))

    def put(name, kind, key, number, street, here, x, y, hours="", phone=""):
        lat, lon = degrees(x, y)
        db.execute("insert into place (name, kind, key, housenumber, street, district, postcode, lat, lon, hours, phone) values (?,?,?,?,?,?,?,?,?,?,?)",
                   (name, kind, key, number, street, here, postcode(here, x, y), lat, lon, hours, phone))

    for here, (i, j, _, _) in DISTRICTS.items():
        put(here, "District", "place", "", "", here, *nodes[i, j])
    for name, (a, b, c, d) in PARKS.items():
        x, y = [sum(v) / 2 for v in zip(nodes[a, b], nodes[c, d])]
        put(name, "Park", "leisure", "", "", district((a + c) // 2, (b + d) // 2), x, y)
    for name, kind, key, (x, y, number, street, here) in places:
        bare = kind in ("Bus stop", "Playground", "Bicycle rental", "Cash machine", "Toilets", "Car park")
        phone = "" if bare else f"0411 {RNG.randrange(2000, 9999)}"
        put(name, kind, key, "" if bare else str(number), street, here, x, y, details(kind), phone)
    streets = {}
    for e in edges:
        if e[3] != "path":
            streets.setdefault((e[2], e[4]), []).append(e)
    for (name, here), parts in sorted(streets.items()):
        e = parts[len(parts) // 2]
        put(name, "Street", "highway", "", name, here, *[sum(v) / 2 for v in zip(nodes[e[0]], nodes[e[1]])])
    for x, y, number, street, here in houses:
        put("", "House", "building", str(number), street, here, x, y)
    db.execute("insert into words (words) values ('rebuild')")
    shore = [nodes[i, 0] for i in range(COLUMNS)]
    shapes = [("sea", [(-6000, shore[0][1] - 60)] + [(x, y - 55) for x, y in shore] + [(12000, shore[-1][1] - 60), (12000, -6000), (-6000, -6000)])]
    west = [nodes[RIVER, j] for j in range(ROWS)]
    east = [nodes[RIVER + 1, j] for j in range(ROWS)]
    banks = [(x + 45, y) for x, y in west] + [(west[-1][0] + 60, 6000)] + [(east[-1][0] - 50, 6000)] + [(x - 45, y) for x, y in reversed(east)] + [(east[0][0] - 45, -300), (west[0][0] + 45, -300)]
    shapes.append(("river", banks))
    for name, (a, b, c, d) in PARKS.items():
        shapes.append(("park", [nodes[i, b] for i in range(a, c + 1)] + [nodes[c, j] for j in range(b, d + 1)] + [nodes[i, d] for i in range(c, a - 1, -1)] + [nodes[a, j] for j in range(d, b - 1, -1)]))
    shapes.append(("railway", [(-6000, nodes[0, 7][1] + 70)] + [(nodes[i, 7][0], nodes[i, 7][1] + 58) for i in range(0, COLUMNS)] + [(12000, nodes[35, 7][1] + 80)]))
    db.execute("create table shape (id integer primary key, kind text, points text)")
    for kind, points in shapes:
        db.execute("insert into shape (kind, points) values (?, ?)", (kind, ";".join("%s,%s" % degrees(*p) for p in points)))
    db.commit()
    db.execute("vacuum")
    db.close()


if __name__ == "__main__":
    grid = lay_nodes()
    ways = biggest_part(grid, lay_streets(grid))
    doors = number_houses(grid, ways)
    write(sys.argv[1], grid, ways, doors, settle(doors))
