#!/usr/bin/env python3
"""kill -9 at random moments: no result is lost, none is there twice, none changes, and what broke is counted as an error.

    kills.py SANDBOX FAKE_MODEL [SEED] [containers]

Plays 208 episodes of the demo suite with an agent that asks a model, and with `containers` 100 more of the
town's hits and wiki, on two workers each. Every few seconds one of these is killed: the runner itself (and resumed), a browser, a
driver, the model's server (and started again), a container; of the 100 mostly containers. Exit code 1: an episode that had been kept is gone or has changed, an episode is missing or there
twice, the counts of errors disagree, a browser outlives its runner, or playing the errors again does not bring each task to one
fingerprint.
"""

import collections
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys

OUT = pathlib.Path("target/kills")
PORT = "18933"
# Seconds between two kills, at random.
PAUSE = (1.0, 5.0)
WITHIN = 1800


def family(root):
    """All processes below one, with the names of their programs."""
    known = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            before, after = stat.read_text().rsplit(")", 1)
        except OSError:
            continue
        known[int(stat.parent.name)] = (before.split("(", 1)[1], int(after.split()[1]))
    found, grown = {}, {root}
    while grown:
        grown = {pid: name for pid, (name, parent) in known.items() if parent in grown and pid not in found}
        found.update(grown)
    return found


class Model:
    """The model's server, in a process of its own."""

    def __init__(self, program):
        self.program = program
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.program, PORT], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline().startswith("http"), "the model's server says where it is"

    def kill(self):
        self.process.kill()
        self.process.wait()


class Trial:
    """One run that is killed at until it is whole."""

    def __init__(self, sandbox, model, name, suite, options, victims):
        self.sandbox, self.model, self.victims = sandbox, model, victims
        # Each in turn, in an order of chance.
        self.turn = []
        self.out = OUT / name
        self.command = [sandbox, "run", suite, "--workers", "2", "--agent", "direct", "--model", "fake-1", "--output",
                        str(self.out), *options]
        self.kept, self.wrong, self.kills = {}, [], collections.Counter()
        self.outlived = set()

    def start(self, *more):
        address = {"OPENAI_BASE_URL": f"http://127.0.0.1:{PORT}/v1", "OPENAI_API_KEY": "none"}
        resume = ["--resume"] if (self.out / "run.json").exists() else []
        with open(OUT / "log", "ab") as log:
            return subprocess.Popen([*self.command, *resume, *more], env={**os.environ, **address}, stdout=log, stderr=log)

    def look(self):
        """What is kept must stay as it is."""
        now = {}
        for path in self.out.glob("episodes/[!.]*/episode.json"):
            now[path.parent.name] = hashlib.sha256(path.read_bytes()).hexdigest()
        for name, digest in self.kept.items():
            if now.get(name) != digest:
                self.wrong.append(f"{name} was kept, and is " + ("changed" if name in now else "gone"))
        self.kept = now

    def kill_one(self, run):
        below = family(run.pid)
        if not self.turn:
            self.turn = random.sample(self.victims, len(self.victims))
        victim = self.turn.pop()
        if victim == "runner":
            run.kill()
            run.wait()
            self.outlived |= {pid for pid, name in below.items() if name.startswith(("chrom", "headless"))}
        elif victim == "model":
            self.model.kill()
            self.model.start()
        elif victim == "container":
            names = subprocess.run(["docker", "ps", "--format", "{{.ID}}", "--filter", "label=sandbox.site"],
                                   capture_output=True, text=True, check=True).stdout.split()
            if not names:
                return
            subprocess.run(["docker", "kill", "-s", "KILL", random.choice(names)], capture_output=True)
        else:
            prefixes = {"browser": ("chromium", "chrome", "headless"), "driver": ("chromedriver",)}[victim]
            pids = [pid for pid, name in below.items() if name.startswith(prefixes) and not (
                victim == "browser" and name.startswith("chromedriver"))]
            if not pids:
                return
            try:
                os.kill(random.choice(pids), signal.SIGKILL)
            except ProcessLookupError:
                return
        self.kills[victim] += 1

    def play(self):
        run = self.start()
        while True:
            try:
                code = run.wait(timeout=random.uniform(*PAUSE))
            except subprocess.TimeoutExpired:
                self.kill_one(run)
                self.look()
                if run.poll() == -signal.SIGKILL:
                    run = self.start()
                continue
            if code == 0:
                return
            # A world that does not come up at first, or three times in a row, ends a run; it can be
            # resumed.
            if code not in (3,):
                self.wrong.append(f"the run ended with exit code {code}")
                return
            run = self.start()

    def check(self):
        self.look()
        record = json.loads((self.out / "run.json").read_text())
        planned = {(task["id"], repeat) for task in record["tasks"] for repeat in range(1, record["repeat"] + 1)}
        episodes = [json.loads(path.read_text()) for path in self.out.glob("episodes/*/episode.json")]
        counted = collections.Counter((episode["task"], episode["repeat"]) for episode in episodes)
        if set(counted) != planned or set(counted.values()) != {1}:
            self.wrong.append(f"{len(planned)} episodes were planned, {sum(counted.values())} are there")
        errors = sum(episode["outcome"]["kind"] == "error" for episode in episodes)
        summary = json.loads(subprocess.run([self.sandbox, "report", self.out, "--json"], capture_output=True, check=True).stdout)
        if summary["errors"] != errors or summary["episodes"] != len(planned):
            self.wrong.append(f"{errors} errors are there, {summary['errors']} are counted")
        alive = {pid for pid in self.outlived if pathlib.Path(f"/proc/{pid}").exists()}
        if alive:
            self.wrong.append(f"browsers outlive their runner: {sorted(alive)}")
        print(f"{self.out.name}: {len(planned)} episodes, killed " + ", ".join(f"{count} {what}" for what, count in
              sorted(self.kills.items())) + f"; {errors} errors")
        return errors

    def mend(self):
        """Plays the errors again, with nobody killing; then every task has one fingerprint."""
        self.kept = {}
        run = self.start("--retry-errors")
        if run.wait(timeout=WITHIN) != 0:
            self.wrong.append("the errors could not be played again")
        prints = collections.defaultdict(set)
        for path in self.out.glob("episodes/*/episode.json"):
            episode = json.loads(path.read_text())
            prints[episode["task"]].add(episode["fingerprint"])
            if episode["outcome"]["kind"] == "error":
                self.wrong.append(f"{path.parent.name} is still an error: {episode['outcome']['message']}")
        several = [task for task, found in prints.items() if len(found) > 1]
        if several:
            self.wrong.append(f"tasks have several fingerprints: {', '.join(several)}")


def main():
    sandbox, program = sys.argv[1:3]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    random.seed(seed)
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    model = Model(program)
    trials = [Trial(sandbox, model, "demo", "tasks/demo", ["--repeat", "13"], ["runner", "browser", "driver", "model"])]
    if "containers" in sys.argv[4:]:
        tasks = ["--task=hits-address", "--task=wiki-two-towns"]
        victims = ["runner", "container", "container", "container"]
        trials.append(Trial(sandbox, model, "town", "tasks/town", ["--repeat", "50", *tasks], victims))
    wrong = []
    for trial in trials:
        trial.play()
        trial.check()
        trial.mend()
        wrong += trial.wrong
    model.kill()
    print("\n".join(wrong) or "nothing was lost, nothing is there twice, nothing changed")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
