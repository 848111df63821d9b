"""Whether a reader of YAML 1.1 finds in a suite what was written.

Usage: yaml11.py SANDBOX SUITE... Each task's file is read by PyYAML and compared with what
`sandbox tasks list --json` says of it.
"""

import json
import pathlib
import subprocess
import sys

import yaml

# Names of before 0.2. `--json` has them beside those of today, files do not.
OLDER = {
    "wrong_solution": "mistake",
    "messages": "user",
    "setup_script": "begin",
    "early_stop": "stop",
    "goal_images": "images",
    "params": "with",
}


def differences(one, other, path=""):
    """Where two values differ in value or type."""
    if type(one) is not type(other):
        yield f"{path}: {one!r} is not {other!r}"
    elif isinstance(one, dict):
        older = {OLDER[key] for key in one.keys() & OLDER.keys()}
        for key in one.keys() | other.keys() - older:
            if key not in one or key not in other:
                yield f"{path}.{key} is there once"
            else:
                yield from differences(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list):
        if len(one) != len(other):
            yield f"{path}: {len(one)} items are not {len(other)}"
        for place, (a, b) in enumerate(zip(one, other)):
            yield from differences(a, b, f"{path}[{place}]")
    elif one != other:
        yield f"{path}: {one!r} is not {other!r}"


def main(sandbox, suites):
    for suite in suites:
        listed = subprocess.run([sandbox, "tasks", "list", suite, "--json"], check=True, capture_output=True)
        tasks = {task["id"]: task for task in json.loads(listed.stdout)}
        count = 0
        for file in sorted(pathlib.Path(suite).glob("*.yaml")):
            found = yaml.load(file.read_text(), yaml.CSafeLoader)
            if file.name == "suite.yaml":
                assert isinstance(found["world"].get("clock", ""), str), f"{file}: {found['world']}"
                continue
            wrong = list(differences(found, tasks[found["id"]]))
            assert not wrong, f"{file}: {wrong[:3]}"
            count += 1
        assert count == len(tasks), f"{suite}: {count} files, {len(tasks)} tasks"
        print(f"{suite}: PyYAML reads {count} tasks as they are")


main(sys.argv[1], sys.argv[2:])
