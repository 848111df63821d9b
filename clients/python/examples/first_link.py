"""A tiny agent: follows the first link that it sees, then answers with the title of the page.

    sandbox run tasks/demo --agent 'program:python3 clients/python/examples/first_link.py'

or, listening::

    python3 clients/python/examples/first_link.py 9000 &
    sandbox run tasks/demo --workers 2 --agent http://127.0.0.1:9000/
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sandbox_agents


def act(observation):
    link = re.search(r"\[(\w+)\] link", observation["axtree"])
    if observation["step"] == 1 and link:
        return f"click('{link[1]}')", "it is the first"
    return f"send_msg_to_user({observation['title']!r})"


if len(sys.argv) > 1:
    sandbox_agents.serve(act, int(sys.argv[1]), name="first link", ready=lambda url: print(url, flush=True))
else:
    sandbox_agents.run(act, name="first link")
