"""Fills the shop: run once while the image is built, with the clock at the world's first moment."""
import datetime
import os
import random

import time_machine

NOW = datetime.datetime(2023, 6, 15, 9, tzinfo=datetime.timezone.utc)
clock = time_machine.travel(NOW, tick=False).start()


def moment(days_ago):
    """Sets the clock, so that what is made next is dated as if made then."""
    clock.move_to((NOW - datetime.timedelta(days=days_ago)).replace(microsecond=0), tick=False)


os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
import django  # noqa: E402

django.setup()

from django.apps import apps  # noqa: E402
from django.contrib.contenttypes.models import ContentType  # noqa: E402
from django.contrib.flatpages.models import FlatPage  # noqa: E402
from django.contrib.sites.models import Site  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402

PAGES = {
    "/delivery/": ("Delivery", "<p>Delivery within the United States is free. Parcels leave our warehouse within two working "
                   "days and take three to five more. To Canada and the United Kingdom allow ten working days.</p>"),
    "/returns/": ("Returns and refunds", "<p>Send anything back within 45 days, used or not. Write the order number on the "
                  "parcel; the refund reaches you within a week of its arrival. Opened food cannot be returned.</p>"),
    "/about/": ("About us", "<p>We began in 2011 with one shelf of notebooks and a borrowed van. Today 34 people choose, test "
                "and pack three thousand things that we would give to a friend.</p>"),
    "/contact/": ("Contact", "<p>Telephone 412-555-0142, weekdays from nine to five. Or write to help@tallyandthread.example; "
                  "we answer within a day.</p>"),
}


def fill():
    import keys  # noqa: F401
    import opinions
    import people
    import products
    import trade

    rng = random.Random(20230615)
    moment(540)
    Site.objects.update(domain="shop.test", name="Tally & Thread")
    for address, (title, content) in PAGES.items():
        FlatPage.objects.create(url=address, title=title, content=content).sites.add(1)
    goods = products.create(rng)
    customers = people.create(rng, moment)
    moment(0)
    trade.create(rng, moment, goods, customers)
    opinions.create(rng, moment, goods, customers)
    moment(0)


call_command("migrate", verbosity=0, interactive=False)
ContentType.objects.clear_cache()
apps.get_app_config("haystack").signal_processor.teardown()  # the index is made once, at the end
with transaction.atomic():
    fill()
    call_command("rebuild_index", interactive=False, verbosity=0)
with connection.cursor() as cursor:
    cursor.execute("INSERT INTO search_words(search_words) VALUES ('optimize')")
    cursor.execute("PRAGMA journal_mode = DELETE")
    cursor.execute("VACUUM")
    cursor.execute("ANALYZE")
