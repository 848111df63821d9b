#!/usr/bin/env python3
"""What `sandbox gym balance` costs: sessions in many gyms through it, and in the gyms directly.

    balance.py SANDBOX [GYMS] [PLACES] [SECONDS]

Starts GYMS (4) gyms of the demo suite with PLACES (4) places each, and a balancer over them. As
many clients as there are places step for SECONDS (20): directly, through the balancer, and once
more each. Then one client alone sends each request to the gym and through the balancer, in turn:
steps of one session, and small requests.
"""

import concurrent.futures
import http.client
import json
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

import measured

TASK = "guest-booking"
STEPS = 200
SMALL = 3000


class Client:
    """A connection that is kept."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.connection, self.key = http.client.HTTPConnection(parts.netloc, timeout=300), parts.path

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body)
        self.connection.request(method, self.key + path, data, {"content-type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            sys.exit(f"{method} {path}: {answer.status} {text.decode()}")
        return text

    def reset(self):
        return json.loads(self.ask("POST", "/reset", {"task": TASK}))["session"]

    def step(self, session):
        """Whether the episode goes on. The observation is read, but not parsed."""
        text = self.ask("POST", "/step", {"session": session, "action": "noop()"})
        return b'"terminated":false,"truncated":false' in text


def serve(sandbox, *arguments):
    process = subprocess.Popen([sandbox, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return process, json.loads(process.stdout.readline())["url"]


def throughput(urls, seconds):
    """Steps a second of one client for each URL, resets included."""
    done, until = [0] * len(urls), time.monotonic() + seconds

    def play(number):
        client = Client(urls[number])
        while time.monotonic() < until:
            session, goes_on = client.reset(), True
            while goes_on and time.monotonic() < until:
                goes_on = client.step(session)
                done[number] += 1
            client.ask("POST", "/close", {"session": session})

    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(len(urls)) as clients:
        # An error of one ends the program, after all have ended.
        list(clients.map(play, range(len(urls))))
    return sum(done) / (time.monotonic() - began)


def timed(call):
    began = time.perf_counter()
    result = call()
    return (time.perf_counter() - began) * 1000, result


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def show(name, direct, through):
    added = [b - a for a, b in zip(direct, through)]
    cells = [percentile(values, part) for part in (0.5, 0.99) for values in (direct, through)]
    print(f"| {name} | {cells[0]:.2f} | {cells[1]:.2f} | {cells[2]:.2f} | {cells[3]:.2f} | {statistics.median(added):+.2f} |")


def latency(gym, balancer):
    """Milliseconds that the balancer adds to a small request of one client, which goes both ways."""
    gym, balancer = Client(gym), Client(balancer)
    columns = "direct p50 | balancer p50 | direct p99 | balancer p99 | added, median of pairs"
    print(f"| one client, ms | {columns} |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    small = lambda client: lambda: client.ask("GET", "/tasks")
    pairs = [(timed(small(gym))[0], timed(small(balancer))[0]) for _ in range(SMALL)]
    show(f"{SMALL} small requests", *zip(*pairs))
    added = statistics.median(through - direct for direct, through in pairs)
    pairs = []
    while len(pairs) < STEPS:
        session, goes_on = balancer.reset(), True
        while goes_on:
            direct, goes_on = timed(lambda: gym.step(session))
            if goes_on:
                through, goes_on = timed(lambda: balancer.step(session))
                # The last step ends the episode, which takes longer.
                pairs += [(direct, through)] if goes_on else []
        balancer.ask("POST", "/close", {"session": session})
    show(f"{len(pairs)} steps", *zip(*pairs))
    return added


def main():
    sandbox = sys.argv[1]
    gyms, places, seconds = (int(word) for word in (sys.argv[2:5] + ["4", "4", "20"][len(sys.argv) - 2:]))
    with tempfile.TemporaryDirectory() as folder:
        folder, started = pathlib.Path(folder), []
        try:
            for number in range(gyms):
                started.append(serve(sandbox, "gym", "tasks/demo", "--workers", str(places), "--output", str(folder / str(number))))
            urls = [url for _, url in started]
            started.append(serve(sandbox, "gym", "balance", "--key", str(folder / "key"), *urls))
            balancer = started[-1][1]
            direct, through = [], []
            # Browsers start at the first round, which does not count.
            throughput(urls * places, 1)
            for _ in range(2):
                direct.append(throughput(urls * places, seconds))
                through.append(throughput([balancer] * gyms * places, seconds))
            direct, through = statistics.mean(direct), statistics.mean(through)
            print(f"{gyms} gyms of {places} places, {gyms * places} clients: {direct:.1f} steps a second directly, "
                  f"{through:.1f} through the balancer: {through / direct:.2f}x\n")
        finally:
            for process, _ in reversed(started):
                process.send_signal(signal.SIGINT)
                process.wait(120)
        # A session of the balancer is one of the gym: the only one.
        try:
            started = [serve(sandbox, "gym", "tasks/demo", "--output", str(folder / "one"))]
            key = str(folder / "key")
            started.append(serve(sandbox, "gym", "balance", "--key", key, started[0][1]))
            added = latency(started[0][1], started[1][1])
        finally:
            for process, _ in reversed(started):
                process.send_signal(signal.SIGINT)
                process.wait(120)
    if (gyms, places) == (4, 4):
        steps = {"steps": through / direct, "steps-balancer": through, "steps-direct": direct}
        measured.keep("bench-balance", {**steps, "added": added})


if __name__ == "__main__":
    main()
