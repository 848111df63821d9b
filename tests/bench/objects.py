#!/usr/bin/env python3
"""Replay of a snapshot of 10,000 records that lies on an object store, beside the same file here and beside pywb.

    objects.py SANDBOX OBJECT_SERVER VENV [RECORDS]

Makes RECORDS (10,000) records of 1 to 64 kB, uploads them, and asks for 1,000 of them by chance: each for the first time
(cold) and again (warm). Prints the time until the first response, p50 and p99 of a response, requests and bytes that the store
sent, and how that compares with the bytes that clients got. Then the store is killed: what was read stays, the rest is an
error, and nothing is lost once it is back.
"""

import hashlib
import http.client
import io
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import measured  # noqa: E402
from procs import Server, free_port, say  # noqa: E402

HOST = "shop.test"
ASKED = 1000


def body(number):
    """Bytes that do not compress much, and tell which record they are of."""
    length = random.Random(number).randrange(1_000, 64_000)
    block = hashlib.sha256(str(number).encode()).hexdigest().encode()
    return b"%d " % number + random.Random(-number).randbytes(length // 2) + block * (length // 128)


def write_warc(path, records):
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter
    with open(path, "wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number in range(records):
            content = body(number)
            head = [("Content-Type", "application/octet-stream"), ("Content-Length", str(len(content)))]
            answer = StatusAndHeaders("200 OK", head, protocol="HTTP/1.1")
            url = f"http://{HOST}/{number}"
            writer.write_record(writer.create_warc_record(url, "response", io.BytesIO(content), http_headers=answer))


class Store:
    """The object server. Asked by a line, it says how much it has sent."""

    def __init__(self, program, folder, ports):
        self.process = subprocess.Popen([program, folder, "--s3", str(ports[0]), "--web", str(ports[1])],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.env = {}
        while "WEB" not in self.env:
            name, _, value = self.process.stdout.readline().removeprefix("export ").strip().partition("=")
            self.env[name] = value

    def sent(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return [int(word) for word in self.process.stdout.readline().split()]

    def kill(self):
        self.process.kill()
        self.process.wait()


def ask(proxy, numbers):
    """Milliseconds for each record, bytes in all, and how many came as recorded."""
    connection = http.client.HTTPConnection(proxy, timeout=120)
    times, total, right = [], 0, 0
    for number in numbers:
        begun = time.monotonic()
        connection.request("GET", f"http://{HOST}/{number}")
        answer = connection.getresponse()
        content = answer.read()
        times.append((time.monotonic() - begun) * 1000)
        total += len(content)
        right += answer.status == 200 and content == body(number)
    return times, total, right


def row(name, ready, times, received, sent, right, asked):
    p50, p99 = statistics.median(times), statistics.quantiles(times, n=100)[98]
    ratio = f"{sent[1] / received:.2f}" if sent else "-"
    fetched = f"{sent[0]:,} in {sent[1] / 1e6:.1f} MB" if sent else "-"
    print(f"| {name} | {ready} | {p50:.2f} | {p99:.2f} | {fetched} | {received / 1e6:.1f} MB | {ratio} | {right} of {asked} |",
          flush=True)


def measure(name, server, numbers, store):
    """The rows of one server, cold and warm: for each the times, the bytes that the store sent, and
    how many were right."""
    seen = []
    for state, ready in (("cold", f"{server.ready_ms:.0f}"), ("warm", "")):
        before = store.sent()
        times, received, right = ask(server.address, numbers)
        sent = [after - at for after, at in zip(store.sent(), before)]
        row(f"{name}, {state}", ready, times, received, sent, right, len(numbers))
        seen.append((times, sent[1], right))
    return seen


def keep(opened, here, first, again, pywb, known, unknown, back):
    """The kept figures. Of a process that is started again, the first reads count."""
    sources = [
        ("the store", "first", first[0]), ("the store", "again", first[1]), ("the store", "again, in a new process", again[0]),
        ("the file on disk", "first", here[0]), ("pywb 2.10", "first", pywb[0]), ("pywb 2.10", "again", pywb[1]),
    ]
    rows = []
    for source, state, (times, _, _) in sources:
        p50, p99 = statistics.median(times), statistics.quantiles(times, n=100)[98]
        rows.append([source, state, measured.rounded(p50), measured.rounded(p99)])
    values = {
        "open-requests": opened[0], "open-bytes": opened[1] / 1e6, "bytes-first": first[0][1] / 1e6,
        "bytes-again": again[0][1] / 1e6, "bytes-pywb": pywb[0][1] / 1e6,
        "as-recorded": min(right for _, _, right in [*here, *first, *again, *pywb]),
        "killed-known": known, "killed-others": 20 - unknown, "killed-again": back,
    }
    measured.keep("bench-objects", values, {"times": rows})


def main():
    sandbox, program, venv = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
    records = int(sys.argv[4]) if len(sys.argv) > 4 else 10_000
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        stored = work / "stored"
        (stored / "bucket").mkdir(parents=True)
        warc, wacz = work / "shop.warc.gz", work / "shop.wacz"
        say(f"writing {records:,} records")
        write_warc(warc, records)
        env = {**os.environ, "SANDBOX_DATA": str(work / "data"), "SANDBOX_CACHE": str(work / "cache")}
        run = lambda *words, **more: subprocess.run([sandbox, *words], check=True, env={**env, **more},
                                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run("snapshot", "import", warc, "-o", wacz)
        ports = [free_port(), free_port()]
        store = Store(program, stored, ports)
        run("snapshot", "push", wacz, "s3://bucket/shop.wacz", **store.env)
        (stored / "bucket" / warc.name).write_bytes(warc.read_bytes())
        numbers = random.Random(1).sample(range(records), ASKED)
        print(f"\n{records:,} records, {wacz.stat().st_size / 1e6:.0f} MB; {ASKED:,} of them asked for\n")
        print("| | ready, ms | p50, ms | p99, ms | from the store | to the client | ratio | as recorded |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)

        def replay(address, data, **more):
            port = free_port()
            command = [sandbox, "replay", address, "--no-key", "--listen", f"127.0.0.1:{port}"]
            variables = {**env, **store.env, "SANDBOX_DATA": str(work / data), **more}
            return Server(command, f"127.0.0.1:{port}", env=variables, log=work / "replay.log")

        with replay(wacz, "data") as server:
            here = measure("file here", server, numbers, store)
        before = store.sent()
        with replay("s3://bucket/shop.wacz", "other-machine") as server:
            opened = [after - at for after, at in zip(store.sent(), before)]
            first = measure("s3://", server, numbers, store)
        say(f"opened with {opened[0]} requests, {opened[1] / 1e6:.2f} MB, its index among them")
        with replay("s3://bucket/shop.wacz", "other-machine") as server:
            restarted = measure("s3://, started again", server, numbers, store)
        # pywb reads a WARC over HTTP by an index that it has here.
        folder = work / "pywb"
        folder.mkdir()
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True, "cwd": folder}
        subprocess.run([venv / "bin/wb-manager", "init", "bench"], **quiet)
        subprocess.run([venv / "bin/wb-manager", "add", "bench", warc], **quiet)
        for file in (folder / "collections/bench/archive").iterdir():
            file.unlink()
        (folder / "config.yaml").write_text(
            "enable_content_rewrite: false\ncollections:\n  remote:\n    index_paths: collections/bench/indexes/index.cdxj\n"
            f"    archive_paths: {store.env['WEB']}/bucket/\n"
            "proxy: {coll: remote, enable_banner: false, enable_content_rewrite: false}\n")
        port = free_port()
        command = [venv / "bin/wayback", "--proxy", "remote", "-p", port, "-b", "127.0.0.1"]
        with Server(command, f"127.0.0.1:{port}", cwd=folder, env={"GEVENT_MONKEY_PATCH": "1"}, log=work / "pywb.log") as server:
            pywb = measure("pywb, http://", server, numbers, store)
        others = [number for number in range(records) if number not in set(numbers)][:ASKED]
        print()
        with replay("s3://bucket/shop.wacz", "other-machine") as server:
            store.kill()
            _, _, known = ask(server.address, numbers[:200])
            begun = time.monotonic()
            _, _, unknown = ask(server.address, others[:20])
            took = time.monotonic() - begun
            store = Store(program, stored, ports)
            _, _, again = ask(server.address, others[:200])
        print(f"Store killed: {known} of 200 read before still come; of 20 others, {20 - unknown} are an error, "
              f"{took / 20:.1f} s each. Started again: {again} of 200 others come.")
        store.kill()
        if records == 10_000:
            keep(opened, here, first, restarted, pywb, known, unknown, again)


if __name__ == "__main__":
    main()
