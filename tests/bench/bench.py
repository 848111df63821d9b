"""The benchmark: replay, recording, size, and requests that were never recorded. See replay.sh for how it is called."""

import argparse
import contextlib
import json
import pathlib
import shutil
import statistics
import sys

import measured
import peers
import procs
import tables
import unrecorded

THREADS, REQUESTS = 8, 2000
MILLION = 1_000_000


def main():
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    tools = peers.Tools(options.sandbox, options.load, options.venv, options.work)
    corpus = tools.corpus("bench.warc.gz")
    results = {"runs": options.runs, "threads": THREADS, "requests": REQUESTS}
    if "replay" in options.only:
        results["replay"] = replay(tools, corpus, options.runs)
        tables.print_replay(results["replay"])
    if "record" in options.only:
        results["record"] = record(tools, corpus, options.runs)
        tables.print_record(results["record"])
    if "size" in options.only:
        results["size"] = size(tools)
        tables.print_size(results["size"])
    if "unrecorded" in options.only:
        results["unrecorded"] = ask_unrecorded(tools)
        tables.print_unrecorded(results["unrecorded"])
    values = tables.values(results)
    rows = measured.judged("bench", values)
    tables.print_targets(rows)
    results["figures"] = values
    (options.work / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    measured.keep("bench", values)
    return verdict(results, rows, options.check)


def arguments():
    parser = argparse.ArgumentParser()
    for name in ("sandbox", "load", "venv", "work"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", type=lambda text: text.split(","), default=["replay", "record", "size", "unrecorded"])
    parser.add_argument("--check", action="store_true", help="exit 1 when a target is missed")
    return parser.parse_args()


def replay(tools, corpus, runs):
    """Every server serves the whole archive to the same client; `direct` is the live web that it was made from, without a proxy."""
    servers = {"pywb": peers.pywb, "mitmdump": peers.mitmdump_replay, "sandbox": peers.sandbox_replay}
    rounds = Rounds(tools, corpus)
    with contextlib.ExitStack() as running:
        live = running.enter_context(peers.origin(tools))
        for name, server in servers.items():
            procs.say(f"replay: starting {name}")
            servers[name] = running.enter_context(server(tools, corpus))
        for number in range(runs):
            rounds.load("direct", number, REQUESTS, direct=live)
            for name, server in servers.items():
                rounds.load(name, number, REQUESTS, server=server)
            rounds.load("sandbox, 20,000 requests", number, 10 * REQUESTS, server=servers["sandbox"])
    return rounds.rows()


def record(tools, corpus, runs):
    """The same web, live on loopback, through each proxy."""
    servers = {
        "mitmdump, forwarding": peers.mitmdump_forward,
        "mitmdump -w": peers.mitmdump_record,
        "sandbox, forwarding": peers.sandbox_forward,
        "sandbox record": peers.sandbox_record,
    }
    rounds = Rounds(tools, corpus)
    with contextlib.ExitStack() as running:
        live = running.enter_context(peers.origin(tools))
        for name, server in servers.items():
            procs.say(f"record: starting {name}")
            servers[name] = running.enter_context(server(tools, live))
        for number in range(runs):
            rounds.load("direct", number, REQUESTS, direct=live)
            for name, server in servers.items():
                rounds.load(name, number, REQUESTS, server=server)
        # The two that are compared to a few percent take turns more often, each as often first as
        # second.
        for number in range(runs, 4 * runs):
            pair = ["sandbox, forwarding", "sandbox record"]
            for name in pair if number % 2 else reversed(pair):
                rounds.load(name, number, REQUESTS, server=servers[name])
    rows = rounds.rows()
    rows["sandbox record"]["recorded"] = tools.count_recorded()
    rows["sandbox record"]["expected"] = 4 * runs * REQUESTS
    return rows


def size(tools):
    """Opening and serving few and very many records."""
    rows = {}
    for records in (2000, MILLION):
        procs.say(f"size: {records:,} records")
        archive = tools.corpus(f"small-{records}.warc.gz", "--shape", "small", "--urls", str(records), "--sample", "2000")
        shutil.rmtree(tools.data, ignore_errors=True)
        with peers.sandbox_replay(tools, archive, deadline=1800) as running:
            first = running.ready_ms
        rounds = Rounds(tools, archive)
        with peers.sandbox_replay(tools, archive) as running:
            rounds.load(records, 0, REQUESTS, server=running)
            rows |= rounds.rows()
            rows[records] |= {"index_ms": first, "open_ms": running.ready_ms}
    return rows


def ask_unrecorded(tools):
    """How many requests that were never recorded get a recorded body from each program."""
    archive = peers.Archive(tools.work / "shop.warc.gz", None)
    peers.run(tools.bin("python"), peers.script("unrecorded.py"), archive.warc)
    rows = {}
    for name, server in {"pywb": peers.pywb, "mitmdump": peers.mitmdump_replay, "sandbox": peers.sandbox_replay}.items():
        procs.say(f"unrecorded: {name}")
        with server(tools, archive) as running:
            rows[name] = unrecorded.probe(running.address)
    return rows


class Rounds:
    """Servers under test take turns, so that what else the machine does falls on all of them alike."""

    def __init__(self, tools, corpus):
        self.tools, self.corpus, self.reports = tools, corpus, {}

    def load(self, name, number, requests, **route):
        procs.say(f"run {number + 1}: {name}")
        self.reports.setdefault(name, []).append(self.tools.load(self.corpus, THREADS, requests, **route))

    def rows(self):
        """Each figure's median over the rounds; errors are summed."""
        return {name: row(reports) for name, reports in self.reports.items()}


def row(reports):
    middle = {key: statistics.median(report[key] for report in reports)
              for key in ("rps", "p50_ms", "p99_ms", "connects", "cpu_ms")}
    middle["rps_runs"] = [round(report["rps"]) for report in reports]
    middle["rss_mb"] = reports[-1]["rss_mb"]
    middle["errors"] = sum(report["errors"] for report in reports)
    middle["first_errors"] = [error for report in reports for error in report["first_errors"]][:5]
    return middle


def verdict(results, rows, check):
    """0 when all bodies were right and, if asked for, every target met."""
    wrong = [
        f"{part}, {name}: {row['errors']} of the requests failed: {row['first_errors']}"
        for part in ("replay", "record", "size")
        for name, row in results.get(part, {}).items()
        if row["errors"]
    ]
    recorded = results.get("record", {}).get("sandbox record", {})
    if recorded.get("recorded") != recorded.get("expected"):
        wrong.append(f"sandbox record kept {recorded['recorded']} of {recorded['expected']} responses")
    for line in wrong:
        procs.say(line)
    missed = check and any(measured.state(row) == "not met" for row in rows)
    return 1 if wrong or missed else 0


if __name__ == "__main__":
    sys.exit(main())
