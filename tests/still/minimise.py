"""Removes features of a page while its visits still differ, or stall."""

import dataclasses
import re

from differences import difference
from world import play

# A page that differs seldom must not look equal. One that stalls does so at once.
MORE_VISITS = 2


def minimised(options, features, found):
    """The smallest set of features that still differs, and how.

    The features whose words are in other places are tried alone first, then halves, then single
    ones.
    """
    options = dataclasses.replace(
        options, visits=1 if found.stalls else options.visits * MORE_VISITS
    )
    smaller = tried(options, [named(features, found)], found)
    if smaller:
        features, found = smaller
    size = max(1, len(features) // 2)
    while len(features) > 1:
        smaller = tried(options, candidates(features, size), found)
        if smaller:
            features, found = smaller
            size = min(size, max(1, len(features) // 2))
        elif size == 1:
            break
        else:
            size = max(1, size // 2)
    return features, found


def named(features, found):
    """The features whose words are in both sides of a difference, or in one."""
    words = set(re.findall(r"[a-z][a-z0-9-]*", f"{found.one} {found.other}"))
    return [name for name in features if name in words]


def candidates(features, size):
    """The parts of a page, then the page without each: parts of `size` features."""
    starts = range(0, len(features), size)
    parts = [features[start : start + size] for start in starts]
    without = [features[:start] + features[start + size :] for start in starts]
    unique = []
    for part in parts + without:
        if part and len(part) < len(features) and part not in unique:
            unique.append(part)
    return unique


def tried(options, parts, known):
    """The first of some pages that goes wrong as is `known`, and how; nothing if none does."""
    for part in filter(None, parts):
        found = difference(play(options, {"part": part})["part"])
        if found and found.stalls == known.stalls:
            return part, found
    return None
