"""The facts of Caldry, an invented country: everything that an article may say is decided here, once.

Articles are written from these records alone, so that two articles never disagree, and so that a question over several of
them ("which river runs through the birthplace of the founder of ...") has one answer. All chance comes from one seed.
"""
import random
from types import SimpleNamespace as Record

RNG = random.Random(1887)
NOW = 2023

DISTRICTS = ["Northmoor", "Eastmarch", "Lowen Shire", "Harrowland", "Westhollow", "Tarn Country", "Saltcoast", "Veldmark"]
HEADS = ("Alder Amber Ashen Bar Black Bram Brook Cal Carn Cold Cop Crow Dun Elder Fal Fen Gar Glen Gold Grim Hal Hart Hazel Hol Iron "
         "Kel Lin Long Mar Mill Mor Nether Oak Old Pen Quarn Raven Red Rook Sall Sel Shal Stan Stone Thorn Upper Wal West Whit Win Wolf Yar").split()
TAILS = "bridge burn bury by combe dale don ford gate ham haven leigh mere minster mouth ness port stead stow ton wick worth".split()
RIVER_NAMES = ("Aldra Benn Corrow Dask Ellin Farrow Gaunt Hesk Isken Jarrow Kell Lyde Mourn Nairin Orle Pell Quern Ristle Sarn Tavy Ulver Venn "
               "Wessa Yarrin Zell Brae Cleft Dorn").split()
PEAKS = ["Great Carrock", "Sable Fell", "Mount Orrin", "Hag's Tooth", "Whitlaw", "The Anvil", "Drum Hill", "Long Rigg", "Cold Pike", "Bell Tor",
         "Three Sisters", "Maiden Moor", "Iron Crag", "Old Harrow", "Wether Fell", "Kestrel Edge"]
LAKES = ["Lake Merrow", "Lake Isken", "Hollow Tarn", "Lake Sallow", "Deepwater", "Lake Corrin", "Mirror Tarn", "Lake Ashe", "Lake Venn", "Gull Mere"]
FIRST = ("Agnes Albert Beatrice Bertram Cecily Conrad Dorothea Edmund Eleanor Felix Florence Gilbert Harriet Ivor Josephine Kit Lavinia Magnus "
         "Nell Oswin Philippa Quentin Rosamund Silas Theodora Ulric Verity Walter Winifred Ambrose").split()
LAST = ("Ackroyd Ballantine Carrow Dunmore Ellwood Fairweather Garrick Hathersage Ingleby Jessop Kirkbride Lorimer Marchbank Norcross Osgood "
        "Penhallow Quayle Rainsford Scarth Thirlwell Underhay Vane Wainscott Yelland Ashgrove Brockway").split()
TRADES = ["poet", "engineer", "painter", "politician", "botanist", "composer", "explorer", "physician", "novelist", "architect", "astronomer", "printer"]
GOODS = ["steel", "woollen cloth", "paper", "bicycles", "glass", "clocks", "biscuits", "ships", "pottery", "cheese", "beer", "locomotives", "pianos", "rope",
         "spectacles", "soap", "enamelware", "carpets", "cider", "matches", "tractors", "radios"]
EARLIEST = {"bicycles": 1868, "locomotives": 1832, "matches": 1834, "tractors": 1906, "radios": 1921, "enamelware": 1841, "pianos": 1790}


def towns():
    names = []
    while len(names) < 84:
        name = RNG.choice(HEADS) + RNG.choice(TAILS)
        if name not in names and not any(name[:4] == other[:4] for other in names[-12:]):
            names.append(name)
    made = []
    for number, name in enumerate(sorted(names)):
        people = int(2000 * 120 ** RNG.random() ** 2.2) if number % 9 else RNG.randint(90_000, 310_000)
        made.append(Record(kind="town", name=name, district=DISTRICTS[number * 5 % 8], population=people, elevation=RNG.randint(4, 420),
                           founded=RNG.randint(870, 1640), x=RNG.randint(8, 92), y=RNG.randint(8, 92), river=None, twin=None,
                           market=RNG.choice(["Monday", "Wednesday", "Thursday", "Saturday"]), mayor=None, stations=[], born=[], firms=[], sights=[]))
    return made


def rivers(places):
    made = []
    for number, name in enumerate(RIVER_NAMES):
        into = RNG.choice(made[:6]) if number > 5 else None
        made.append(Record(kind="river", name=f"River {name}", length=RNG.randint(120, 390) if number < 6 else RNG.randint(18, 110),
                           source=RNG.choice(PEAKS), into=into, towns=[], tributaries=[]))
        if into:
            into.tributaries.append(made[-1])
    for place in places:
        if RNG.random() < 0.82:
            place.river = RNG.choice(made[:6] * 3 + made)
            place.river.towns.append(place)
    return made


def people(places):
    names = [f"{first} {last}" for first in FIRST for last in LAST]
    made = []
    for number, name in enumerate(RNG.sample(names, 78)):
        born = RNG.randint(1690, 1948)
        trade = TRADES[number % len(TRADES)]
        died = born + RNG.randint(38, 93)
        made.append(Record(kind="person", name=name, trade=trade, born=born, died=died if died < 2020 else None, home=RNG.choice(places),
                           resting=RNG.choice(places), works=[], teacher=None, firms=[]))
        made[-1].home.born.append(made[-1])
    for one in made:
        older = [other for other in made if 18 < one.born - other.born < 45 and other.trade == one.trade]
        one.teacher = RNG.choice(older) if older else None
        one.works = works(one)
    return made


def works(one):
    about = RNG.sample(["Harbour", "Winter", "Long Road", "Bell", "Orchard", "Tide", "Lantern", "Moor", "Glass", "Stranger", "Mill", "Crow"], 3)
    years = sorted(RNG.sample(range(one.born + 22, min(one.born + 70, (one.died or 2020)) + 1), 3)) if (one.died or 2020) - one.born > 27 else [one.born + 25] * 3
    form = {"poet": "The {} Songs", "painter": "The {} at Evening", "composer": "{} Symphony", "novelist": "The {} House", "printer": "The {} Almanack",
            "botanist": "Flora of the {}", "explorer": "To the {} and Back", "astronomer": "On the {} Comet", "physician": "Of the {} Fever",
            "architect": "{} Hall", "engineer": "{} Viaduct", "politician": "{} Act"}[one.trade]
    return list(zip((form.format(word) for word in about), years))


def firms(places, persons):
    made = []
    for number, goods in enumerate(GOODS * 2):
        place = RNG.choice(sorted(places, key=lambda one: -one.population)[:44])
        founder = RNG.choice([one for one in persons if EARLIEST.get(goods, 1760) - 24 <= one.born < 1925
                              and one.trade in ("engineer", "printer", "politician", "physician", "architect")])
        founded = founder.born + RNG.randint(24, 37)
        name = RNG.choice([f"{founder.name.split()[1]} & Sons", f"{place.name} {goods.split()[-1].capitalize()} Company", f"{founder.name.split()[1]} {goods.split()[-1].capitalize()}"])
        if name in [one.name for one in made]:
            name = f"{name} ({place.name})"
        closed = founded + RNG.randint(40, 120) if RNG.random() < 0.4 else None
        made.append(Record(kind="company", name=name, goods=goods, place=place, founder=founder, founded=founded, staff=RNG.randint(60, 8200),
                           closed=closed if closed and closed < NOW else None))
        place.firms.append(made[-1])
        founder.firms.append(made[-1])
    return made


def lines(places, companies):
    made = []
    for number in range(14):
        start, end = RNG.sample(sorted(places, key=lambda one: -one.population)[:26], 2)
        between = sorted(RNG.sample([one for one in places if one not in (start, end)], RNG.randint(3, 7)),
                         key=lambda one: (one.x - start.x) ** 2 + (one.y - start.y) ** 2)
        stops = [start, *between, end]
        made.append(Record(kind="railway", name=f"{start.name}–{end.name} line", stops=stops, opened=RNG.randint(1838, 1911), length=RNG.randint(38, 210),
                           electrified=RNG.choice([None, RNG.randint(1925, 1998)]), gauge=RNG.choice([1435, 1435, 1435, 1000])))
        for stop in stops:
            stop.stations.append(made[-1])
    return made


def sights(places, persons):
    made, seen = [], set()
    forms = [("Castle", 1080, 1490), ("Abbey", 1020, 1400), ("Bridge", 1400, 1930), ("Museum", 1840, 1985), ("Lighthouse", 1720, 1910), ("Town Hall", 1690, 1930),
             ("University", 1480, 1970), ("Botanical Garden", 1700, 1935), ("Theatre", 1740, 1960), ("Observatory", 1780, 1950)]
    while len(made) < 52:
        place, (form, low, high) = RNG.choice(places), RNG.choice(forms)
        name = f"{place.name} {form}"
        if name not in seen:
            seen.add(name)
            year = RNG.randint(low, high)
            able = [one for one in persons if one.trade in ("architect", "engineer") and 24 < year - one.born < 70 and (one.died or NOW) >= year]
            made.append(Record(kind="sight", name=name, form=form, place=place, year=year, designer=RNG.choice(able) if able else None,
                               height=RNG.randint(12, 96), visitors=RNG.randint(4, 480) * 1000))
            place.sights.append(made[-1])
    return made


def events(places, persons):
    made = []
    forms = ["Battle of {}", "Treaty of {}", "{} flood", "{} strike", "Great fire of {}", "Siege of {}", "{} exhibition"]
    spans = {"Battle of {}": (1140, 1790), "Treaty of {}": (1190, 1880), "{} flood": (1520, 1995), "{} strike": (1830, 1984), "Great fire of {}": (1460, 1890),
             "Siege of {}": (1150, 1720), "{} exhibition": (1851, 1962)}
    for number, place in enumerate(RNG.sample(places, 35)):
        form = forms[number % 7]
        made.append(Record(kind="event", form=form, name=form.format(place.name), place=place, year=RNG.randint(*spans[form]), toll=RNG.randint(3, 2400), days=RNG.randint(1, 60)))
    return made


def world():
    places = towns()
    streams = rivers(places)
    persons = people(places)
    companies = firms(places, persons)
    railways = lines(places, companies)
    buildings = sights(places, persons)
    history = events(places, persons)
    hills = [Record(kind="mountain", name=name, height=RNG.randint(410, 1630), district=RNG.choice(DISTRICTS), climbed=RNG.randint(1690, 1880), rivers=[]) for name in PEAKS]
    for stream in streams:
        next(hill for hill in hills if hill.name == stream.source).rivers.append(stream)
    lakes = [Record(kind="lake", name=name, area=RNG.randint(3, 880) / 10, depth=RNG.randint(6, 140), district=RNG.choice(DISTRICTS), river=RNG.choice(streams)) for name in LAKES]
    districts = []
    for name in DISTRICTS:
        inside = [one for one in places if one.district == name]
        districts.append(Record(kind="district", name=name, towns=inside, seat=max(inside, key=lambda one: one.population), area=RNG.randint(1400, 6800), formed=RNG.choice([1538, 1712, 1845, 1921])))
    for place in places:
        place.twin = RNG.choice([one for one in places if one is not place])
        place.mayor = f"{RNG.choice(FIRST)} {RNG.choice(LAST)}"
    return Record(towns=places, rivers=streams, people=persons, companies=companies, railways=railways, sights=buildings, events=history, mountains=hills, lakes=lakes, districts=districts,
                  capital=max(places, key=lambda one: one.population))
