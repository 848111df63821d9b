"""The server of the small sites: one address for all hosts, asked directly or as a proxy.

`POST http://control.test/reset` makes all sites new.
"""

import base64
import hashlib
import secrets
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from small_site import CLIENT, Ask, Told, absent

CONTROL = "control.test"
# Of RFC 6455.
MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class Origin:
    """Serves sites from now on. State is in memory."""

    def __init__(self, sites, port=0):
        self.kinds = {kind.host(): kind for kind in sites}
        self.lock = threading.Lock()
        self.reset()
        handler = type("Handler", (Handler,), {"origin": self})
        self.server = Server(("127.0.0.1", port), handler)
        self.port = self.server.server_address[1]
        self.proxy = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def reset(self, _site=None):
        with self.lock:
            self.sites = {host: kind() for host, kind in self.kinds.items()}
            self.visitors = {}

    def visitor(self, host, name):
        """The state of a visitor, whose cookie is made if there is none that is known."""
        if (host, name) in self.visitors:
            return name, self.visitors[host, name]
        name = secrets.token_hex(8)
        state = self.visitors[host, name] = self.sites[host].visitor()
        return name, state

    def answer(self, host, ask):
        if host == CONTROL:
            if str(ask) != "POST /reset":
                return absent()
            self.reset()
            return Told("reset\n", "text/plain")
        if host not in self.sites:
            return absent()
        if ask.path == "/client.js":
            return Told(CLIENT, "text/javascript", headers=[("Cache-Control", "max-age=3600")])
        with self.lock:
            known = ask.cookies.get("visitor")
            name, state = self.visitor(host, known)
            told = self.sites[host].answer(ask, state)
        return told if name == known else told.cookie("visitor", name)

    def reached(self, _site):
        """The options of `sandbox record` by which it reaches a site here."""
        return [f"--connect-to=:80:127.0.0.1:{self.port}"]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Browsers leave when they want to."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A page is sent in one piece.
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, format, *arguments):
        pass

    def do_CONNECT(self):
        # A tunnel to a host of ours: what it asks comes on this connection.
        self.send_response_only(200)
        self.end_headers()
        self.wfile.flush()

    def any(self):
        parts = urlsplit(self.path)
        host = (parts.hostname or self.headers.get("Host", "").partition(":")[0]).lower()
        path = parts._replace(scheme="", netloc="").geturl() or "/"
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        ask = Ask(self.command, path, {name.lower(): value for name, value in self.headers.items()}, body)
        if ask.header("upgrade").lower() == "websocket":
            self.socket(host, ask)
        else:
            self.tell(self.origin.answer(host, ask))

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = any

    def tell(self, told):
        body = told.body.encode()
        self.send_response(told.status)
        if told.status != 304:
            self.send_header("Content-Type", told.kind)
            self.send_header("Content-Length", str(len(body)))
        if not any(name == "Cache-Control" for name, _ in told.headers):
            self.send_header("Cache-Control", "no-store")
        for name, value in told.headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD" and told.status != 304:
            self.wfile.write(body)

    def socket(self, host, ask):
        key = (ask.header("sec-websocket-key") + MAGIC).encode()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key).digest()).decode())
        self.end_headers()
        self.close_connection = True
        with self.origin.lock:
            site = self.origin.sites[host]
            state = self.origin.visitor(host, ask.cookies.get("visitor"))[1]
            texts = site.opened(state)
        while True:
            for text in texts:
                self.frame(TEXT, text.encode())
            self.wfile.flush()
            kind, words = self.read_frame()
            texts = []
            if kind == TEXT:
                with self.origin.lock:
                    texts = site.heard(words.decode(), state)
            elif kind == PING:
                self.frame(PONG, words)
            elif kind == CLOSE:
                self.frame(CLOSE, words)
                return

    def frame(self, kind, words):
        size = struct.pack("!B", len(words)) if len(words) < 126 else struct.pack("!BH", 126, len(words))
        self.wfile.write(struct.pack("!B", 0x80 | kind) + size + words)

    def read_frame(self):
        """The kind of a frame of the client, and its words; the end of the stream is a close."""
        head = self.rfile.read(2)
        if len(head) < 2:
            return CLOSE, b""
        size = head[1] & 0x7F
        if size == 126:
            size = struct.unpack("!H", self.rfile.read(2))[0]
        mask = self.rfile.read(4)
        words = self.rfile.read(size)
        return head[0] & 0xF, bytes(byte ^ mask[at % 4] for at, byte in enumerate(words))
