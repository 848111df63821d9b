"""Removes features of a page while its visits still differ."""

import dataclasses

from differences import difference
from world import play

# A page that differs seldom must not look equal.
MORE_VISITS = 2


def minimised(options, features, found):
    """The smallest set of features that still differs, and how. Halves are tried first, then single features."""
    options = dataclasses.replace(options, visits=options.visits * MORE_VISITS)
    size = max(1, len(features) // 2)
    while len(features) > 1:
        smaller = tried(options, candidates(features, size))
        if smaller:
            features, found = smaller
            size = min(size, max(1, len(features) // 2))
        elif size == 1:
            break
        else:
            size = max(1, size // 2)
    return features, found


def candidates(features, size):
    """The parts of a page, then the page without each: parts of `size` features."""
    starts = range(0, len(features), size)
    parts = [features[start:start + size] for start in starts]
    without = [features[:start] + features[start + size:] for start in starts]
    unique = []
    for part in parts + without:
        if part and len(part) < len(features) and part not in unique:
            unique.append(part)
    return unique


def tried(options, parts):
    """The smallest of some pages that differs, and how; nothing if all are equal."""
    batch = {f"part-{number}": part for number, part in enumerate(parts)}
    differing = []
    for name, episodes in play(options, batch).items():
        found = difference(episodes)
        if found:
            differing.append((batch[name], found))
    return min(differing, key=lambda pair: len(pair[0]), default=None)
