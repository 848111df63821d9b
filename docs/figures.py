#!/usr/bin/env python3
"""Renders the figures of tests/bench/figures/*.toml for people.

docs/figures.py            # writes BENCHMARKS.md, docs/src/reference/guarantees.md and the charts
docs/figures.py --check    # names each of them that differs from the data; exit code 1 if one does
"""

import html
import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "bench"))

from measured import FOLDER, ends, read, state, target_text, value_text  # noqa: E402

BENCHMARKS = "BENCHMARKS.md"
GUARANTEES = "docs/src/reference/guarantees.md"
PICTURES = "docs/src/pictures"
AREAS = (
    "Speed and memory",
    "Sites",
    "Observation",
    "Throughput",
    "Reports",
    "Scoring",
    "Determinism",
    "Recordings",
    "Benchmarks of others",
    "On a cluster",
    "Conformance",
    "Packages and build",
    "Safety",
)
MARK = "<!-- Rendered by docs/figures.py from tests/bench/figures/*.toml. -->"

BENCHMARKS_HEAD = f"""{MARK}

# Figures

What was measured, how, and on which machine. [Guarantees](docs/src/reference/guarantees.md) lists
what is promised, beginning with what is not met.

Speeds are compared with a peer that ran beside `sandbox` in the same run: 10x is ten times as fast,
or as many. A figure without a target is for information. A range is from the least to the most. A
date is the day on which a figure was entered. "p99" or "99th percentile" is what 99 of 100 stay
below.

The data are in `tests/bench/figures/`, one file for each command. Some benchmarks write their own
figures there if they are asked to (`make bench FIGURES=yes`); the others are written by hand. Each
section says which.
"""

GUARANTEES_HEAD = f"""{MARK}

# Guarantees

Each promise, and the command or test that holds it. [Figures](figures.md) has the measurements and
how they were made.

- *met*: the last measurement reached the target, or the test passes.
- *not met*: it did not.
- *not measured*: nothing has measured it yet.
"""

# Colours of the page and of the viewer's system may differ, so a chart has a ground of its own.
CHART_STYLE = """
  text { font: 14px sans-serif; fill: #1f2328; }
  .title { font-weight: 600; }
  .ground { fill: #ffffff; stroke: #d1d9e0; }
  .ours { fill: #0969da; }
  .most { fill: #0969da; opacity: .35; }
  .peer { fill: #818b98; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .ground { fill: #151b23; stroke: #3d444d; }
    .ours, .most { fill: #4493f8; }
    .peer { fill: #9198a1; }
  }
"""


def read_all(folder):
    """The data of all files by name, in the order in which they are shown."""
    files = {path.stem: read(path) for path in folder.glob("*.toml")}
    for name, data in files.items():
        if data["area"] not in AREAS:
            sys.exit(f"{folder / name}.toml: the area {data['area']!r} is none of docs/figures.py")
    # What a benchmark is named after comes before what has a name of its own: `bench` before
    # `sites`.
    return dict(sorted(files.items(), key=lambda file: (AREAS.index(file[1]["area"]), file[0])))


def table(head, rows):
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join(lines)


def row_name(row):
    return row["name"] + (f", against {row['peer']}" if "peer" in row else "")


def with_notes(rows, cells, head):
    """A table of rows, and their notes below it by number."""
    notes, lines = [], []
    for row in rows:
        name, *others = cells(row)
        if "note" in row:
            notes.append(plain(row["note"]))
            name += f" ({len(notes)})"
        lines.append([name, *others])
    return table(head, lines) + numbered(notes)


def numbered(notes):
    if not notes:
        return ""
    lines = [wrapped(f"{number}. {note}", "   ") for number, note in enumerate(notes, 1)]
    return "\n\n" + "\n".join(lines)


def wrapped(text, indent=""):
    """Text in lines of at most 100 columns; a link or a command stays whole."""
    options = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(text, 100, subsequent_indent=indent, **options)


def plain(text):
    """Text of several lines as one."""
    return " ".join(text.split())


def benchmarks(files):
    text, area = BENCHMARKS_HEAD, None
    for name, data in files.items():
        rows = [row for row in data.get("row", []) if "value" in row]
        if not rows and not data.get("table"):
            continue
        if data["area"] != area:
            area = data["area"]
            text += f"\n## {area}\n"
        text += f"\n### {data['title']}\n\n{data['method'].strip()}\n\n"
        text += f"- Command: {data['command']}\n- Machine: {data['machine']}\n"
        text += f"- Figures: {written(data)}\n"
        if "chart" in data:
            text += f"\n![{chart_words(data)}]({PICTURES}/{name}.svg)\n"
        if rows:
            text += f"\n{figure_table(rows, data)}\n"
        for matrix in data.get("table", []):
            date = f" ({matrix['date']})" if "date" in matrix else ""
            text += f"\n{matrix['title']}{date}:\n\n{table(matrix['head'], matrix['rows'])}\n"
            text += f"\n{matrix['note'].strip()}\n" if "note" in matrix else ""
    return text


def written(data):
    """Who writes the figures of a file."""
    parts = [row for row in data.get("row", []) if "value" in row] + data.get("table", [])
    own = sum("id" in part for part in parts)
    if not own:
        return "written by hand"
    by_hand = len(parts) - own
    return "written by the benchmark" + (f", but for {by_hand} written by hand" if by_hand else "")


def figure_table(rows, data):
    """Rows with values; a column names their commands, where they have others than the file."""
    others = any("command" in row for row in rows)

    def cells(row):
        start = [row_name(row), *([row.get("command", data["command"])] if others else [])]
        return [*start, value_text(row), target_text(row), state(row), str(row.get("date", ""))]

    return with_notes(
        rows, cells, ["figure", *(["command"] if others else []), "measured", "target", "", "date"]
    )


def guarantees(files):
    held = [(data, row) for data in files.values() for row in data.get("row", []) if state(row)]
    text = GUARANTEES_HEAD
    for name in ("not met", "not measured"):
        rows = [
            {**row, "command": row.get("command", data["command"])}
            for data, row in held
            if state(row) == name
        ]
        text += f"\n## {name.capitalize()}\n\n"
        head = ["promise", "target", *(["measured"] if name == "not met" else []), "held by"]
        cells = lambda row: [
            row_name(row),
            target_text(row),
            *([value_text(row)] if name == "not met" else []),
            row["command"],
        ]
        text += f"{with_notes(rows, cells, head)}\n" if rows else "Nothing.\n"
    text += "\n## Met\n"
    for area in AREAS:
        rows = [
            met_row(data, row) for data, row in held if data["area"] == area and state(row) == "met"
        ]
        if rows:
            cells = lambda row: [row_name(row), target_text(row), row["command"]]
            text += f"\n### {area}\n\n{with_notes(rows, cells, ['promise', 'target', 'held by'])}\n"
    return text


def met_row(data, row):
    """A row as the page of guarantees shows it: the note of a figure is beside the figure."""
    shown = {key: value for key, value in row.items() if key != "note" or "value" not in row}
    return {**shown, "command": row.get("command", data["command"])}


def bars(data):
    return [row for row in data["row"] if "bar" in row]


def chart_words(data):
    said = ", ".join(f"{row['bar']}: {value_text(row)}" for row in bars(data))
    return f"{data['chart']['title']}: {said}"


def chart(data):
    """A bar for the peer, which is 1, and one for each row; a range is a bar with a paler end."""
    left, width, step, top = 250, 330, 30, 48
    rows = [(data["chart"]["peer"], [1, 1], "1x", "peer")]
    rows += [(row["bar"], ends(row["value"]), value_text(row), "ours") for row in bars(data)]
    scale = width / max(most for _, (_, most), _, _ in rows)
    height = top + step * len(rows) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height}"'
        f' width="720" height="{height}" role="img">',
        f"<title>{html.escape(chart_words(data))}</title>",
        f"<style>{CHART_STYLE}</style>",
        f'<rect class="ground" x=".5" y=".5" width="719" height="{height - 1}" rx="6"/>',
        f'<text class="title" x="16" y="28">{html.escape(data["chart"]["title"])}</text>',
    ]
    for number, (label, (least, most), words, kind) in enumerate(rows):
        y = top + step * number
        long = max(2, most * scale)
        lines.append(
            f'<text x="{left - 10}" y="{y + 15}" text-anchor="end">{html.escape(label)}</text>'
        )
        if most > least:
            lines.append(f'<rect class="most" x="{left}" y="{y}" width="{long:.1f}" height="20"/>')
        short = max(2, least * scale)
        lines.append(f'<rect class="{kind}" x="{left}" y="{y}" width="{short:.1f}" height="20"/>')
        lines.append(f'<text x="{left + long + 8:.1f}" y="{y + 15}">{html.escape(words)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def rendered(files):
    """The text of each file that is made, by its path in the repository."""
    made = {BENCHMARKS: benchmarks(files), GUARANTEES: guarantees(files)}
    return made | {
        f"{PICTURES}/{name}.svg": chart(data) for name, data in files.items() if "chart" in data
    }


def main():
    made = rendered(read_all(FOLDER))
    if sys.argv[1:] == ["--check"]:
        old = [
            name
            for name, text in made.items()
            if not (ROOT / name).is_file() or (ROOT / name).read_text() != text
        ]
        print(
            "".join(
                f"{name} differs from the data: docs/figures.py renders it anew\n" for name in old
            ),
            end="",
        )
        return 1 if old else 0
    if sys.argv[1:]:
        sys.exit(__doc__)
    for name, text in made.items():
        (ROOT / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
