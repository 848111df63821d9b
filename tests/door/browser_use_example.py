"""Runs clients/python/examples/with_browser_use.py with a model that replies by a script, and expects the score.

    browser_use_example.py SANDBOX
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "clients/python/examples/with_browser_use.py"
WAY = ["My trips", "Continue as guest", "RE 406"]


class Model(BaseHTTPRequestHandler):
    """OpenAI's interface, for an agent that is shown links as `[12]<a />` with their text below."""

    left = list(WAY)

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        page = asked["messages"][-1]["content"]
        if not isinstance(page, str):
            page = "".join(part.get("text", "") for part in page)
        action = {"done": {"text": "This is the train.", "success": True}}
        if self.left:
            link = re.search(rf"\[(\d+)\]<a[^\n]*\s+{self.left.pop(0)}", page)
            action = {"click": {"index": int(link[1])}} if link else {"done": {"text": f"lost in {page}", "success": False}}
        says = {"thinking": "", "evaluation_previous_goal": "", "memory": "", "next_goal": "", "action": [action]}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(says)}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice], "usage": usage}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {
        **os.environ, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}/v1",
        "ANONYMIZED_TELEMETRY": "false", "BROWSER_USE_CLOUD_SYNC": "false",
    }
    command = [sys.executable, "-B", EXAMPLE, "scripted", sys.argv[1]]
    played = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=180)
    server.shutdown()
print(played.stdout.splitlines()[-1] if played.stdout else "")
