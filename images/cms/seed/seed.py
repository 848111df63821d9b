"""Builds the magazine: editors and moderators, sections, articles with drawn pictures, events, and the search index."""

import io
import itertools
import os
import random
import sys
import uuid

import time_machine

RNG = random.Random("review")
uuid.uuid4 = lambda: uuid.UUID(int=RNG.getrandbits(128), version=4)
TRAVELLER = time_machine.travel("2023-01-09T08:00:00+00:00", tick=False)
CLOCK = TRAVELLER.start()
sys.path[:0] = ["/srv/site", os.path.dirname(__file__)]
os.environ["DJANGO_SETTINGS_MODULE"] = "settings"

import django  # noqa: E402

django.setup()

import datetime  # noqa: E402

from django.contrib.auth.hashers import make_password  # noqa: E402
from django.contrib.auth.models import Group, User  # noqa: E402
from django.core.files.images import ImageFile  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils.text import slugify  # noqa: E402

call_command("migrate", verbosity=0)

from magazine.models import ArticlePage, EventPage, HomePage, SectionPage, TextPage  # noqa: E402
from wagtail.images.models import Image  # noqa: E402
from wagtail.models import Page, Site  # noqa: E402

from picture import draw  # noqa: E402

UTC = datetime.timezone.utc
HERE = os.path.dirname(os.path.abspath(__file__))
PASSWORD = "letterpress-2023"
AUTHORS = ["Hanna Voss", "Idris Cole", "Ruth Abara", "Noah Pike", "Elin Dahl"]
SLOTS = {
    "sum": ["14,200", "38,000", "61,500", "9,750"], "street": ["Cooper's Lane", "Quay Street", "Station Street", "Castle Hill", "Net Loft Row", "Priory Road"],
    "person": ["Marta Wren", "Piet Langley", "Soraya Amin", "Gus Merrow", "Joan Holt"], "price": ["6.50", "9", "11.80", "14"],
    "hours": ["two hours", "an hour and a half", "three hours", "a long morning"],
}


def user(name, full, group=None, admin=False):
    first, last = full.split(" ", 1)
    made = User.objects.create_user(name, f"{name}@elleryreview.test", PASSWORD, first_name=first, last_name=last, is_superuser=admin, is_staff=admin)
    made.password = make_password(PASSWORD, salt=f"review{name}".ljust(24, "0"))  # a short salt would be renewed at the first log-in
    made.save()
    if group:
        made.groups.add(Group.objects.get(name=group))
    return made


def sections(path):
    current = None
    for line in open(os.path.join(HERE, path), encoding="utf-8").read().splitlines():
        if line.startswith("# "):
            current = (line[2:], [])
            yield current
        elif line:
            current[1].append(line)


def fill(text):
    for slot, words in SLOTS.items():
        if "{" + slot + "}" in text:
            text = text.replace("{" + slot + "}", RNG.choice(words))
    return text


def picture(title, number):
    image = Image(title=title, uploaded_by_user=USERS[0], file=ImageFile(io.BytesIO(draw(number)), name=f"{slugify(title)[:40]}.jpg"))
    image.save()
    return image


def publish(parent, page, when, author):
    CLOCK.move_to(when)
    page.owner = author
    parent.add_child(instance=page)
    page.save_revision(user=author).publish(user=USERS[1])
    return page


admin = user("admin", "Review Administrator", admin=True)
USERS = [user("hanna", "Hanna Voss", "Editors"), user("idris", "Idris Cole", "Moderators"), user("ruth", "Ruth Abara", "Editors"), user("noah", "Noah Pike", "Editors")]
root = Page.objects.get(depth=1)
Page.objects.filter(depth=2).delete()
root = Page.objects.get(depth=1)
home = HomePage(title="The Ellery Review", slug="home", motto="Port Ellery, its harbour and its people, every Thursday since 1902", owner=admin)
root.add_child(instance=home)
home.save_revision(user=admin).publish()
Site.objects.all().delete()
Site.objects.create(hostname="cms.test", port=443, root_page=home, is_default_site=True, site_name="The Ellery Review")

pools = dict(sections("paragraphs.txt"))
start = datetime.datetime(2023, 3, 16, 7, 0, tzinfo=UTC)
listed = [(head.split(" | "), lines) for head, lines in sections("articles.txt")]
pages = {}
for (name, line), _ in listed:
    pages[name] = publish(home, SectionPage(title=name, slug=slugify(name), intro=line, show_in_menus=True), start - datetime.timedelta(days=60), admin)
turns = [(name, entry) for entries in itertools.zip_longest(*[[(head[0], e) for e in lines] for head, lines in listed]) for name, entry in filter(None, entries)]
for number, (name, entry) in enumerate(reversed(turns)):
    title, lead = entry.split(" :: ")
    when = start + datetime.timedelta(days=2 * number + number // 6, hours=RNG.randrange(0, 9), minutes=RNG.randrange(60))
    paragraphs = RNG.sample(pools[name], 4)
    body = [("paragraph", f"<p>{fill(p)}</p>") for p in paragraphs[:2]] + [("heading", RNG.choice(["What happens next", "How it began", "Seen close by", "The other side"]))]
    body += [("paragraph", f"<p>{fill(p)}</p>") for p in paragraphs[2:]]
    if number % 3 == 0:
        body.insert(3, ("quote", RNG.choice(["One gets used to everything except the wind.", "Ask me again when the tide is out.", "It was meant to last a summer."])))
    article = ArticlePage(title=title, slug=slugify(title)[:60], lead=lead, author=AUTHORS[number % 5], date=when.date(), body=body, picture=picture(title, number))
    article.tags.add(*RNG.sample(["harbour", "summer", "council", "history", "walking", "music", "food", "children"], 2))
    publish(pages[name], article, when, USERS[number % 3 if number % 3 != 1 else 3])
listings = publish(home, SectionPage(title="What's on", slug="whats-on", intro="The next three weeks in town", show_in_menus=True), start, admin)
for number, line in enumerate(open(os.path.join(HERE, "events.txt"), encoding="utf-8").read().splitlines()):
    title, at, place, text = line.split(" :: ")
    starts = datetime.datetime.strptime(at, "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
    publish(listings, EventPage(title=title, slug=slugify(title)[:60], starts=starts, place=place, text=f"<p>{text}</p>"),
            datetime.datetime(2023, 6, 1, 9, number * 4, tzinfo=UTC), USERS[2])
for title, text in (("About us", "<p>The Ellery Review is written by five people in a net loft and read by nine thousand. It appears on Thursdays.</p>"),
                    ("Letters", "<p>Letters of up to 200 words reach us at Net Loft Row 3. We print the kind ones and the good unkind ones.</p>"),
                    ("Advertising", "<p>A quarter page costs 120, a small notice 8. Lost cats are free.</p>"),
                    ("Imprint", "<p>The Ellery Review, Net Loft Row 3, Port Ellery. Responsible: Idris Cole.</p>")):
    publish(home, TextPage(title=title, text=text, show_in_menus=False), start, admin)

# Two drafts, one of them handed in for moderation.
CLOCK.move_to("2023-06-14T16:20:00+00:00")
for title, lead, submit in (("The ferry that would not stop", "A captain, a rope and a very short night: what really happened on Saturday.", True),
                            ("Ten questions for the new librarian", "She has read the rules, and has some remarks.", False)):
    draft = ArticlePage(title=title, slug=slugify(title), lead=lead, author="Hanna Voss", date=datetime.date(2023, 6, 15), live=False, owner=USERS[0],
                        body=[("paragraph", f"<p>{fill(pools['People'][0])}</p>")])
    pages["News"].add_child(instance=draft)
    draft.save_revision(user=USERS[0])
    if submit:
        draft.get_workflow().start(draft, USERS[0])

CLOCK.move_to("2023-06-15T08:30:00+00:00")
call_command("rebuild_references_index", verbosity=0)
call_command("update_index", verbosity=0)
User.objects.update(last_login=None)
client = Client(HTTP_HOST="cms.test")
for page in Page.objects.live().filter(depth__gt=1).order_by("path"):
    assert client.get(page.get_url()).status_code == 200, page
staff = Client(HTTP_HOST="cms.test")
staff.force_login(admin)
for path in ("/admin/", "/admin/images/", "/admin/pages/", "/admin/reports/site-history/"):
    assert staff.get(path, follow=True).status_code == 200, path
User.objects.update(last_login=None)
from django.db import connection  # noqa: E402

connection.cursor().execute("vacuum")
