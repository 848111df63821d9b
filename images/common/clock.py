"""The site's wall clock: what the file named by SITE_CLOCK_FILE says, looked at anew for every request.

Import it before the framework, so that no module keeps a reference to the real clock. Time stands still between
changes of the file and may jump backwards; monotonic clocks stay real. Without the variable it is real time.
"""
import datetime
import os
from email.utils import format_datetime

import time_machine

FILE = os.environ.get("SITE_CLOCK_FILE")
_now = None
_traveller = None


def read():
    with open(FILE, encoding="ascii") as lines:
        now = datetime.datetime.fromisoformat(lines.readline().strip().rstrip("Z"))
    return now if now.tzinfo else now.replace(tzinfo=datetime.timezone.utc)


def turn():
    """Moves the process to the file's time, if that has changed, and returns it."""
    global _now, _traveller
    now = read()
    if _traveller is None:
        _traveller = time_machine.travel(now, tick=False).start()
    elif now != _now:
        _traveller.move_to(now, tick=False)
    _now = now
    return now


def at_site_time(app):
    """A WSGI application that runs `app` at the site's time and dates its answers by it."""
    if not FILE:
        return app

    def dated(environ, start_response):
        date = format_datetime(turn(), usegmt=True)

        def start(status, headers, *rest):
            kept = [header for header in headers if header[0].lower() != "date"]
            return start_response(status, [*kept, ("Date", date)], *rest)

        return app(environ, start)

    return dated


if FILE:
    turn()
