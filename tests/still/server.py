#!/usr/bin/env python3
"""The web server of the generated pages.

    server.py PORT [CERTIFICATE KEY]

Serves on 127.0.0.1, with TLS if there is a certificate. An address says which page is meant, so the
server keeps no state: `/p/a/b/c` is the page with the features a, b and c.
"""

import asyncio
import base64
import hashlib
import ssl
import sys

import libraries
import pages
from grammar import CATALOG, HTML, File

SOCKET_KEY = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
PLAIN = "<!doctype html><title>plain</title><p>A plain page.<p><a href=/plain?next>next</a>"
REASONS = {
    200: "OK",
    204: "No Content",
    301: "Moved Permanently",
    302: "Found",
    307: "Temporary Redirect",
    404: "Not Found",
    500: "Internal Server Error",
}
# For every file, so that any page may use it.
OPEN = (
    "Access-Control-Allow-Origin: *",
    "Cross-Origin-Resource-Policy: cross-origin",
    "Timing-Allow-Origin: *",
    "Service-Worker-Allowed: /",
)


def found(path):
    """The file at an address."""
    parts = path.split("?")[0].strip("/").split("/")
    if parts[0] == "p" and all(name in CATALOG for name in parts[1:]):
        heads = tuple(head for name in parts[1:] for head in CATALOG[name].heads)
        return File(pages.document(parts[1:]).encode(), HTML, heads=heads)
    if parts[0] == "f" and len(parts) == 3 and parts[1] in CATALOG:
        file = CATALOG[parts[1]].files.get(parts[2])
        if file:
            return file
    if file := libraries.found(path.split("?")[0]):
        return file
    if parts[0] == "plain" or parts == [""]:
        return File(PLAIN.encode(), HTML)
    return File(b"nothing is here", status=404)


async def answer(writer, file, heads, body):
    """Writes one response."""
    if file.ends and "last-event-id" in heads:
        file = File(b"", status=204)
    content = body if file.echoes else file.body
    lines = [f"HTTP/1.1 {file.status} {REASONS[file.status]}", f"Content-Type: {file.kind}"]
    lines += file.heads
    names = {line.split(":")[0].lower() for line in lines[1:]}
    lines += [line for line in OPEN if line.split(":")[0].lower() not in names]
    whole = file.pieces == 1 and not file.pause
    lines.append(f"Content-Length: {len(content)}" if whole else "Transfer-Encoding: chunked")
    if file.status == 204:
        lines.pop()
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    if whole:
        writer.write(content)
    else:
        await write_pieces(writer, file, content)
    await writer.drain()


async def write_pieces(writer, file, content):
    """A chunked body, slowly."""
    size = -(-len(content) // file.pieces)
    for start in range(0, len(content), size):
        await writer.drain()
        await asyncio.sleep(file.pause)
        piece = content[start : start + size]
        writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
    writer.write(b"0\r\n\r\n")


async def socket(reader, writer, path, heads):
    """A WebSocket: greets, and sends back what it is sent. `bye` closes it."""
    key = base64.b64encode(
        hashlib.sha1((heads["sec-websocket-key"] + SOCKET_KEY).encode()).digest()
    ).decode()
    writer.write(
        (
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {key}\r\n\r\n"
        ).encode()
    )
    for number in range(int(path.partition("?")[2] or 1)):
        writer.write(frame(1, b"hello%d" % number))
    while True:
        await writer.drain()
        kind, message = await read_frame(reader)
        if kind == 8 or message == b"bye":
            writer.write(frame(8, b"\x03\xe8"))
            await writer.drain()
            return
        writer.write(frame(10 if kind == 9 else kind, message))


def frame(kind, message):
    """A frame of a WebSocket, from the server."""
    assert len(message) < 126
    return bytes([0x80 | kind, len(message)]) + message


async def read_frame(reader):
    """A frame of a WebSocket, from the client: its kind and its message."""
    first, second = await reader.readexactly(2)
    length = second & 0x7F
    if length == 126:
        length = int.from_bytes(await reader.readexactly(2), "big")
    mask = await reader.readexactly(4)
    masked = await reader.readexactly(length)
    return first & 0x0F, bytes(byte ^ mask[at % 4] for at, byte in enumerate(masked))


async def body_of(reader, heads):
    """The body of a request."""
    if heads.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(heads.get("content-length", 0)))
    parts = []
    while size := int(await reader.readline(), 16):
        parts.append(await reader.readexactly(size))
        await reader.readline()
    await reader.readline()
    return b"".join(parts)


async def serve(reader, writer):
    """One connection."""
    try:
        while True:
            lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            _, path, _ = lines[0].split(" ", 2)
            pairs = (line.partition(":") for line in lines[1:] if ":" in line)
            heads = {name.strip().lower(): value.strip() for name, _, value in pairs}
            if path.split("?")[0] == "/ws":
                await socket(reader, writer, path, heads)
                return
            await answer(writer, found(path), heads, await body_of(reader, heads))
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    context = None
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
    server = await asyncio.start_server(
        serve, "127.0.0.1", int(sys.argv[1]), ssl=context, limit=1 << 22
    )
    print(f"port {server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
