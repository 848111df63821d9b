"""Why BrowserGym and we may show different lines: each rule says what it is and when it holds."""

import re


def unrecorded(look, ours, theirs):
    """its page is not recorded, and a run and a replaying proxy say so in different words"""
    return look["ours"]["title"] == "Not in this world" and look["theirs"]["title"] == "Not in this recording"


def value_written(look, ours, theirs):
    """BrowserGym writes every element's value into its attribute: a button that has none loses its label, and what was
    typed into a field is not restored when the page is gone back to"""
    label = r"\s*\[\w+\] button '(Reset|Submit)'.*"
    nameless = theirs is None or re.fullmatch(r"\s*\[\w+\] button ''.*", theirs)
    if nameless and (ours is None or re.fullmatch(label, ours)):
        return True
    return look["action"] == "go_back()" and "ab c" in (ours or "ab c")


def label_in_front(look, ours, theirs):
    """a label in front of its own checkbox is clicked in its place, where BrowserGym gives up (unless told to use force)"""
    return look["task"] == "obstructed-checkbox-page" and ("checkbox" in ours or ours == "error None")


RULES = [unrecorded, value_written, label_in_front]


def reason(look, ours, theirs):
    """The reason why a line of ours and one of theirs differ (None: there is no such line), if there is a known one."""
    return next((" ".join(rule.__doc__.split()) for rule in RULES if rule(look, ours, theirs)), None)
