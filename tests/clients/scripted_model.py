"""A language model that is not there: OpenAI's interface on loopback, for agents of other people's, with replies of a script's."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextlib.contextmanager
def serve(reply):
    """Gives the address of a server. `reply` gets the text of a request's last message, and gives that of the answer."""

    class Model(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            text = asked["messages"][-1]["content"]
            if not isinstance(text, str):
                text = "".join(part.get("text", "") for part in text)
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply(text)}}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            answer = {"id": "1", "object": "chat.completion", "created": 1, "model": asked["model"], "choices": [choice], "usage": usage}
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
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
