"""Shows pages of a collection with ReplayWeb.page (wabac.js) in Chromium.

replaywebpage.py PACKAGE COLLECTION URL...

PACKAGE is the unpacked npm package `replaywebpage`, COLLECTION a multi-WACZ package. Each URL must be
shown with status 200, and every WACZ file must have been read.
"""

import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

DEADLINE = 120

PAGE = """<!doctype html><script type="module">
const send = (result) => fetch("/result", {method: "POST", body: JSON.stringify(result)});
try {
  await navigator.serviceWorker.register("/sw.js", {scope: "/"});
  await navigator.serviceWorker.ready;
  if (!navigator.serviceWorker.controller) {
    await new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done));
  }
  const added = new Promise((done, failed) =>
    navigator.serviceWorker.addEventListener("message", ({data}) => {
      if (data.msg_type === "collAdded") done();
      if (data.msg_type === "collProgress" && data.error) failed(new Error(data.error));
    }));
  const loadUrl = new URL("/collection/NAME", location.href).href;
  navigator.serviceWorker.controller.postMessage(
    {msg_type: "addColl", name: "x", type: "wacz", file: {sourceUrl: loadUrl, loadUrl}, skipExisting: false});
  await added;
  const pages = await (await fetch("/w/api/c/x?all=1")).json();
  const shown = [];
  for (const url of URLS) {
    const response = await fetch("/w/x/mp_/" + url);
    const text = await response.text();
    shown.push({url, status: response.status, length: text.length});
  }
  await send({pages: (pages.pages || []).length, shown});
} catch (error) {
  await send({error: String(error.stack || error)});
}
</script>"""


def main():
    package, collection, *urls = sys.argv[1:]
    collection = pathlib.Path(collection).resolve()
    page = PAGE.replace("NAME", collection.name).replace("URLS", json.dumps(urls))
    done, read = threading.Event(), set()
    result = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.split("?")[0]
            if path == "/":
                return self.answer(page.encode(), "text/html")
            if path == "/sw.js":
                return self.answer((pathlib.Path(package) / "sw.js").read_bytes(), "text/javascript")
            if path.startswith("/collection/"):
                return self.file(collection.parent / path.removeprefix("/collection/"))
            return self.send_error(404)

        do_HEAD = do_GET

        def file(self, path):
            if path.parent != collection.parent or not path.is_file():
                return self.send_error(404)
            read.add(path.name)
            content = path.read_bytes()
            asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            if not asked:
                return self.answer(content, "application/octet-stream")
            start, end = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
            span = f"bytes {start}-{end}/{len(content)}"
            return self.answer(content[start : end + 1], "application/octet-stream", 206, span)

        def answer(self, content, kind, status=200, span=None):
            self.send_response(status)
            self.send_header("Content-Type", "application/json" if self.path.endswith(".json") else kind)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Accept-Ranges", "bytes")
            if span:
                self.send_header("Content-Range", span)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def do_POST(self):
            result.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.answer(b"", "text/plain")
            done.set()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # Processes of Chromium outlive its first one for a moment, and write there.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        chromium = subprocess.Popen(
            [
                shutil.which("chromium") or "chromium",
                "--headless=new",
                "--no-sandbox",
                f"--user-data-dir={profile}",
                f"http://127.0.0.1:{server.server_port}/",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        finished = done.wait(DEADLINE)
        chromium.kill()
        chromium.wait()
    listed = [resource["path"] for resource in json.loads(collection.read_text())["resources"]]
    missing = [path for path in listed if path not in read]
    wrong = [shown for shown in result.get("shown", []) if shown["status"] != 200]
    print(f"ReplayWeb.page: {result.get('pages')} pages of {len(listed)} files; {result.get('shown')}")
    if not finished or "error" in result or missing or wrong or not result.get("shown"):
        sys.exit(f"failed: {result.get('error', 'not in time')}, not read: {missing}, not shown: {wrong}")


if __name__ == "__main__":
    main()
