"""The agent of the pages of libraries: it does what their files say, whatever comes of it."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import libraries  # noqa: E402


def main():
    left = []
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer = {"type": "hello", "protocol": 1, "name": "player"}
        elif message["type"] == "observation":
            answer = {"action": left.pop(0) if left else "send_msg_to_user('done')"}
        else:
            if message["type"] == "task":
                left = [*libraries.actions(message["task"]), "noop()"]
            continue
        print(json.dumps(answer), flush=True)


main()
