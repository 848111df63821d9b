"""Has pywb replay a WACZ of ours as a proxy and compares every answer with what was recorded."""

import base64
import gzip
import hashlib
import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_open(port, server, deadline):
    while time.monotonic() < deadline:
        if server.poll() is not None:
            sys.exit(f"pywb ended with {server.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("pywb did not open its port in time")


def ask(port, case):
    host, path = case["url"].removeprefix("https://").split("/", 1)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=context)
    connection.set_tunnel(host, 443)
    headers = {"Content-Type": case["type"]} if case["type"] else {}
    connection.request(case["method"], "/" + path, base64.b64decode(case["body"]) or None, headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    if case["coding"] == "gzip" and answer.getheader("Content-Encoding") != "gzip":
        body = gzip.compress(body, mtime=0)  # not comparable byte by byte; see matches()
    return answer.status, body


def matches(case, status, body):
    if status != case["status"]:
        return False
    return case["coding"] is not None or hashlib.sha256(body).hexdigest() == case["sha256"]


def main(tools, folder):
    site = folder / "pywb"
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": site}
    subprocess.run([tools / "wb-manager", "init", "made"], check=True, **quiet)
    add = [tools / "wb-manager", "add", "--unpack-wacz", "made", folder / "made.wacz"]
    subprocess.run(add, check=True, **quiet)
    # Scripts put into pages would change their digests.
    (site / "config.yaml").write_text("proxy:\n  coll: made\n  enable_content_rewrite: false\n  enable_banner: false\n")
    port = free_port()
    command = [tools / "wayback", "--proxy", "made", "-p", str(port), "-b", "127.0.0.1"]
    server = subprocess.Popen(command, env={**os.environ, "GEVENT_MONKEY_PATCH": "1"}, **quiet)
    try:
        wait_until_open(port, server, time.monotonic() + 60)
        cases = [json.loads(line) for line in (folder / "asked.jsonl").read_text().splitlines()]
        wrong = 0
        for case in cases:
            status, body = ask(port, case)
            if not matches(case, status, body):
                wrong += 1
                print(f"{case['method']} {case['url']}: {status} {body[:60]!r} instead of {case['status']}")
        print(f"{len(cases) - wrong} of {len(cases)} answers of pywb are those recorded")
        sys.exit(wrong > 0)
    finally:
        server.terminate()
        server.wait(timeout=30)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
