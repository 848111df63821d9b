#!/usr/bin/env python3
"""What rustfmt does not check.

    style.py          # names each line that breaks a rule; exit code 1 if there is one

- A comment has at most 100 columns, but for a table, a drawing or one long word.
- Imports stand in three groups with a blank line between them: the standard library, other crates,
  and this crate. Braces in an import are not nested.
- A module with a folder is its `mod.rs`.
- A file of Rust has at most 500 lines.
"""

import pathlib
import re
import subprocess
import sys

COLUMNS = 100
LINES = 500
COMMENT = {".rs": "//", ".js": "//", ".py": "#", ".sh": "#", ".toml": "#"}
STANDARD = ("std", "core", "alloc")
OURS = ("crate", "self", "super")
# Their bytes are part of images and of recorded pages.
CONTENT = ("images/", "tests/origin/assets/")


def long_comments(text, mark):
    """Numbers of the lines whose comment is too long."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if not words.startswith(mark):
            continue
        words = words.lstrip(mark + "! ")
        if words.startswith("```"):
            fenced = not fenced
        if len(line) > COLUMNS and not fenced and not words.startswith("|") and "  " not in words and " " in words:
            yield number


def group(line):
    """0 for the standard library, 1 for other crates, 2 for this crate."""
    root = re.match(r"\s*use (?:::)?(\w+)", line)[1]
    return 0 if root in STANDARD else 2 if root in OURS else 1


def blocks(lines):
    """Runs of private imports: for each its statements, with number, group and whether a blank line is before it."""
    block, blank, number = [], False, 0
    while number < len(lines):
        line = lines[number]
        if re.match(r"\s*use [\w:]", line):
            block.append((number + 1, group(line), blank))
            while not lines[number].rstrip().endswith(";"):
                number += 1
            blank = False
        elif not line.strip() and block:
            blank = True
        else:
            if block:
                yield block
            block, blank = [], False
        number += 1
    if block:
        yield block


def mixed_imports(text):
    """Numbers of the lines where the groups of imports are in disorder."""
    for block in blocks(text.splitlines()):
        for (_, before, _), (number, now, blank) in zip(block, block[1:]):
            if now < before or blank != (now != before):
                yield number


def nested_imports(text):
    """Numbers of the lines where an import has braces within braces."""
    for match in re.finditer(r"^\s*(?:pub(?:\([\w: ]+\))? )?use [^;]*?\{[^;}]*\{", text, re.MULTILINE):
        yield text.count("\n", 0, match.start()) + 1


def rust_faults(name, path, text):
    """What breaks a rule for files of Rust."""
    yield from (f"{name}:{number}: imports out of order" for number in mixed_imports(text))
    yield from (f"{name}:{number}: braces of an import are nested" for number in nested_imports(text))
    if path.with_suffix("").is_dir():
        yield f"{name}: a module with a folder is {path.stem}/mod.rs"
    if text.count("\n") > LINES:
        yield f"{name}: {text.count(chr(10))} lines, over {LINES}"


def main():
    root = pathlib.Path(__file__).resolve().parents[1]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, stdout=subprocess.PIPE).stdout
    broken = []
    for name in listed.decode().split("\0"):
        path = root / name
        mark = COMMENT.get(path.suffix)
        if mark is None or name.startswith(CONTENT) or not path.is_file():
            continue
        text = path.read_text()
        broken += [f"{name}:{number}: comment over {COLUMNS} columns" for number in long_comments(text, mark)]
        if path.suffix == ".rs":
            broken += rust_faults(name, path, text)
    print("\n".join(broken), end="\n" if broken else "")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
