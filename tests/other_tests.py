"""Names the tests that `cargo test` leaves out, as options of cargo. Reads `cargo metadata` on stdin."""

import json
import sys

targets = [target for package in json.load(sys.stdin)["packages"] for target in package["targets"]]
names = sorted({target["name"] for target in targets if target["kind"] == ["test"] and not target["test"]})
if not names:
    sys.exit("other_tests.py: no test has `test = false`")
print(" ".join(f"--test {name}" for name in names))
