"""A mitmproxy addon: whatever the host, connect to one address. The counterpart of `--connect-to`.

The hook `server_connect` could change the address too, but mitmproxy then no longer finds the connection again for the
next request, and opens one for each.
"""

import asyncio

from mitmproxy import ctx

open_connection = asyncio.open_connection


async def redirected(_host, _port, **options):
    host, port = ctx.options.redirect_to.split(":")
    return await open_connection(host, int(port), **options)


class Redirect:
    def load(self, loader):
        loader.add_option("redirect_to", str, "", "HOST:PORT to connect to")
        asyncio.open_connection = redirected


addons = [Redirect()]
