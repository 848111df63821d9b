"""The benchmark: replay, recording, and size. See run.sh for how it is called."""

import argparse
import json
import pathlib
import sys

import figures
import peers
import procs

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
        figures.print_replay(results["replay"])
    if "record" in options.only:
        results["record"] = record(tools, corpus, options.runs)
        figures.print_record(results["record"])
    if "size" in options.only:
        results["size"] = size(tools)
        figures.print_size(results["size"])
    promises = figures.promises(results)
    figures.print_promises(promises)
    results["promises"] = promises
    (options.work / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    return verdict(results, promises, options.check)


def arguments():
    parser = argparse.ArgumentParser()
    for name in ("sandbox", "load", "venv", "work"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", type=lambda text: text.split(","), default=["replay", "record", "size"])
    parser.add_argument("--check", action="store_true", help="exit 1 when a promise is missed")
    return parser.parse_args()


def replay(tools, corpus, runs):
    """Each server in turn serves the whole archive to the same client."""
    servers = {"pywb": peers.pywb, "mitmdump": peers.mitmdump_replay, "sandbox": peers.sandbox_replay}
    rows = {}
    for name, server in servers.items():
        procs.say(f"replay: {name}")
        with server(tools, corpus) as running:
            rows[name] = tools.load(corpus, runs, THREADS, REQUESTS, proxy=running.address)
            if name == "sandbox":
                rows["sandbox, 20,000 requests"] = tools.load(corpus, runs, THREADS, 10 * REQUESTS, proxy=running.address)
                rows["sandbox, 20,000 requests"]["rss_mb"] = running.rss_mb()
            rows[name]["rss_mb"] = running.rss_mb()
    return rows


def record(tools, corpus, runs):
    """The same web, live on loopback, through each proxy."""
    rows = {}
    with peers.origin(tools) as live:
        procs.say("record: direct")
        rows["direct"] = tools.load(corpus, runs, THREADS, REQUESTS, direct=live.address)
        servers = {
            "mitmdump, forwarding": peers.mitmdump_forward,
            "mitmdump -w": peers.mitmdump_record,
            "sandbox, forwarding": peers.sandbox_forward,
            "sandbox record": peers.sandbox_record,
        }
        for name, server in servers.items():
            procs.say(f"record: {name}")
            with server(tools, live) as running:
                rows[name] = tools.load(corpus, runs, THREADS, REQUESTS, proxy=running.address)
                rows[name]["rss_mb"] = running.rss_mb()
    rows["sandbox record"]["recorded"] = tools.count_recorded()
    rows["sandbox record"]["expected"] = runs * REQUESTS
    return rows


def size(tools):
    """Opening and serving few and very many records."""
    rows = {}
    for records in (2000, MILLION):
        procs.say(f"size: {records:,} records")
        archive = tools.corpus(f"small-{records}.warc.gz", "--shape", "small", "--urls", str(records), "--sample", "2000")
        with peers.sandbox_replay(tools, archive, deadline=1800) as running:
            first = running.ready_ms
        with peers.sandbox_replay(tools, archive) as running:
            rows[records] = tools.load(archive, 1, THREADS, REQUESTS, proxy=running.address)
            rows[records] |= {"index_ms": first, "open_ms": running.ready_ms, "rss_mb": running.rss_mb()}
    return rows


def verdict(results, promises, check):
    """0 when all bodies were right and, if asked for, every promise kept."""
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
    missed = check and not all(promise["kept"] for promise in promises)
    return 1 if wrong or missed else 0


if __name__ == "__main__":
    sys.exit(main())
