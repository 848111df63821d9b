"""Serves the shop on port 8000, in one process that stops at once when asked to."""
import os
import signal

import clock  # before all else: importing it starts the site's clock

import waitress
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
for name in (signal.SIGTERM, signal.SIGINT):
    signal.signal(name, lambda *_: os._exit(0))
application = get_wsgi_application()
import keys  # noqa: E402,F401 wants the models to be there
import writers  # noqa: E402 likewise

writers.count_nothing()

# The gateway is the only client, so X-Forwarded-Proto is taken as it comes.
waitress.serve(clock.at_site_time(application), host="0.0.0.0", port=8000, threads=4, connection_limit=1000,
               clear_untrusted_proxy_headers=False, ident=None, _quiet=True)
