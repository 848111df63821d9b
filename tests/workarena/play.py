#!/usr/bin/env python3
"""Plays tasks of the package `browsergym-workarena`, unmodified, on the desk.

    play.py SERVER [--level N] [--workers N] [--output FILE] [--wrong] [--one-of-each] [TASK[:SEED]...]

SERVER is the program of `cargo build -p embedded-sites --example itsm_serve`. TASK is the name of a
class, such as `CreateIncidentTask`, or a part of it. Without SEED its published ones are played,
without TASK all of the level: 330, 235 and 235. Each is played on a fresh state: set up, judged (must
be 0 and not done), solved by the package's own oracle, judged (must be 1 and done), torn down. Levels
2 and 3 are solved part by part, and no part but the last earns anything. With --wrong the oracle of
level 1 is made to do something else (wrong.py), and must be judged 0. With --one-of-each one seed of
each kind is played; at levels 2 and 3 one of each module of the package.

Prints a line for each task; exit code 1 if one was not as it must be. FILE gets a JSON line each.
"""

import argparse
import functools
import json
import multiprocessing
import pathlib
import sys
import time

import browsergym.workarena
from browsergym.workarena import ATOMIC_TASKS, get_all_tasks_agents
from desk import Desk
from playwright.sync_api import sync_playwright
from wrong import spoil

DATA = pathlib.Path(browsergym.workarena.__file__).parent / "data_files"
CHROMIUM = "/usr/bin/chromium"
# What the package's own scripts say on the list after a form, where they look for a form, too.
NOT_OURS = {"gsftSubmit is not defined", "g_form is not defined"}


def wanted(options):
    """Pairs of a number in `published` and a seed."""
    found = []
    for number, (task, seed) in enumerate(published(options.level)):
        names = [name.partition(":") for name in options.tasks]
        chosen = [given for name, _, given in names if name in task.__name__]
        if names and not chosen:
            continue
        found.append((number, int(chosen[0]) if chosen and chosen[0] else int(seed)))
    if options.one_of_each:
        kinds = {kind_of(published(options.level)[number][0]): (number, seed) for number, seed in reversed(found)}
        found = sorted(kinds.values())
    # A seed that was given is played once, not once for each published one.
    classes = {(published(options.level)[number][0], seed): (number, seed) for number, seed in reversed(found)}
    return sorted(classes.values()) or sys.exit(f"play: there is no task {' '.join(options.tasks)}")


@functools.cache
def published(level):
    """The classes and seeds of a level, as the package plays agents."""
    return get_all_tasks_agents(filter=f"l{level}")


def kind_of(task):
    """The class at level 1; above, the module: a class of a level is made from that of the module."""
    return task.__name__ if task in ATOMIC_TASKS else task.__mro__[1].__module__


def play(browser, task, wrong):
    """What the package says of one task: (as it must be, words)."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    errors = []
    # The package's own scripts fail on pages that they are not for.
    page.on("pageerror", lambda error: errors.append(str(error)) if "/assets/" in (error.stack or "") else None)
    try:
        task.setup(page=page)
        wrongs = compositional(task, page) if hasattr(task, "subtasks") else atomic(task, page, wrong)
        task.teardown()
    except Exception as error:  # what the package raises is of many kinds
        wrongs = [f"{type(error).__name__}: {' '.join(str(error).split())[:600]} (at {page.url})"]
    finally:
        context.close()
    if errors := [error for error in errors if error not in NOT_OURS]:
        wrongs.append(f"errors of the page: {errors[:3]}")
    return not wrongs, "; ".join(wrongs)


def atomic(task, page, wrong):
    chat, wrongs = [], []
    before = task.validate(page, chat)
    if (before[0], bool(before[1])) != (0, False):
        wrongs.append(f"before {before}")
    if wrong:
        spoil(task)
    task.cheat(page, chat)
    after = task.validate(page, chat)
    if (after[0] != 0) if wrong else ((after[0], bool(after[1])) != (1, True)):
        wrongs.append(f"after {after}")
    return wrongs


def compositional(task, page):
    """As the package's own test does it, with its waits."""
    chat = []
    for part in range(len(task)):
        page.wait_for_timeout(1000)
        task.cheat(page=page, chat_messages=chat, subtask_idx=part)
        page.wait_for_timeout(1000)
        judged = task.validate(page=page, chat_messages=chat)
        last = part == len(task) - 1
        if (judged[0], bool(judged[1])) != ((1, True) if last else (0, False)):
            return [f"part {part + 1} of {len(task)} ({type(task.subtasks[part]).__name__}): {judged}"]
    return []


def work(server, level, tasks, results, wrong):
    desk = Desk(server, str(DATA))
    desk.to_environment()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        while (pair := tasks.get()) is not None:
            desk.reset()
            began = time.monotonic()
            try:
                task = published(level)[pair[0]][0](seed=pair[1])
                good, words = play(browser, task, wrong)
            except Exception as error:  # a task that cannot even be made
                good, words = False, f"{type(error).__name__}: {error}"
            results.put((pair, good, words, time.monotonic() - began))
        browser.close()
    desk.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--level", type=int, default=1, choices=(1, 2, 3))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--one-of-each", action="store_true")
    parser.add_argument("tasks", nargs="*")
    options = parser.parse_intermixed_args()
    pairs = wanted(options)
    tasks, results = multiprocessing.Queue(), multiprocessing.Queue()
    for pair in [*pairs, *[None] * options.workers]:
        tasks.put(pair)
    workers = [multiprocessing.Process(target=work, args=(options.server, options.level, tasks, results, options.wrong))
               for _ in range(options.workers)]
    for worker in workers:
        worker.start()
    failed = 0
    lines = open(options.output, "w") if options.output else None
    for _ in pairs:
        (number, seed), good, words, took = results.get(timeout=900)
        kind = published(options.level)[number][0].__name__
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
