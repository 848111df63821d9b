"""What `kubectl` asks a cluster before a client-side dry run: the kinds that it knows.

There is no cluster behind it: whatever else is asked for is an error, and is kept in `other`.
"""

import http.server
import json
import threading

# Group and version, kind, plural.
KINDS = [("batch/v1", "Job", "jobs"), ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies")]


def group(version):
    name = version.split("/")[0]
    known = {"groupVersion": version, "version": version.split("/")[1]}
    return {"name": name, "versions": [known], "preferredVersion": known}


def answers():
    found = {
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": []},
        "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [group(version) for version, _, _ in KINDS]},
        "/version": {"major": "1", "minor": "32", "gitVersion": "v1.32.0"},
    }
    for version, kind, plural in KINDS:
        resource = {"name": plural, "singularName": "", "namespaced": True, "kind": kind, "verbs": ["create", "get"]}
        found[f"/apis/{version}"] = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": [resource]}
    return found


class Discovery:
    """Listens on loopback while it is used as a context."""

    def __enter__(self):
        known, self.other = answers(), []
        other = self.other

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path = self.path.split("?")[0]
                body = json.dumps(known.get(path, {"kind": "Status", "code": 404})).encode()
                if path not in known:
                    other.append(f"GET {path}")
                self.send_response(200 if path in known else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                other.append(f"POST {self.path}")
                self.send_error(405)

            do_PUT = do_PATCH = do_DELETE = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
