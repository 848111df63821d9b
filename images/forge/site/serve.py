"""Serves the forge on port 8000, in one process that stops at once when asked to."""
import os
import signal

import clock  # before all else: importing it starts the site's clock

import forge
import waitress

for name in (signal.SIGTERM, signal.SIGINT):
    signal.signal(name, lambda *_: os._exit(0))

# The gateway is the only client, so X-Forwarded-Proto is taken as it comes.
waitress.serve(clock.at_site_time(forge.application()), host="0.0.0.0", port=8000, threads=4,
               clear_untrusted_proxy_headers=False, ident=None, _quiet=True)
