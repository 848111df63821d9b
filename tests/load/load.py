"""The gateway under load and attack, beside mitmproxy. See run.sh for how it is called."""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import attacks
import measured
import peers
import procs

# What shells give their programs by custom; who needs more has to see to it.
FILES = ["sh", "-c", 'ulimit -S -n 1024 && exec "$@"', "sh"]
# How long what was used may take to come back.
REST = 5
LARGE, LARGE_DOCUMENTS = 2_500_000, 80
HOST = "large.bench.test"

# Name, what it is, and what is done besides the well-behaved client's requests.
SCENARIOS = {
    "calm": ("nobody else", None),
    "idle": ("1,100 idle connections", attacks.idle),
    "slow": ("1,000 clients, a byte a second", attacks.slow),
    "resets": ("HTTP/2: requests reset at once", attacks.resets),
    "heads": ("HTTP/2: heads without an end", attacks.heads),
    "window": ("HTTP/2: 400 answers of 2.5 MB, window 0", attacks.window),
}
CROWDS = {
    "replay": "200 clients on replayed pages",
    "site": "200 clients on a site",
}


def main():
    parser = argparse.ArgumentParser()
    for name in ("sandbox", "load", "venv", "work"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[*SCENARIOS, *CROWDS])
    parser.add_argument("--seconds", type=int, default=10, help="how long each scenario lasts")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    tools = peers.Tools(options.sandbox, options.load, options.venv, options.work)
    corpus = tools.corpus("load.warc.gz")
    rows = []
    for name in options.only:
        what = SCENARIOS[name][0] if name in SCENARIOS else CROWDS[name]
        row = {"scenario": what}
        for peer in ("ours", "mitmproxy"):
            procs.say(f"{what}: {peer}")
            row[peer] = measure(tools, corpus, name, peer, options.seconds)
        rows.append(row)
    (options.work / "results.json").write_text(json.dumps(rows, indent=1) + "\n")
    print_table(rows)
    if options.only == [*SCENARIOS, *CROWDS]:
        measured.keep("load", {}, {"loads": kept(rows)})


def kept(rows):
    """The rows of figures/load.toml."""
    table = []
    for row in rows:
        for name, figures in (("sandbox", row["ours"]), ("mitmproxy", row["mitmproxy"])):
            p99 = f"{measured.rounded(figures['p99_ms']):,}" if figures["rps"] else "none"
            memory = [f"{figures[key]:,.0f}" for key in ("rss_peak", "rss_after")]
            table.append([row["scenario"], name, f"{figures['rps']:,.0f}", p99, f"{figures['errors']:,}", *memory])
    return table


def measure(tools, corpus, name, peer, seconds):
    if name == "site":
        return on_a_site(tools, peer, seconds)
    archives = [corpus]
    if name == "window":
        archives.append(large(tools))
    with replay(tools, peer, archives) as server:
        # What is loaded lazily is loaded before.
        client(tools, corpus, 1, 1, ["--proxy", server.address])
        attack = SCENARIOS.get(name, (None, None))[1]
        threads = 1 if name in SCENARIOS else 200
        return watched(tools, server, corpus, threads, seconds, ["--proxy", server.address], attack)


def watched(tools, server, corpus, threads, seconds, route, attack=None):
    """Requests beside an attack; the server's memory before, at its height and some seconds after."""
    before, peak, stop = server.rss_mb(), [0], threading.Event()

    def sample():
        while not stop.wait(0.1):
            with contextlib.suppress(OSError):
                peak[0] = max(peak[0], server.rss_mb())

    sampling = threading.Thread(target=sample)
    sampling.start()
    attacking = None
    if attack:
        attacking = threading.Thread(target=attack, args=(server.address, time.monotonic() + seconds, HOST, LARGE_DOCUMENTS))
        attacking.start()
        attacks.BEGUN.wait(seconds)
    report = client(tools, corpus, threads, seconds, route)
    if attacking:
        attacking.join()
        attacks.BEGUN.clear()
    peak[0] = max(peak[0], server.rss_mb())
    stop.set()
    sampling.join()
    threading.Event().wait(REST)
    report |= {"rss_before": before, "rss_peak": peak[0], "rss_after": server.rss_mb()}
    return report


def client(tools, corpus, threads, seconds, route):
    # 200 clients have as many connections to each of 20 hosts.
    limit = ["sh", "-c", 'ulimit -n $(ulimit -Hn) && exec "$@"', "sh"]
    command = [*limit, tools.load_program, "run", "--manifest", corpus.manifest, "-c", threads, "-n", 10_000_000,
               "--seconds", seconds, "--timeout", 10, *route]
    return json.loads(peers.run(*command))


def replay(tools, peer, archives):
    if peer == "ours":
        server = peers.sandbox_replay(tools, archives[0])
        server.command[2:3] = [str(archive.warc) for archive in archives]
    else:
        flows = []
        for archive in archives:
            flow = tools.work / f"{archive.warc.name}.mitm"
            if not flow.exists():
                peers.run(tools.bin("python"), peers.script("flows.py"), archive.warc, flow)
            flows += ["--server-replay", flow]
        server = peers.mitmdump(tools, "mitmdump", *flows, "--set", "server_replay_reuse=true", "--set",
                                "server_replay_extra=404")
    server.command = [*FILES, *server.command]
    return server


def large(tools):
    """An archive of large documents, as whatever wants to fill a server's memory asks for."""
    archive = peers.Archive(tools.work / "large.warc", tools.work / "large.jsonl")
    if not archive.warc.exists():
        part = tools.work / "part-large.warc"
        with open(part, "wb") as out:
            for number in range(LARGE_DOCUMENTS):
                body = os.urandom(LARGE)
                head = f"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {LARGE}\r\n\r\n"
                fields = {
                    "WARC-Type": "response", "WARC-Record-ID": f"<urn:uuid:00000000-0000-4000-8000-{number:012}>",
                    "WARC-Date": "2026-01-01T00:00:00Z", "WARC-Target-URI": f"https://{HOST}/{number}",
                    "Content-Type": "application/http; msgtype=response", "Content-Length": len(head) + LARGE,
                }
                lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
                out.write(f"WARC/1.1\r\n{lines}\r\n{head}".encode() + body + b"\r\n\r\n")
        part.rename(archive.warc)
    return archive


class Running:
    """A process that somebody else has started; figures as of a Server."""

    def __init__(self, pid):
        self.process = argparse.Namespace(pid=pid)

    rss_mb = procs.Server.rss_mb


def on_a_site(tools, peer, seconds):
    """The forum that is part of our program: in our process behind our gateway, or behind mitmproxy as well."""
    env = {**os.environ, **tools.env}

    def sandbox(*words):
        command = [*FILES, tools.sandbox, *words]
        return subprocess.run(command, check=True, env=env, stdout=subprocess.PIPE, text=True).stdout

    status = json.loads(sandbox("up", "forum", "--no-key", "--json", "--reset-listen", "127.0.0.1:0"))
    try:
        gateway = status["proxy"].removeprefix("http://")
        corpus = peers.Archive(None, tools.work / "site.jsonl")
        # Pages say how long ago things were, so their bodies are not compared.
        with open(corpus.manifest, "w") as manifest:
            for path in ("/", "/forums", "/f/books", "/login"):
                entry = {"host": "forum.test", "target": path, "sha256": "", "length": 0}
                manifest.write(json.dumps(entry) + "\n")
        if peer == "ours":
            return watched(tools, Running(status["pid"]), corpus, 200, seconds, ["--proxy", gateway])
        copy = next(copy["address"] for copy in status["sites"][0]["copies"] if copy["phase"] == "leased")
        server = peers.mitmdump(tools, "mitmdump-site", "--mode", f"reverse:http://{copy}")
        server.command = [*FILES, *server.command]
        with server:
            return watched(tools, server, corpus, 200, seconds, ["--direct", server.address])
    finally:
        sandbox("down")


def print_table(rows):
    print("| scenario | requests/s: ours, mitmproxy, ratio | p99 ms: ours, mitmproxy | failed: ours, mitmproxy "
          "| peak MB: ours, mitmproxy, ratio | MB before and after: ours, mitmproxy |")
    print("| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        ours, other = row["ours"], row["mitmproxy"]
        ratio = lambda key: f"{ours[key] / other[key]:.2f}" if other[key] else "-"
        print(f"| {row['scenario']} | {ours['rps']:.0f}, {other['rps']:.0f}, {ratio('rps')} "
              f"| {ours['p99_ms']:.1f}, {other['p99_ms']:.1f} | {ours['errors']}, {other['errors']} "
              f"| {ours['rss_peak']:.0f}, {other['rss_peak']:.0f}, {ratio('rss_peak')} "
              f"| {ours['rss_before']:.0f} {ours['rss_after']:.0f}, {other['rss_before']:.0f} {other['rss_after']:.0f} |")


if __name__ == "__main__":
    sys.exit(main())
