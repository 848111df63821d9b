"""Makes suites of generated pages, plays them with `sandbox run`, and reads what came of it."""

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import types

import pages
from grammar import FAR, HOST, OTHER
from load import busy

# What another machine has in its environment.
ELSEWHERE = {"TZ": "Asia/Tokyo", "LANG": "de_DE.UTF-8", "LANGUAGE": "de:fr"}
HERE = pathlib.Path(__file__).resolve().parent
CLOCK = "2026-03-12T08:30:00Z"
SITE = f"""title: Laboratory
description: Generated pages.
driver: process
command: [python3, -B, {json.dumps(str(HERE / "server.py"))}, "{{port}}"]
hosts: [{HOST}, {OTHER}, {FAR}]
reset: never
"""


@dataclasses.dataclass
class Options:
    """How pages are played."""

    sandbox: pathlib.Path
    output: pathlib.Path
    visits: int = 6
    # Seconds that a visit may take. One that takes longer stalls.
    timeout: int = 10
    workers: int = 1
    browser: str | None = None
    load: int = 0
    nice: int = 0
    cpu: str | None = None
    recorded: bool = False
    # What makes the pages: `pages` or `libraries`.
    kind: types.ModuleType = pages
    # Whether all visits but the first are as on another machine.
    elsewhere: bool = False
    # Variables of the environment, besides those of this process.
    variables: dict = dataclasses.field(default_factory=dict)

    def environment(self):
        """What `sandbox` sees: a data folder of its own, and consent to the command of the site."""
        more = {"SANDBOX_CHROMIUM": self.browser} if self.browser else {}
        return {
            **os.environ,
            "SANDBOX_DATA": str(self.output / "data"),
            "SANDBOX_TRUST": "1",
            **more,
            **self.variables,
        }

    def moved(self):
        """The same on another machine."""
        return dataclasses.replace(self, cpu="0", variables=ELSEWHERE)

    def command(self, *words):
        """A command of the program, with its priority and its processors."""
        before = ["nice", "-n", str(self.nice)] if self.nice else []
        before += ["taskset", "-c", self.cpu] if self.cpu else []
        return before + [str(self.sandbox), *map(str, words)]


@dataclasses.dataclass
class Episode:
    """One visit of a page: how it ended, and what was seen at each step."""

    fingerprint: str
    outcome: str
    message: str
    wall_ms: int
    steps: list
    requests: dict

    def broke(self):
        """Whether it went wrong, and not by the page, which may cover or lose a control."""
        return self.outcome == "error" and "oracle step" not in self.message

    def refused(self):
        """The actions that could not be done, and why."""
        return [
            f"step {step['step']}, {step['action']}: {step['error']}"
            for step in self.steps
            if step.get("error")
        ]


def write_suite(folder, batch, kind, recorded):
    """A suite with a task for each page of a batch, which maps names of tasks to features."""
    suite = folder / "suite"
    suite.mkdir(parents=True)
    if recorded:
        world = "snapshots: [../web.wacz]"
    else:
        site = folder / "sites/lab"
        site.mkdir(parents=True)
        (site / "site.yaml").write_text(SITE)
        world = "sites: ../sites"
    (suite / "suite.yaml").write_text(f"world:\n  {world}\n  clock: {CLOCK}\n")
    for name, features in batch.items():
        task = {
            "id": name,
            "goal": "Look at the page.",
            "start_url": kind.address(features),
            "max_steps": 60,
            "scorer": {"equals": "done"},
            "oracle": kind.steps(features),
        }
        if not recorded:
            task["sites"] = ["lab"]
        lines = (f"{key}: {json.dumps(value)}\n" for key, value in task.items())
        (suite / f"{name}.yaml").write_text("".join(lines))
    return suite


def play(options, batch):
    """Plays each page of a batch `options.visits` times. Returns the episodes of each.

    A page whose first visit stalls is not visited again.
    """
    folder = options.output / "batch"
    shutil.rmtree(folder, ignore_errors=True)
    suite = write_suite(folder, batch, options.kind, options.recorded)
    if options.recorded:
        record(options, folder, batch)
    with busy(options.load):
        played = visited(options, folder, suite, batch, 1)
        again = [
            name for name in batch if not any(one.outcome == "timed_out" for one in played[name])
        ]
        if again and options.visits > 1:
            others = options.moved() if options.elsewhere else options
            for name, episodes in visited(others, folder, suite, again, options.visits - 1).items():
                played[name] += episodes
    return played


def visited(options, folder, suite, names, visits):
    """Some visits of some pages: the episodes of each."""
    run, log = folder / f"run-{visits}", folder / f"log-{visits}"
    shutil.rmtree(run, ignore_errors=True)
    command = options.command(
        "run",
        suite,
        "--agent",
        options.kind.AGENT,
        "--repeat",
        visits,
        "--workers",
        options.workers,
        "--no-screenshots",
        "--color",
        "never",
        "--episode-timeout",
        f"{options.timeout}s",
        "--output",
        run,
        *(word for name in names for word in ("--task", name)),
    )
    with log.open("w") as file:
        subprocess.run(
            command, env=options.environment(), stdout=file, stderr=file, stdin=subprocess.DEVNULL
        )
    played = {name: [episode(run, name, visit) for visit in range(1, visits + 1)] for name in names}
    if not any(one for episodes in played.values() for one in episodes):
        sys.exit(f"nothing was played:\n{log.read_text()[-3000:]}")
    return {name: [one for one in episodes if one] for name, episodes in played.items()}


def episode(run, name, visit):
    """One episode of a run, if it was played."""
    folder = run / f"episodes/{name}-{visit}"
    try:
        ended = json.loads((folder / "episode.json").read_text())
    except FileNotFoundError:
        return None
    steps = [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]
    requests = {}
    ledger = folder / "ledger.jsonl"
    for line in ledger.read_text().splitlines() if ledger.exists() else []:
        request = json.loads(line)
        if request["status"] and request.get("destination") != "serviceworker":
            word = (
                f"{request['method']} {request['status']} {request['answer'].get('level')}"
                f" {request['url']}"
            )
            requests.setdefault(request["step"], []).append((word, request.get("destination")))
    outcome = ended["outcome"]
    return Episode(
        ended["fingerprint"],
        outcome["kind"],
        outcome.get("message", ""),
        ended["wall_ms"],
        steps,
        requests,
    )


def record(options, folder, batch):
    """Records the pages of a batch from the server."""
    certify(folder)
    with origin(folder) as port:
        command = options.command(
            "record",
            *map(options.kind.address, batch.values()),
            *options.kind.files_of_steps(batch),
            "--output",
            folder / "web.wacz",
            "--delay",
            0,
            "--stay",
            0,
            "--ignore-robots",
            "--connect-to",
            f":443:127.0.0.1:{port}",
            "--upstream-ca",
            folder / "ca.pem",
            "--allow-private",
        )
        with (folder / "record.log").open("w") as log:
            subprocess.run(
                command, env=options.environment(), stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
    if not (folder / "web.wacz").exists():
        sys.exit(f"nothing was recorded:\n{(folder / 'record.log').read_text()[-3000:]}")


def certify(folder):
    """A certificate for the hosts, by an authority of this run."""

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    openssl(
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "30",
        "-keyout",
        "ca.key",
        "-out",
        "ca.pem",
        "-subj",
        "/CN=Laboratory",
        "-addext",
        "basicConstraints=critical,CA:TRUE",
    )
    openssl(
        "req",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "leaf.key",
        "-out",
        "leaf.csr",
        "-subj",
        f"/CN={HOST}",
    )
    (folder / "names").write_text(
        "subjectAltName=" + ",".join(f"DNS:{host}" for host in (HOST, OTHER, FAR))
    )
    openssl(
        "x509",
        "-req",
        "-in",
        "leaf.csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-days",
        "30",
        "-extfile",
        "names",
        "-out",
        "leaf.pem",
    )


@contextlib.contextmanager
def origin(folder):
    """The server with TLS, on a free port."""
    command = [
        sys.executable,
        "-B",
        HERE / "server.py",
        "0",
        folder / "leaf.pem",
        folder / "leaf.key",
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield int(server.stdout.readline().split()[1])
    finally:
        server.terminate()
        server.wait()
