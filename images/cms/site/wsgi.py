"""The application under the site's clock: the named file is read at the start of each request, before Django looks at the time."""

import datetime
import os

import time_machine

CLOCK_FILE = os.environ.get("SITE_CLOCK_FILE")


def read_clock():
    with open(CLOCK_FILE, encoding="ascii") as file:
        return datetime.datetime.strptime(file.readline().strip(), "%Y-%m-%d %H:%M:%S").replace(tzinfo=datetime.timezone.utc)


if CLOCK_FILE:
    clock = time_machine.travel(read_clock(), tick=False).start()

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")

from django.core.wsgi import get_wsgi_application  # noqa: E402

django_application = get_wsgi_application()


def application(environ, start_response):
    if CLOCK_FILE:
        clock.move_to(read_clock())
    return django_application(environ, start_response)
