"""The pages: one frame with map and side bar, and what the side bar says."""

from html import escape
from urllib.parse import urlencode

from world import label

ENGINES = [("bicycle", "Bicycle"), ("car", "Car"), ("foot", "Foot")]

FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="/static/leaflet/leaflet.css"><link rel="stylesheet" href="/static/map.css"><link rel="icon" href="/static/icon.svg">
</head>
<body>
<header><h1><a href="/">Port Ellery Map</a></h1><nav><a href="/about">About</a><a href="/key">Map key</a></nav></header>
<div id="content">
<div id="sidebar">
<div class="search_forms">
<form class="search_form{hide_search}" method="get" action="/search"><input type="text" name="query" id="query" placeholder="Search" aria-label="Search" autocomplete="off" value="{query}">
<input type="submit" name="commit" value="Go"><a class="switch_link" href="/directions" title="Find directions between two points" aria-label="Find directions between two points">&#8631;</a></form>
<form class="directions_form{hide_directions}" method="get" action="/directions">
<select class="routing_engines" name="engine" aria-label="Means of travel">{engines}</select>
<a class="switch_link" href="/" aria-label="Close directions">&times;</a>
<input type="text" name="route_from" id="route_from" placeholder="From" aria-label="From" autocomplete="off" value="{route_from}">
<input type="text" name="route_to" id="route_to" placeholder="To" aria-label="To" autocomplete="off" value="{route_to}">
<div class="row"><button type="button" class="reverse_directions">Reverse directions</button><input type="submit" class="routing_go" value="Go"></div></form>
</div>
<div id="sidebar_content">{sidebar}</div>
</div>
<div id="map" tabindex="0"></div>
</div>
<script type="application/json" id="world">{world}</script>
<script src="/static/leaflet/leaflet.js"></script><script src="/static/map.js"></script>
</body>
</html>
"""


def frame(sidebar, world="{}", title="Port Ellery Map", query="", directions=False, engine="car", route_from="", route_to=""):
    engines = "".join(f'<option value="{value}"{" selected" if value == engine else ""}>{name}</option>' for value, name in ENGINES)
    return FRAME.format(title=escape(title), sidebar=sidebar, world=world.replace("<", "\\u003c"), query=escape(query), engines=engines,
                        route_from=escape(route_from), route_to=escape(route_to), hide_search=" hidden" if directions else "", hide_directions="" if directions else " hidden")


def welcome():
    return ("<h2>Welcome to Port Ellery</h2><p>A harbour town of eight districts between the marsh and Castle Hill. Search for a place, "
            "an address or a kind of place (“cafes near the Corn Exchange”), or ask for the way.</p>")


def about():
    return ("<h2>About this map</h2><p>Streets, houses and places of Port Ellery, drawn by the town's own surveyors. Opening hours come from the "
            "owners. Routes are for bicycles, cars and people on foot; one-way streets and park paths are respected.</p>")


def key():
    rows = [("#fcd6a4", "Primary road"), ("#f7fabf", "Secondary road"), ("#ffffff", "Residential street"), ("#f08a75", "Footway"), ("#8a7a55", "Park path"),
            ("#707070", "Railway"), ("#aad3df", "Water"), ("#c8e6b4", "Park"), ("#c77400", "Amenity"), ("#ac39ac", "Shop"), ("#0092da", "Tourism"), ("#8b1a1a", "Landmark")]
    return "<h2>Map key</h2>" + "".join(f'<p class="key"><i style="background:{c}"></i>{n}</p>' for c, n in rows)


def distance(metres):
    return f"{round(metres / 10) * 10} m" if metres < 1000 else f"{metres / 1000:.1f} km"


def duration(seconds):
    minutes = max(1, round(seconds / 60))
    return f"{minutes // 60}:{minutes % 60:02d}"


def results(query, found):
    if not found:
        return f"<h2>Search Results</h2><p>No results found for “{escape(query)}”.</p>"
    lines = []
    for p in found:
        away = f' <span class="away">{distance(p["away"])}</span>' if "away" in p else ""
        lines.append(f'<li class="search_results_entry"><p>{escape(p["kind"])} <a class="set_position" data-lat="{p["lat"]}" data-lon="{p["lon"]}" '
                     f'href="/node/{p["id"]}">{escape(label(p))}</a>{away}</p></li>')
    return f'<h2>Search Results</h2><ul class="results-list">{"".join(lines)}</ul>'


def place(p):
    tags = [("name", p["name"]), (p["key"] if p["key"] not in ("landmark", "building") else "kind", p["kind"]), ("addr:housenumber", p["housenumber"]),
            ("addr:street", p["street"]), ("addr:suburb", p["district"]), ("addr:city", "Port Ellery"), ("addr:postcode", p["postcode"]),
            ("opening_hours", p["hours"]), ("phone", p["phone"])]
    rows = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in tags if v)
    link = urlencode({"engine": "car", "route_to": label(p)})
    return (f'<h2>{escape(p["name"] or label(p))}</h2><p>{escape(label(p))}</p><p class="geo">{p["lat"]}, {p["lon"]}</p>'
            f'<table class="browse-tag-list">{rows}</table><p><a href="/directions?{link}">Directions to here</a></p>')


def directions(found):
    steps = "".join(f'<tr class="turn"><td>{n}.</td><td>{escape(s["text"])}</td><td class="distance">{distance(s["metres"])}</td></tr>' for n, s in enumerate(found["steps"], 1))
    return (f'<h2>Directions</h2><p id="routing_summary">Distance: {distance(found["metres"])}. Time: {duration(found["seconds"])}.</p>'
            f'<table id="turnbyturn">{steps}<tr class="turn"><td></td><td>You have arrived</td><td></td></tr></table>')
