"""What differs between visits of a page, and where first."""

import collections
import dataclasses
import difflib

SEEN = ("url", "title", "observation", "dialogs", "downloads", "action", "error")
AROUND = 3
STALL = "stall"


@dataclasses.dataclass
class Difference:
    """The first difference between two visits: after which step, in what, and both sides of it."""

    step: int
    part: str
    one: str
    other: str
    fingerprints: list

    @property
    def stalls(self):
        """Whether it is no difference, but a visit that was not over in time."""
        return self.part == STALL

    def __str__(self):
        if self.stalls:
            return f"stalls after step {self.step}"
        counts = "+".join(map(str, self.fingerprints))
        return (
            f"step {self.step}, {self.part} ({counts} visits)\n      - {self.one}\n      +"
            f" {self.other}"
        )


def difference(episodes):
    """How the visits of a page differ, or that one of them stalls; nothing where they are equal."""
    for episode in episodes:
        if episode.outcome == "timed_out":
            return Difference(len(episode.steps), STALL, "", "", [])
    groups = collections.Counter(episode.fingerprint for episode in episodes)
    if len(groups) < 2:
        return None
    others = {
        episode.fingerprint: episode
        for episode in episodes
        if episode.fingerprint != episodes[0].fingerprint
    }
    step, part, one, two = min(
        (first(episodes[0], other) for other in others.values()), key=lambda found: found[0]
    )
    return Difference(step, part, one, two, sorted(groups.values(), reverse=True))


def first(one, other):
    """The first step at which two visits differ, in which part, and both sides."""
    for step in range(max(len(one.steps), len(other.steps)) + 1):
        if step:
            if step > min(len(one.steps), len(other.steps)):
                return step, "outcome", ended(one), ended(other)
            left, right = one.steps[step - 1], other.steps[step - 1]
            for part in SEEN:
                if left.get(part) != right.get(part):
                    return step, part, *apart(str(left.get(part)), str(right.get(part)))
        left, right = requests(one, step), requests(other, step)
        if left != right:
            return step, "requests", *apart("\n".join(left), "\n".join(right))
    return len(one.steps), "outcome", ended(one), ended(other)


def ended(episode):
    """How a visit ended, in words."""
    return f"{episode.outcome} {episode.message}".strip()


def requests(episode, step):
    """The requests of a step, as a fingerprint counts them."""
    asked = episode.requests.get(step, [])
    documents = {word for word, destination in asked if destination == "document"}
    return sorted(
        [word for word, destination in asked if destination != "document"] + list(documents)
    )


def apart(one, other):
    """The lines, and in them the words, in which two texts differ first."""
    left, right = one.split("\n"), other.split("\n")
    for at in range(max(len(left), len(right))):
        lines = [lines[at] if at < len(lines) else "" for lines in (left, right)]
        if lines[0] != lines[1]:
            return words(*lines)
    return one, other


def words(one, other):
    """The words of two lines around those that differ."""
    left, right = one.split(), other.split()
    blocks = [
        code
        for code in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
        if code[0] != "equal"
    ]
    if not blocks:
        return one.strip(), other.strip()
    _, start, _, begin, _ = blocks[0]
    _, _, stop, _, end = blocks[-1]
    return shortened(left, start, stop), shortened(right, begin, end)


def shortened(line, start, stop):
    """The words of a line from before `start` to behind `stop`; of a long stretch the beginning."""
    start, stop = max(0, start - AROUND), min(len(line), stop + AROUND)
    cut = min(stop, start + 5 * AROUND)
    before, after = "… " if start else "", " …" if cut < len(line) else ""
    return before + " ".join(line[start:cut]) + after
