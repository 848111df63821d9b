#!/usr/bin/env python3
"""Runs the examples of the documentation.

    docs/check.py SANDBOX ORIGIN [FILE...]    # ORIGIN is the program of tests/origin

Takes every block ```sh of README.md, examples/README.md and docs/src, or of the FILEs. Runs the
blocks of one file in order, in one scratch folder, with `bash -eu`. The folder has copies of tasks/,
sites/, snapshots/, clients/ and examples/. `sandbox` is on the PATH. A block that hangs is ended
after 10 minutes; how long one takes is no test. Words after `sh` are marks:

    exit=N          the exit code that the block must have; otherwise 0
    live            the block reaches the outside world. It gets the demo web on loopback instead:
                    example.org stands for one of its sites, and `sandbox` is told where that is
    serves          the last command serves until Ctrl-C. It gets Ctrl-C once it has printed a line
    as=FILE         not run here if a block of FILE is the same, comments aside: it is run there
    norun=REASON    not run here; the reason may have spaces, so this is the last mark

A block ```text that follows with the mark `printed` must be in what the block before it printed.
There `...` stands for any text, and the width of white space does not count.

Prints a line for each block, and what the failed ones printed at the end. Exit code 1 if one failed.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPIES = ("tasks", "sites", "snapshots", "clients", "examples")
# Only what hangs takes so long, in seconds, also on a busy machine.
DEADLINE = 600
FENCE = re.compile(r"^( *)```(\w+)?([^\n]*)\n(.*?)^\1```\s*$", re.MULTILINE | re.DOTALL)
# The site of the demo web that stands for the outside world.
LIVE_HOST = ("example.org", "www.aldria-rail.test")
LIVE_COMMANDS = """#!/bin/sh
# `sandbox`, with the demo web as its outside world.
set -eu
[ -n "$LIVE_WEB" ] || exec "$SANDBOX" "$@"
case "$1" in
record) exec "$SANDBOX" "$@" $LIVE_WEB --delay 0 ;;
replay) case " $* " in *" --fill "*) exec "$SANDBOX" "$@" $LIVE_WEB ;; esac ;;
init) case " $* " in
    *" -- "*) exec "$SANDBOX" "$@" $LIVE_WEB --delay 0 ;;
    *" --url "*) exec "$SANDBOX" "$@" -- $LIVE_WEB --delay 0 ;;
    esac ;;
esac
exec "$SANDBOX" "$@"
"""


class Block:
    def __init__(self, file, line, words, text):
        self.file, self.line, self.text = file, line, text
        words, _, reason = words.strip().partition("norun=")
        self.norun = reason.strip()
        marks = words.split()
        self.live, self.serves = "live" in marks, "serves" in marks
        codes = [int(mark[5:]) for mark in marks if mark.startswith("exit=")]
        self.code = codes[0] if codes else 0
        self.run_in = next((mark[3:] for mark in marks if mark.startswith("as=")), None)
        self.printed = None
        unknown = [mark for mark in marks if not re.fullmatch(r"live|serves|exit=\d+|as=\S+", mark)]
        if unknown:
            sys.exit(f"check: {file}:{line}: unknown marks: {' '.join(unknown)}")


def blocks(file):
    found = []
    text = file.read_text()
    for match in FENCE.finditer(text):
        indent, language, words, body = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        body = re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
        if language == "sh":
            found.append(Block(os.path.relpath(file, ROOT), line, words, body))
        elif language == "text" and words.split() == ["printed"]:
            if not found:
                sys.exit(f"check: {file}:{line}: no block ```sh is before it")
            found[-1].printed = body
    return found


def is_run_in(block, file):
    """Whether the same commands are run as an example of another file."""
    others = blocks(ROOT / file)
    return any(bare(other.text) == bare(block.text) and not other.norun and not other.run_in for other in others)


def bare(text):
    """Commands without comments at the ends of their lines."""
    return re.sub(r"\s+#.*$", "", text, flags=re.MULTILINE).strip()


class LiveWeb:
    """The demo web on loopback."""

    def __init__(self, program, folder):
        self.process = subprocess.Popen([program, "--ca-dir", folder], stdout=subprocess.PIPE, text=True)
        # It prints three lines once it answers. Where it does not, its end is the end of the wait.
        late = threading.Timer(30, self.process.kill)
        late.start()
        told = dict(self.process.stdout.readline().strip().partition(" ")[::2] for _ in range(3))
        late.cancel()
        if "ca" not in told:
            sys.exit("check: the demo web did not start within 30 s")
        plain, tls = told["http"].removeprefix("http://"), told["https"].removeprefix("https://")
        self.options = f"--connect-to=:80:{plain} --connect-to=:443:{tls} --upstream-ca={told['ca']}"

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


def run(block, folder, environment):
    """The exit code, or None after the deadline; and what was printed."""
    text = block.text
    if block.live:
        text = text.replace(*LIVE_HOST)
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(["bash", "-eu", "-c", text], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        deadline = time.monotonic() + DEADLINE
        if block.serves:
            while process.poll() is None and time.monotonic() < deadline and not is_serving(block, log):
                time.sleep(0.05)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
        code = None
        try:
            code = process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass
        finally:
            # Also what the block has left in the background.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.seek(0)
        return code, log.read()


def is_serving(block, log):
    """Whether a server has printed what the page shows, or a line if the page shows nothing."""
    output = os.pread(log.fileno(), 1 << 20, 0).decode(errors="replace")
    return is_printed(block.printed, output) if block.printed else "\n" in output


def squeezed(text):
    return " ".join(text.split())


def is_printed(wanted, output):
    pattern = ".*?".join(re.escape(part.strip()) for part in squeezed(wanted).split("..."))
    return re.search(pattern.replace(r"\ ", r"\s+"), squeezed(output)) is not None


def check_file(file, sandbox, live, counts, failures):
    with tempfile.TemporaryDirectory(prefix="sandbox-docs-") as scratch:
        scratch = pathlib.Path(scratch)
        folder, home = scratch / "work", scratch / "home"
        for path in (folder, home, scratch / "bin"):
            path.mkdir()
        for name in COPIES:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, symlinks=True)
        program = scratch / "bin/sandbox"
        program.write_text(LIVE_COMMANDS)
        program.chmod(0o755)
        kept = {name: os.environ[name] for name in ("LANG", "TZ", "TMPDIR") if name in os.environ}
        environment = {
            **kept, "HOME": str(home), "PATH": f"{scratch / 'bin'}:{os.environ['PATH']}",
            "SANDBOX": sandbox, "SANDBOX_DATA": str(scratch / "data"), "LIVE_WEB": "", "PYTHONDONTWRITEBYTECODE": "1",
            # The suites here are our own.
            "SANDBOX_TRUST": "1",
        }
        for block in blocks(file):
            place = f"{block.file}:{block.line}"
            if block.norun:
                counts["norun"] += 1
                print(f"norun   {place}: {block.norun}", flush=True)
                continue
            if block.run_in and is_run_in(block, block.run_in):
                counts["passed"] += 1
                print(f"same    {place}: {block.run_in}", flush=True)
                continue
            if block.live:
                environment["LIVE_WEB"] = live.options
            began = time.monotonic()
            code, output = run(block, folder, environment)
            took = f"{time.monotonic() - began:.1f} s"
            environment["LIVE_WEB"] = ""
            problem = ""
            if code is None:
                problem = f"did not end within {DEADLINE} s"
            elif code != block.code:
                problem = f"exit code {code}, not {block.code}"
            elif block.printed and not is_printed(block.printed, output):
                problem = "did not print what the page shows"
            if problem:
                counts["failed"] += 1
                failures.append(f"FAILED  {place}: {problem} ({took})")
                print(failures[-1], flush=True)
                failures[-1] += f"\n{output[-3000:]}"
            else:
                counts["passed"] += 1
                print(f"passed  {place} ({took})", flush=True)


def main():
    # The end of this program is the end of what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sandbox, origin = (str(pathlib.Path(name).resolve()) for name in sys.argv[1:3])
    named = [pathlib.Path(name).resolve() for name in sys.argv[3:]]
    files = named or [ROOT / "README.md", ROOT / "examples/README.md", *sorted((ROOT / "docs/src").rglob("*.md"))]
    counts, failures = {"passed": 0, "failed": 0, "norun": 0}, []
    with tempfile.TemporaryDirectory(prefix="sandbox-docs-ca-") as folder:
        live = LiveWeb(origin, folder)
        try:
            for file in files:
                check_file(file, sandbox, live, counts, failures)
        finally:
            live.stop()
    print("\n".join([*failures, ", ".join(f"{number} {name}" for name, number in counts.items())]))
    return 1 if counts["failed"] else 0


sys.exit(main())
