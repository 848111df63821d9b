"""Times the published scorers on reference vectors: one JSON object on standard output, seconds of one round by metric.

    seconds.py VECTORS SECONDS
"""

import contextlib
import json
import os
import pathlib
import sys
import time

import published


def main():
    folder, least = pathlib.Path(sys.argv[1]), float(sys.argv[2])
    timed = {}
    for metric, make in published.scorers().items():
        vectors = [json.loads(line) for line in (folder / f"{metric}.jsonl").read_text().splitlines()]
        calls = [make(vector) for vector in vectors]
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            agreed = sum(agrees(call, vector) for call, vector in zip(calls, vectors))
            timed[metric] = {"vectors": len(vectors), "agreed": agreed, "seconds": seconds(calls, least)}
    json.dump(timed, sys.stdout)


def agrees(call, vector):
    """Whether this is the scorer that the vector is of."""
    try:
        score = float(call())
    except Exception:
        return vector["expected"] is None
    # What is no finite number is not expected.
    return score != score if vector["expected"] is None else abs(score - vector["expected"]) < 1e-6


def seconds(calls, least):
    """Of the quickest round; there are rounds for so many seconds."""
    best, began = float("inf"), time.perf_counter()
    while time.perf_counter() - began < least:
        start = time.perf_counter()
        for call in calls:
            try:
                call()
            except Exception:
                pass
        best = min(best, time.perf_counter() - start)
    return best


main()
