"""Reads the written conversations of threads.txt and adds the post that comes of itself: notices, digests, enquiries."""

import datetime
import random
import re

from people import STAFF


class Letter:
    def __init__(self, subject, tag, sender, to, cc, when, body, attach=None, parent=None):
        self.subject, self.tag, self.sender, self.to, self.cc = subject, tag, sender, to, cc
        self.when, self.body, self.attach, self.parent = when, body, attach, parent


def keys(text):
    names = [part.strip() for part in text.split(",") if part.strip()]
    return [k for n in names for k in (STAFF if n == "all" else [n])]


def written(path):
    """The conversations of a file: `## subject | tag`, then `> from -> to; cc | when` and a body for each letter."""
    letters, subject, tag, previous = [], None, None, None
    for block in re.split(r"^(?=## |> )", open(path, encoding="utf-8").read(), flags=re.M):
        head, _, body = block.partition("\n")
        if head.startswith("## "):
            subject, tag = [part.strip() for part in head[3:].split("|")]
            previous = None
            continue
        if not head.startswith("> "):
            continue
        route, when = [part.strip() for part in head[2:].split("|")]
        sender, receivers = [part.strip() for part in route.split("->")]
        to, _, cc = receivers.partition(";")
        attach = None
        lines = body.strip().split("\n")
        if lines[-1].startswith("attach: "):
            attach = lines.pop()[len("attach: "):]
        to = [k for k in keys(to) if k != sender]
        letter = Letter(
            subject if previous is None else "Re: " + subject, tag, sender, to, keys(cc),
            datetime.datetime.strptime(when, "%Y-%m-%d %H:%M"), "\n".join(lines).strip(), attach, previous,
        )
        letters.append(letter)
        previous = letter
    return letters


def day(text, hour, minute):
    return datetime.datetime.strptime(text, "%Y-%m-%d").replace(hour=hour, minute=minute)


def notices(rng):
    """Weekly letters to everybody: the harbour's notices, the kitchen's menu, the office's reminder."""
    letters = []
    mondays = ["2023-05-01", "2023-05-08", "2023-05-15", "2023-05-22", "2023-05-29", "2023-06-05", "2023-06-12"]
    works = ["dredging at the fuel pier", "diving at the north mole", "painting of the lock gates",
             "a new fender at pier 2", "survey of the approach channel", "a crane on Quay Street",
             "rehearsal of the regatta start"]
    soups = ["leek and potato", "smoked fish", "tomato with barley", "pea and mint", "mushroom", "carrot and ginger",
             "cold cucumber"]
    mains = ["Herring with new potatoes", "Chicken pie", "Barley risotto with asparagus", "Fish cakes with remoulade",
             "Lamb stew", "Spinach pancakes", "Mussels in cider"]
    cakes = ["rhubarb tart", "almond slice", "lemon cake", "cheesecake", "plum crumble", "apple cake", "gooseberry fool"]
    for week, monday in enumerate(mondays):
        number = 18 + week
        low, high = rng.choice(["0.4", "0.5", "0.6", "0.7"]), rng.choice(["3.9", "4.1", "4.2", "4.4"])
        letters.append(Letter(
            f"Harbour notices, week {number}", "notices", "port", list(STAFF), [], day(monday, 6, 30),
            f"Notices to harbour users, week {number} of 2023\n\n"
            f"1. Expect {works[week]} from Tuesday to Thursday, 08:00 to 16:00. Pass at dead slow.\n"
            f"2. Lowest water of the week {low} m, highest {high} m above chart datum.\n"
            f"3. The fuel pier is open from 07:00 to {rng.choice(['18:00', '19:00', '20:00'])}.\n\n"
            "Harbour Office, Port Ellery\nVHF channel 12"))
        letters.append(Letter(
            f"Lunch at the Lantern, {day(monday, 0, 0):%-d %B}", "lunch", "lantern",
            ["bob", "priya", "grace", "lena"], [], day(monday, 9, 45 + week),
            f"This week we cook\n\n- soup: {soups[week]}\n- {mains[week]}\n- {mains[(week + 3) % 7]}\n"
            f"- to finish: {cakes[week]}\n\nTables for six or more: please ring before ten.\n\nThe Lantern, Old Harbour"))
        if week % 2 == 0:
            letters.append(Letter(
                "Reminder: working hours of the past two weeks", "office", "grace",
                [k for k in STAFF if k != "grace"], [], day(monday, 8, 5) + datetime.timedelta(days=1),
                "Dear all,\n\nplease enter your hours of the past two weeks by tomorrow evening. "
                + rng.choice(["Three of you are so far ahead that I am worried.", "Travel counts as work, waiting for trains too.",
                              "The boat days need the name of the buoy."]) + "\n\nGrace"))
    return letters


def watch(rng):
    """The buoy watch: short machine-written warnings and their end."""
    letters = []
    troubles = [
        ("battery low", "Battery {b} V, limit 11.8 V. Charging current {c} A.", "Battery {d} V."),
        ("no report for 30 minutes", "Last report {t} UTC. Modem level -{m} dBm.", "Reports again since {u} UTC."),
        ("position outside circle", "Distance from mooring {p} m, limit 25 m.", "Distance from mooring {q} m."),
        ("water in housing", "Moisture sensor {w} %, limit 15 %.", "Moisture sensor {x} %."),
    ]
    start = day("2023-05-02", 0, 0)
    for _ in range(21):
        start += datetime.timedelta(days=rng.choice([1, 2, 2, 3]), minutes=rng.randrange(0, 1300))
        if start > day("2023-06-14", 20, 0):
            break
        buoy = rng.choice([7, 9, 11, 12, 13, 14, 15, 16])
        name, text, end = rng.choice(troubles)
        values = dict(b=f"{rng.uniform(11.2, 11.7):.1f}", c=f"{rng.uniform(0.1, 0.4):.2f}", d=f"{rng.uniform(12.3, 12.9):.1f}",
                      t=f"{start - datetime.timedelta(minutes=31):%H:%M}", u=f"{start + datetime.timedelta(minutes=12):%H:%M}",
                      m=rng.randrange(101, 113), p=rng.randrange(27, 44), q=rng.randrange(2, 9),
                      w=rng.randrange(16, 31), x=rng.randrange(4, 11))
        subject = f"[buoy {buoy:02d}] {name}"
        first = Letter(subject, "watch", "station", ["priya", "emma"], [], start,
                       f"Station: buoy {buoy:02d}\nRaised:  {start:%Y-%m-%d %H:%M} UTC\n\n{text.format(**values)}\n\n"
                       "This message was written by the buoy watch. Answers are not read.")
        later = start + datetime.timedelta(minutes=rng.randrange(15, 240))
        letters += [first, Letter(subject + ": cleared", "watch", "station", ["priya", "emma"], [], later,
                                  f"Station: buoy {buoy:02d}\nCleared: {later:%Y-%m-%d %H:%M} UTC\n\n{end.format(**values)}",
                                  parent=first)]
    return letters


def enquiries(rng):
    """What the form on the company's website sends to Sales, and what Sales answers."""
    people = [("Yara Benoit", "Marina Saltmarsh"), ("Oskar Hjelm", "Hjelm Mussels"), ("Dina Petrakis", "Castle Hill School"),
              ("Wim de Groot", "Groot Dredging"), ("Alice Penrose", "Penrose Yachts"), ("Rafael Couto", "Couto Pilots"),
              ("Maud Ferrier", "Lake Authority"), ("Ken Adeyemi", "Adeyemi Survey"), ("Ulla Strand", "Strand Salmon"),
              ("Petr Novak", "River Police"), ("Joan Holt", "Holt Rowing Club"), ("Amir Saleh", "Delta Hydrology"),
              ("Birgit Thorn", "Thorn Weather"), ("Luis Prado", "Prado Ports")]
    wants = ["a gauge for our lock basin", "two wave buoys for one summer", "a price for calibration of an old TG-100",
             "a display that visitors can read from the quay", "loggers that survive being dropped",
             "a data feed that our own program can read", "rental of a current meter for three weeks"]
    answers = ["The price list is attached to our website; for your case I would take the TG-200. May I ring you on Thursday?",
               "We can do that, delivery takes five weeks at present. Where would it be mounted?",
               "Renting is possible from 1 July. The fee is taken off the price if you buy later."]
    letters = []
    for i, (person, firm) in enumerate(people):
        when = day("2023-05-02", 9, 12) + datetime.timedelta(days=3 * i, minutes=rng.randrange(0, 420))
        number = 3301 + 7 * i
        first = Letter(f"Website enquiry {number}: {firm}", "enquiries", "webform", ["bob"], [], when,
                       f"Name:         {person}\nOrganisation: {firm}\nTelephone:    0411 {rng.randrange(2000, 9999)}\n\n"
                       f"We are looking for {wants[i % 7]}. Could somebody tell us what is possible and what it costs?")
        letters.append(first)
        if i % 2 == 0:
            letters.append(Letter(f"Re: {first.subject}", "enquiries", "bob", ["webform"], [],
                                  when + datetime.timedelta(hours=2, minutes=rng.randrange(50)),
                                  f"Dear {person},\n\nthank you for asking. {answers[i % 3]}\n\nBob Tanner", parent=first))
    return letters


def ledgers(rng):
    """Post about money and parcels: statements for Finance, deliveries for the workshop, applications for the office."""
    letters, balance = [], 184220.40
    for week in range(7):
        when = day("2023-05-05", 5, 10) + datetime.timedelta(days=7 * week)
        if when > day("2023-06-14", 23, 0):
            break
        rows = [(when - datetime.timedelta(days=rng.randrange(1, 6)), payee, round(rng.uniform(*span), 2)) for payee, span in [
            ("Northbank Ferries", (4000, 9000)), ("Hartwell Cases", (-5200, -1900)), ("Ellery Energy", (-900, -400)),
            ("Kestrel Pilotage", (2000, 7000)), ("Payroll", (-9800, -9100))]]
        balance += sum(r[2] for r in rows)
        listing = "\n".join(f"{d:%d.%m.}  {p:<20}{v:>12,.2f}" for d, p, v in sorted(rows))
        letters.append(Letter(f"Account statement {9 + week}/2023", "bank", "bank", ["tomas"], [], when,
                              f"Account ending 4471, Corvane Instruments\n\n{listing}\n\nBalance{balance:>25,.2f}"))
    parts = ["12 cable glands M20", "6 antennas CI-2217", "housings TG, grey, 4 pieces", "solder wire, 2 kg", "battery packs 12 V, 10 pieces",
             "stainless shackles, 30 pieces", "display glass, 8 pieces", "O-rings 48x3, 200 pieces", "desiccant bags, 100 pieces",
             "mooring chain, 25 m", "epoxy, 3 kits", "test leads, 10 sets"]
    for i, part in enumerate(parts):
        when = day("2023-05-03", 7, 20) + datetime.timedelta(days=3 * i + i // 4, minutes=rng.randrange(300))
        number = f"EP 0093 {4100 + 31 * i} {10 + i}"
        letters.append(Letter(f"Your parcel {number} arrives today", "parcels", "parcel", ["lena"], ["emma"] if i % 2 else [], when,
                              f"Dear customer,\n\nyour parcel {number} ({part}) is on the van and arrives between "
                              f"{9 + i % 4}:00 and {11 + i % 4}:00 at Quay Street 18, workshop door.\n\nEllery Parcel"))
        letters.append(Letter(f"Stock in: {part}", "workshop", "lena", ["emma"], ["tomas"], when + datetime.timedelta(hours=5),
                              rng.choice([f"Counted and on the shelf: {part}. Complete.", f"{part} arrived, all complete, box a little wet.",
                                          f"{part} are in. The delivery note is in Tomas's tray."]) + "\n\nLena"))
    names = ["Hanna Voss", "Idris Cole", "Marta Wren", "Piet Langley", "Soraya Amin", "Gus Merrow", "Elin Dahl", "Noah Pike", "Ruth Abara"]
    for i, person in enumerate(names):
        when = day("2023-05-04", 10, 15) + datetime.timedelta(days=4 * i, minutes=rng.randrange(200))
        place = ["trainee in the workshop", "sales assistant", "test engineer"][i % 3]
        first = Letter(f"Application: {place}, {person}", "applications", "webform", ["grace"], [], when,
                       f"Dear Ms Okafor,\n\nI should like to apply as {place}. "
                       + rng.choice(["I have three years with a boatbuilder behind me.", "I finish college in July and sail in my free time.",
                                     "I repair radios at home and would like to be paid for it."])
                       + f" I could start on {rng.choice(['1 August', '1 September', '15 July'])}.\n\n{person}")
        letters.append(first)
        letters.append(Letter(f"Re: {first.subject}", "applications", "grace", ["webform"], [], when + datetime.timedelta(days=1),
                              f"Dear {person},\n\nthank you for your letter. "
                              + rng.choice(["We would like to meet you: does Tuesday at ten suit you?",
                                            "We will read it this week and write to you by Friday.",
                                            "The place has been filled, but may we keep your papers until the autumn?"])
                              + "\n\nGrace Okafor", parent=first))
    return letters


def meetings(rng):
    """Monday's agenda and Friday's summary, in turn by the heads of the three rooms."""
    letters = []
    topics = ["cases from Hartwell are late again", "who goes out to buoy 12", "the tank for the fair", "regatta readiness",
              "4.2 on the bench", "the Drainage Board", "holiday plans for August", "the compressor", "shelf space", "the scratched housing"]
    done = ["bench 2 is repaired", "three loggers left for the lake", "buoy 9 is back in the water", "the price list is printed",
            "forty connectors crimped", "the new mast light works", "the April data are checked"]
    for week, monday in enumerate(["2023-05-01", "2023-05-08", "2023-05-15", "2023-05-22", "2023-05-29", "2023-06-05", "2023-06-12"]):
        picked = rng.sample(topics, 3)
        letters.append(Letter(f"Agenda Monday {day(monday, 0, 0):%-d %B}", "meetings", "emma", ["bob", "priya", "tomas", "grace", "lena"], [],
                              day(monday, 7, 50), "For today at 09:15, small room:\n\n" + "\n".join(f"{i + 1}. {t}" for i, t in enumerate(picked))
                              + "\n\nFifteen minutes, standing.\n\nEmma"))
        friday = day(monday, 15, 30) + datetime.timedelta(days=4)
        if friday < day("2023-06-15", 0, 0):
            for author, dept in (("priya", "Software and test"), ("lena", "Workshop")):
                facts = rng.sample(done, 2)
                letters.append(Letter(f"{dept}: week {18 + week}", "meetings", author,
                                      ["emma", "bob", "tomas"] + (["priya"] if author == "lena" else []), [],
                                      friday + datetime.timedelta(minutes=rng.randrange(60)),
                                      f"Done: {facts[0]}; {facts[1]}.\nNext: {rng.choice(topics)}.\n"
                                      f"Hours: {rng.randrange(31, 44)} of 40.\n\n{STAFF[author][0].split()[0]}"))
    return letters


def everything():
    rng = random.Random("mail")
    letters = written("threads.txt")
    for make in (notices, watch, enquiries, ledgers, meetings):
        letters += make(rng)
    return sorted(letters, key=lambda l: (l.when, l.sender, l.subject))
