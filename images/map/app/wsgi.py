"""The map's server: pages, tiles, and the same answers as JSON."""

import json
import mimetypes
import os
import re
from urllib.parse import parse_qs, unquote

import pages
import routes
import search
import tiles
from world import CENTRE, label

STATIC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")
TILE = re.compile(r"^/tile/(\d{1,2})/(\d{1,7})/(\d{1,7})\.png$")
NODE = re.compile(r"^/node/(\d{1,9})$")


def world(**items):
    return json.dumps({"centre": CENTRE, **items})


def find(query):
    found = search.search(query) if query else []
    marks = [[p["lat"], p["lon"]] for p in found]
    return pages.frame(pages.results(query, found), world(results=marks), f"Search | {query}", query)


def directions(args):
    engine = args.get("engine", "car").replace("fossgis_osrm_", "").replace("bike", "bicycle")
    engine = engine if engine in routes.SPEED else "car"
    texts = [args.get("route_from", args.get("from", "")), args.get("route_to", args.get("to", ""))]
    for i, point in enumerate(args.get("route", "").split(";")[:2]):
        texts[i] = point or texts[i]
    ends = [search.locate(t) if t else None for t in texts]
    shown = [end[0] if end else text for end, text in zip(ends, texts)]
    sidebar, marks = "", {}
    missing = [t for t, end in zip(texts, ends) if t and not end]
    if missing:
        sidebar = f"<p class=\"error\">Sorry, no place was found for “{pages.escape(missing[0])}”.</p>"
    elif all(ends):
        found = routes.route(engine, ends[0][1], ends[1][1])
        sidebar = pages.directions(found) if found else '<p class="error">Could not find a route between these two places.</p>'
        marks = {"line": found["line"]} if found else {}
    return pages.frame(sidebar, world(**marks), "Directions", directions=True, engine=engine, route_from=shown[0], route_to=shown[1])


def api(path, args):
    """Search as Nominatim's JSON, routes in the manner of OSRM."""
    if path == "/api/search":
        return [{"place_id": p["id"], "lat": str(p["lat"]), "lon": str(p["lon"]), "display_name": label(p), "type": p["kind"].lower()} for p in search.search(args.get("q", ""))]
    ends = [search.locate(args.get(k, "")) for k in ("from", "to")]
    found = all(ends) and routes.route(args.get("engine", "car") if args.get("engine") in routes.SPEED else "car", ends[0][1], ends[1][1])
    return {"code": "Ok", "from": ends[0][0], "to": ends[1][0], "distance": round(found["metres"], 1), "duration": round(found["seconds"], 1)} if found else {"code": "NoRoute"}


def answer(path, args):
    """(status, type, body) for a path."""
    tile = TILE.match(path)
    if tile:
        zoom, x, y = map(int, tile.groups())
        if not 11 <= zoom <= 19 or max(x, y) >= 2**zoom:
            return "404 Not Found", "text/plain", b"no such tile"
        return "200 OK", "image/png", tiles.draw(zoom, x, y)
    node = NODE.match(path)
    if node:
        found = search.place(int(node.group(1)))
        if found:
            return html(pages.frame(pages.place(found), world(results=[[found["lat"], found["lon"]]]), label(found)))
    if path.startswith("/static/"):
        file = os.path.normpath(os.path.join(STATIC, path[len("/static/"):]))
        if file.startswith(STATIC + os.sep) and os.path.isfile(file):
            with open(file, "rb") as body:
                return "200 OK", mimetypes.guess_type(file)[0] or "application/octet-stream", body.read()
    if path in ("/api/search", "/api/route"):
        return "200 OK", "application/json", json.dumps(api(path, args)).encode()
    simple = {"/": pages.welcome, "/about": pages.about, "/key": pages.key}
    if path in simple:
        return html(pages.frame(simple[path](), world()))
    if path == "/search":
        return html(find(args.get("query", "").strip()))
    if path == "/directions":
        return html(directions(args))
    return "404 Not Found", "text/html; charset=utf-8", pages.frame("<h2>404</h2><p>There is no such page.</p>", world()).encode()


def html(text):
    return "200 OK", "text/html; charset=utf-8", text.encode()


def application(environ, start_response):
    args = {k: v[-1] for k, v in parse_qs(environ.get("QUERY_STRING", "")).items()}
    status, kind, body = answer(unquote(environ.get("PATH_INFO", "/")), args)
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body))), ("Cache-Control", "no-cache")])
    return [body] if environ["REQUEST_METHOD"] != "HEAD" else []
