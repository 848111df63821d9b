"""Finding places by words, by kind near another place, and by coordinates."""

import re

from world import CENTRE, connect, label, metres

ORDER = {"District": 0, "Park": 1, "Street": 2, "House": 9}
NEAREST = re.compile(r"^(?:nearest|closest)\s+(.+?)\s+(?:to|from|of)\s+(.+)$", re.I)
NEAR = re.compile(r"^(?:(?:nearest|closest)\s+)?(.+?)\s+(?:near(?:\s+to)?|next to|close to|closest to|nearest to|around|by)\s+(.+)$", re.I)
COORDINATES = re.compile(r"^\s*(-?\d+(?:\.\d+)?)\s*[,\s]\s*(-?\d+(?:\.\d+)?)\s*$")
FILLER = {"the", "a", "an", "in", "of", "to", "at", "on", "port", "ellery", "levelshire", "and"}
PLURALS = {"cafes": "cafe", "restaurants": "restaurant", "pubs": "pub", "hotels": "hotel", "pharmacies": "pharmacy", "supermarkets": "supermarket", "museums": "museum",
           "bakeries": "bakery", "schools": "school", "banks": "bank", "shops": "shop", "parks": "park", "churches": "church", "dentists": "dentist", "doctors": "doctor", "coffee": "cafe", "atm": "cash"}


def tokens(text):
    words = [w.lower().replace("'s", "") for w in re.findall(r"[\w']+", text)]
    kept = [PLURALS.get(w, w) for w in words if w not in FILLER] or words
    return [w.replace("'", " ").strip() for w in kept if w.strip("'")]


def rows(db, words, limit, exact=True):
    if not words:
        return []
    match = " ".join(f'"{w}"' + ("" if exact and (w.isdigit() or len(w) < 3) else "*") for w in words)
    found = db.execute("select p.*, bm25(words, 10, 6, 3, 2, 2, 1) as score from words join place p on p.id = words.rowid where words match ? order by score, p.id limit 400", (match,)).fetchall()
    whole = " ".join(words)
    return sorted((dict(r) for r in found), key=lambda r: (" ".join(tokens(r["name"])) != whole, r["kind"] == "Street", not r["name"].lower().startswith(words[0]), r["key"] != "landmark", ORDER.get(r["kind"], 5), r["score"], r["id"]))[:limit]


def nearest(db, lat, lon):
    found = db.execute("select * from place where abs(lat - ?) < 0.004 and abs(lon - ?) < 0.007 and kind = 'House'", (lat, lon)).fetchall()
    return [dict(min(found, key=lambda r: (metres((lat, lon), (r["lat"], r["lon"])), r["id"])))] if found else []


def search(query, limit=20):
    db = connect()
    try:
        point = COORDINATES.match(query)
        if point:
            return nearest(db, float(point.group(1)), float(point.group(2)))
        near = NEAREST.match(query.strip()) or NEAR.match(query.strip())
        if near:
            anchors = rows(db, tokens(near.group(2)), 1)
            if anchors:
                here = anchors[0]["lat"], anchors[0]["lon"]
                found = [r for r in rows(db, tokens(near.group(1)), 400) if r["id"] != anchors[0]["id"]]
                for r in found:
                    r["away"] = metres(here, (r["lat"], r["lon"]))
                kind = tokens(near.group(1))[-1]
                same = [r for r in found if kind in r["kind"].lower()]
                return sorted(same or found, key=lambda r: (r["away"], r["id"]))[:limit]
        words = tokens(query)
        found = rows(db, words, limit)
        while not found and len(words) > 1:
            words = words[:-1]
            found = rows(db, words, limit)
        return found
    finally:
        db.close()


def place(number):
    db = connect()
    try:
        row = db.execute("select * from place where id = ?", (number,)).fetchone()
        return dict(row) if row else None
    finally:
        db.close()


def locate(text):
    """The place meant by an input of the directions form: (label, (lat, lon)), or None."""
    found = search(text, 1)
    if not found:
        return None
    return label(found[0]), (found[0]["lat"], found[0]["lon"])


__all__ = ["CENTRE", "locate", "place", "search"]
