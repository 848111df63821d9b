"""A program that tries every way to the solutions, and says which of them led there.

Usage: thief.py WAYS.json [agent]     (`agent`: it speaks the protocol of agent programs, too)
"""

import hashlib
import json
import os
import re
import subprocess
import sys


def main():
    if sys.argv[2:] == ["agent"]:
        sys.stdin.readline()
        say({"protocol": 1})
        sys.stdin.readline()
        sys.stdin.readline()
    try:
        with open(sys.argv[1]) as file:
            ways = json.load(file)
    except OSError as error:
        # What it needs is hidden as well, where all is.
        ways = {"its own file": f"echo {error}"}
    sought = re.compile((os.environ["MARK"] + "[0-9a-f]{16}|REACHED").encode())
    for way, script in ways.items():
        try:
            done = subprocess.run(
                ["sh", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, timeout=20,
            )
            found = sought.search(done.stdout)
        except subprocess.TimeoutExpired as error:
            found = sought.search(error.stdout or b"")
        if found:
            # Not as it is: what is said here can be read by the next ways.
            digest = hashlib.sha256(found[0]).hexdigest()
            print(f"FOUND {digest} by {way}", file=sys.stderr, flush=True)
    print("THIEF DONE", len(ways), file=sys.stderr, flush=True)
    if sys.argv[2:] == ["agent"]:
        say({"stop": True})
        sys.stdin.readline()


def say(message):
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
