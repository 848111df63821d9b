"""Tests of the kept figures: how they are judged, written and rendered. Plain Python, no benchmark
runs.

python3 -B tests/bench/test_measured.py
"""

import datetime
import os
import pathlib
import re
import sys
import tempfile
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import figures  # noqa: E402
import measured  # noqa: E402
import tables  # noqa: E402

SAMPLE = '''area = "Sites"
title = "Doors"
command = "`make doors`"
machine = "2 cores"
method = """
Doors are opened."""

[chart]
title = "Doors a second"
peer = "the old hinge"

[[row]]
name = "doors a second"
id = "doors"
peer = "the old hinge"
bar = "the new hinge"
target = ">= 10"
value = 12.2
unit = "x"
date = 2026-01-01
note = """
Measured
twice."""

[[row]]
name = "time of a door"
id = "time"
target = "< 5"
value = [1, 7]
unit = "ms"
date = 2026-01-01

[[row]]
name = "no door jams"

[[row]]
name = "no door squeaks"
target = "none"
met = true
value = "0 of 3"

[[table]]
title = "Doors by colour"
id = "colours"
head = ["colour", "doors"]
rows = [
    ["red", "1"],
]
date = 2026-01-01
'''


class Judged(unittest.TestCase):
    def test_targets_are_compared_with_values(self):
        for target, value, state in (
            (">= 10", 10, "met"),
            (">= 10", 9.9, "not met"),
            ("< 5", 5, "not met"),
            ("<= 5", [1, 5], "met"),
            ("<= 5", [1, 6], "not met"),
            ("> 1", [0.5, 2], "not met"),
            ("0", 0, "met"),
            ("0", 1, "not met"),
        ):
            self.assertEqual(
                measured.state({"target": target, "value": value}), state, f"{value} {target}"
            )

    def test_what_has_no_number_is_judged_by_hand(self):
        self.assertEqual(measured.state({"target": "all", "value": "3 of 3", "met": True}), "met")
        self.assertEqual(measured.state({"met": False}), "not met")
        self.assertEqual(measured.state({"target": "all"}), "not measured")
        self.assertEqual(measured.state({"value": 7}), "")

    def test_figures_that_contradict_themselves_are_refused(self):
        self.assertEqual(list(measured.faults(tomllib.loads(SAMPLE))), [])
        for old, new in (
            ("met = true", ""),
            ("date = 2026-01-01\nnote", "note"),
            ('unit = "ms"', 'unti = "ms"'),
            ('target = "< 5"', 'target = "< 5"\nmet = true'),
            ('["red", "1"]', '["red"]'),
            ('machine = "2 cores"', ""),
        ):
            self.assertIn(old, SAMPLE)
            self.assertNotEqual(
                list(measured.faults(tomllib.loads(SAMPLE.replace(old, new)))), [], new
            )

    def test_numbers_have_three_digits_and_counts_have_all(self):
        self.assertEqual(
            [measured.rounded(n) for n in (1.2345, 70.44, 1234.5, 0.0001234, 99.96, 4996, 0.0)],
            [1.23, 70.4, 1230, 0.000123, 100, 4996, 0],
        )


class Written(unittest.TestCase):
    def test_only_values_rows_and_dates_change(self):
        text = measured.replaced(
            SAMPLE, {"time": [2, 3.5]}, {"colours": [["red", 2], ["blue", "3"]]}, "2026-02-03"
        )
        before, after = tomllib.loads(SAMPLE), tomllib.loads(text)
        day = datetime.date(2026, 2, 3)
        before["row"][1] |= {"value": [2, 3.5], "date": day}
        before["table"][0] |= {"rows": [["red", "2"], ["blue", "3"]], "date": day}
        self.assertEqual(after, before)
        self.assertEqual(text.count("\n"), SAMPLE.count("\n") + 1)

    def test_an_unknown_id_is_an_error(self):
        with self.assertRaises(KeyError):
            measured.replaced(SAMPLE, {"windows": 1}, {}, "2026-02-03")

    def test_a_benchmark_writes_only_if_it_is_asked_to(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "doors.toml"
            path.write_text(SAMPLE)
            os.environ.pop("FIGURES", None)
            measured.keep("doors", {"doors": 11.0})
            self.assertEqual(path.read_text(), SAMPLE)
            os.environ["FIGURES"] = str(path)
            try:
                measured.keep("doors", {"doors": 11.04})
            finally:
                del os.environ["FIGURES"]
            self.assertEqual(measured.read(path)["row"][0]["value"], 11)

    def test_every_id_is_one_that_a_benchmark_writes(self):
        programs = "".join(
            path.read_text()
            for folder in ("bench", "load", "parity", "scores")
            for path in (ROOT / "tests" / folder).glob("*.py")
            if path != pathlib.Path(__file__).resolve()
        )
        # `{name}-ours` and `processor-{count}` are written with their suite or number in it.
        programs = re.sub(r'f"\{name\}(-\w+)"', r'"demo\1" "town\1"', programs)
        programs = re.sub(r'f"(\w+-)\{count\}"', r'"\g<1>1" "\g<1>2"', programs)
        for path in measured.FOLDER.glob("*.toml"):
            data = measured.read(path)
            ids = [
                part["id"] for part in data.get("row", []) + data.get("table", []) if "id" in part
            ]
            self.assertEqual(len(ids), len(set(ids)), path.name)
            for id in ids:
                self.assertIn(f'"{id}"', programs, path.name)
            self.assertTrue(not ids or f'measured.keep("{path.stem}"' in programs, path.name)

    def test_the_gateways_benchmark_has_a_row_for_each_of_its_values(self):
        row = {
            "rps_runs": [10, 20],
            "p99_ms": 1.5,
            "rss_mb": 50,
            "open_ms": 8,
            "wrong": 0,
            "recorded": 1000,
        }
        names = (
            "sandbox",
            "pywb",
            "mitmdump",
            "direct",
            "sandbox, 20,000 requests",
            "sandbox record",
            "sandbox, forwarding",
            "mitmdump -w",
        )
        parts = {name: row for name in names}
        values = tables.values(
            {
                "replay": parts,
                "record": parts,
                "size": {2000: row, 1_000_000: row},
                "unrecorded": parts,
            }
        )
        ids = {
            row["id"] for row in measured.read(measured.FOLDER / "bench.toml")["row"] if "id" in row
        }
        self.assertEqual(set(values), ids)
        self.assertEqual(len(measured.judged("bench", values)), len(ids))


class Rendered(unittest.TestCase):
    def setUp(self):
        self.made = figures.rendered({"doors": tomllib.loads(SAMPLE)})

    def test_the_figures_have_values_targets_and_notes(self):
        text = self.made[figures.BENCHMARKS]
        self.assertIn(
            "| doors a second, against the old hinge (1) | 12.2x | >= 10x | met | 2026-01-01 |",
            text,
        )
        self.assertIn("| time of a door | 1 ms to 7 ms | < 5 ms | not met | 2026-01-01 |", text)
        self.assertIn("\n1. Measured twice.\n", text)
        self.assertIn("| red | 1 |", text)
        self.assertIn("(docs/src/pictures/doors.svg)", text)
        self.assertNotIn("jams", text)

    def test_the_guarantees_begin_with_what_is_not_met(self):
        text = self.made[figures.GUARANTEES]
        places = [
            text.index(part)
            for part in (
                "time of a door",
                "no door jams",
                "## Met",
                "doors a second",
                "no door squeaks",
            )
        ]
        self.assertEqual(places, sorted(places))

    def test_a_chart_has_a_bar_for_the_peer_and_for_each_row(self):
        picture = self.made[f"{figures.PICTURES}/doors.svg"]
        self.assertEqual(picture.count('class="peer"'), 1)
        self.assertEqual(picture.count('class="ours"'), 1)
        self.assertIn(">12.2x<", picture)

    def test_text_of_charts_is_escaped(self):
        picture = figures.rendered(
            {"doors": tomllib.loads(SAMPLE.replace("Doors a second", "Doors & <walls>"))}
        )
        self.assertIn("Doors &amp; &lt;walls&gt;", picture[f"{figures.PICTURES}/doors.svg"])


if __name__ == "__main__":
    unittest.main()
