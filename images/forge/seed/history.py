"""Writes a repository's history as a stream for `git fast-import`: a main line, merged branches, and branches still open."""
import subprocess

LANGUAGES = {
    "py": ("src/{m}.py", '"""{t}: {m}."""\n', "\n\ndef {f}(entries, limit={n}):\n    \"\"\"{d}.\"\"\"\n    kept = [entry for entry in entries if entry is not None]\n    return sorted(kept)[:limit]\n"),
    "go": ("{m}/{m}.go", "// Package {m} belongs to {t}.\npackage {m}\n", "\n// {f} keeps at most {n} entries. {d}.\nfunc {f}(entries []string) []string {{\n\tif len(entries) > {n} {{\n\t\treturn entries[:{n}]\n\t}}\n\treturn entries\n}}\n"),
    "js": ("lib/{m}.js", "// {t}: {m}\n", "\n// {d}\nexport function {f}(entries, limit = {n}) {{\n  return entries.filter(Boolean).slice(0, limit)\n}}\n"),
    "c": ("src/{m}.c", "/* {t}: {m} */\n#include <stddef.h>\n", "\n/* {d} */\nint {f}(const int *values, size_t count)\n{{\n    int sum = {n};\n    for (size_t i = 0; i < count; i++)\n        sum += values[i];\n    return sum;\n}}\n"),
    "sh": ("bin/{m}.sh", "#!/bin/sh\n# {t}: {m}\nset -eu\n", "\n# {d}\n{f}() {{\n    head -n {n} \"$1\"\n}}\n"),
    "md": ("{m}.md", "# {m}\n\nPart of {t}.\n", "\n## {f}\n\n{d}. See also section {n}.\n"),
}


class History:
    """One repository in the making: the files as they stand on each branch, and the stream so far."""

    def __init__(self, project, rng, people, now):
        self.name, self.owner, self.about, language, modules, self.length = project
        self.path, self.head, self.piece = LANGUAGES[language]
        self.rng, self.people, self.modules = rng, people, modules.split()
        self.stream, self.marks, self.branches = [], 0, {"main": (None, {})}
        self.start = now - self.length * rng.randint(3, 8) * 86400
        self.step, self.when = (now - self.start - 3 * 86400) // (self.length + 12), self.start

    def commit(self, branch, author, message, files, merge=None):
        self.marks += 1
        self.when += self.rng.randint(self.step // 3, self.step * 4 // 3)
        tip, tree = self.branches[branch]
        tree = {**tree, **files}
        who = f"{self.people[author]} <{author}@quayside.example> {self.when} +0000"
        lines = [f"commit refs/heads/{branch}", f"mark :{self.marks}", f"author {who}", f"committer {who}", f"data {len(message.encode())}\n{message}"]
        lines += [f"from :{tip}"] * bool(tip) + [f"merge :{merge}"] * bool(merge)
        lines += [f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}" for path, text in sorted(files.items())]
        self.stream.append("\n".join(lines) + "\n")
        self.branches[branch] = (self.marks, tree)
        return self.marks

    def begin(self):
        readme = f"# {self.name}\n\n{self.about}.\n\n## Use\n\nRead `{self.path.format(m=self.modules[0])}` first; the other parts build on it.\n\n## Parts\n\n" + "".join(f"- {module}\n" for module in self.modules)
        licence = "Anyone may use, copy and change this work, provided that this notice stays with it.\nThere is no warranty.\n"
        self.commit("main", self.owner, "Begin", {"README.md": readme, "LICENSE": licence, "CHANGELOG.md": "# Changes\n"})

    def change(self, branch, author, things, faults):
        """One ordinary change: a new function somewhere, at times with a line in the change log."""
        tree, module, number = self.branches[branch][1], self.rng.choice(self.modules), self.marks + 1
        path = self.path.format(m=module)
        message = self.rng.choice([f"{module}: add {self.rng.choice(things)}", f"{module}: mend {self.rng.choice(faults)}", f"Mend {self.rng.choice(faults)} in {module}"])
        name = f"{self.rng.choice(['load', 'check', 'pick', 'merge', 'trim', 'count', 'render'])}_{module.replace('-', '_')}_{number}"
        text = tree.get(path, self.head.format(t=self.name, m=module)) + self.piece.format(f=name, n=self.rng.randint(2, 90), d=message.split(": ")[-1].capitalize(), m=module)
        files = {path: text}
        if self.rng.random() < 0.3:
            files["CHANGELOG.md"] = tree["CHANGELOG.md"] + f"- {message}\n"
        return self.commit(branch, author, message, files), message

    def fork_off(self, branch):
        self.branches[branch] = self.branches["main"]

    def merge(self, branch, author, message):
        tip, tree = self.branches[branch]
        return self.commit("main", author, message, {path: text for path, text in tree.items() if self.branches["main"][1].get(path) != text}, merge=tip)

    def tag(self, version):
        who = f"{self.people[self.owner]} <{self.owner}@quayside.example> {self.when} +0000"
        self.stream.append(f"tag {version}\nfrom :{self.branches['main'][0]}\ntagger {who}\ndata {len(version) + 8}\nRelease {version}\n")

    def write(self, repository):
        """Imports the stream and returns the commits' ids by mark."""
        subprocess.run(["git", "-C", repository, "-c", "pack.threads=1", "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--export-marks=/tmp/marks"],
                       input="\n".join(self.stream).encode(), check=True)
        with open("/tmp/marks") as lines:
            return {int(mark[1:]): commit for mark, commit in (line.split() for line in lines)}
