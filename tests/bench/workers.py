"""How one machine's cores are used: the demo suite on 1, 2, 4, ... workers.

For each number of workers, and for the first without screenshots: episodes a minute, the busy share of
the machine meanwhile, seconds of processor an episode in our own process and in the browser's (Chromium
with its driver), and memory a worker (proportional set size at its peak, our process apart). Every run
must have one fingerprint.

    workers.py SANDBOX SUITE [--repeat N] [--workers 1,2,4]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import measured

TICKS = os.sysconf("SC_CLK_TCK")
INTERVAL = 0.1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sandbox", type=pathlib.Path)
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=4, help="repeats for each worker, 2 at least")
    parser.add_argument("--workers", default="")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    counts = [int(count) for count in options.workers.split(",") if count] or doubled(cores)
    print(f"{cores} cores\n\n| workers | episodes a minute | machine busy | CPU s an episode: ours | browser | both "
          "| MB a worker: browser | MB of ours |\n|---|---|---|---|---|---|---|---|", flush=True)
    prints, kept = set(), {}
    for count, more in [*((count, []) for count in counts), (counts[0], ["--no-screenshots"])]:
        row = measure(options, count, max(2, options.repeat * count // 2), more)
        prints.add(row["fingerprint"])
        kept |= figures(count, more, row)
        print(f"| {' '.join([str(count), *more])} | {row['rate']:.0f} | {row['busy']:.0%} | {row['ours']:.3f} | {row['browser']:.3f} "
              f"| {row['ours'] + row['browser']:.3f} | {row['memory']:.0f} | {row['own_memory']:.0f} |", flush=True)
    if len(prints) != 1:
        sys.exit(f"workers: {len(prints)} fingerprints instead of one")
    print(f"\none fingerprint: {prints.pop()}")
    measured.keep("bench-workers", kept)


def figures(count, more, row):
    """The figures that are kept of a row, by their ids."""
    both = row["ours"] + row["browser"]
    if more:
        return {"processor-no-screenshots": both, "rate-no-screenshots": row["rate"]} if count == 1 else {}
    if count > 2:
        return {}
    kept = {f"processor-{count}": both, f"memory-{count}": row["memory"]}
    return kept | ({"own-1": row["ours"], "rate-1": row["rate"]} if count == 1 else {})


def doubled(cores):
    """1, 2, 4, ... up to half as many workers again as there are cores."""
    counts = [1]
    while 2 * counts[-1] <= cores:
        counts.append(2 * counts[-1])
    return [*counts, cores + (cores + 1) // 2]


def measure(options, workers, repeat, more):
    with tempfile.TemporaryDirectory() as folder:
        command = [options.sandbox, "run", options.suite, "--agent", "oracle", "--workers", workers, "--repeat", repeat, "--json",
                   "-o", f"{folder}/run", *more]
        before, start = busy_ticks(), time.monotonic()
        with open(f"{folder}/log", "w") as log:
            run = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=log)
            tree = Tree(run.pid)
            while run.poll() is None:
                tree.look()
                time.sleep(INTERVAL)
        took = time.monotonic() - start
        busy, idle = (after - then for after, then in zip(busy_ticks(), before))
        summary = json.load(run.stdout)
        if run.returncode or summary["errors"]:
            sys.exit(f"workers: the run failed: {open(f'{folder}/log').read()[-2000:]}")
        return {
            "rate": 60 * summary["episodes"] / took,
            "busy": busy / (busy + idle),
            "ours": tree.ours / TICKS / summary["episodes"],
            "browser": tree.browser / TICKS / summary["episodes"],
            "memory": tree.browser_memory / workers,
            "own_memory": tree.own_memory,
            "fingerprint": fingerprint(folder),
        }


def fingerprint(folder):
    """Over the first repeat's episodes, so that it is the same for any number of repeats."""
    lines = []
    for path in sorted(pathlib.Path(folder).glob("run/episodes/*-1/episode.json")):
        record = json.loads(path.read_text())
        lines.append(f"{record['task']} {record['fingerprint']}")
    import hashlib
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def busy_ticks():
    fields = [int(field) for field in open("/proc/stat").readline().split()[1:9]]
    idle = fields[3] + fields[4]
    return sum(fields) - idle, idle


class Tree:
    """The processes below one, and the time that they have used, in ticks.

    A parent has the time of the children that it has waited for. What vanishes otherwise is
    remembered as it was last seen.
    """

    def __init__(self, root):
        self.root, self.ours, self.seen, self.lost = root, 0, 0, 0
        self.browser_memory = self.own_memory = 0

    @property
    def browser(self):
        return self.seen + self.lost

    def look(self):
        stats = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    fields = open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()
                except OSError:
                    continue
                # Parent; own time in user and kernel mode; that of children that were waited for.
                stats[int(name)] = int(fields[1]), int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
        if self.root not in stats:
            return
        below = {self.root}
        while grown := {pid for pid, (parent, *_) in stats.items() if parent in below} - below:
            below |= grown
        below.discard(self.root)
        _, self.ours, seen = stats[self.root]
        seen += sum(own + waited for _, own, waited in (stats[pid] for pid in below))
        self.lost += max(0, self.seen - seen)
        self.seen = seen
        self.browser_memory = max(self.browser_memory, sum(map(proportional_mb, below)))
        self.own_memory = max(self.own_memory, proportional_mb(self.root))


def proportional_mb(pid):
    try:
        for line in open(f"/proc/{pid}/smaps_rollup"):
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0


if __name__ == "__main__":
    main()
