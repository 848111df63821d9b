"""Writes the articles: for each kind of record a lead, an infobox and sections, in plain sentences with links.

Wording varies from article to article by a digest of its title, never by chance, and only facts from the records appear.
"""
import html
import zlib

NOW = 2023


def slug(title):
    return title.replace(" ", "_").replace("'", "’").replace("&", "and")


def href(title):
    return html.escape(slug(title))


def a(record, text=None):
    title = record if isinstance(record, str) else record.name
    return f'<a href="{href(title)}">{html.escape(text or title)}</a>'


def pick(record, *choices):
    return choices[zlib.crc32((record.name + choices[0]).encode()) % len(choices)]


def listed(items):
    items = list(items)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def num(value):
    return f"{value:,}"


def an(word):
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def life(one):
    return f"{one.born}–{one.died}" if one.died else f"born {one.born}"


def town(one, world):
    size = "city" if one.population >= 90_000 else "town" if one.population >= 6_000 else "village"
    capital = one is world.capital
    box = {"Country": a("Caldry"), "District": a(one.district), "Population (2021)": num(one.population), "Elevation": f"{one.elevation} m",
           "First recorded": one.founded, "River": a(one.river) if one.river else "none", "Market day": one.market, "Mayor": f"{one.mayor} (since 2019)", "Twinned with": a(one.twin)}
    lead = f"<b>{one.name}</b> is a {size} in {a(one.district)}, {a('Caldry')}" + (", and the country's capital" if capital else "") + "."
    if one.river:
        lead += " " + pick(one, f"It lies on the {a(one.river)}", f"The {a(one.river)} runs through it", f"It grew at a crossing of the {a(one.river)}") + f", {one.elevation} metres above the sea."
    lead += f" At the census of 2021 it had {num(one.population)} inhabitants."
    parts = [("History", [f"The name first appears in a charter of {one.founded}. " + pick(one, "For centuries the place lived by its mills and its weekly market.",
              "It was granted the right to a market within a generation.", "Until the roads were paved, most goods came by pack horse.")]
              + [f"{describe(event)}" for event in world.events if event.place is one])]
    if one.firms:
        parts.append(("Economy", [f"{a(firm)}, {'maker' if not firm.closed else 'once a maker'} of {firm.goods}, was founded here in {firm.founded}" +
                                  (f" and closed in {firm.closed}." if firm.closed else f" and employs {num(firm.staff)} people.") for firm in one.firms]))
    else:
        parts.append(("Economy", [pick(one, "Most people work in farming, trade and schools.", "The largest employer is the hospital.", "Many inhabitants travel to work in larger places nearby.")
                                  + f" A market is held every {one.market}."]))
    parts.append(("Transport", [f"{one.name} has a station on the {listed(a(line) for line in one.stations)}." if one.stations else
                                pick(one, "No railway reaches the place; buses run to the nearest station.", "The nearest railway station is in a neighbouring town.")]))
    if one.sights:
        parts.append(("Sights", [f"{a(sight)} ({sight.year})" + (f", designed by {a(sight.designer)}" if sight.designer else "") + "." for sight in one.sights]))
    if one.born:
        parts.append(("Notable people", [f"{a(person)} ({life(person)}), {person.trade}" for person in one.born]))
    return lead, box, parts, [f"Towns in {one.district}", "Towns in Caldry"]


def describe(event):
    return {"Battle of {}": f"The {a(event)} was fought nearby in {event.year}.", "Treaty of {}": f"The {a(event)} was signed here in {event.year}.",
            "{} flood": f"In {event.year} the {a(event)} cost {num(event.toll)} lives.", "{} strike": f"The {a(event)} of {event.year} lasted {event.days} days.",
            "Great fire of {}": f"The {a(event)} destroyed {num(event.toll)} houses in {event.year}.", "Siege of {}": f"The {a(event)} of {event.year} ended after {event.days} days.",
            "{} exhibition": f"The {a(event)} of {event.year} drew visitors from the whole country."}[event.form]


def river(one, world):
    mouth = a(one.into) if one.into else "the sea"
    box = {"Country": a("Caldry"), "Length": f"{one.length} km", "Source": a(one.source), "Mouth": mouth, "Tributaries": listed(a(other) for other in one.tributaries) or "none recorded"}
    lead = f"The <b>{one.name}</b> is a river in {a('Caldry')}. It is {one.length} kilometres long, rises on {a(one.source)} and flows into {mouth}."
    parts = [("Course", [f"On its way it passes {listed(a(place) for place in sorted(one.towns, key=lambda t: -t.elevation))}." if one.towns else "No town of any size stands on its banks."])]
    if one.tributaries:
        parts.append(("Tributaries", [f"{a(other)} ({other.length} km)" for other in sorted(one.tributaries, key=lambda r: -r.length)]))
    parts.append(("Use", [pick(one, "The upper course is known for trout.", "Three small power stations use its fall.", "Barges carried grain on it until the railway came.", "Meadows along it are flooded in most springs.")]))
    return lead, box, parts, ["Rivers of Caldry"]


def person(one, world):
    box = {"Born": f"{one.born}, {a(one.home)}", "Died": f"{one.died}, {a(one.resting)}" if one.died else "–", "Profession": one.trade.capitalize(), "Teacher": a(one.teacher) if one.teacher else "–"}
    lead = f"<b>{one.name}</b> ({life(one)}) {'was' if one.died else 'is'} {an(one.trade)} from {a(one.home)} in {a(one.home.district)}."
    early = pick(one, f"{one.name.split()[0]} was the {'second' if one.born % 2 else 'youngest'} child of a miller.", "The family kept an inn.", "Both parents taught at the village school.", "An uncle paid for the schooling.")
    pupils = [other for other in world.people if other.teacher is one]
    middle = [f"A pupil of {a(one.teacher)}, {one.name.split()[1]} soon found a style of their own." if one.teacher else f"{one.name.split()[1]} was largely self-taught."]
    middle += [f"In {firm.founded} {one.name.split()[1]} founded {a(firm)} in {a(firm.place)}, which made {firm.goods}." for firm in one.firms]
    middle += [f"{a(sight)} in {a(sight.place)}, finished in {sight.year}, was built to {one.name.split()[1]}'s design." for sight in world.sights if sight.designer is one]
    parts = [("Early life", [early]), ("Career", middle), ("Works", [f"<i>{title}</i> ({year})" for title, year in one.works])]
    if pupils:
        parts.append(("Pupils", [a(other) for other in pupils]))
    if one.died:
        parts.append(("Death", [f"{one.name.split()[1]} died in {a(one.resting)} in {one.died}, aged {one.died - one.born - 1} or {one.died - one.born}."]))
    return lead, box, parts, [f"{one.trade.capitalize()}s from Caldry", f"People from {one.home.district}"]


def company(one, world):
    end = f"and closed in {one.closed}" if one.closed else f"and employs {num(one.staff)} people"
    box = {"Industry": one.goods.capitalize(), "Founded": one.founded, "Founder": a(one.founder), "Headquarters": a(one.place), "Employees": "–" if one.closed else num(one.staff), "Closed": one.closed or "–"}
    lead = f"<b>{one.name}</b> {'was' if one.closed else 'is'} a maker of {one.goods} in {a(one.place)}, {a(one.place.district)}. It was founded in {one.founded} by {a(one.founder)} {end}."
    rivals = [a(other) for other in world.companies if other.goods == one.goods and other is not one]
    parts = [("History", [pick(one, f"Work began in a rented barn with {one.founded % 9 + 4} hands.", f"The first workshop stood beside the market of {one.place.name}.", "The first capital came from the founder's family."),
                          f"The works stood by the {a(one.place.river)} for the sake of its water." if one.place.river else "Coal was brought in by road."]),
             ("Competition", [f"Its rival in the making of {one.goods} was {listed(rivals)}."])]
    return lead, box, parts, ["Companies of Caldry", f"Companies of {one.place.district}"]


def railway(one, world):
    first, last = one.stops[0], one.stops[-1]
    box = {"Termini": f"{a(first)}, {a(last)}", "Stations": len(one.stops), "Opened": one.opened, "Length": f"{one.length} km", "Gauge": f"{one.gauge:,} mm", "Electrified": one.electrified or "no"}
    lead = f"The <b>{one.name}</b> is a railway of {one.length} kilometres between {a(first)} and {a(last)}. It was opened in {one.opened} and " + (f"electrified in {one.electrified}." if one.electrified else "has never been electrified.")
    rows = "".join(f"<tr><td>{index + 1}</td><td>{a(stop)}</td><td>{a(stop.district)}</td><td>{round(one.length * index / (len(one.stops) - 1))} km</td></tr>" for index, stop in enumerate(one.stops))
    table = f'<table class="wikitable"><tr><th>No.</th><th>Station</th><th>District</th><th>Distance</th></tr>{rows}</table>'
    return lead, box, [("Stations", [table]), ("Traffic", [f"Trains run every {30 if one.length < 90 else 60} minutes."])], ["Railways of Caldry"]


def sight(one, world):
    box = {"Place": a(one.place), "District": a(one.place.district), "Completed": one.year, "Designer": a(one.designer) if one.designer else "unknown", "Height": f"{one.height} m", "Visitors a year": num(one.visitors)}
    lead = f"<b>{one.name}</b> is a {one.form.lower()} in {a(one.place)}, {a(one.place.district)}. It was completed in {one.year}" + (f" to the design of {a(one.designer)}." if one.designer else "; who designed it is not known.")
    parts = [("Description", [pick(one, "It is built of the grey stone of the neighbourhood.", "Brick was used throughout, with facings of pale stone.", "The oldest parts are of timber."), f"Its highest point is {one.height} metres above the ground."]),
             ("Visitors", [f"About {num(one.visitors)} people come every year."])]
    return lead, box, parts, ["Buildings and sights of Caldry", f"Sights in {one.place.district}"]


def event(one, world):
    box = {"Year": one.year, "Place": a(one.place), "District": a(one.place.district)}
    text = {"Battle of {}": f"was fought in {one.year} near {a(one.place)}. About {num(one.toll)} men fell", "Treaty of {}": f"was signed in {one.year} in {a(one.place)} after {one.days} days of talks",
            "{} flood": f"of {one.year} struck {a(one.place)} and cost {num(one.toll)} lives", "{} strike": f"of {one.year} stopped all work in {a(one.place)} for {one.days} days",
            "Great fire of {}": f"burnt down {num(one.toll)} houses in {a(one.place)} in {one.year}", "Siege of {}": f"took place in {one.year} and lasted {one.days} days",
            "{} exhibition": f"was held in {a(one.place)} in {one.year} and was open for {one.days + 60} days"}[one.form]
    alive = [a(other) for other in world.people if other.home is one.place and other.born + 18 <= one.year <= (other.died or NOW)]
    parts = [("Course", [pick(one, "Reports of the time differ in much but not in the date.", "The town archive keeps the only full account.", "Several songs tell of it.")])]
    if alive:
        parts.append(("Witnesses", [f"Among the townspeople of that time was {listed(alive)}."]))
    return f"The <b>{one.name}</b> {text}.", box, parts, ["History of Caldry", f"{one.year // 100 + 1}th century in Caldry"]


def mountain(one, world):
    box = {"Height": f"{num(one.height)} m", "District": a(one.district), "First recorded ascent": one.climbed, "Rivers": listed(a(other) for other in one.rivers) or "none"}
    rank = 1 + sum(other.height > one.height for other in world.mountains)
    lead = f"<b>{one.name}</b> is a mountain in {a(one.district)}, {a('Caldry')}. At {num(one.height)} metres it is number {rank} among the country's named summits."
    return lead, box, [("Climbing", [f"The first ascent on record is that of {one.climbed}.", pick(one, "A path leads up from the south.", "The north side is steep and seldom climbed.")])], ["Mountains of Caldry"]


def lake(one, world):
    box = {"Area": f"{one.area} km²", "Greatest depth": f"{one.depth} m", "District": a(one.district), "Outflow": a(one.river)}
    return (f"<b>{one.name}</b> is a lake in {a(one.district)}, {a('Caldry')}. It covers {one.area} square kilometres, is up to {one.depth} metres deep and drains into the {a(one.river)}.", box,
            [("Nature", [pick(one, "Grey herons nest on its islands.", "Reeds cover the western shore.", "It freezes over in most winters.")])], ["Lakes of Caldry"])


def district(one, world):
    total = sum(place.population for place in one.towns)
    box = {"Country": a("Caldry"), "Seat": a(one.seat), "Area": f"{num(one.area)} km²", "Population (2021)": num(total), "Density": f"{total / one.area:.1f} per km²", "Formed": one.formed, "Places": len(one.towns)}
    rows = "".join(f"<tr><td>{a(place)}</td><td>{num(place.population)}</td><td>{place.founded}</td></tr>" for place in sorted(one.towns, key=lambda p: -p.population))
    return (f"<b>{one.name}</b> is one of the eight districts of {a('Caldry')}. It has {num(total)} inhabitants on {num(one.area)} square kilometres; its seat is {a(one.seat)}. The district was formed in {one.formed}.", box,
            [("Places", [f'<table class="wikitable"><tr><th>Place</th><th>Population (2021)</th><th>First recorded</th></tr>{rows}</table>'])], ["Districts of Caldry"])


WRITERS = {"town": town, "river": river, "person": person, "company": company, "railway": railway, "sight": sight, "event": event, "mountain": mountain, "lake": lake, "district": district}
