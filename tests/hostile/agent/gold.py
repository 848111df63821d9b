#!/usr/bin/env python3
"""The gold of whole suites, by every way that a program could try.

Usage: gold.py BINARY [SUITE...]     (without suites: demo, arena and town)

A copy of each suite gets a mark into every file, and one more task whose answer is the mark. A run
gives that task to an agent that tries the ways of `ways.sh`, and those below, twice: the second
time beside the results of the first. So does the command of `sandbox attach`. Both are played as
they are by default and with `--confine strict`; as root also by an ordinary user. Fails if a way
comes to the mark, and if unconfined none does: then they would be no ways.
"""

import hashlib
import json
import os
import pathlib
import secrets
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
REPOSITORY = HERE.parent.parent.parent
SUITES = ["demo", "arena", "town"]
NOBODY = 65534
MARK = "canary-"
# What only a whole run has: doors, other results, packs, the data folder.
MORE = {
    "its own environment": "env",
    "the data folder": "grep -rs $MARK $DATA",
    "results of the whole run": "grep -rsa $MARK $T/run",
    "a pack without solutions": "zstd -dc $T/own/pack.run | grep -a $MARK",
    "temporary folders": "grep -rsa --exclude-dir=proc $MARK ${TMPDIR:-/tmp} /var/tmp /dev/shm",
    "container engines": "for s in /run/docker.sock /var/run/docker.sock /run/podman/podman.sock; do"
    " curl -s --max-time 2 --unix-socket $s http://d/containers/json > /dev/null && echo REACHED; done",
    "ports of the machine": "for p in $(awk 'NR > 1 && $4 == \"0A\" {print $2}' /proc/net/tcp | cut -d: -f2); do"
    " for path in / /tasks /run.json /report.html /results /json/list /status; do"
    " curl -s --max-time 2 http://127.0.0.1:$(printf %d 0x$p)$path; done; done",
    "DevTools, by files": "for u in file://$T/suite/$TASK view-source:file://$T/suite/$TASK; do"
    " curl -s --max-time 2 -X PUT \"$SANDBOX_CDP/json/new?$u\"; done; curl -s --max-time 2 $SANDBOX_CDP/json/list",
    "what the server of actions tells": "curl -s --max-time 2 $SANDBOX_CDP/tasks $SANDBOX_CDP/../tasks",
    # What comes of it is seen in the score.
    "an answer that is a link": "ln -sf $T/suite/$TASK \"${SANDBOX_ANSWER_FILE:-/nowhere/at/all}\"",
    "pictures that are links": "cd \"$(dirname \"$SANDBOX_ANSWER_FILE\")/..\" && ln -sf $T/suite/$TASK step-02.png",
    "uploads from a folder that is changed": "for d in ${TMPDIR:-/tmp}/sandbox-*/sandbox-browser-*; do"
    " mv $d/downloads $d/before; ln -s $T/suite $d/downloads && echo REACHED; done",
    "sockets without a path": "python3 -c '\nimport socket\nfor line in open(\"/proc/net/unix\"):\n"
    "  name = line.split()[7:]\n  if not name or name[0][0] != \"@\": continue\n"
    "  s = socket.socket(socket.AF_UNIX); s.settimeout(1)\n"
    "  try: s.connect(\"\\0\" + name[0][1:]); s.send(b\"GET / HTTP/1.0\\r\\n\\r\\n\"); print(s.recv(4096))\n"
    "  except OSError: pass\n'",
}


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    users = [None, NOBODY] if os.geteuid() == 0 else [None]
    tried = 0
    for name in sys.argv[2:] or SUITES:
        for user in users:
            with tempfile.TemporaryDirectory(prefix="gold-", dir="/srv") as folder:
                ground = Ground(binary, name, user, pathlib.Path(folder))
                opened = ground.tries("run", "off")
                if len(opened) < 8 and user is not None:
                    sys.exit(f"{name}: unconfined, only {opened} lead to the gold")
                for kind in ["run", "attach"]:
                    for level in ["on", "strict"]:
                        found = ground.tries(kind, level)
                        tried += len(ground.ways)
                        print(f"{name}, {kind}, user {user or 0}, {level}: {len(found)} of {len(ground.ways)} ways")
                        if found:
                            sys.exit("\n".join(found))
    print(f"{tried} tries, none came to the gold")


class Ground:
    """A copy of a suite with marks, and what lies beside it."""

    def __init__(self, binary, name, user, folder):
        self.user, self.at = user, folder
        # Here, because an ordinary user may not enter the repository.
        world = folder / "world"
        (world / "snapshots").mkdir(parents=True)
        shutil.copy(REPOSITORY / "snapshots/demo.wacz", world / "snapshots")
        shutil.copytree(REPOSITORY / "sites", world / "sites")
        self.binary = shutil.copy(binary, world / "sandbox")
        self.mark = MARK + secrets.token_hex(8)
        suite = folder / "suite"
        shutil.copytree(REPOSITORY / "tasks" / name, suite)
        for file in suite.glob("*.yaml"):
            text = file.read_text()
            text = text.replace("../../", f"{world}/")
            file.write_text(f"{text}\n# {self.mark}\n")
        (suite / "canary.yaml").write_text(
            "id: canary\ngoal: Look.\nstart_url: about:blank\nsites: []\n"
            f"scorer: {{assistantbench: {{gold: {self.mark}}}}}\noracle: [{{answer: {self.mark}}}]\n"
        )
        for part in ["own", "run", ".git/objects", "tmp", "home"]:
            (folder / part).mkdir(parents=True)
        (folder / ".git/objects" / self.mark).write_text(self.mark)
        (folder / "link").symlink_to(suite)
        ways = (HERE / "ways.sh").read_text().split("\n## ")[1:]
        self.ways = dict(way.split("\n", 1) for way in ways) | MORE
        (folder / "own/ways.json").write_text(json.dumps(self.ways))
        shutil.copy(HERE / "thief.py", folder / "own/thief.py")
        if user:
            for path in [folder, *folder.rglob("*")]:
                os.chown(path, user, user, follow_symlinks=False)
        self.packed()

    def environment(self):
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.at / "home"), "TMPDIR": str(self.at / "tmp"),
            "SANDBOX_DATA": str(self.at / "home/data"), "SANDBOX_TRUST": "1",
            "T": str(self.at), "TASK": "canary.yaml", "MARK": MARK, "DATA": str(self.at / "home/data"),
        }

    def sandbox(self, *arguments):
        command = [str(self.binary), *map(str, arguments)]
        if self.user:
            other = ["setpriv", "--reuid", str(self.user), "--regid", str(self.user), "--clear-groups"]
            command = other + command
        outer = subprocess.Popen(
            ["sh", "-c", "read forever", self.mark], user=self.user, env={"GOLD": self.mark}, stdin=subprocess.PIPE
        )
        try:
            return subprocess.run(
                command, env=self.environment() | {"OUTER": str(outer.pid)}, cwd=self.at, capture_output=True,
                text=True, timeout=600,
            )
        finally:
            outer.kill()
            outer.wait()

    def packed(self):
        """A pack as it may be given away."""
        run = self.at / "own/first"
        said = self.sandbox("run", self.at / "suite", "--agent=noop", "--task=canary", "--output", run)
        pack = self.sandbox("pack", run, "--without-solutions", "--output", self.at / "own/pack.run")
        if pack.returncode:
            sys.exit(said.stderr + pack.stderr)
        shutil.rmtree(run)

    def tries(self, kind, level):
        """The ways that came to the mark."""
        shutil.rmtree(self.at / "run")
        for left in ["own/l", "own/h"]:
            (self.at / left).unlink(missing_ok=True)
        thief = f"python3 {self.at}/own/thief.py {self.at}/own/ways.json"
        handed = [f"--agent-env={name}" for name in ["T", "TASK", "MARK", "DATA", "OUTER"]]
        out = ["--output", self.at / "run", f"--confine={level}"]
        if kind == "run":
            agent = [f"--agent=program:{thief} agent", *handed]
            said = self.sandbox("run", self.at / "suite", *agent, "--task=canary", "--repeat=2", *out)
        else:
            said = self.sandbox("attach", self.at / "suite", "canary", *out, "--", *thief.split())
        said = said.stdout + said.stderr
        said += "".join(file.read_text() for file in self.at.glob("run/episodes/*/agent.stderr.txt"))
        if "THIEF DONE" not in said:
            sys.exit(f"{kind} {level}: the agent did not come to its end\n{said}")
        for file in self.at.glob("run/episodes/*/episode.json"):
            if json.loads(file.read_text()).get("score"):
                return ["it has earned a score by an answer that it could not know"]
        digests = [hashlib.sha256(found.encode()).hexdigest() for found in [self.mark, "REACHED"]]
        return sorted({line for line in said.splitlines() if any(f"FOUND {digest}" in line for digest in digests)})


if __name__ == "__main__":
    main()
