#!/usr/bin/env python3
"""Measures the code of Rust workspaces, this one and others, by the same rules.

    house.py FOLDER...    # Markdown: a row for each folder; for one folder the crates, too

Code is all Rust but tests: files below `tests`, `benches`, `examples` or `fuzz` and those named so,
and modules behind `#[cfg(test)]` do not count. Strings and comments are found by rules of thumb, so
that a figure may be off by some thousandths, in each folder alike.
"""

import collections
import pathlib
import re
import statistics
import subprocess
import sys
import tomllib

NO_CODE = {"tests", "benches", "examples", "fuzz", "target", "test", "testing"}
TEST_FILE = re.compile(r"(^|_)tests?\.rs$")
TEST_MODULE = re.compile(r"\s*#\[cfg\((all\()?test\b")
FUNCTION = re.compile(r"\s*(pub(\([^)]*\))? )?(const |async |unsafe |extern \"\w+\" )*fn (\w+)")
TEXT = re.compile(r'r#*".*?"#*|"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'')
DOC, COMMENT = r"^\s*//[/!]", r"^\s*//([^/!]|$)"
LARGE, WIDE, BIG_FILE = 25, 100, 500


def depth_change(line):
    """How many braces a line opens, less those that it closes."""
    plain = TEXT.sub("", line).split("//")[0]
    return plain.count("{") - plain.count("}")


def without_tests(lines):
    """The lines of a file but for its modules of tests."""
    kept, depth, skipping, begun = [], 0, False, False
    for line in lines:
        if skipping:
            depth += depth_change(line)
            begun = begun or "{" in line
            skipping = depth > 0 if begun else not line.rstrip().endswith(";")
        elif TEST_MODULE.match(line):
            skipping, begun, depth = True, False, 0
        else:
            kept.append(line)
    return kept


def functions(lines):
    """The bodies of a file's functions: lists of lines, without the first and the last."""
    found = []
    for start, line in enumerate(lines):
        if not FUNCTION.match(line):
            continue
        depth, opened = 0, False
        for end in range(start, len(lines)):
            depth += depth_change(lines[end])
            opened = opened or "{" in TEXT.sub("", lines[end])
            if opened and depth <= 0:
                found.append(lines[start : end + 1])
                break
            if not opened and lines[end].rstrip().endswith(";"):
                break
    return found


def code_files(folder):
    """The files with code below a folder, with their lines."""
    listed = subprocess.run(
        ["git", "-C", str(folder), "ls-files", "*.rs"], capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        path = pathlib.PurePath(name)
        if NO_CODE.isdisjoint(path.parts[:-1]) and not TEST_FILE.search(path.name):
            file = folder / name
            yield name, without_tests(file.read_text(errors="replace").splitlines())


def share(values, part):
    """The value below which this part of all values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] if values else 0


def row(folder):
    """What is told of a folder."""
    files = dict(code_files(folder))
    if not files:
        sys.exit(f"{folder}: no Rust code that git knows")
    lines = [line for text in files.values() for line in text]
    bodies = [body for text in files.values() for body in functions(text)]
    sizes, lengths = [len(text) for text in files.values()], [len(body) for body in bodies]
    inner = [line for body in bodies for line in body[1:-1]]
    large = [body for body in bodies if len(body) >= LARGE]
    silent = [body for body in large if not any("//" in TEXT.sub("", line) for line in body)]
    thousand = max(1, len(lines)) / 1000

    def count(pattern, of=lines):
        return sum(bool(re.search(pattern, line)) for line in of)

    def per(number):
        return f"{number / thousand:.1f}"

    return [
        folder.name,
        len(files),
        f"{len(lines) / 1000:.1f}k",
        f"{int(statistics.median(sizes))} / {share(sizes, 0.9)} / {max(sizes)}",
        sum(size > BIG_FILE for size in sizes),
        " / ".join(map(str, [share(lengths, part) for part in (0.5, 0.9, 0.99, 1)])),
        " / ".join(per(count(word)) for word in (r"\.unwrap\(\)", r"\.expect\(", r"\bpanic!")),
        per(sum(len(line) > WIDE for line in lines)),
        f"{per(count(DOC))} / {per(count(COMMENT))}",
        f"{1000 * count(COMMENT, inner) / max(1, len(inner)):.0f}; {share_of(silent, large)}",
        circles(files),
    ]


def share_of(some, all_of_them):
    return f"{100 * len(some) / max(1, len(all_of_them)):.0f} %"


def circles(files):
    """The modules that lie on circles of imports within their crates."""
    crates = collections.defaultdict(dict)
    for name, lines in files.items():
        crate, _, inside = name.rpartition("/src/") if "/src/" in name else ("", "", name)
        module = inside.removesuffix(".rs").removesuffix("/mod").split("/")
        crates[crate][tuple(module)] = "\n".join(lines)
    return sum(on_circles(modules) for modules in crates.values())


def on_circles(modules):
    """How many top folders of a crate import each other in a circle."""
    tops = {module[0] for module in modules}
    arrows = collections.defaultdict(set)
    for module, text in modules.items():
        for group, single in re.findall(r"\bcrate::(?:\{([^}]*)\}|(\w+))", text):
            names = (
                [single] if single else [part.strip().split("::")[0] for part in group.split(",")]
            )
            arrows[module[0]] |= {name for name in names if name in tops} - {module[0]}
    reach = {top: reached(top, arrows) for top in tops}
    return sum(top in reach[top] for top in tops)


def reached(start, arrows):
    """What one comes to from `start`, itself only by a circle."""
    seen, todo = set(), list(arrows.get(start, ()))
    while todo:
        top = todo.pop()
        if top not in seen:
            seen.add(top)
            todo.extend(arrows.get(top, ()))
    return seen


def crates(folder):
    """The crates of a workspace: lines, and how many lines a change in each compiles again."""
    lines, needs = {}, collections.defaultdict(set)
    for manifest in sorted(folder.glob("**/Cargo.toml")):
        if "target" in manifest.parts or not (manifest.parent / "src").is_dir():
            continue
        told = tomllib.loads(manifest.read_text())
        if "package" in told:
            name = told["package"]["name"]
            lines[name] = sum(len(text) for _, text in code_files(manifest.parent))
            needs[name] = set(told.get("dependencies", {}))
    users = {name: {other for other in lines if name in needs[other]} for name in lines}
    whole = sum(lines.values())
    for name in sorted(lines, key=lines.get, reverse=True):
        again = sum(lines[other] for other in reached(name, users) | {name})
        yield [name, lines[name], len(users[name]), f"{100 * again / whole:.0f} %"]


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for cells in rows:
        print("| " + " | ".join(map(str, cells)) + " |")


def main():
    folders = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    if not folders:
        sys.exit(__doc__)
    head = "code,files,lines,files: median / p90 / max,over 500,functions: median / p90 / p99 / max"
    head += (
        ",unwrap / expect / panic per 1000,over 100 columns per 1000,doc / other comments per 1000"
    )
    head += ",comments per 1000 lines of functions; large ones without any,folders on circles"
    table(head.split(","), map(row, folders))
    if len(folders) == 1:
        print()
        table(["crate", "lines", "users", "compiled again"], crates(folders[0]))


if __name__ == "__main__":
    main()
