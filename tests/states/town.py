"""Applications of others as live sites: `sandbox up` runs them in containers."""

import json
import socket
import subprocess
import threading
from urllib.parse import urlsplit

RESETS = "--reset-listen=127.0.0.1:0"
CHUNK = 1 << 16


class Town:
    """The applications of some sites, until it is closed. Browsers reach them by `proxy`."""

    def __init__(self, sandbox, sites, folder):
        self.command, self.data = sandbox, folder / "town"
        names = [site.name for site in sites]
        self.proxy = json.loads(self.run("up", *names, "--no-key", "--json", RESETS))["proxy"]
        self.certificate = self.run("ca", "--path").strip()
        self.tunnels = {site.name: Tunnel(self.proxy, f"{site.host()}:443") for site in sites}

    def run(self, command, *arguments):
        done = [self.command, command, *arguments, "--data", self.data]
        ended = subprocess.run(done, capture_output=True, text=True)
        if ended.returncode != 0:
            raise RuntimeError(f"sandbox {command}: {ended.stderr}")
        return ended.stdout

    def reset(self, site):
        self.run("reset", site.name)

    def reached(self, site):
        """The options of `sandbox record` by which it reaches a site here."""
        port = self.tunnels[site.name].port
        return [f"--connect-to=:443:127.0.0.1:{port}", f"--upstream-ca={self.certificate}"]

    def close(self):
        for tunnel in self.tunnels.values():
            tunnel.close()
        self.run("down")


class Tunnel:
    """A port of this machine that leads to a host behind a proxy: `record` knows of no proxies."""

    def __init__(self, proxy, host):
        parts = urlsplit(proxy)
        self.proxy, self.host = (parts.hostname, parts.port), host
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.lead, args=(client,), daemon=True).start()

    def lead(self, client):
        server = socket.create_connection(self.proxy)
        server.sendall(f"CONNECT {self.host} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n") and (byte := server.recv(1)):
            head += byte
        if b" 200" in head.partition(b"\r\n")[0]:
            back = threading.Thread(target=copy, args=(server, client), daemon=True)
            back.start()
            copy(client, server)
            back.join()
        client.close()
        server.close()

    def close(self):
        # A socket that only is closed wakes no thread that waits in `accept`.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def copy(reader, writer):
    """Copies bytes until the reader's end, which it passes on."""
    try:
        while chunk := reader.recv(CHUNK):
            writer.sendall(chunk)
        writer.shutdown(socket.SHUT_WR)
    except OSError:
        # Either side may leave when it wants to.
        pass
