"""Runs clients/python/examples/with_browser_use.py with a model that replies by a script, and expects the score.

    browser_use_example.py SANDBOX
"""

import json
import os
import pathlib
import re
import subprocess
import sys

import scripted_model

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "clients/python/examples/with_browser_use.py"
LEFT = ["My trips", "Continue as guest", "RE 406"]


def reply(page):
    """The agent is shown links as `[12]<a />` with their text below."""
    action = {"done": {"text": "This is the train.", "success": True}}
    if LEFT:
        link = re.search(rf"\[(\d+)\]<a[^\n]*\s+{LEFT.pop(0)}", page)
        action = {"click": {"index": int(link[1])}} if link else {"done": {"text": f"lost in {page}", "success": False}}
    return json.dumps({"thinking": "", "evaluation_previous_goal": "", "memory": "", "next_goal": "", "action": [action]})


with scripted_model.serve(reply) as address:
    environment = {
        **os.environ, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": address,
        "ANONYMIZED_TELEMETRY": "false", "BROWSER_USE_CLOUD_SYNC": "false",
    }
    command = [sys.executable, "-B", EXAMPLE, "scripted", sys.argv[1]]
    played = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=180)
print(played.stdout.splitlines()[-1] if played.stdout else "")
