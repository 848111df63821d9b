"""Writes a repository's history as a stream for `git fast-import`: a main line, merged branches, and branches still open.

A file is a dict of its pieces in order, so that changes made side by side can be merged piece by piece.
"""
import subprocess

import sources
from projects import PEOPLE

LICENCE = "Anyone may use, copy and change this work, provided that this notice stays with it.\nThere is no warranty.\n"


def person(name, when):
    return f"{PEOPLE[name]} <{name}@quayside.example> {when} +0000"


class History:
    """One repository in the making: the files as they stand on each branch, and the stream so far."""

    def __init__(self, project, rng, words, now):
        self.name, self.owner, self.about, self.language, modules, self.length = project
        self.path, self.head, self.pieces = sources.LANGUAGES[self.language]
        self.rng, self.words, self.modules = rng, words, modules.split()
        self.stream, self.marks, self.branches = [], 0, {}
        self.start = now - self.length * rng.randint(3, 8) * 86400
        # As `planned_requests` makes them; each takes a little less than a step, so the last one lies shortly before now.
        self.merged = self.length // 9
        self.between = max(1, (self.length - 8) // (3 + self.merged))
        commits = 5 + self.merged * (self.between + 3)
        self.step, self.when = (now - self.start - 3 * 86400) // commits, self.start

    def commit(self, branch, author, message, files, merge=None):
        self.marks += 1
        self.when += self.rng.randint(self.step // 3, self.step * 4 // 3)
        tip, tree = self.branches.get(branch, (None, {}))
        who = person(author, self.when)
        lines = [f"commit refs/heads/{branch}", f"mark :{self.marks}", f"author {who}", f"committer {who}"]
        lines += [f"data {len(message.encode())}\n{message}"]
        lines += [f"from :{tip}"] * bool(tip) + [f"merge :{merge}"] * bool(merge)
        for path, pieces in sorted(files.items()):
            text = "".join(pieces.values())
            lines.append(f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}")
        self.stream.append("\n".join(lines) + "\n")
        self.branches[branch] = (self.marks, {**tree, **files})
        return self.marks

    def begin(self):
        readme = (f"# {self.name}\n\n{self.about}.\n\n## Use\n\nRead `{self.path.format(m=self.modules[0])}` first; the other "
                  "parts build on it.\n\n## Parts\n\n" + "".join(f"- {module}\n" for module in self.modules))
        files = {"README.md": readme, "LICENSE": LICENCE, "CHANGELOG.md": "# Changes\n\n"}
        self.commit("main", self.owner, "Begin", {path: {"": text} for path, text in files.items()})

    def change(self, branch, author):
        """One ordinary change: a new piece somewhere, or an old one mended; at times with a line in the change log."""
        tree, module = self.branches[branch][1], self.rng.choice(self.modules)
        path = self.path.format(m=module)
        pieces = dict(tree.get(path, {"": self.head.format(t=self.name, m=module)}))
        old = [name for name in pieces if name]
        if old and self.rng.random() < 0.45:
            name, fault = self.rng.choice(old), self.rng.choice(self.words.faults)
            message = self.rng.choice([f"{module}: mend {fault}", f"Mend {fault} in {module}"])
        else:
            name = sources.name(self.language, module, self.rng, self.marks)
            message = f"{module}: add {self.rng.choice(self.words.things)}"
        piece = self.rng.choice(self.pieces)
        pieces[name] = piece.format(f=name, n=self.rng.randint(2, 90), d=message.split(": ")[-1].capitalize())
        files = {path: pieces}
        if self.rng.random() < 0.3:
            files["CHANGELOG.md"] = {**tree["CHANGELOG.md"], str(self.marks): f"- {message}\n"}
        return self.commit(branch, author, message, files), message

    def fork_off(self, branch):
        self.branches[branch] = self.branches["main"]
        return self.branches["main"][1]

    def merge(self, branch, base, author, message):
        """Brings onto main what a branch has changed since it was forked off at the files `base`."""
        (tip, theirs), ours, files = self.branches[branch], self.branches["main"][1], {}
        for path, pieces in theirs.items():
            before = base.get(path, {})
            changed = {name: text for name, text in pieces.items() if before.get(name) != text}
            if changed:
                files[path] = {**ours.get(path, {}), **changed}
        return self.commit("main", author, message, files, merge=tip)

    def tag(self, version):
        tip, who, text = self.branches["main"][0], person(self.owner, self.when), f"Release {version}"
        self.stream.append(f"tag {version}\nfrom :{tip}\ntagger {who}\ndata {len(text)}\n{text}\n")

    def write(self, repository):
        """Imports what was made since the last time, here or into a fork, and returns all commits' ids by mark."""
        marks = f"/tmp/{self.name}.marks"
        git(repository, "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", f"--import-marks-if-exists={marks}",
            f"--export-marks={marks}", input="\n".join(self.stream).encode())
        self.stream.clear()
        with open(marks) as lines:
            return {int(mark[1:]): commit for mark, commit in (line.split() for line in lines)}


def git(repository, *words, **options):
    """Runs git on one thread, since what several pack differs from run to run."""
    subprocess.run(["git", "-C", repository, "-c", "pack.threads=1", *words], check=True, **options)
