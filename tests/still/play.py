#!/usr/bin/env python3
"""Plays generated pages, each several times, and says which of them differ.

    play.py --sandbox BINARY [--pages 40] [--seed 1] [--first 0] [--visits 6] [--workers 1]
            [--browser PATH] [--load N] [--nice N] [--cpu LIST] [--recorded] [--timeout SECONDS]
            [--allow N] [--output FOLDER] [--elsewhere] [--minimise]
    play.py --sandbox BINARY --corpus               # the kept pages
    play.py --sandbox BINARY --libraries [NAME...]  # the pages of libraries
    play.py --sandbox BINARY --each NAME...         # every feature alone, beside these
    play.py --sandbox BINARY --only NAME... [--minimise]   # one page with these features

Exit code 1: more than --allow pages differ or stall that are not known to (`# Open:` in their
files), or one was not played. With --minimise each page that differs is reduced while it still does, and
kept in `corpus/`.
"""

import argparse
import json
import pathlib
import signal
import sys
import time

import corpus
import libraries
import pages
from differences import difference, ended
from grammar import CATALOG
from minimise import minimised
from world import Options, play

BATCH = 40


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it has to be 1 or more")
    return number


def arguments():
    parser = argparse.ArgumentParser(description="Plays generated pages, and says which differ.")
    parser.add_argument("--sandbox", default="target/release/sandbox", type=pathlib.Path)
    parser.add_argument("--output", default="target/still", type=pathlib.Path)
    parser.add_argument("--pages", type=positive, default=40)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0, help="number of the first page")
    parser.add_argument("--visits", type=positive, default=6)
    parser.add_argument("--timeout", type=int, default=10, help="seconds that a visit may take")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--browser", help="path of Chromium or of its headless shell")
    parser.add_argument("--load", type=int, default=0, help="busy processes on each core")
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--cpu", help="processors to play on, as in taskset")
    parser.add_argument(
        "--recorded", action="store_true", help="record the pages first, and play the recording"
    )
    parser.add_argument(
        "--elsewhere",
        action="store_true",
        help="all visits but the first as on another machine: one processor, another place",
    )
    parser.add_argument("--corpus", action="store_true", help="play the kept pages")
    parser.add_argument(
        "--libraries",
        nargs="*",
        metavar="NAME",
        help="play the pages of these libraries, or of all",
    )
    parser.add_argument(
        "--each", nargs="*", metavar="NAME", help="play every feature alone, beside these"
    )
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="play one page with these features"
    )
    parser.add_argument("--allow", type=int, default=0, help="how many pages may differ or stall")
    parser.add_argument("--minimise", action="store_true")
    return parser.parse_args()


def chosen(given):
    """The pages to play: names of tasks, and their features."""
    if given.corpus:
        return corpus.read()
    if given.libraries is not None:
        return {name: [name] for name in given.libraries or libraries.NAMES}
    if given.only:
        return {"only": given.only}
    if given.each is not None:
        return {name: [name, *(other for other in given.each if other != name)] for name in CATALOG}
    numbers = range(given.first, given.first + given.pages)
    return {f"{given.seed}-{number}": pages.composed(given.seed, number) for number in numbers}


def main():
    # So that what was started is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("interrupted"))
    given = arguments()
    options = Options(
        given.sandbox.resolve(),
        given.output.resolve(),
        given.visits,
        given.timeout,
        given.workers,
        given.browser,
        given.load,
        given.nice,
        given.cpu,
        given.recorded,
        pages if given.libraries is None else libraries,
        given.elsewhere,
    )
    options.output.mkdir(parents=True, exist_ok=True)
    wanted, begun = chosen(given), time.monotonic()
    differ, unplayed, results = {}, [], options.output / "result.jsonl"
    results.write_text("")
    names = list(wanted)
    for start in range(0, len(names), BATCH):
        batch = {name: wanted[name] for name in names[start : start + BATCH]}
        for name, episodes in play(options, batch).items():
            found = judged(name, batch[name], episodes, options, results)
            if found:
                differ[name] = found
            elif len(episodes) < options.visits or any(broken(one, options) for one in episodes):
                unplayed.append(name)
    seconds = time.monotonic() - begun
    summary(wanted, differ, unplayed, options, seconds)
    if given.minimise:
        for name, found in differ.items():
            corpus.keep(*minimised(options, wanted[name], found), name)
    known = known_to_differ(given)
    for name in [name for name in known if name in wanted]:
        equal = "" if name in [*differ, *unplayed] else " (equal this time)"
        print(f"open: {name}: {known[name]}{equal}")
    # What was not played says nothing, and is never allowed.
    sys.exit(bool(unplayed) or len(set(differ) - set(known)) > given.allow)


def known_to_differ(given):
    """The names of the pages of which it is known, with the reason."""
    if given.libraries is not None:
        return libraries.still_open()
    return corpus.still_open() if given.corpus else {}


def broken(episode, options):
    """What went wrong in a visit. On the page of a library, every action has to be possible."""
    if options.kind is libraries and episode.outcome != "error":
        early = [] if episode.outcome == "answered" else [ended(episode)]
        return early + episode.refused()
    return [ended(episode)] if episode.broke() else []


def judged(name, features, episodes, options, results):
    """How the visits of a page differ; printed, and written to a file with the results."""
    found = difference(episodes)
    failed = sorted({message for one in episodes for message in broken(one, options)})
    with results.open("a") as file:
        walls = [one.wall_ms for one in episodes]
        line = {
            "page": name,
            "features": features,
            "visits": len(episodes),
            "wall_ms": walls,
            "errors": failed,
        }
        file.write(json.dumps(line | {"differs": vars(found) if found else None}) + "\n")
    label = labelled(name)
    if found:
        what = found if found.stalls else f"differs: {found}"
        print(f"{label} {what}\n      {' '.join(features)}", flush=True)
    for message in failed:
        print(f"{label} had an error: {message}", flush=True)
    if len(episodes) < options.visits and not found:
        print(f"{label} was visited {len(episodes)} times of {options.visits}", flush=True)
    return found


def labelled(name):
    """A page as `seed:number`; others by their names."""
    return name.replace("-", ":", 1) if name[0].isdigit() else name


def summary(wanted, differ, unplayed, options, seconds):
    """The last lines."""
    stall = [name for name, found in differ.items() if found.stalls]
    differ = [name for name in differ if name not in stall]
    print(
        f"{len(differ)} of {len(wanted)} pages differ in {options.visits} visits, {len(stall)}"
        f" stall, {len(unplayed)} with errors; {seconds / len(wanted):.1f} s a page"
    )
    for what, names in (("differ", differ), ("stall", stall)):
        if names:
            print(f"{what}: {' '.join(map(labelled, names))}")


if __name__ == "__main__":
    main()
