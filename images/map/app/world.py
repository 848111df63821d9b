"""The town in memory: nodes, ways, shapes, and the places that have names. Read once; nothing changes."""

import math
import os
import sqlite3

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "map.db")


def connect():
    db = sqlite3.connect(f"file:{PATH}?mode=ro&immutable=1", uri=True)
    db.row_factory = sqlite3.Row
    return db


_db = connect()
NODES = {r["id"]: (r["lat"], r["lon"]) for r in _db.execute("select * from node")}
WAYS = [dict(r) for r in _db.execute("select * from way order by id")]
SHAPES = [(r["kind"], [tuple(map(float, p.split(","))) for p in r["points"].split(";")]) for r in _db.execute("select * from shape order by id")]
PLACES = [dict(r) for r in _db.execute("select * from place where key not in ('building', 'highway') or kind = 'Bus stop' order by id")]
HOUSES = [(r["id"], r["housenumber"], r["lat"], r["lon"]) for r in _db.execute("select id, housenumber, lat, lon from place where key = 'building' order by id")]
CENTRE = (54.6060, 0.9260)


def metres(a, b):
    return math.hypot((a[0] - b[0]) * 111320, (a[1] - b[1]) * 111320 * math.cos(math.radians(CENTRE[0])))


def label(place):
    """The full name of a place, the small before the large."""
    parts = [place["name"] if place["kind"] != "Street" else "", place["housenumber"], place["street"],
             place["district"] if place["district"] != place["name"] else "", "Port Ellery", "Levelshire", place["postcode"]]
    return ", ".join(p for p in parts if p)
