#!/usr/bin/env python3
"""Plays tasks of the package `browsergym-workarena`, unmodified, on the desk.

    play.py SERVER [--workers N] [--output FILE] [--wrong] [TASK[:SEED]...]

SERVER is the program of `cargo build -p embedded-sites --example itsm_serve`. TASK is the name of a
class, such as `CreateIncidentTask`, or its end. Without SEED its published ten are played, without
TASK all 330 of level 1. Each is played on a fresh state: set up, judged (must be 0 and not done),
solved by the package's own oracle, judged (must be 1 and done), torn down. With --wrong the oracle
is made to do something else (wrong.py), and must be judged 0.

Prints a line for each task; exit code 1 if one was not as it must be. FILE gets a JSON line each.
"""

import argparse
import json
import multiprocessing
import pathlib
import sys
import time

import browsergym.workarena
from browsergym.workarena import ATOMIC_TASKS, get_all_tasks_agents
from desk import Desk
from playwright.sync_api import sync_playwright

DATA = pathlib.Path(browsergym.workarena.__file__).parent / "data_files"
CHROMIUM = "/usr/bin/chromium"


def wanted(names):
    """Pairs of the name of a class and a seed."""
    published = [(task.__name__, int(seed)) for task, seed in get_all_tasks_agents(filter="l1")]
    if not names:
        return published
    found = []
    for name in names:
        name, _, seed = name.partition(":")
        kinds = [task.__name__ for task in ATOMIC_TASKS if task.__name__.removesuffix("Task").endswith(name.removesuffix("Task"))]
        if not kinds:
            sys.exit(f"play: there is no task {name}")
        for kind in kinds:
            found += [(kind, int(seed))] if seed else [pair for pair in published if pair[0] == kind]
    return found


def play(browser, kind, seed, wrong):
    """What the package says of one task: (as it must be, words)."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    try:
        page = context.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        task = next(one for one in ATOMIC_TASKS if one.__name__ == kind)(seed=seed)
        task.setup(page=page)
        chat = []
        before = task.validate(page, chat)
        if wrong:
            from wrong import spoil

            spoil(task)
        task.cheat(page, chat)
        after = task.validate(page, chat)
        task.teardown()
        good = (before[0], bool(before[1])) == (0, False)
        good = good and (after[0] == 0 if wrong else (after[0], bool(after[1])) == (1, True))
        words = [] if good else [f"before {before[:2]}, after {after[:2]}: {after[3]}"]
        if errors:
            words.append(f"errors of the page: {errors[:3]}")
        return good and not errors, "; ".join(words)
    except Exception as error:  # what the package raises is of many kinds
        words = f"{type(error).__name__}: {' '.join(str(error).split())[:600]}"
        return False, f"{words} (at {page.url})"
    finally:
        context.close()


def work(server, tasks, results, wrong):
    desk = Desk(server, str(DATA))
    desk.to_environment()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        while (task := tasks.get()) is not None:
            desk.reset()
            began = time.monotonic()
            good, words = play(browser, *task, wrong)
            results.put((task, good, words, time.monotonic() - began))
        browser.close()
    desk.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("tasks", nargs="*")
    options = parser.parse_args()
    pairs = wanted(options.tasks)
    tasks, results = multiprocessing.Queue(), multiprocessing.Queue()
    for pair in [*pairs, *[None] * options.workers]:
        tasks.put(pair)
    workers = [multiprocessing.Process(target=work, args=(options.server, tasks, results, options.wrong))
               for _ in range(options.workers)]
    for worker in workers:
        worker.start()
    failed = 0
    lines = open(options.output, "w") if options.output else None
    for _ in pairs:
        (kind, seed), good, words, took = results.get(timeout=600)
        failed += not good
        print(f"{'ok    ' if good else 'FAILED'} {kind}:{seed} ({took:.1f} s) {words}", flush=True)
        if lines:
            lines.write(json.dumps({"kind": kind, "seed": seed, "ok": good, "why": words, "seconds": round(took, 2)}) + "\n")
    for worker in workers:
        worker.join(30)
    print(f"{len(pairs) - failed} of {len(pairs)} as they must be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
