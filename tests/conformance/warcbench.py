"""Answers to WARC-Bench's string and JSON tasks with what they are worth, by Python's rules.

Usage: warcbench.py > vectors.jsonl

A line has `kind`, `wanted`, `answer`, and `score`, which is null where Python raises an exception.
"""

import codecs
import json
import sys
from collections import Counter

STRINGS = [
    ("11/15/2024", "11/15/2024"),
    ("11/15/2024", "\t11/15/2024 \n"),
    ("11/15/2024", "It is 11/15/2024"),
    ("Ja", "ja"),
    ("St. Barthélemy", "St. Barthélemy"),
    ("St. Barthélemy", "St. Barth\\u00e9lemy"),
    ("St. Barthélemy", "St. Barth\\xe9lemy"),
    ("StÃ©", "Sté"),
    ("a b", "a\\x20b"),
    ("A", "\\101"),
    ("A9", "\\1019"),
    ("\u01ff8", "\\7778"),
    ("\u0000", "\\0"),
    ("x", "\\n x \\t"),
    ("x", "\u00a0x"),
    ("x", "\\xa0x\\u3000"),
    ("C:\\dir", "C:\\dir"),
    ("C:\\new", "C:\\new"),
    ("C:\\new", "C:\\\\new"),
    ("50% \\ off", "50% \\ off"),
    ("it's", "it\\'s"),
    ('"x"', '\\"x\\"'),
    ("ab", "a\\\nb"),
    ("\U0001f600", "\\U0001f600"),
    ("\U0001f600", "\\ud83d\\ude00"),
    ("\U0001f600", "\U0001f600"),
    ("x", "x\\"),
    ("x", "\\x4"),
    ("x", "\\u12"),
    ("x", "\\U00110000"),
    ("x", "\\U0000004"),
    ("\\é", "\\é"),
    ("", ""),
    ("", "   "),
    ("x", ""),
]

OBJECT = '{"number": "AA 2994", "duration": "2h 44m", "price": 240}'
JSON = [
    (OBJECT, OBJECT),
    (OBJECT, '{"price": 240, "duration": "2h 44m", "number": "AA 2994"}'),
    (OBJECT, '{"number": " AA 2994 ", "duration": "2h 44m", "price": "240"}'),
    (OBJECT, '{"number": "AA 2994", "duration": "2h 44m", "price": 240.0}'),
    (OBJECT, '{"number": "AA 2994", "duration": "2h 44m"}'),
    (OBJECT, '{"number": "AA 2994", "duration": "2h 44m", "price": 240, "more": 1}'),
    (OBJECT, "[" + OBJECT + "]"),
    (OBJECT, "```json\n" + OBJECT + "\n```"),
    (OBJECT, ""),
    (OBJECT, " "),
    (OBJECT, OBJECT + "\\"),
    (OBJECT, OBJECT.replace('"', '\\"')),
    ('{"a": 2272.90}', '{"a": 2272.9}'),
    ('{"a": 1e22}', '{"a": 10000000000000000000000.0}'),
    ('{"a": 0.00001}', '{"a": "1e-05"}'),
    ('{"a": true, "b": null}', '{"b": "None", "a": "True"}'),
    ('{"a": true}', '{"a": 1}'),
    ('{"a": {"x": 1, "y": 2}}', '{"a": {"y": 2, "x": 1}}'),
    ('{"a": {"x": 1, "y": 2}}', '{"a": "{\'x\': 1, \'y\': 2}"}'),
    ('{"a": ["it\'s", "q"]}', '{"a": ["it\'s", "q"]}'),
    ('{"a": ["it\'s", "q"]}', '{"a": ["q", "it\'s"]}'),
    ('{"a": 1, "a": 2}', '{"a": 2}'),
    ('["x", "y", "y"]', '["y", "x", "y"]'),
    ('["x", "y", "y"]', '["y", "x", "x"]'),
    ('["x", "y"]', '["x"]'),
    ('["1", "True"]', "[true, 1]"),
    ('[" x"]', '["x"]'),
    ('[{"a": 1, "b": 2}]', '[{"b": 2, "a": 1}]'),
    ('[{"a": 1, "b": 2}]', '[{"a": 1, "b": 2}]'),
    ("[]", "[]"),
    ("[]", "{}"),
    ("{}", "{}"),
    ('["St. Barthélemy"]', '["St. Barthélemy"]'),
    ('["St. Barthélemy"]', '["St. Barth\\u00e9lemy"]'),
    ('["a\\\\b"]', '["a\\\\b"]'),
    ('["a\\nb"]', '["a\\nb"]'),
    ("657", "657"),
    ("657", "657.0"),
    ("657", '"657"'),
    ('"x"', '" x"'),
    ("true", "1"),
    ("true", "true"),
    ("null", "null"),
    ("1.5", "1.50"),
    ("NaN", "NaN"),
    ("Infinity", "1e999"),
    ('{"a": NaN}', '{"a": NaN}'),
]


def of_string(wanted, answer):
    """What a text is worth."""
    return int(codecs.decode(answer, "unicode_escape").strip() == wanted.strip())


def of_json(wanted, answer):
    """What JSON is worth."""
    wanted = json.loads(wanted)
    if answer == "":
        return 0
    decoded = codecs.decode(answer, "unicode_escape")
    try:
        answer = json.loads(decoded)
    except json.JSONDecodeError:
        return 0
    if type(answer) is not type(wanted):
        return 0
    if isinstance(answer, dict):
        same = all(str(answer[key]).strip() == str(wanted[key]).strip() for key in wanted if key in answer)
        return int(answer.keys() == wanted.keys() and same)
    if isinstance(answer, list):
        return int(Counter(map(str, answer)) == Counter(map(str, wanted)))
    return int(answer == wanted)


def main():
    for kind, rule, cases in (("string_matcher", of_string, STRINGS), ("json_matcher", of_json, JSON)):
        for wanted, answer in cases:
            try:
                score = rule(wanted, answer)
            except UnicodeDecodeError:
                score = None
            line = {"kind": kind, "wanted": wanted, "answer": answer, "score": score}
            sys.stdout.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
