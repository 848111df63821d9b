#!/usr/bin/env python3
"""Does anything at all: an agent program for `sandbox run` (orchestrator/agents/PROTOCOL.md).

Usage: monkey.py SEED

It uses every action of BrowserGym's set, most often those that fit what is on the page. What it does follows from the
seed, the task and what it sees, so that two episodes of the same are the same.
"""

import json
import random
import sys

from actions import choose
from page import Page

LOOK = {"properties": True}


def send(message):
    print(json.dumps(message), flush=True)


def main(seed):
    dice, start = None, None
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            send({"type": "hello", "protocol": 1, "name": f"monkey {seed}", "observe": LOOK})
        elif message["type"] == "task":
            dice, start = random.Random(f"{seed} {message['task']}"), message["start_url"]
        elif message["type"] == "observation":
            send({"action": choose(dice, Page(message, start))})


main(sys.argv[1])
