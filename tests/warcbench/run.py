#!/usr/bin/env python3
"""WARC-Bench's own tasks, in its own recordings, as far as they are there.

Usage: run.py SANDBOX SHARED [--short]

SHARED has datasets/warc-bench/ with the benchmark's JSON and CSV files and, under
captures/sanjari-orb+warc-bench/, its recordings. Every task is started twice and left alone, which
has to give one fingerprint each; those with a solution in oracles.yaml are solved, which has to
earn 1. With --short the solutions alone are played. Exit code 1: a task did not start, differs between
its repeats, or was not solved; each is named with what differs.
"""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Of a step: how long things took on this machine, which is no part of a fingerprint.
TIMES = {"at_ms", "agent_ms", "acting_ms"}


def import_suite(sandbox, shared, suite):
    """Makes the suite anew, with the solutions; says how many tasks it has."""
    data = shared / "datasets/warc-bench"
    files = sorted(data.glob("benchmark_*.json"))
    kinds = [option for file in sorted(data.glob("tasks_*.csv")) for option in ("--kinds", str(file))]
    archives = shared / "captures/sanjari-orb+warc-bench"
    shutil.rmtree(suite, ignore_errors=True)
    command = [sandbox, "tasks", "import", "warcbench", *map(str, files), *kinds]
    said = subprocess.run(
        [*command, "--archives", str(archives), "--output", str(suite)],
        check=True, capture_output=True, text=True,
    ).stdout
    left_out = Counter(re.sub(r"^left out \S+: ", "", line) for line in said.splitlines()
                       if line.startswith("left out"))
    for why, count in left_out.items():
        print(f"{count} left out: {why}")
    solved = []
    for block in re.split(r"^(?=\S+:$)", (HERE / "oracles.yaml").read_text(), flags=re.M)[1:]:
        task, steps = block.split(":\n", 1)
        with (suite / f"{task}.yaml").open("a") as file:
            file.write(f"oracle:\n{steps}")
        solved.append(task)
    return len(list(suite.glob("*.yaml"))) - 1, solved


def play(sandbox, suite, out, agent, tasks=(), repeat=1):
    """Runs tasks, all where none is named; the episodes by task, in the order of their repeats."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sandbox, "run", str(suite), "--agent", agent, "--repeat", str(repeat), "--workers", "2",
               "--output", str(out), "--json"]
    for task in tasks:
        command += ["--task", task]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    episodes = {}
    for folder in sorted((out / "episodes").iterdir()):
        record = json.loads((folder / "episode.json").read_text())
        episodes.setdefault(record["task"], {})[record["repeat"]] = (folder, record)
    return {task: [repeats[key] for key in sorted(repeats)] for task, repeats in episodes.items()}


def lines(folder, name):
    with (folder / name).open() as file:
        return [json.loads(line) for line in file]


def differences(first, second):
    """What two repeats differ in, for people."""
    for one, other in zip(lines(first, "trace.jsonl"), lines(second, "trace.jsonl")):
        for key in one.keys() | other.keys():
            if key not in TIMES and one.get(key) != other.get(key):
                yield f"step {one['step']}: {key}"
    asked = [Counter(f"{line['method']} {line['url']}" for line in lines(folder, "ledger.jsonl"))
             for folder in (first, second)]
    for repeat, (own, others) in enumerate((asked, asked[::-1]), 1):
        for request in own - others:
            yield f"repeat {repeat} alone asks for {request[:300]}"


def main():
    sandbox, shared = sys.argv[1], Path(sys.argv[2])
    work = HERE.parent.parent / "target/warcbench"
    work.mkdir(parents=True, exist_ok=True)
    suite = work / "suite"
    imported, solutions = import_suite(sandbox, shared, suite)
    print(f"{imported} tasks imported")
    wrong = 0
    if "--short" not in sys.argv:
        episodes = play(sandbox, suite, work / "noop", "noop", repeat=2)
        same, started = 0, 0
        for task, repeats in episodes.items():
            failed = [record["outcome"] for _, record in repeats if record["outcome"]["kind"] != "stopped"]
            started += not failed
            for outcome in failed:
                wrong += 1
                print(f"{task} did not start: {outcome}")
            (first, one), (second, other) = repeats
            if one["fingerprint"] == other["fingerprint"]:
                same += 1
                continue
            wrong += 1
            print(f"{task} differs:")
            for line in differences(first, second):
                print(f"  {line}")
        print(f"{started} started, {same} of {len(episodes)} with one fingerprint in 2 repeats")
    episodes = play(sandbox, suite, work / "oracle", "oracle", solutions)
    solved = 0
    for task, [(_, record)] in episodes.items():
        if record["score"] == 1.0:
            solved += 1
            continue
        wrong += 1
        print(f"{task} is not solved: {record['outcome']} {(record.get('detail') or {}).get('wrong')}")
    print(f"{solved} of {len(solutions)} solutions earn 1")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
