#!/usr/bin/env python3
"""Plays the monkey in many worlds, each seed twice. Usage: run.py SANDBOX FOLDER EPISODES [WORLD ...]

Fails where an episode ends in an error of ours or where the two episodes of a seed differ. What is made is in FOLDER.
SHARED is the folder with real captures; without it they are left out.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

from worlds import WORLDS

ROOT = pathlib.Path(__file__).resolve().parents[2]


def play(sandbox, suite, tasks, seed, out):
    """One seed over some tasks of a suite, twice each; the records of the episodes."""
    agent = f"program:python3 -B tests/monkey/monkey.py {seed}"
    command = [sandbox, "run", suite, "--agent", agent, "--repeat", "2", "--workers", "2", "--output", out]
    command += [f"--task={task}" for task in tasks]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    paths = sorted(pathlib.Path(out).glob("episodes/*/episode.json"))
    if len(paths) < 2 * len(tasks):
        sys.exit(f"run.py: {len(paths)} of {2 * len(tasks)} episodes in {out}: exit code {done.returncode}\n{done.stdout[-4000:]}")
    return [(path.parent, json.loads(path.read_text())) for path in paths]


def cause(message):
    """An error without what differs from episode to episode."""
    return re.sub(r"\d+(\.\d+)?", "N", message)[:160]


def visit(sandbox, folder, name, episodes):
    """All seeds of a world: how many episodes there were, errors by their words, and pairs that differ."""
    suite, tasks = WORLDS[name](sandbox, folder / name, ROOT)
    played, errors, differing, seed = 0, collections.Counter(), [], 0
    while played < episodes and tasks:
        seed += 1
        some = tasks[: max(1, min(len(tasks), (episodes - played) // 2))]
        pairs = collections.defaultdict(list)
        for path, record in play(sandbox, suite, some, seed, folder / name / f"seed-{seed}"):
            played += 1
            pairs[record["task"]].append((path, record))
            if record["outcome"]["kind"] in ("error", "timeout"):
                errors[cause(record["outcome"].get("message", record["outcome"]["kind"]))] += 1
                print(f"{name}: {path}: {record['outcome']}", file=sys.stderr)
        for pair in pairs.values():
            if len({record["fingerprint"] for _, record in pair}) > 1:
                differing.append([str(path) for path, _ in pair])
    return played, errors, differing


def main(sandbox, folder, episodes, *names):
    sandbox, folder = os.path.realpath(sandbox), pathlib.Path(folder).resolve()
    rows, failed = [], False
    for name in names or WORLDS:
        played, errors, differing = visit(sandbox, folder, name, int(episodes))
        rows.append((name, played, sum(errors.values()), len(differing)))
        failed |= bool(errors or differing)
        for words, count in errors.most_common():
            print(f"{name}: {count} x {words}")
        for pair in differing:
            print(f"{name}: differ: {' '.join(pair)}")
    print(f"{'world':16}{'episodes':>10}{'errors':>10}{'differing':>10}")
    for name, played, errors, differing in rows:
        print(f"{name:16}{played:>10}{errors:>10}{differing:>10}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
