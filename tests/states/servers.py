"""Servers of recordings, which a browser uses as its proxy: `sandbox replay`, and pywb."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import time

# How long a server may take to start or to end, in seconds.
DEADLINE = 60
# pywb gives the captures that are nearest to a time: the first ones show sites as they begin.
FIRST = "20000101000000"


class Ours:
    """One `sandbox replay` is one episode, whoever asks: the states of sites are those of all its
    clients together. So each order has a replay of its own."""

    def __init__(self, sandbox, recording, folder):
        options = ["--no-search", "--no-key", "--json", "--data", folder / "data"]
        command = [sandbox, "replay", recording, *options]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self.server = subprocess.Popen(command, **pipes)
        if not select.select([self.server.stdout], [], [], DEADLINE)[0]:
            raise RuntimeError("sandbox replay did not print its address in time")
        first = self.server.stdout.readline().split()
        if first[:1] != ["proxy"]:
            raise RuntimeError(f"sandbox replay printed {first} in place of its address")
        self.proxy = first[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.server.poll() is None:
            self.server.kill()
            self.server.wait()

    def close(self):
        """Ends it. The ledger: a line for each request, in the order of their arrival."""
        self.server.send_signal(signal.SIGINT)
        said, _ = self.server.communicate(timeout=DEADLINE)
        return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


class Pywb:
    """One pywb for all recordings. It keeps no state."""

    def __init__(self, tools, recordings, folder):
        site = folder / "pywb"
        shutil.rmtree(site, ignore_errors=True)
        site.mkdir()
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": site}
        subprocess.run([tools / "wb-manager", "init", "made"], check=True, **quiet)
        for recording in recordings:
            add = [tools / "wb-manager", "add", "--unpack-wacz", "made", recording]
            subprocess.run(add, check=True, **quiet)
        proxy = {"coll": "made", "enable_content_rewrite": False, "enable_banner": False}
        (site / "config.yaml").write_text(json.dumps({"proxy": proxy | {"default_timestamp": FIRST}}))
        port = free_port()
        command = [tools / "wayback", "--proxy", "made", "-p", str(port), "-b", "127.0.0.1"]
        self.server = subprocess.Popen(command, env={**os.environ, "GEVENT_MONKEY_PATCH": "1"}, **quiet)
        self.proxy = f"http://127.0.0.1:{port}"
        wait_until_open(port, self.server)

    def close(self):
        self.server.terminate()
        self.server.wait(timeout=DEADLINE)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_open(port, server):
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            try:
                # Nothing else says that it listens.
                server.wait(timeout=0.1)
            except subprocess.TimeoutExpired:
                continue
            raise RuntimeError(f"pywb ended with {server.returncode}") from None
    raise RuntimeError("pywb did not open its port in time")
