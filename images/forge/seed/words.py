"""What people write: in commits, issues, requests and their discussions. `{module}`, `{thing}`, `{fault}`, `{n}` are filled in."""

CODE_THINGS = [
    "an option for the time zone", "a test for empty input", "support for several files", "a short summary at the end",
    "a retry when the connection drops", "an index for faster look-ups", "a warning for old data", "a check of the header",
    "an example to the documentation", "a quiet mode", "sorting by name", "a limit on the size", "a way to undo the last step",
    "a dry run", "progress for long jobs", "a machine-readable output", "a check for doubled entries", "a default for the width",
]
CODE_FAULTS = [
    "a crash on an empty file", "the wrong rounding of halves", "the off-by-one in the last row", "the changing order of equal entries",
    "a leak of file handles", "a hang when the disk is full", "the wrong month in leap years", "missing quotes in the output",
    "a mistake in the help text", "a race at start-up", "a message that named the wrong file", "trouble with blanks in names",
    "lost entries after a restart", "a wrong exit code after a failure", "garbled umlauts", "an endless loop on a cut-off line",
]
TEXT_THINGS = [
    "an example from practice", "a table of common mistakes", "a picture of the finished page", "a list for further reading",
    "a section on exceptions", "a check list for print-outs", "a paragraph on dates", "a short version for newcomers",
]
TEXT_FAULTS = [
    "a broken link", "an outdated name", "steps in the wrong order", "a sentence that says the opposite", "wrong numbers",
    "a spelling mistake", "a missing heading", "a table too wide for small screens",
]
CODE_TICKETS = [  # titles, bodies, answers: they go together
    (["{module}: {fault}", "After the last update: {fault} in {module}", "{fault_}, in {module}"],
     ["I noticed {fault} while working with `{module}` today.\n\nSteps:\n\n1. Start with the example from the README.\n"
      "2. Use `{module}` on a file of about {n} lines.\n3. Look at the last lines of the output.\n\nI expected the totals to agree.",
      "We run this for {n} people. Since the update on Monday three of them have told me of {fault}. "
      "Going back to the version before helps.\n\n```\n{module}: stopped after {n} entries\n```",
      "I have read the source of `{module}` and think that this can happen whenever there are more than {n} entries: {fault}. "
      "Could somebody who knows confirm it?"],
     ["Thank you for the report. I can reproduce it with {n} entries, not with fewer.",
      "I think this came with the change to `{module}` two weeks ago. I shall look at it on Friday.",
      "Could you attach the file, or at least its first lines?", "Works for me on the current main. Which version do you use?",
      "Fixed on main, will be in the next release.", "Same here, since {n} days.",
      "It is not `{module}`; the reader before it drops the line.", "I have a branch for this and shall open a request."]),
    (["Please add {thing} to {module}", "{module} could use {thing}", "Wish: {thing} in {module}"],
     ["It would help me to have {thing}. At present I work around it with a script of {n} lines, which nobody but me understands.",
      "A small wish: {thing}. I am glad to write it myself, if somebody tells me where in `{module}` it belongs.",
      "Our neighbours asked for {thing} again. I said that I would write it down here."],
     ["I would rather not add this: `{module}` should stay small.", "Agreed. A patch is welcome; please add a test.",
      "I have a branch for this and shall open a request.", "Let us keep this open until the release is out.",
      "I moved this to the next milestone.", "+1, I could use it every week."]),
    (["How do I use {module} without a configuration file?", "What does {module} do with bad input?", "{module} is slow with {n} entries",
      "Can {module} read more than {n} files at once?"],
     ["I looked in the README and in the help, and found nothing about it. What do you do in this case?",
      "I have {n} of them, and it takes long enough to fetch a coffee. Is that to be expected?",
      "This is probably simple, but I have tried for an hour. I use the current main."],
     ["Not yet, but the change would be small.", "There is an example in the change log, a little hidden.",
      "You can: set the limit to {n}.", "Then let us say so in the README.", "That helped, thank you."]),
]
TEXT_TICKETS = [
    (["{module}: {fault}", "{module} has {fault}"],
     ["I read `{module}` with a new colleague yesterday. We stumbled over {fault} on the second screen.",
      "This came up in the meeting: {fault}. I have written down what we agreed and can open a request."],
     ["Good catch, thank you.", "I have a draft and shall send it round.", "Done, please have a look.", "There is one more below it."]),
    (["Please add {thing} to {module}", "{module} needs {thing}"],
     ["Could we have {thing}? I was asked for it {n} times this year.",
      "The page assumes that one knows the terms already. I think {thing} would help."],
     ["I would leave `{module}` as it is and add a note.", "Agreed; {n} people have asked me the same.",
      "Let us talk about it on Thursday.", "Happy to write it."]),
    (["Who reviews changes to {module}?", "Split {module} in two?", "{module} contradicts the minutes of last month"],
     ["I am not sure whom to ask, so I ask here.", "It has grown to {n} lines, and I no longer find my way in it."],
     ["Ask me.", "Yes, please.", "The minutes are right; I shall change the page.", "Let us wait until the release is out."]),
]
ABOUT = [
    "This is about `{module}`. I tried it with {n} entries and compared the output with the old one: no difference but the wanted one.",
    "`{module}` had this on its list for a while. The second commit is only tidying and can be left out.",
    "Small change, large relief: without it `{module}` cannot be used with more than {n} entries.",
    "See the discussion in the issues. I kept it as small as I could; the change log is updated.",
]
REVIEWS = [
    "Looks good. One question: why is the limit {n}?", "Please add a line to the change log.", "The test passes here.",
    "Could this be split in two commits?", "Nice and short. +1", "I would name this differently, but I do not insist.",
    "Tried it on my machine with {n} files, no trouble.", "This needs a word in the README.", "Rebased on main, please look again.",
    "Let us merge this after the release.",
]
CLOSED = ["Fixed", "Fixed", "Fixed", "Invalid", "Duplicate"]


class Words:
    """The words that suit a project: those of a text or those of a program."""

    def __init__(self, language, rng):
        kind = "TEXT_" if language == "md" else "CODE_"
        self.rng = rng
        self.things, self.faults, self.tickets = (globals()[kind + name] for name in ("THINGS", "FAULTS", "TICKETS"))

    def matter(self, module):
        """What a discussion is about."""
        fault = self.rng.choice(self.faults)
        return {"module": module, "fault": fault, "fault_": fault.capitalize(), "thing": self.rng.choice(self.things)}

    def say(self, sentences, matter):
        """One of the sentences about the matter."""
        return self.rng.choice(sentences).format(**matter, n=self.rng.randint(3, 400))
