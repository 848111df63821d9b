"""An agent without any library: it follows the link that shares most words with the goal.

    sandbox run tasks/demo --limit 2 --agent 'program:python3 examples/json-lines-agent/agent.py'

One JSON object a line comes in, and one goes out for `hello` and for each observation. Standard
error is free for messages; the run keeps it as `agent.stderr.txt`.
"""

import json
import re
import sys

STOP_WORDS = {"a", "and", "at", "by", "for", "from", "in", "is", "of", "on", "the", "to", "what", "which"}


def words(text):
    """The words of a text, each by its first five letters: `station` and `stations` are equal."""
    return {word[:5] for word in re.findall(r"[a-z0-9]+", text.lower())} - STOP_WORDS


def decide(goal, observation, followed):
    """The next action, in BrowserGym's notation, and the reason for it."""
    # A line of the tree is such as: [12] link 'Timetable'
    links = re.findall(r"\[(\w+)\] link '([^']*)'", observation["axtree"])
    fresh = [(len(words(name) & words(goal)), bid, name) for bid, name in links if name not in followed]
    best = max(fresh, key=lambda link: link[0], default=(0, "", ""))
    if best[0] == 0:
        return f"send_msg_to_user({observation['title']!r})", "no link on this page has a word of the goal"
    followed.add(best[2])
    return f"click({best[1]!r})", f"{best[2]!r} shares {best[0]} words with the goal"


def main():
    goal, followed = "", set()
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer = {"type": "hello", "protocol": 1, "name": "word matcher"}
        elif message["type"] == "observation":
            action, reason = decide(goal, message, followed)
            print(f"step {message['step']}: {action}", file=sys.stderr)
            answer = {"action": action, "reason": reason}
        else:
            # `task` and `end` get no answer.
            goal = message.get("goal", goal)
            continue
        print(json.dumps(answer), flush=True)


main()
