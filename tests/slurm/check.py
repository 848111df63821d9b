#!/usr/bin/env python3
"""Runs on a Slurm cluster of three nodes on this machine, disturbed in every way that we know.

    check.py SANDBOX [--repeat 20] [--town-repeat 3] [--only NAME] [--parts N]

Each run must come to the fingerprint of the same run on this machine alone, with every episode once.
Prints a table; exit code 1 if a row is not as it should be. `run.sh` installs what this needs.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from cluster import Cluster, wait_for

ROOT = pathlib.Path(__file__).resolve().parents[2]
EMBEDDED = {"desk", "forum"}
DEADLINE = 3600


class Trial:
    """One run on the cluster, in a folder of its own."""

    def __init__(self, bench, name, suite, repeat, parts=None):
        self.bench, self.name, self.suite, self.repeat, self.parts = bench, name, suite, repeat, parts
        self.run = bench.runs / name.replace(" ", "-")
        self.log = bench.work / f"{self.run.name}.log"

    def command(self, *more):
        parts = ["--parts", str(self.parts)] if self.parts else []
        return [
            self.bench.sandbox, "run", *self.bench.suites[self.suite], "--agent", "oracle", "--repeat", str(self.repeat),
            "--scheduler", "slurm", *parts, "--json", "--output", str(self.run), *more,
        ]

    def start(self, *more):
        with open(self.log, "ab") as log, open(f"{self.log}.json", "wb") as out:
            return subprocess.Popen(self.command(*more), cwd=ROOT, env=self.bench.environment(), stdout=out, stderr=log)

    def said(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def episodes(self):
        return len(re.findall(r"^\[\d+/\d+\] \S+ (?:passed|failed|error|timed|not)", self.said(), re.M))

    def until_played(self, share):
        planned = len(self.bench.tasks[self.suite]) * self.repeat
        wait_for(f"{share:.0%} of {self.name}", DEADLINE, lambda: self.episodes() >= planned * share)

    def summary(self):
        text = pathlib.Path(f"{self.log}.json").read_text()
        return json.loads(text) if text.strip() else None

    def submissions(self):
        lines = (self.run / "slurm/submissions.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines if '"parts"' in line]

    def problems(self, code):
        """What is wrong with a run that should have gone well."""
        summary, expected = self.summary(), self.bench.local(self.suite, self.repeat)
        planned = len(self.bench.tasks[self.suite]) * self.repeat
        problems = [] if code == 0 else [f"exit code {code}"]
        if summary is None:
            return problems + ["no summary"]
        there = list((self.run / "episodes").iterdir())
        checks = {
            "fingerprint": summary["fingerprints"] == expected["fingerprints"],
            "episodes": summary["episodes"] == planned == len(there),
            "told": self.episodes() >= planned,
            "errors": summary["errors"] == 0,
            "parts left": not (self.run / "parts").exists(),
            "report": (self.run / "report.html").exists(),
            "layout": not any(path.name.startswith(".") for path in there),
        }
        return problems + [name for name, is_well in checks.items() if not is_well]


class Bench:
    def __init__(self, sandbox, work, cluster):
        self.sandbox, self.work, self.cluster = str(pathlib.Path(sandbox).resolve()), work, cluster
        self.runs = work / "shared"
        self.runs.mkdir()
        self.temporary = work / "tmp"
        self.temporary.mkdir()
        town = [path for path in sorted((ROOT / "tasks/town").glob("*.yaml")) if sites(path) and sites(path) <= EMBEDDED]
        self.tasks = {
            "demo": [path.stem for path in (ROOT / "tasks/demo").glob("*.yaml") if path.stem != "suite"],
            "town": [path.stem for path in town],
        }
        self.suites = {
            "demo": ["tasks/demo"],
            "town": ["tasks/town", *(f"--task={task}" for task in self.tasks["town"])],
        }
        self.known = {}

    def environment(self):
        data, temporary = str(self.work / "data"), str(self.temporary)
        return {**self.cluster.environment, "SANDBOX_DATA": data, "TMPDIR": temporary}

    def local(self, suite, repeat):
        """The summary of the same run on this machine alone."""
        if (suite, repeat) not in self.known:
            command = [self.sandbox, "run", *self.suites[suite], "--agent", "oracle", "--repeat", str(repeat),
                       "--workers", "2", "--json", "--output", str(self.work / f"local-{suite}-{repeat}")]
            done = subprocess.run(command, cwd=ROOT, env=self.environment(), capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(f"the run on this machine alone: {done.stderr[-2000:]}")
            self.known[suite, repeat] = json.loads(done.stdout)
        return self.known[suite, repeat]

    def jobs(self):
        done = subprocess.run(["squeue", "-h", "-r", "-o", "%i"], env=self.cluster.environment, capture_output=True, text=True)
        return done.stdout.split()


def sites(path):
    found = re.search(r"^sites: \[(.*)\]", path.read_text(), re.M)
    return {name.strip() for name in found[1].split(",")} if found else set()


def finish(process):
    return process.wait(timeout=DEADLINE)


def undisturbed(trial):
    code = finish(trial.start())
    again = re.findall(r"part \d+ is submitted again: .*", trial.said())
    return trial.problems(code), f"{len(trial.submissions())} submissions{''.join('; ' + why for why in again)}"


def play_an_episode(pids):
    """Whether one of these processes is in the middle of an episode: its folder begins with a dot until it has ended."""
    for pid in pids:
        try:
            words = (pathlib.Path("/proc") / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
            folder = pathlib.Path(os.readlink(f"/proc/{pid}/cwd"))
        except OSError:
            continue
        if {"--shard", "--output"} <= set(words):
            part = folder / words[words.index("--output") + 1]
            if any((part / "episodes").glob(".*-*")):
                return True
    return False


def node_killed(trial):
    process = trial.start()
    trial.until_played(0.3)
    trial.bench.cluster.kill_node("n2", play_an_episode)
    code = finish(process)
    again = [part for one in trial.submissions()[1:] for part in one["parts"]]
    trial.bench.cluster.restore("n2")
    problems = trial.problems(code) + ([] if again else ["no part was submitted again"])
    return problems, f"parts submitted again: {', '.join(map(str, again))}"


def controller_killed(trial):
    process = trial.start()
    trial.until_played(0.3)
    trial.bench.cluster.kill_controller()
    wait_for("the command to say that Slurm is away", 120, lambda: "is asked again" in trial.said())
    trial.bench.cluster.start_controller()
    # A controller that comes back starts jobs again that had begun since it last saved its state,
    # and drains their nodes ("Duplicate jobid"), until an administrator resumes them.
    def has_ended():
        trial.bench.cluster.resume_drained()
        return process.poll() is not None

    wait_for("the command to end", DEADLINE, has_ended, every=2)
    code = finish(process)
    away = trial.said().count("is asked again")
    return trial.problems(code), f"told {away} times that it was away; {len(trial.submissions())} submissions"


def submitter_killed(trial):
    process = trial.start()
    trial.until_played(0.3)
    process.kill()
    process.wait()
    code = finish(trial.start("--resume"))
    count = len(trial.submissions())
    return trial.problems(code) + ([] if count == 1 else ["submitted twice"]), f"resumed; {count} submission"


def interrupted(trial):
    process = trial.start()
    trial.until_played(0.2)
    process.send_signal(signal.SIGINT)
    left = finish(process)
    problems = [] if left == 4 and "the jobs go on; come back with" in trial.said() else [f"left with {left}"]
    problems += [] if trial.bench.jobs() else ["no job goes on"]
    told = trial.episodes()
    process = trial.start("--resume")
    # It tells what was played, and so it follows.
    wait_for("the resumed command to follow", 120, lambda: trial.episodes() > told)
    process.send_signal(signal.SIGINT)
    wait_for("the command to say how to cancel", 60, lambda: trial.said().count("interrupt again") == 2)
    process.send_signal(signal.SIGINT)
    cancelled = finish(process)
    problems += [] if cancelled == 4 and "the jobs are cancelled" in trial.said() else [f"cancelled with {cancelled}"]
    wait_for("the jobs to be gone", 60, lambda: not trial.bench.jobs())
    code = finish(trial.start("--resume"))
    return problems + trial.problems(code), "left, cancelled, resumed"


def spoiled(before, expected):
    """A node is spoiled; it is named with the reason, and left out."""

    def disturb(trial):
        cluster = trial.bench.cluster
        cluster.kill_node("n2")
        cluster.start_node("n2", before(trial))
        cluster.resume("n2")
        wait_for("n2 to be idle", 60, lambda: cluster.states().get("n2") == "idle")
        code = finish(trial.start())
        cluster.restore("n2")
        named = [line for line in trial.said().splitlines() if "node n2 is left out: " in line]
        problems = trial.problems(code)
        if not any(expected in line for line in named):
            problems.append(f"not named: {expected}")
        why = named[0].split("left out: ")[1] if named else "not named"
        return problems, why

    return disturb


def no_chromium(trial):
    return "mount -t tmpfs none /usr/lib/chromium && mount --bind /dev/null /usr/bin/chromium"


def other_chromium(trial):
    shell = pathlib.Path("/usr/lib/chromium/chromium-headless-shell")
    program = shell if shell.exists() else pathlib.Path("/usr/lib/chromium/chromium")
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.split()[1]
    other = trial.bench.work / "other-chromium"
    major = version.split(".")[0]
    other.write_text(f'#!/bin/sh\n[ "$1" != --version ] || exec echo "Chromium {major}.0.1.2"\nexec /usr/lib/chromium/chromium "$@"\n')
    other.chmod(0o755)
    return f"mount --bind {other} {program}"


def other_snapshot(trial):
    other = trial.bench.work / "other.wacz"
    text = bytearray((ROOT / "snapshots/demo.wacz").read_bytes())
    text[len(text) // 2] ^= 1
    text[-40] ^= 1
    other.write_bytes(text)
    return f"mount --bind {other} {ROOT}/snapshots/demo.wacz"


def full_disk(trial):
    return f"mount -t tmpfs -o size=16m none {trial.bench.temporary}"


def no_shared_folder(trial):
    return f"mount -t tmpfs none {trial.bench.runs}"


def all_spoiled(trial):
    """Where every node is spoiled there is an error that names each, and no result."""
    cluster = trial.bench.cluster
    for node in cluster.nodes:
        cluster.kill_node(node)
        cluster.start_node(node, other_snapshot(trial))
        cluster.resume(node)
    cluster.wait_until_idle()
    code = finish(trial.start())
    for node in cluster.nodes:
        cluster.restore(node)
    cluster.wait_until_idle()
    problems = [] if code == 3 else [f"exit code {code}"]
    problems += [f"{node} is not named" for node in cluster.nodes if f"{node}: " not in trial.said()]
    problems += ["there are results"] if list((trial.run / "episodes").iterdir()) else []
    return problems, trial.said().splitlines()[-1][:100]


def trials(arguments):
    demo, town, few = ("demo", arguments.repeat), ("town", arguments.town_repeat), ("demo", 1)
    yield "demo", demo, undisturbed
    yield "town", town, undisturbed
    yield "demo, node killed", demo, node_killed
    yield "town, node killed", town, node_killed
    yield "demo, controller killed", demo, controller_killed
    yield "demo, submitter killed", demo, submitter_killed
    yield "demo, interrupted", ("demo", 2), interrupted
    yield "node without Chromium", few, spoiled(no_chromium, "install")
    yield "node with another Chromium", few, spoiled(other_chromium, "and the run is played with")
    yield "node with another snapshot", few, spoiled(other_snapshot, "demo.wacz is another file")
    yield "node with a full disk", few, spoiled(full_disk, "MiB free")
    yield "node without the shared folder", few, spoiled(no_shared_folder, "is that folder there")
    yield "every node with another snapshot", few, all_spoiled


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sandbox")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--town-repeat", type=int, default=3)
    parser.add_argument("--parts", type=int)
    parser.add_argument("--only", action="append")
    arguments = parser.parse_args()
    # Ended from outside, it takes the cluster down as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    work = pathlib.Path(tempfile.mkdtemp(prefix="sandbox-slurm-", dir="/var/tmp"))
    cluster = Cluster(work / "slurm")
    rows, failed = [], 0
    try:
        # Builds may replace the program while it is in use.
        sandbox = shutil.copy2(arguments.sandbox, work / "sandbox")
        cluster.start()
        bench = Bench(sandbox, work, cluster)
        for name, (suite, repeat), disturb in trials(arguments):
            if arguments.only and name not in arguments.only:
                continue
            cluster.wait_until_idle()
            trial = Trial(bench, name, suite, repeat, arguments.parts)
            bench.local(suite, repeat)
            began = time.monotonic()
            try:
                problems, note = disturb(trial)
            except (TimeoutError, subprocess.TimeoutExpired, OSError, RuntimeError) as error:
                problems, note = [str(error)], ""
            seconds = time.monotonic() - began
            if problems:
                failed += 1
                sys.stderr.write(f"--- {name}: what it said\n{trial.said()[-4000:]}\n")
                shutil.copytree(trial.run / "slurm", f"/var/tmp/sandbox-slurm-failed-{trial.run.name}", dirs_exist_ok=True)
            fingerprint = (trial.summary() or {}).get("fingerprints") or [{"fingerprint": "none"}]
            rows.append((name, len(bench.tasks[suite]) * repeat, f"{seconds:.0f} s", fingerprint[0]["fingerprint"][:12],
                         "; ".join(problems) or "as it should be", note))
            print(" | ".join(map(str, rows[-1])), flush=True)
    finally:
        cluster.stop()
        shutil.rmtree(work, ignore_errors=True)
    print()
    heads = ("run", "episodes", "time", "fingerprint", "result", "what was seen")
    widths = [max(len(str(row[column])) for row in [heads, *rows]) for column in range(len(heads) - 1)]
    for row in [heads, *rows]:
        print("  ".join([str(cell).ljust(width) for cell, width in zip(row, widths)] + [row[-1]]))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
