"""Twenty small sites on one server, each under its own host name.

    sites.py [--port PORT]      # serves them until it is interrupted
"""

import argparse
import threading

from origin import Origin
from small import accounts, forms, scripted

SITES = sorted((*forms.SITES, *accounts.SITES, *scripted.SITES), key=lambda kind: kind.name)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--port", type=int, default=0)
    origin = Origin(SITES, options.parse_args().port)
    print(f"proxy http://127.0.0.1:{origin.port}")
    for kind in SITES:
        print(f"  http://{kind.host()}/")
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        origin.close()


if __name__ == "__main__":
    main()
