"""Prints, for each WARC, ARC or WACZ under a folder, the records per type that warcio finds, as JSON."""

import io
import json
import sys
import zipfile
from collections import Counter
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

KINDS = (".warc", ".warc.gz", ".arc", ".arc.gz", ".bad")


def count(stream):
    counts, error = Counter(), None
    try:
        for record in ArchiveIterator(stream, arc2warc=True):
            counts[record.rec_type] += 1
            record.content_stream().read()
    except Exception as problem:  # the peer's own words, whatever they are
        error = f"{type(problem).__name__}: {problem}".strip().splitlines()[0]
    return {"counts": dict(sorted(counts.items())), "error": error}


def streams(path):
    if path.suffix != ".wacz":
        yield path.open("rb")
        return
    with zipfile.ZipFile(path) as container:
        for name in container.namelist():
            if name.startswith("archive/") and name.endswith(KINDS):
                yield io.BytesIO(container.read(name))


def main(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name.endswith((*KINDS, ".wacz")):
            parts = [count(stream) for stream in streams(path)]
            total = sum((Counter(part["counts"]) for part in parts), Counter())
            errors = [part["error"] for part in parts if part["error"]]
            found[str(path.relative_to(folder))] = {"counts": dict(total), "errors": errors, "streams": len(parts)}
    json.dump(found, sys.stdout, indent=1, sort_keys=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
