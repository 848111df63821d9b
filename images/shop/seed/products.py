"""Makes the catalogue: product classes, categories, 3,000 products with prices, attributes, stock and pictures."""
import os
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal

from django.conf import settings
from django.utils.text import slugify
from oscar.apps.catalogue.categories import create_from_breadcrumbs
from oscar.core.loading import get_model

import goods
from draw import draw

Product, ProductClass, ProductCategory, ProductImage = (
    get_model("catalogue", name) for name in ("Product", "ProductClass", "ProductCategory", "ProductImage"))
Attribute, AttributeValue = get_model("catalogue", "ProductAttribute"), get_model("catalogue", "ProductAttributeValue")
Recommendation = get_model("catalogue", "ProductRecommendation")
Partner, StockRecord = get_model("partner", "Partner"), get_model("partner", "StockRecord")

COUNT = 3000
UNCOLOURED = {"Books", "Food", "Beauty"}
PRINTED = {"book", "boardgame", "chocolate", "preserve"}  # drawings that carry the product's name
SUPPLIERS = ["Central warehouse", "Harbour Street depot", "Northern supply"]

OPENINGS = [
    "{kind} from {brand}, with {one} and {two}.",
    "The {mark} is {brand}'s answer to a simple wish: {one}. It also comes with {two}.",
    "Made for daily use, this {kind} offers {one} and {two}.",
    "{brand} has made the {mark} for people who notice {one}; they will like {two} as well.",
    "A {kind} that gets the small things right: {one}, {two}.",
]
MIDDLES = [
    "We have had one in the office since spring and nobody has wanted to give it back.",
    "It is the version our buyers chose after trying seven.",
    "Repairs and spare parts are arranged through us for as long as the model is made.",
    "The design has changed little over the years, because little needed changing.",
    "It arrives in a plain cardboard box without plastic.",
    "Customers tell us that they come back for a second one.",
    "It makes a good present for someone who has everything but this.",
]
CLOSINGS = ["{fact}: {value}.", "Worth knowing: {fact_low} {value}.", "In short: {fact_low} {value}, colour {colour}."]
BOOK_WORDS = {
    "Fiction": ("Salt|Winter|Glass|Paper|Quiet|Northern|Hollow|Copper|Borrowed|Distant|Crooked|Last",
                "Road|House|Orchard|Ledger|Harbour|Inheritance|Ferry|Season|Garden|Witness|Bridge|Letters"),
    "Cooking and Food": ("Weeknight|Slow|Green|One-Pot|Sunday|Simple|Seasonal|Village|Baker's|Coastal|Frugal|Friday",
                         "Table|Pies|Kitchen|Suppers|Bread|Soups|Plates|Pantry|Preserves|Oven|Feasts|Beans"),
    "Travel and History": ("Forgotten|Northern|Old|Hidden|Royal|Wandering|Iron|Western|Drowned|Upland|Merchant|Lost",
                           "Canals|Islands|Railways|Roads|Towns|Kings|Rivers|Harbours|Frontiers|Valleys|Maps|Markets"),
    "Children's Books": ("Brave|Sleepy|Invisible|Little|Upside-Down|Singing|Curious|Muddy|Moonlit|Tiny|Hungry|Runaway",
                         "Bear|Kite|Tram|Mouse|Lighthouse|Dragon|Baker|Hedgehog|Submarine|Snowman|Fox|Goose"),
}
AUTHORS = [f"{first} {last}" for first in "Ada Ines Tom Ruth Karel Maud Leo Petra Hugh Wanda".split()
           for last in "Harcourt Lindqvist Osei Varga Tremayne Holm Castellan Brandt".split()]


def priced(rng, low, high):
    raw = low * (high / low) ** rng.random()
    return Decimal(int(raw)) + rng.choice([Decimal("0.99"), Decimal("0.49"), Decimal("0.00"), Decimal("0.95")])


def sentence(text):
    return text[:1].upper() + text[1:]


def imagine(rng, entry, taken):
    """One product of a category, under a title that nothing else bears."""
    while True:
        brand = rng.choice(goods.BRANDS[entry["department"]].split("|"))
        kind, mark, colour = rng.choice(entry["kinds"]), rng.choice(entry["marks"]), rng.choice(entry["colours"])
        facts = {name: rng.choice(values) for name, values in entry["facts"].items()}
        if entry["department"] == "Books":
            first, second = (rng.choice(words.split("|")) for words in BOOK_WORDS[entry["name"]])
            mark = rng.choice([f"The {first} {second}", f"{first} {second}", mark])
            facts = {"Author": rng.choice(AUTHORS), "Publisher": brand, **facts}
            title = f"{mark}: {kind} ({facts['Format']})"
        elif entry["department"] in UNCOLOURED:
            title = f"{brand} {mark} {kind}, {facts['Content']}"
        else:
            title = f"{brand} {mark} {kind}, {colour}"
        if title not in taken:
            break
    taken.add(title)
    one, two = rng.sample(entry["traits"], 2)
    fact = rng.choice(list(facts))
    words = {"brand": brand, "kind": kind.lower(), "mark": mark, "one": one, "two": two, "colour": colour.lower(),
             "fact": fact, "fact_low": fact.lower(), "value": facts[fact]}
    paragraphs = [sentence(rng.choice(OPENINGS).format(**words)), rng.choice(MIDDLES),
                  rng.choice(CLOSINGS[:2] if entry["department"] in UNCOLOURED else CLOSINGS).format(**words)]
    if entry["department"] not in UNCOLOURED:
        facts = {"Brand": brand, "Colour": colour, **facts}
    elif entry["department"] != "Books":
        facts = {"Brand": brand, **facts}
    return {"entry": entry, "title": title, "colour": colour, "facts": facts, "price": priced(rng, *entry["price"]),
            "label": mark, "description": "".join(f"<p>{part}</p>" for part in paragraphs)}


def plan(rng):
    taken, found = set(), []
    for number, entry in enumerate(goods.CATEGORIES):
        entry["colours"] = rng.sample(list(goods.COLOURS), 9)
        share = COUNT // len(goods.CATEGORIES) + (number < COUNT % len(goods.CATEGORIES))
        found += [imagine(rng, entry, taken) for _ in range(share)]
    rng.shuffle(found)  # so that a list of all products is a mixed one
    return found


def picture_of(item):
    shape = item["entry"]["shape"]
    named = f"-{slugify(item['label'])}" if shape in PRINTED else ""
    return f"products/{shape}-{slugify(item['colour'])}{named}.webp"


def paint(task):
    path, shape, colour, label, number = task
    draw(shape, goods.COLOURS[colour], label, number, number % 5 - 2).save(path, quality=80)


def pictures(items):
    wanted = {picture_of(item): (item["entry"]["shape"], item["colour"], item["label"]) for item in items}
    os.makedirs(f"{settings.SEEDED_MEDIA}/products", exist_ok=True)
    tasks = [(f"{settings.SEEDED_MEDIA}/{name}", *wanted[name], number) for number, name in enumerate(sorted(wanted))]
    with ProcessPoolExecutor() as pool:
        list(pool.map(paint, tasks, chunksize=20))


def classes():
    """One product class a department, with every attribute that its categories use."""
    made = {}
    for entry in goods.CATEGORIES:
        name = entry["department"]
        if name not in made:
            made[name] = (ProductClass.objects.create(name=name, track_stock=True, requires_shipping=True), {})
        kind, attributes = made[name]
        basic = ["Author", "Publisher"] if name == "Books" else ["Brand"] + ["Colour"] * (name not in UNCOLOURED)
        for label in basic + list(entry["facts"]):
            if label not in attributes:
                code = slugify(label).replace("-", "_")
                attributes[label] = Attribute.objects.create(product_class=kind, name=label, code=code, type="text")
    return made


def create(rng):
    kinds, items = classes(), plan(rng)
    homes = {entry["name"]: create_from_breadcrumbs(f"{entry['department']} > {entry['name']}")
             for entry in goods.CATEGORIES}
    partners = [Partner.objects.create(name=name) for name in SUPPLIERS]
    products = Product.objects.bulk_create([
        Product(title=item["title"], slug=slugify(item["title"])[:200], upc=f"TT{100000 + number * 7}",
                description=item["description"], product_class=kinds[item["entry"]["department"]][0],
                meta_title=item["title"]) for number, item in enumerate(items)])
    AttributeValue.objects.bulk_create([
        AttributeValue(product=product, attribute=kinds[item["entry"]["department"]][1][name], value_text=value)
        for product, item in zip(products, items) for name, value in item["facts"].items()])
    ProductCategory.objects.bulk_create([
        ProductCategory(product=product, category=homes[item["entry"]["name"]]) for product, item in zip(products, items)])
    StockRecord.objects.bulk_create([
        StockRecord(product=product, partner=partners[number % 3], partner_sku=f"{item['entry']['name'][:2].upper()}-{40000 + number}",
                    price_currency="USD", price=item["price"], low_stock_threshold=5,
                    num_in_stock=0 if rng.random() < 0.03 else rng.randint(2, 180), num_allocated=0)
        for number, (product, item) in enumerate(zip(products, items))])
    ProductImage.objects.bulk_create([
        ProductImage(product=product, original=picture_of(item), display_order=0) for product, item in zip(products, items)])
    for product, other in zip(rng.sample(products, 300), rng.sample(products, 300)):
        if product != other:
            Recommendation.objects.create(primary=product, recommendation=other, ranking=1)
    pictures(items)
    return list(zip(products, items))
