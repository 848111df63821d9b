#!/usr/bin/env python3
"""Prints the page of the command line: the help of `sandbox` and of each of its commands.

    docs/cli.py SANDBOX > docs/src/reference/cli.md
    docs/cli.py SANDBOX --check    # exit code 1 if that file says something else
"""

import os
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent / "src/reference/cli.md"
# Every command has these; they are printed once.
COMMON = ("-v, --verbose", "--log-json", "--public", "-h, --help")
HEAD = """# Command line

This page is the help of each command. `docs/cli.py` makes it from the program.

`sandbox help COMMAND` and `sandbox COMMAND --help` print the same. `sandbox man DIR` writes manual
pages. `sandbox completions bash`, `zsh` or `fish` prints completions.

The options `-v`, `--log-json`, `--public` and `-h` are shown once, because all commands have them.
"""


def help_of(sandbox, words):
    # The width of the text does not depend on the terminal.
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    for name in ("SANDBOX_DATA", "SANDBOX_TRUST"):
        environment.pop(name, None)
    command = [sandbox, *words, "--help"]
    return subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True, timeout=30).stdout


def commands(text, group):
    """The commands that a help lists. The first help has groups of its own; others have one list."""
    found, inside = [], False
    for line in text.splitlines():
        if line and not line.startswith(" "):
            inside = line.endswith(":") and (group or line == "Commands:") and line not in ("Options:", "Exit codes:")
        elif inside and (match := re.match(r"  ([a-z][a-z0-9-]*)(  |$)", line)):
            found.append(match[1])
    return [name for name in found if name != "help"]


def without_common(text):
    lines, skipping = [], False
    for line in text.splitlines():
        words = line.strip()
        if re.match(r" {2,6}-", line):
            skipping = words.startswith(COMMON)
        elif line and not line.startswith(" "):
            skipping = False
        if not skipping:
            lines.append(line)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    # A list of options that had no others.
    return re.sub(r"\nOptions:\n+(?=\n[A-Z]|\Z)", "\n", text).strip()


def sections(sandbox, words, level):
    text = help_of(sandbox, words)
    first = not words
    if not first:
        text = without_common(text)
    yield f"{'#' * level} {' '.join(['sandbox', *words])}\n\n```text\n{text.strip()}\n```\n"
    for name in commands(text, first):
        yield from sections(sandbox, [*words, name], level if not first else 2)


def main():
    sandbox = sys.argv[1]
    page = HEAD + "\n" + "\n".join(sections(sandbox, [], 2))
    if sys.argv[2:] != ["--check"]:
        sys.stdout.write(page)
        return 0
    if PAGE.read_text() == page:
        return 0
    print(f"cli: {PAGE} is not what {sandbox} says; run: docs/cli.py {sandbox} > {PAGE}", file=sys.stderr)
    return 1


sys.exit(main())
