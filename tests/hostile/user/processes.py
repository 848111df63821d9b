#!/usr/bin/env python3
"""What each kind of process that we start has, measured: one table for each way in which a machine
can be, as Markdown.

Usage: processes.py BINARY

A run with an agent program, a scorer program and a site in a command, and `sandbox attach` with
both of its doors, are looked at from outside until they end: user, namespaces, sockets that listen,
names of variables, and which places can be seen. The programs look for themselves, too, because
what Landlock forbids cannot be seen from outside. As root also as an ordinary user; with namespaces
and without.

Fails if a process listens where another user can connect, or if with namespaces a program sees what
it must not.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NOBODY = 65534
PROBE = pathlib.Path(__file__).parent / "probe.py"
WITHOUT = (
    "for kind in user mnt pid net; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done && exec \"$0\" \"$@\""
)
SPACES = ["user", "mnt", "pid", "net", "ipc"]
# What only confined programs must not see.
SECRET = ["suite", "results", "data", "other processes"]


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    users = [0, NOBODY] if os.geteuid() == 0 else [os.geteuid()]
    wrong = []
    for user in users:
        for has_namespaces in [True, False]:
            with tempfile.TemporaryDirectory(prefix="processes-", dir="/srv") as folder:
                ground = Ground(binary, user, has_namespaces, pathlib.Path(folder))
                for level in ["on", "strict"] if has_namespaces else ["on"]:
                    ground.run(level)
                ground.attach()
                print(f"\n### user {user}, {'with' if has_namespaces else 'without'} namespaces\n")
                print(table(ground.kinds))
                print(f"\nModes of what is left: {ground.modes()}")
                wrong += [f"user {user}: {why}" for why in ground.wrong(has_namespaces)]
    if wrong:
        sys.exit("\n".join(wrong))


class Ground:
    """A suite in which everything is started that can be started without a container engine."""

    def __init__(self, binary, user, has_namespaces, at):
        self.user, self.has_namespaces, self.at = user, has_namespaces, at
        self.kinds = collections.defaultdict(lambda: collections.defaultdict(set))
        for part in ["suite/sites/notes", "home/data", "tmp", "own"]:
            (at / part).mkdir(parents=True)
        shutil.copy(PROBE, at / "own/probe.py")
        # Here, because an ordinary user may not enter the repository.
        (at / "bin").mkdir()
        self.binary = shutil.copy(binary, at / "bin/sandbox")
        shutil.copy(PROBE, at / "suite/probe.py")
        (at / "home/notes").write_text("somebody's own notes")
        (at / "suite/sites/notes/site.yaml").write_text(
            "title: Notes\nabout: Notes.\ndriver: process\nhosts: [notes.test]\nready: {page: {get: /}}\n"
            "command: [python3, -m, http.server, '{port}', --bind, 127.0.0.1]\n"
        )
        (at / "suite/suite.yaml").write_text("world: {sites: sites, clock: 2026-03-12T08:30:00Z}\n")
        self.places = {
            "suite": at / "suite/one.yaml", "results": at / "run/run.json", "data": at / "home/data/ca",
            "home": at / "home/notes", "system": pathlib.Path("/etc/passwd"),
        }
        (at / "suite/one.yaml").write_text(
            "id: one\ngoal: Look.\nstart_url: https://notes.test/\nsites: [notes]\n"
            "scorer: {program: [python3, probe.py, scorer]}\noracle: [{answer: done}]\n"
        )
        for path in [at, *at.rglob("*")]:
            os.chown(path, user, user)

    def start(self, *arguments):
        command = [str(self.binary), *map(str, arguments)]
        if not self.has_namespaces:
            command = ["unshare", "--user", "--map-root-user", "sh", "-c", WITHOUT, *command]
        if self.user != os.geteuid():
            command = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups", *command]
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.at / "home"), "TMPDIR": str(self.at / "tmp"),
            "SANDBOX_DATA": str(self.at / "home/data"), "SANDBOX_TRUST": "1", "A_KEY_OF_THE_USER": "secret",
        }
        self.outer = subprocess.Popen(["sleep", "600"], user=self.user)
        return subprocess.Popen(
            command, env=environment, cwd=self.at, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )

    def words(self, kind):
        places = {name: str(path) for name, path in self.places.items()}
        spaces = {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in SPACES}
        (self.at / "own/places.json").write_text(json.dumps({"places": places, "namespaces": spaces}))
        return ["python3", str(self.at / "own/probe.py"), kind, str(self.at / "own/places.json")]

    def run(self, level):
        shutil.rmtree(self.at / "run", ignore_errors=True)
        agent = "program:" + " ".join(self.words("agent"))
        run = ["run", self.at / "suite", f"--agent={agent}", f"--confine={level}", "--output", self.at / "run"]
        self.watch(self.start(*run), f"agent, {level}")

    def attach(self):
        shutil.rmtree(self.at / "run", ignore_errors=True)
        # The driver listens for everybody, so it needs a network of its own.
        doors = ["--webdriver"] if self.has_namespaces else []
        attach = ["attach", self.at / "suite", "one", *doors, "--output", self.at / "run", "--"]
        self.watch(self.start(*attach, *self.words("command of attach")), "command of attach")

    def watch(self, child, program):
        """Looks at the family until it has ended, and then at what the programs have said."""
        self.child = child
        while child.poll() is None:
            for pid in family(child.pid):
                self.look(pid)
        said = "".join(child.communicate())
        self.outer.kill()
        self.outer.wait()
        files = list(self.at.glob("run/episodes/*/agent.stderr.txt"))
        said += "".join(file.read_text() for file in files)
        seen = [line.split(" ", 1)[1] for line in said.splitlines() if line.startswith("PROBE ")]
        if not seen:
            sys.exit(f"{program} said nothing of what it sees:\n{said}")
        for line in seen:
            row = self.kinds[program]
            for column, values in json.loads(line).items():
                row[column].update(values)

    def look(self, pid):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            kind = kind_of(words)
            if kind is None:
                return
            if kind == "sandbox" and pid != self.child.pid:
                return
            row = self.kinds[kind]
            environ = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            names = [item.split(b"=")[0].decode(errors="replace") for item in environ.split(b"\0") if b"=" in item]
            # Chromium writes its title over the environment.
            is_title = kind.startswith("Chromium") and not all(re.fullmatch("[A-Z_]+", name) for name in names)
            row["variables"].update(["(overwritten)"] if is_title else names)
            row["user"].add(str(os.stat(f"/proc/{pid}").st_uid))
            for space in SPACES:
                if os.readlink(f"/proc/{pid}/ns/{space}") != os.readlink(f"/proc/self/ns/{space}"):
                    row["own"].add(space)
            row["listens"].update(listening(pid))
            for name, path in self.places.items():
                if os.path.exists(f"/proc/{pid}/root{path}"):
                    row["sees"].add(name)
        except OSError:
            # It has ended.
            return

    def modes(self):
        """How many files and folders of a run and of the data folder have which mode."""
        left = [path for part in ["run", "home/data", "tmp"] for path in (self.at / part).rglob("*")]
        counted = collections.Counter(
            ("folders " if path.is_dir() else "files ") + oct(path.lstat().st_mode & 0o777)[2:]
            for path in left if not path.is_symlink()
        )
        return ", ".join(f"{count} {kind}" for kind, count in sorted(counted.items()))

    def wrong(self, has_namespaces):
        for kind, row in self.kinds.items():
            if "A_KEY_OF_THE_USER" in row["variables"] and kind not in OUR_OWN:
                yield f"{kind} has the user's variables"
            if has_namespaces and kind.startswith(("agent", "command of attach")):
                for place in SECRET:
                    if place in row["sees"]:
                        yield f"{kind} sees {place}"


# What runs with the user's own environment, because it is the user's command.
OUR_OWN = ["sandbox", "sandbox keep", "sandbox relay", "command of attach"]


def kind_of(words):
    program = os.path.basename(words.split(" ")[0])
    if program.startswith("chrom") and "driver" in program:
        return "chromedriver"
    if program.startswith("chrom"):
        kinds = [word.split("=")[1] for word in words.split(" ") if word.startswith("--type=")]
        return f"Chromium: {kinds[0]}" if kinds else "Chromium: browser"
    if program == "sandbox":
        second = (words.split(" ") + [""])[1]
        inner = {"own-network": "sandbox own-network", "keep": "sandbox keep", "keep-inside": "sandbox keep"}
        return inner.get(second, "sandbox relay" if second == "keep-relay" else "sandbox")
    if "http.server" in words:
        return "command of a site"
    return None


def family(root):
    children = collections.defaultdict(list)
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = pathlib.Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            children[int(stat.rsplit(") ", 1)[1].split()[1])].append(int(entry))
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children[pid]
    return found


def listening(pid):
    """The sockets on which a process listens, and where."""
    own = set()
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            own.add(os.readlink(entry.path))
        except OSError:
            continue
    machine = os.readlink(f"/proc/{pid}/ns/net") == os.readlink("/proc/self/ns/net")
    where = "the machine's" if machine else "its own"
    for table, state, field in [("tcp", "0A", 9), ("tcp6", "0A", 9), ("udp", "07", 9)]:
        for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == state and f"socket:[{fields[field]}]" in own:
                yield f"{table} in {where} network"
    for line in pathlib.Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "00010000" and f"socket:[{fields[6]}]" in own:
            path = fields[7] if len(fields) > 7 else "(gone)"
            yield "Unix, abstract" if path.startswith("@") else f"Unix {mode_of(path)}"


def mode_of(path):
    try:
        return oct(os.stat(path).st_mode & 0o777)[2:]
    except OSError:
        return "(gone)"


def table(kinds):
    columns = ["user", "own", "listens", "sees", "variables"]
    lines = ["| process | user | own namespaces | listens on | sees | variables |", "| --- | --- | --- | --- | --- | --- |"]
    for kind in sorted(kinds):
        cells = [", ".join(sorted(kinds[kind][column])) or "–" for column in columns]
        if len(kinds[kind]["variables"]) > 14 or kind in OUR_OWN:
            cells[-1] = "the user's"
        lines.append("| " + " | ".join([kind, *cells]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
