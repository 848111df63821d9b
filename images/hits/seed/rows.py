"""The rows of every batch: what a task's template is filled with. Pictures are drawn as SVG beside the static files."""
import os

PICTURES = "/srv/static/tasks"
STATIONS = "Harrow Junction|Millbridge|Coldwater|St Agnes|Upper Fenn|Port Lisle|Ashcombe|Great Tarrow".split("|")
MESSAGES = {
    "delay": ["My train from {a} to {b} left {n} minutes late on {day} and nobody announced why. I missed the ferry.",
              "The {hour} to {b} was cancelled again. Could you tell me whether it will run on {day}?"],
    "refund": ["I bought a return to {b} and could only use half of it. How do I get {n} back? The number is {ref}.",
               "Your machine at {a} charged me twice for one ticket. Reference {ref}. Please return the money."],
    "lost": ["I left a grey umbrella on the {hour} to {b} on {day}, second carriage. Has anybody handed it in?",
             "My daughter forgot a violin case at {a}. It has a green ribbon. We need it by {day}."],
    "praise": ["The guard on the {hour} from {a} helped my father up the steps and found him a seat. Please thank her.",
               "For once a compliment: the new waiting room at {b} is warm, clean and open."],
    "access": ["Is there a ramp at {a}? I travel with a wheelchair on {day} and the lift was out of order last time.",
               "The display at {b} is too small to read. Could announcements be made louder?"],
    "other": ["Do you let rooms at {a} for meetings of a model railway club? We are {n} people.",
              "Please stop sending me the newsletter. I have written to you about it {n} times."],
}
QUESTIONS = [
    ("Why does bread rise?", "Yeast turns sugar into gas, and the dough holds the bubbles.", "Bread is eaten in most countries and has been for a long time."),
    ("What is the tide caused by?", "It is caused by the sea, which goes up and down twice a day.", "The pull of the moon, and a little of the sun, raises the water on the side that faces it."),
    ("Why do we have leap years?", "The year is nearly a quarter of a day longer than 365 days; the extra day catches up.", "Because February is too short and needs one more day at times."),
    ("How does soap clean?", "One end of its particles clings to fat, the other to water, so fat is rinsed away.", "Soap cleans by foaming; the more foam, the cleaner the hands."),
    ("Why is the sky blue?", "It mirrors the sea, which is blue on most days.", "Air scatters blue light more than red, so blue reaches us from everywhere."),
    ("What makes a kettle sing?", "Steam bubbles form at the hot bottom and collapse in the cooler water above.", "The kettle sings when it wants to be taken off the stove."),
    ("Why do leaves turn yellow?", "The green fades when the tree takes it back, and the yellow that was there shows.", "In autumn the trees paint their leaves with new colours."),
    ("How does a thermos keep tea hot?", "Between its two walls there is almost no air, so heat has nothing to travel through.", "It is made of a special warm steel."),
    ("Why does ice float?", "Ice is cold, and cold things rise.", "Water takes more room when it freezes, so ice is lighter than the water around it."),
    ("Why do we see lightning before thunder?", "Light is far faster than sound, though both start at the same moment.", "Because thunder waits until the flash is over."),
    ("What does a thermostat do?", "It switches the heating off when the room is warm enough and on when it is not.", "It measures the thermos and shows a number."),
    ("Why do onions make us cry?", "Cutting frees a gas that stings the eyes; tears wash it out.", "Onions are strong and some people are sensitive."),
]
THEMES = [("public libraries", "borrow a book"), ("buses", "take a bus"), ("weekly markets", "buy at a market"),
          ("swimming pools", "go for a swim"), ("parks", "sit in a park")]
PERSONAS = ["a nurse who works nights, aged 34", "a retired postman, aged 71", "a student who lives with three others, aged 20",
            "a mother of twins, aged 29", "a baker who is up at three, aged 52", "a newly arrived engineer, aged 41"]
FIRST = "Ada Bruno Clara Dev Edith Farid Greta Hugo Imran Joan".split()
LAST = "Appleyard Brook Castell Dunn Everett Finch Garside Hale Iveson Jarrold".split()
STREETS = "Mill Lane|Castle Street|Quayside|Orchard Road|Station Approach|Church Walk".split("|")
COMPANIES = "Brook & Sons|Tarrow Glassworks|Lisle Shipping|Fenn Dairy|Agnes Printers".split("|")
GOODS = {"Bread": 320, "Milk 1 l": 115, "Apples 1 kg": 289, "Cheddar": 465, "Coffee": 749, "Eggs, 10": 329, "Soap": 199,
         "Rice 1 kg": 275, "Olive oil": 1195, "Tea, 50 bags": 349, "Notebook": 450, "Batteries": 899, "Butter": 259}


def svg(name, width, height, body):
    os.makedirs(PICTURES, exist_ok=True)
    with open(f"{PICTURES}/{name}.svg", "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
                   f'font-family="DejaVu Sans Mono, monospace">{body}</svg>')
    return f"/static/tasks/{name}.svg"


def boat(x, y):
    return (f'<path d="M{x} {y}h40l-8 14h-24z" fill="#7a4b2e"/><path d="M{x + 19} {y - 2}v-30l18 26z" fill="#f6f1e4"/>'
            f'<path d="M{x + 18} {y}v-34" stroke="#4a2f1d" stroke-width="2"/>')


def house(x, y, red):
    return (f'<rect x="{x}" y="{y}" width="44" height="32" fill="#efe3cc"/><path d="M{x - 5} {y}l27-22 27 22z" fill="'
            f'{"#b23a32" if red else "#5d6470"}"/><rect x="{x + 17}" y="{y + 14}" width="10" height="18" fill="#6b4a34"/>'
            f'<rect x="{x + 4}" y="{y + 8}" width="9" height="9" fill="#8fb8d0"/>')


def tree(x, y):
    return f'<rect x="{x + 9}" y="{y + 22}" width="5" height="16" fill="#6a4a31"/><circle cx="{x + 11}" cy="{y + 12}" r="14" fill="#3f7a4a"/>'


def scenes(rng, count):
    skies = {"day": "#bfe0f2", "dusk": "#f0b98a", "night": "#1e2a4a"}
    for number in range(count):
        time, red, clouds = rng.choice(list(skies)), rng.random() < 0.5, rng.random() < 0.5
        orb = '<circle cx="470" cy="52" r="24" fill="{}"/>'.format({"day": "#ffd84d", "dusk": "#e2572b", "night": "#f3f1dc"}[time])
        body = f'<rect width="560" height="320" fill="{skies[time]}"/>{orb}<path d="M0 150q140-60 280 0t280-10v90H0z" fill="#79a05f"/>'
        if clouds:
            body += "".join(f'<ellipse cx="{x}" cy="{y}" rx="46" ry="16" fill="#fff" opacity=".85"/>' for x, y in ((90, 46), (128, 56), (300, 36)))
        spots = rng.sample(range(9), 9)
        houses, trees = rng.randint(1, 4), rng.randint(1, 5)
        for index, spot in enumerate(spots[:houses + trees]):
            x, y = 12 + spot * 60, 150 + (spot * 37) % 28
            body += house(x, y, red and index == 0) if index < houses else tree(x + 8, y)
        body += '<rect y="225" width="560" height="95" fill="#3d7ea6"/>'
        body += "".join(boat(20 + spot * 88, 258 + (spot * 23) % 40) for spot in rng.sample(range(6), rng.randint(0, 5)))
        yield {"picture": f"S{number + 1:03}", "picture_url": svg(f"scene-{number + 1:03}", 560, 320, body)}


def receipts(rng, count):
    for number in range(count):
        shop, cents = rng.choice(["Corner Stores", "Fenn Market", "Quay Grocers", "Agnes & Daughter"]), 0
        lines = rng.sample(list(GOODS.items()), rng.randint(3, 7))
        body = '<rect width="300" height="380" fill="#fdfcf6"/>'
        rows = [(shop.upper(), ""), (f"2023-0{rng.randint(1, 5)}-{rng.randint(10, 28)}  {rng.randint(8, 19):02}:{rng.randint(10, 59)}", ""), ("", "")]
        for name, price in lines:
            pieces = rng.choice([1, 1, 1, 2])
            rows.append((f"{pieces} x {name}", f"{pieces * price / 100:.2f}"))
            cents += pieces * price
        rows += [("", ""), ("TOTAL", f"{cents / 100:.2f}"), (rng.choice(["CARD", "CASH"]), f"{cents / 100:.2f}"), ("", ""), ("Thank you!", "")]
        for row, (left, right) in enumerate(rows):
            body += f'<text x="24" y="{44 + row * 23}" font-size="15">{left}</text><text x="276" y="{44 + row * 23}" font-size="15" text-anchor="end">{right}</text>'
        yield {"receipt": f"R{number + 1:03}", "receipt_url": svg(f"receipt-{number + 1:03}", 300, 380, body)}


def messages(rng, count):
    for number in range(count):
        text = rng.choice(MESSAGES[rng.choice(list(MESSAGES))])
        a, b = rng.sample(STATIONS, 2)
        yield {"number": f"M-{4100 + number}", "message": text.format(
            a=a, b=b, n=rng.randint(12, 55), ref=f"T{rng.randint(10**6, 10**7)}", hour=f"{rng.randint(6, 21)}:{rng.choice(['05', '20', '40'])}",
            day=rng.choice(["Monday", "Tuesday", "Wednesday", "Friday"]))}


def comparisons(rng, count):
    for question, one, two in QUESTIONS[:count]:
        swap = rng.random() < 0.5
        yield {"question": question, "text_a": two if swap else one, "text_b": one if swap else two}


def surveys(rng, count):
    for number in range(count):
        theme, habit = THEMES[number % len(THEMES)]
        yield {"theme": theme, "habit": habit, "persona": PERSONAS[(number * 5 + number // 5) % len(PERSONAS)]}


def addresses(rng, count):
    for _ in range(count):
        name, street, town = f"{rng.choice(FIRST)} {rng.choice(LAST)}", rng.choice(STREETS), rng.choice(STATIONS)
        postcode, house_number = f"{rng.choice('HMCPA')}{rng.randint(1, 9)} {rng.randint(1, 9)}{rng.choice(['TR', 'LN', 'QX'])}", rng.randint(1, 140)
        company = rng.choice(COMPANIES + [None, None])
        yield {"address": rng.choice([
            ", ".join(filter(None, [name, company, f"{house_number} {street}", f"{town} {postcode}"])),
            ", ".join(filter(None, [company, f"attn. {name}", f"{street} {house_number}", postcode, town]))])}
