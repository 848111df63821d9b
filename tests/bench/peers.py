"""How each program is started on the same corpus."""

import collections
import contextlib
import json
import pathlib
import shutil
import subprocess

from procs import Server, free_port

Archive = collections.namedtuple("Archive", "warc manifest")
PROXY = r"proxy http://([0-9.]+:[0-9]+)"


class Tools:
    """Where the programs are, and a folder to work in."""

    def __init__(self, sandbox, load, venv, work):
        self.sandbox, self.load_program, self.venv, self.work = sandbox, load, venv, work
        # The certificate authority and the indexes stay out of the user's own folder.
        self.data = work / "data"
        self.env = {"SANDBOX_DATA": str(self.data)}

    def bin(self, name):
        return self.venv / "bin" / name

    def log(self, name):
        return self.work / f"{name}.log"

    def fresh(self, name):
        """An empty folder."""
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def corpus(self, name, *options):
        archive = Archive(self.work / name, self.work / f"{name}.jsonl")
        part = self.work / f"part-{name}"
        if not archive.warc.exists():
            run(self.load_program, "corpus", "--warc", part, "--manifest", archive.manifest, *options)
            part.rename(archive.warc)
        return archive

    def load(self, archive, threads, requests, server=None, direct=None):
        """Runs the client once: its report, and the processor time that the server used meanwhile."""
        route = ["--proxy", server.address] if server else ["--direct", direct.address]
        command = [self.load_program, "run", "--manifest", archive.manifest, "-c", threads, "-n", requests, *route]
        measured = server or direct
        before = measured.cpu_seconds()
        report = json.loads(run(*command))
        report["cpu_ms"] = 1000 * (measured.cpu_seconds() - before) / requests
        report["rss_mb"] = measured.rss_mb()
        return report

    def count_recorded(self):
        """Response and revisit records that the recorder has kept, counted by another program."""
        listing = run(self.bin("python"), "-c", COUNT_RESPONSES, self.work / "sandbox-record" / "live.wacz")
        return int(listing)


COUNT_RESPONSES = """
import sys, zipfile
from warcio.archiveiterator import ArchiveIterator
count = 0
with zipfile.ZipFile(sys.argv[1]) as wacz:
    for name in wacz.namelist():
        if name.startswith("archive/"):
            with wacz.open(name) as stream:
                count += sum(record.rec_type in ("response", "revisit") for record in ArchiveIterator(stream))
print(count)
"""


def run(*command, **options):
    command = [str(part) for part in command]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


@contextlib.contextmanager
def pywb(tools, archive):
    folder = tools.fresh("pywb")
    log = open(tools.log("pywb-setup"), "w")
    run(tools.bin("wb-manager"), "init", "bench", cwd=folder, stderr=log)
    run(tools.bin("wb-manager"), "add", "bench", archive.warc, cwd=folder, stderr=log)
    # Rewriting and its banner are off: the faster way, and the only one that leaves bodies as they
    # are.
    (folder / "config.yaml").write_text(
        "enable_content_rewrite: false\nproxy: {coll: bench, enable_banner: false, enable_content_rewrite: false}\n")
    port = free_port()
    command = [tools.bin("wayback"), "--proxy", "bench", "-p", port, "-b", "127.0.0.1"]
    env = {"GEVENT_MONKEY_PATCH": "1"}
    with Server(command, f"127.0.0.1:{port}", cwd=folder, env=env, log=tools.log("pywb")) as server:
        yield server


def mitmdump(tools, name, *options):
    port = free_port()
    confdir = tools.work / "mitmproxy"
    command = [tools.bin("mitmdump"), "-q", "--listen-host", "127.0.0.1", "-p", port, "--set", f"confdir={confdir}",
               "--set", "connection_strategy=lazy", "--set", "upstream_cert=false", *options]
    return Server(command, f"127.0.0.1:{port}", log=tools.log(name))


def mitmdump_replay(tools, archive):
    flows = archive.warc.with_suffix(".mitm")
    if not flows.exists():
        run(tools.bin("python"), script("flows.py"), archive.warc, flows)
    return mitmdump(tools, "mitmdump-replay", "--server-replay", flows, "--set", "server_replay_reuse=true",
                    "--set", "server_replay_extra=404")


def mitmdump_live(tools, name, live, *options):
    return mitmdump(tools, name, "-s", script("redirect.py"), "--set", f"redirect_to={live.address}",
                    "--set", "ssl_insecure=true", *options)


def mitmdump_forward(tools, live):
    return mitmdump_live(tools, "mitmdump-forward", live)


def mitmdump_record(tools, live):
    return mitmdump_live(tools, "mitmdump-record", live, "-w", tools.fresh("mitmdump-record") / "live.mitm")


def origin(tools):
    command = [tools.load_program, "origin", "--ca", tools.work / "origin-ca.pem"]
    return Server(command, announce=r"origin ([0-9.]+:[0-9]+)", log=tools.log("origin"))


def sandbox_replay(tools, archive, deadline=60):
    command = [tools.sandbox, "replay", archive.warc, "--no-key", "--listen", "127.0.0.1:0"]
    return Server(command, announce=PROXY, env=tools.env, log=tools.log("sandbox-replay"), deadline=deadline)


def sandbox_live(tools, live, command):
    route = ["--connect-to", f"::{live.address}", "--upstream-ca", tools.work / "origin-ca.pem", "--allow-private"]
    return Server([*command, *route], announce=PROXY, env=tools.env, log=tools.log("sandbox-live"))


def sandbox_forward(tools, live):
    return sandbox_live(tools, live, [tools.load_program, "forward"])


def sandbox_record(tools, live):
    out = tools.fresh("sandbox-record") / "live.wacz"
    return sandbox_live(tools, live, [tools.sandbox, "record", "--no-key", "--listen", "127.0.0.1:0", "-o", out])


def script(name):
    return pathlib.Path(__file__).with_name(name)
