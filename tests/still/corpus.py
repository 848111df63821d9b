"""The kept pages: a file each, with a feature in every line. What is known stands behind `#`. A
line `# Open: WHY` is for a page that still differs: it is played, and does not count."""

import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent / "corpus"
LONGEST = 60


def read():
    """All kept pages: their names and features."""
    kept = {}
    for path in sorted(FOLDER.glob("*.txt")):
        lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
        kept[path.stem] = [line for line in lines if line]
    return kept


def still_open():
    """The names of those that still differ, with the reason."""
    found = {}
    for path in sorted(FOLDER.glob("*.txt")):
        for line in path.read_text().splitlines():
            if line.startswith("# Open: "):
                found[path.stem] = line.removeprefix("# Open: ")
    return found


def keep(features, found, page):
    """Keeps a minimised page that differs as `found` says. `page` is what it was found in."""
    name = "_".join(features)[:LONGEST]
    known = f"# Found in {page}: {found}".replace("\n", "\n#")
    lines = [line.rstrip()[:98] for line in known.split("\n")] + features
    (FOLDER / f"{name}.txt").write_text("\n".join(lines) + "\n")
    print(f"kept as corpus/{name}.txt:\n  {' '.join(features)}\n  {found}", flush=True)
