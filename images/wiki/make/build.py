"""Writes the encyclopaedia as a folder of pages, ready for zimwriterfs: articles, lists, categories, contents and pictures."""
import collections
import html
import os
import sys

import facts
from pictures import arms, country, locator
from prose import NOW, WRITERS, a, href, listed, num, slug

STYLE = """body{font:15px/1.55 sans-serif;color:#202122;margin:0;background:#f6f6f6}main{max-width:980px;margin:0 auto;padding:18px 28px 40px;background:#fff;border:1px solid #ddd}
h1,h2{font-family:Georgia,'Linux Libertine',serif;font-weight:400;border-bottom:1px solid #a2a9b1;padding-bottom:3px}a{color:#0645ad;text-decoration:none}a:hover{text-decoration:underline}
.infobox{float:right;clear:right;width:280px;margin:0 0 16px 22px;border:1px solid #a2a9b1;background:#f8f9fa;font-size:13px;border-collapse:collapse}.infobox th,.infobox td{padding:4px 8px;text-align:left;vertical-align:top}
.infobox caption,.infobox .name{font-weight:bold;font-size:16px;text-align:center}.infobox img{display:block;margin:6px auto}.wikitable{border-collapse:collapse;margin:8px 0}.wikitable th,.wikitable td{border:1px solid #a2a9b1;padding:4px 10px}
.wikitable th{background:#eaecf0}.toc{border:1px solid #a2a9b1;background:#f8f9fa;display:inline-block;padding:6px 18px 6px 12px;font-size:14px}.toc ol{margin:4px 0 0;padding-left:22px}
.cats{clear:both;border:1px solid #a2a9b1;background:#f8f9fa;padding:6px 12px;margin-top:28px;font-size:13px}.columns{columns:3;column-gap:24px}.bar{font-size:13px;color:#555;margin-bottom:6px}"""


class Book:
    def __init__(self, folder):
        self.folder, self.categories, self.titles = folder, collections.defaultdict(list), []
        os.makedirs(f"{folder}/I", exist_ok=True)

    def picture(self, name, text):
        with open(f"{self.folder}/I/{name}.svg", "w", encoding="utf-8") as file:
            file.write(text)
        return f"I/{name}.svg"

    def page(self, title, body, categories=()):
        self.titles.append(title)
        for name in categories:
            self.categories[name].append(title)
        links = " · ".join(a(f"Category:{name}", name) for name in categories)
        foot = f'<div class="cats">Categories: {links}</div>' if categories else ""
        with open(f"{self.folder}/{slug(title)}", "w", encoding="utf-8") as file:
            file.write(f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title><link rel="stylesheet" href="style.css"></head>'
                       f'<body><main><div class="bar"><a href="index.html">Main page</a> · {a("Contents")}</div><h1>{html.escape(title)}</h1>\n{body}\n{foot}</main></body></html>\n')

    def article(self, record, world):
        lead, box, parts, categories = WRITERS[record.kind](record, world)
        art = []
        if record.kind in ("town", "district"):
            art.append(f'<img src="{self.picture("arms-" + slug(record.name), arms(record.name))}" width="84" height="100" alt="Coat of arms of {record.name}">')
        spot = record if record.kind == "town" else getattr(record, "place", None) or getattr(record, "home", None) or getattr(record, "seat", None)
        if spot:
            art.append(f'<img src="{self.picture("map-" + slug(spot.name), locator(world, spot))}" width="220" height="220" alt="{spot.name} on the map of Caldry">')
        rows = "".join(f"<tr><th>{key}</th><td>{value}</td></tr>" for key, value in box.items())
        top = f'<tr><td colspan="2" class="name">{record.name}</td></tr><tr><td colspan="2">{"".join(art)}</td></tr>'
        toc = "".join(f'<li><a href="#{href(name)}">{name}</a></li>' for name, _ in parts)
        sections = "".join(f'<h2 id="{href(name)}">{name}</h2>' + section(lines) for name, lines in parts)
        body = f'<table class="infobox">{top}{rows}</table><p>{lead}</p>' + (f'<div class="toc"><b>Contents</b><ol>{toc}</ol></div>' if len(parts) > 2 else "") + sections
        self.page(record.name, body, categories)


def section(lines):
    if len(lines) > 1 and not any(line.endswith(".") for line in lines):
        return "<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>"
    return "".join(line if line.startswith("<table") else f"<p>{line}</p>" for line in lines)


def table(heads, rows):
    top = "".join(f"<th>{head}</th>" for head in heads)
    return f'<table class="wikitable"><tr>{top}</tr>' + "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows) + "</table>"


def lists(book, world):
    book.page("List of towns by population", table(["Rank", "Town", "District", "Population (2021)"], [
        (rank + 1, a(one), a(one.district), num(one.population)) for rank, one in enumerate(sorted(world.towns, key=lambda t: -t.population))]), ["Lists"])
    book.page("List of rivers by length", table(["River", "Length", "Source", "Flows into"], [
        (a(one), f"{one.length} km", a(one.source), a(one.into) if one.into else "the sea") for one in sorted(world.rivers, key=lambda r: -r.length)]), ["Lists"])
    book.page("List of mountains by height", table(["Mountain", "Height", "District", "First ascent"], [
        (a(one), f"{num(one.height)} m", a(one.district), one.climbed) for one in sorted(world.mountains, key=lambda m: -m.height)]), ["Lists"])
    book.page("List of railways", table(["Line", "Opened", "Length", "Electrified"], [
        (a(one), one.opened, f"{one.length} km", one.electrified or "no") for one in sorted(world.railways, key=lambda r: r.opened)]), ["Lists"])
    book.page("List of companies", table(["Company", "Goods", "Place", "Founder", "Founded", "Closed"], [
        (a(one), one.goods, a(one.place), a(one.founder), one.founded, one.closed or "–") for one in sorted(world.companies, key=lambda c: c.founded)]), ["Lists"])
    book.page("Timeline of Caldry", "<ul>" + "".join(f"<li><b>{one.year}</b>: {a(one)}, {a(one.place)}</li>" for one in sorted(world.events, key=lambda e: e.year)) + "</ul>", ["Lists", "History of Caldry"])


def fronts(book, world):
    total, area = sum(one.population for one in world.towns), sum(one.area for one in world.districts)
    longest, highest = max(world.rivers, key=lambda r: r.length), max(world.mountains, key=lambda m: m.height)
    map_ = book.picture("map-Caldry", country(world))
    book.page("Caldry", f'<table class="infobox"><tr><td colspan="2" class="name">Caldry</td></tr><tr><td colspan="2"><img src="{map_}" width="260" height="260" alt="Map of Caldry"></td></tr>'
              f'<tr><th>Capital</th><td>{a(world.capital)}</td></tr><tr><th>Area</th><td>{num(area)} km²</td></tr><tr><th>Population (2021)</th><td>{num(total)}</td></tr><tr><th>Districts</th><td>8</td></tr>'
              f'<tr><th>Longest river</th><td>{a(longest)}</td></tr><tr><th>Highest summit</th><td>{a(highest)} ({num(highest.height)} m)</td></tr><tr><th>Currency</th><td>Caldrian crown</td></tr></table>'
              f"<p><b>Caldry</b> is a country of {num(total)} inhabitants on {num(area)} square kilometres. Its capital and largest city is {a(world.capital)}.</p><p>It is made up of eight districts: "
              f"{listed(a(one) for one in world.districts)}.</p><h2>Geography</h2><p>The longest river is the {a(longest)} with {longest.length} kilometres; the highest summit is {a(highest)}. Ten lakes have names, the largest of them {a(max(world.lakes, key=lambda x: x.area))}.</p>"
              f"<h2>Economy</h2><p>Of the {len(world.companies)} companies with an article of their own, {sum(not one.closed for one in world.companies)} still work in {NOW}. See {a('List of companies')}.</p>"
              f"<h2>Transport</h2><p>The oldest railway is the {a(min(world.railways, key=lambda r: r.opened))}. See {a('List of railways')}.</p>", ["Caldry"])
    for name in sorted(book.categories):
        entries = "".join(f"<li>{a(title)}</li>" for title in sorted(book.categories[name]))
        book.page(f"Category:{name}", f"<p>Pages in this category: {len(book.categories[name])}.</p><ul class='columns'>{entries}</ul>")
    kinds = "".join(f"<li>{a('Category:' + name, name)} ({len(pages)})</li>" for name, pages in sorted(book.categories.items()))
    book.page("Contents", f"<h2>Categories</h2><ul class='columns'>{kinds}</ul><h2>All articles</h2><ul class='columns'>" + "".join(
        f"<li>{a(title)}</li>" for title in sorted(book.titles) if not title.startswith("Category:")) + "</ul>")
    featured = [max(world.sights, key=lambda s: s.visitors), world.people[11], longest]
    boxes = "".join(f"<h2>{title}</h2><p>{text}</p>" for title, text in (
        ("Featured article", WRITERS[featured[0].kind](featured[0], world)[0]), ("A life", WRITERS["person"](featured[1], world)[0]), ("Nature", WRITERS["river"](featured[2], world)[0])))
    book.page("index.html", f'<img src="{map_}" width="300" height="300" alt="Map of Caldry" style="float:right;margin-left:24px"><p>Welcome to the <b>Encyclopaedia of Caldry</b>, with {len(book.titles)} pages about the country, '
              f"its people and its history.</p><p>Begin with {a('Caldry')}, the {a('Contents')}, the {a('Timeline of Caldry')} or the {a('List of towns by population')}.</p>{boxes}")


def main(folder):
    world, book = facts.world(), Book(folder)
    for group in ("districts", "towns", "rivers", "mountains", "lakes", "people", "companies", "railways", "sights", "events"):
        for record in getattr(world, group):
            book.article(record, world)
    lists(book, world)
    fronts(book, world)
    with open(f"{folder}/style.css", "w", encoding="utf-8") as file:
        file.write(STYLE)
    print(f"{len(book.titles)} pages")


main(sys.argv[1])
