"""Names the tests of the workspace, as options of cargo. Reads `cargo metadata` on stdin.

    targets.py left-out    those that `cargo test` leaves out
    targets.py own         those of `cargo test`, without e2e
"""

import json
import sys

targets = [target for package in json.load(sys.stdin)["packages"] for target in package["targets"]]
tests = [target for target in targets if target["kind"] == ["test"]]
match sys.argv[1:]:
    case ["left-out"]:
        names = {test["name"] for test in tests if not test["test"]}
    case ["own"]:
        names = {test["name"] for test in tests if test["test"]} - {"e2e"}
    case _:
        sys.exit(__doc__)
if not names:
    sys.exit("targets.py: there are none")
print(" ".join(f"--test {name}" for name in sorted(names)))
