"""The figures that are kept, in figures/*.toml: reads them, judges them, and writes what a
benchmark has measured.

A file has the figures of one command: its method, the machine, and rows. A row may have a target, a
value with its unit, a peer that a ratio is against, and a note. A row with an `id` is written by a
benchmark, if it is asked to; then its value and its date change and nothing else does:

    make bench FIGURES=yes

Ask for it where the machine of the file is, with nothing else running. After that,
`docs/figures.py` renders the files that people read.
"""

import datetime
import json
import os
import pathlib
import re
import sys
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent / "figures"
COMPARISON = re.compile(r"(<=|>=|<|>|) ?(\d+(?:\.\d+)?)")
HOLDS = {
    "<=": lambda value, bound: value <= bound,
    ">=": lambda value, bound: value >= bound,
    "<": lambda value, bound: value < bound,
    ">": lambda value, bound: value > bound,
    "": lambda value, bound: value == bound,
}
FILE_KEYS = {"area", "title", "command", "machine", "method", "chart", "row", "table"}
CHART_KEYS = {"title", "peer"}
ROW_KEYS = {
    "name",
    "id",
    "command",
    "peer",
    "bar",
    "target",
    "met",
    "value",
    "unit",
    "date",
    "note",
}
TABLE_KEYS = {"title", "id", "head", "rows", "date", "note"}


def read(path):
    """The figures of one file. Exits with the file's name if they are not as they should be."""
    data = tomllib.loads(path.read_text())
    for fault in faults(data):
        sys.exit(f"{path}: {fault}")
    return data


def faults(data):
    """What is wrong with the figures of a file."""
    yield from (
        f"no {key}" for key in sorted({"area", "title", "command", "machine", "method"} - set(data))
    )
    parts = [("the file", data, FILE_KEYS), ("chart", data.get("chart", {}), CHART_KEYS)]
    parts += [(row.get("name", "a row"), row, ROW_KEYS) for row in data.get("row", [])]
    parts += [(table.get("title", "a table"), table, TABLE_KEYS) for table in data.get("table", [])]
    for name, part, known in parts:
        yield from (f"{name}: unknown key {key}" for key in sorted(set(part) - known))
    for row in data.get("row", []):
        if "name" not in row:
            yield "a row without a name"
        elif "value" in row and bound(row) and "met" in row:
            yield f"{row['name']}: the target says whether it is met; `met` says it once more"
        elif "value" in row and "target" in row and not bound(row) and "met" not in row:
            yield f"{row['name']}: the target is in words, so `met` is needed"
        elif "id" in row and not ({"value", "date"} <= set(row) and "met" not in row):
            yield f"{row['name']}: a row with an id has a value and a date, and no `met`"
    for table in data.get("table", []):
        if any(len(line) != len(table["head"]) for line in table["rows"]):
            yield f"{table['title']}: a line that is not as long as the head"


def bound(row):
    """The comparison and the number of a target that is one."""
    found = COMPARISON.fullmatch(row.get("target", ""))
    return (found[1], float(found[2])) if found else None


def ends(value):
    """The two ends of a range; a number is both."""
    return value if isinstance(value, list) else [value, value]


def state(row):
    """`met`, `not met`, `not measured`, or nothing for a figure without a target."""
    if "met" in row:
        return "met" if row["met"] else "not met"
    if "value" not in row:
        return "not measured"
    if not bound(row):
        return ""
    comparison, number = bound(row)
    return (
        "met"
        if all(HOLDS[comparison](value, number) for value in ends(row["value"]))
        else "not met"
    )


def with_unit(number, unit):
    text = f"{number:,}" if isinstance(number, (int, float)) else number
    return text + unit if unit == "x" else f"{text} {unit}".strip()


def value_text(row):
    if "value" not in row:
        return ""
    return " to ".join(
        dict.fromkeys(with_unit(number, row.get("unit", "")) for number in ends(row["value"]))
    )


def target_text(row):
    if not bound(row):
        return row.get("target", "")
    comparison, digits = COMPARISON.fullmatch(row["target"]).groups()
    number = f"{int(digits):,}" if digits.isdigit() else digits
    return with_unit(f"{comparison} {number}".strip(), row.get("unit", ""))


def rounded(number):
    """Three digits of what was measured. What was counted stays as it is."""
    if isinstance(number, int):
        return number
    number = float(f"{number:.3g}")
    return int(number) if number == int(number) and (abs(number) >= 10 or number == 0) else number


def replaced(text, values, tables, day):
    """The text of a file with new values by id, new rows of tables by id, and their date."""
    parts = re.split(r"(?m)^(?=\[)", text)
    news = [
        (id, re.compile(r"(?m)^value = .*$"), f"value = {toml(value)}")
        for id, value in values.items()
    ]
    news += [
        (id, re.compile(r"(?ms)^rows = \[\n.*?^\]$"), f"rows = {toml_rows(rows)}")
        for id, rows in tables.items()
    ]
    for id, pattern, new in news:
        at = [number for number, part in enumerate(parts) if f"\nid = {json.dumps(id)}\n" in part]
        if len(at) != 1 or not pattern.search(parts[at[0]]):
            raise KeyError(f"no figure has the id {id}")
        part = pattern.sub(lambda _: new, parts[at[0]], count=1)
        parts[at[0]] = re.sub(r"(?m)^date = .*$", f"date = {day}", part, count=1)
    return "".join(parts)


def toml(value):
    """Strings, numbers and lists of them are written in TOML as in JSON."""
    return json.dumps(value, ensure_ascii=False)


def toml_rows(rows):
    return "[\n" + "".join(f"    {toml([str(cell) for cell in row])},\n" for row in rows) + "]"


def judged(name, values):
    """The rows of the file `name` with these values, for a benchmark that says what is met."""
    rows = {row.get("id"): row for row in read(FOLDER / f"{name}.toml")["row"]}
    return [{**rows[id], "value": value} for id, value in values.items()]


def kept_value(value):
    """A number as it is kept, or the least and the most of a range."""
    return [rounded(end) for end in value] if isinstance(value, list) else rounded(value)


def keep(name, values, tables=None):
    """Writes what was measured into figures/NAME.toml if FIGURES is `yes`, or into the file that it
    names.

    A value is a number or a list of the least and the most; numbers are rounded here.
    """
    asked = os.environ.get("FIGURES")
    if not asked:
        return
    path = FOLDER / f"{name}.toml" if asked == "yes" else pathlib.Path(asked)
    values = {id: kept_value(value) for id, value in values.items()}
    path.write_text(
        replaced(path.read_text(), values, tables or {}, datetime.date.today().isoformat())
    )
    print(f"figures: {path} is written; docs/figures.py renders it", file=sys.stderr)
