"""How many times as fast our scorers are as the published ones: the median of rounds that take turns. A Markdown table on standard output.

    ratios.py VECTORS OURS
"""

import json
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import measured  # noqa: E402

ROUNDS, SECONDS, LEAST = 3, "1", 50


def main():
    vectors, ours = sys.argv[1:]
    theirs = [sys.executable, "-B", "-W", "ignore", str(pathlib.Path(__file__).with_name("seconds.py"))]
    rounds = []
    for number in range(ROUNDS):
        print(f"round {number + 1} of {ROUNDS}", file=sys.stderr)
        published = timed([*theirs, vectors, SECONDS])
        rounds.append((published, timed([ours, vectors, SECONDS, *published])))
    wrong = {metric for side in rounds[0] for metric, row in side.items() if row["agreed"] != row["vectors"]}
    if wrong:
        sys.exit(f"a side does not give what the vectors say: {', '.join(sorted(wrong))}")
    print("| metric | vectors | published, µs each | ours, µs each | times |\n| --- | --- | --- | --- | --- |")
    for metric in [*rounds[0][0], "all"]:
        row(metric, rounds)
    faster = ratio(rounds, "all")
    print(f"\nscoring at least {LEAST} times as fast as the published scorers: {faster:.1f} times")
    measured.keep("bench-scores", {"all": faster, "assistantbench.answer": ratio(rounds, "assistantbench.answer")})
    return 0 if faster >= LEAST else 1


def timed(command):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def seconds(side, metric):
    return sum(side[one]["seconds"] for one in side if metric in (one, "all"))


def ratio(rounds, metric):
    return statistics.median(seconds(published, metric) / seconds(ours, metric) for published, ours in rounds)


def row(metric, rounds):
    count = sum(row["vectors"] for one, row in rounds[0][0].items() if metric in (one, "all"))
    each = [statistics.median(seconds(sides[side], metric) for sides in rounds) / count * 1e6 for side in (0, 1)]
    print(f"| {metric} | {count:,} | {each[0]:.1f} | {each[1]:.2f} | {ratio(rounds, metric):.1f} |")


sys.exit(main())
