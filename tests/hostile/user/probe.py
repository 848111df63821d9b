"""A program of an episode that tells what it sees. As an agent it speaks the protocol, too.

Usage: probe.py agent|scorer|"command of attach" [PLACES.json]
"""

import json
import os
import sys


def main():
    kind = sys.argv[1]
    if kind == "agent":
        sys.stdin.readline()
        print(json.dumps({"protocol": 1}), flush=True)
        sys.stdin.readline()
        sys.stdin.readline()
    print("PROBE " + json.dumps(seen()), file=sys.stderr, flush=True)
    if kind == "agent":
        print(json.dumps({"stop": True}), flush=True)
        sys.stdin.readline()


def seen():
    told = {"places": {}, "namespaces": {}}
    if len(sys.argv) > 2:
        with open(sys.argv[2]) as file:
            told = json.load(file)
    places, spaces = told["places"], told["namespaces"]
    sees = [name for name, path in places.items() if is_readable(path)]
    processes = [entry for entry in os.listdir("/proc") if entry.isdigit()] if os.path.isdir("/proc") else []
    names = [command(entry) for entry in processes]
    if any("sleep" in name for name in names):
        sees.append("other processes")
    return {
        "sees": sees, "variables": sorted(os.environ), "user": [str(os.geteuid())],
        "own": [kind for kind, outer in spaces.items() if os.readlink(f"/proc/self/ns/{kind}") != outer],
        "listens": [],
    }


def is_readable(path):
    try:
        if os.path.isdir(path):
            return bool(os.listdir(path))
        with open(path, "rb") as file:
            return bool(file.read(1))
    except OSError:
        return False


def command(process):
    try:
        with open(f"/proc/{process}/comm") as file:
            return file.read()
    except OSError:
        return ""


if __name__ == "__main__":
    main()
