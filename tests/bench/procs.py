"""Servers as child processes: started, waited for by a named condition, stopped."""

import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import time


# A shell that starts this in the background has interrupts ignored, and servers would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server that runs for the length of a `with` block.

    It is ready when it accepts connections at `address`, or, without an address, when it prints a line that `announce`
    matches; the first group is then its address.
    """

    def __init__(self, command, address=None, announce=None, cwd=None, env=None, log=None, deadline=60):
        self.command = [str(part) for part in command]
        self.address = address
        self.announce = announce and re.compile(announce)
        self.cwd, self.env, self.deadline = cwd, {**os.environ, **(env or {})}, deadline
        self.log = log
        self.ready_ms = None

    def __enter__(self):
        begun = time.monotonic()
        out = subprocess.PIPE if self.announce else self._log_file()
        self.process = subprocess.Popen(
            self.command, cwd=self.cwd, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=self._log_file(),
            start_new_session=True,
        )
        try:
            if self.announce:
                self._wait_for_line(begun + self.deadline)
            else:
                self._wait_for_port(begun + self.deadline)
        except BaseException:
            self._stop()
            raise
        self.ready_ms = round((time.monotonic() - begun) * 1000, 1)
        return self

    def __exit__(self, *_):
        self._stop()

    def rss_mb(self):
        """Memory in use now by the process and its children, in MB."""
        total = 0
        for pid in [self.process.pid, *children(self.process.pid)]:
            with open(f"/proc/{pid}/status") as status:
                total += sum(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
        return round(total / 1024, 1)

    def cpu_seconds(self):
        """Processor time used so far by the process and its children."""
        ticks = 0
        for pid in [self.process.pid, *children(self.process.pid)]:
            with open(f"/proc/{pid}/stat") as stat:
                fields = stat.read().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def _log_file(self):
        return open(self.log, "ab") if self.log else subprocess.DEVNULL

    def _wait_for_line(self, deadline):
        output = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while True:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise self._failure(f"a line like {self.announce.pattern!r} on its output")
                part = os.read(self.process.stdout.fileno(), 65536)
                output += part
                found = self.announce.search(output.decode(errors="replace"))
                if found:
                    self.address = found.group(1)
                    return
                if not part:
                    raise self._failure(f"a line like {self.announce.pattern!r} on its output")

    def _wait_for_port(self, deadline):
        host, port = self.address.split(":")
        while time.monotonic() < deadline:
            try:
                socket.create_connection((host, int(port)), timeout=1).close()
                return
            except OSError:
                pass
            try:
                self.process.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                continue
            break
        raise self._failure(f"an accepted connection at {self.address}")

    def _failure(self, condition):
        code = self.process.poll()
        state = "still running" if code is None else f"ended with code {code}"
        return TimeoutError(f"{self.command[0]}: no {condition} within {self.deadline} s ({state}; log: {self.log})")

    def _stop(self):
        """Interrupts as a person would, so that a recorder can finish; then kills the whole session."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            say(f"{self.command[0]} did not end when interrupted")
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(timeout=10)


def children(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as listed:
            found += [int(child) for child in listed.read().split()]
    return found
