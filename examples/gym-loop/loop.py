"""A training loop without any library: episodes of `sandbox gym` over HTTP, several at a time.

    python3 examples/gym-loop/loop.py tasks/demo --episodes 4 --workers 2

The policy clicks at random. Put a model of yours in its place. Each episode starts from the same
pristine world, so the same choices give the same rewards.
"""

import argparse
import concurrent.futures
import json
import random
import signal
import subprocess
import urllib.request


class Gym:
    """The server, for as long as the loop runs."""

    def __init__(self, suite, workers):
        command = ["sandbox", "gym", suite, "--workers", str(workers)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        # The first line says where the server is; it is printed once it answers.
        self.url = json.loads(self.process.stdout.readline())["url"].rstrip("/")

    def get(self, path):
        with urllib.request.urlopen(f"{self.url}{path}", timeout=300) as response:
            return json.load(response)

    def post(self, path, **body):
        request = urllib.request.Request(
            f"{self.url}{path}", json.dumps(body).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as response:
            return json.load(response)

    def close(self):
        """Stops the server as Ctrl-C does. Its last line sums up the run."""
        self.process.send_signal(signal.SIGINT)
        last, _ = self.process.communicate(timeout=60)
        return json.loads(last)


def policy(observation, chance):
    """Clicks an element at random, with BrowserGym's action notation; now and then it answers."""
    bids = [bid for bid, facts in observation["extra_element_properties"].items() if facts["clickable"]]
    if not bids or chance.random() < 0.2:
        return "send_msg_to_user('I do not know.')"
    return f"click({chance.choice(sorted(bids, key=lambda bid: (len(bid), bid)))!r})"


def episode(gym, task, seed):
    """The steps taken and the reward earned."""
    chance = random.Random(f"{task} {seed}")
    state = gym.post("/reset", task=task)
    session, steps = state["session"], 0
    while True:
        state = gym.post("/step", session=session, action=policy(state["observation"], chance))
        steps += 1
        if state["terminated"] or state["truncated"]:
            return steps, state["reward"]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("suite")
    options.add_argument("--episodes", type=int, default=4)
    options.add_argument("--workers", type=int, default=1)
    options = options.parse_args()
    gym = Gym(options.suite, options.workers)
    try:
        tasks = [task["id"] for task in gym.get("/tasks")["tasks"]]
        chosen = [(tasks[number % len(tasks)], number) for number in range(options.episodes)]
        with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
            results = list(pool.map(lambda choice: episode(gym, *choice), chosen))
        for (task, _), (steps, reward) in zip(chosen, results):
            print(f"{task}: {steps} steps, reward {reward:.2f}")
    finally:
        summary = gym.close()
    print("run:", summary["run"])


main()
