#!/usr/bin/env python3
"""Many repeats of the demo suite in one process: one fingerprint, memory that stays where it was, and nothing left behind.

    determinism.py SANDBOX [REPEATS]

Plays every task REPEATS times (32: 512 episodes) with the oracle on two workers. Prints the memory of the sandbox itself and of
all processes below it, by quarters of the run. Exit code 1: repeats differ, memory grows by more than a tenth after the first
quarter, a process was never reaped, or files are left in the folder for temporary ones.
"""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys

OUT = pathlib.Path("target/determinism")
EVERY = 2
GROWTH = 1.1


def processes():
    """Parent, state and resident memory in MB of every process."""
    page = os.sysconf("SC_PAGE_SIZE")
    found = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        found[int(stat.parent.name)] = (int(fields[1]), fields[0], int(fields[21]) * page / 1e6)
    return found


def sample(root):
    """Memory of a process and of its family, and which of those have ended and were not reaped."""
    known = processes()
    family, grown = {root}, True
    while grown:
        grown = {pid for pid, (parent, _, _) in known.items() if parent in family} - family
        family |= grown
    alive = [known[pid] for pid in family if pid in known]
    zombies = {pid for pid in family if pid in known and known[pid][1] == "Z"}
    own = known[root][2] if root in known else 0
    return own, sum(memory for _, _, memory in alive), zombies


def main():
    sandbox, repeats = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "32"
    shutil.rmtree(OUT, ignore_errors=True)
    temporary = OUT / "tmp"
    temporary.mkdir(parents=True)
    run = subprocess.Popen(
        [sandbox, "run", "tasks/demo", "--agent", "oracle", "--repeat", repeats, "--workers", "2", "--check",
         "--output", OUT / "run"], env={**os.environ, "TMPDIR": str(temporary.resolve())})
    samples, lasting = [], set()
    before = set()
    while run.poll() is None:
        try:
            run.wait(timeout=EVERY)
        except subprocess.TimeoutExpired:
            own, all_, zombies = sample(run.pid)
            samples.append((own, all_))
            # Seen twice: nobody asks for them.
            lasting |= zombies & before
            before = zombies
    quarter = max(1, len(samples) // 4)
    parts = [samples[at:at + quarter] for at in range(0, quarter * 4, quarter)]
    own = [statistics.median(own for own, _ in part) for part in parts if part]
    all_ = [statistics.median(all_ for _, all_ in part) for part in parts if part]
    print("memory by quarters of the run: sandbox " + ", ".join(f"{mb:.0f}" for mb in own)
          + " MB; with its browsers " + ", ".join(f"{mb:.0f}" for mb in all_) + " MB")
    left = sorted(path.name for path in temporary.iterdir())
    wrong = []
    if run.returncode:
        wrong.append(f"the run ended with exit code {run.returncode}")
    for name, medians in (("the sandbox", own), ("all of it", all_)):
        if medians and max(medians[1:]) > GROWTH * medians[0]:
            wrong.append(f"the memory of {name} grows")
    if lasting:
        wrong.append(f"processes were never reaped: {sorted(lasting)}")
    if left:
        wrong.append(f"files are left: {left}")
    print("\n".join(wrong) or "nothing is left behind")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
