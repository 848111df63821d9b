"""What files of each language are made of: where they lie, how they begin, and pieces to add or change.

In a head `{t}` is the project and `{m}` the module; in a piece `{f}` is its name, `{n}` a number that later changes may
alter, `{d}` a sentence about it.
"""
import collections

Language = collections.namedtuple("Language", "path head pieces")

PYTHON = Language("src/{m}.py", '"""{t}: {m}."""\nimport csv\nimport datetime\n', [
    '\n\ndef {f}(entries, limit={n}):\n    """{d}."""\n    kept = [entry for entry in entries if entry is not None]\n'
    '    return sorted(kept)[:limit]\n',
    '\n\ndef {f}(path, skip={n}):\n    """{d}."""\n    with open(path, newline="", encoding="utf-8") as file:\n'
    '        rows = list(csv.reader(file))\n    return rows[skip:]\n',
    '\n\ndef {f}(day, days={n}):\n    """{d}."""\n    first = datetime.date.fromisoformat(day)\n'
    '    return [first + datetime.timedelta(days=step) for step in range(days)]\n',
    '\n\ndef {f}(values, width={n}):\n    """{d}."""\n    if not values:\n        return 0.0\n'
    '    window = values[-width:]\n    return sum(window) / len(window)\n',
    '\n\nclass {f}:\n    """{d}."""\n\n    def __init__(self, capacity={n}):\n        self.capacity = capacity\n'
    '        self.items = []\n\n    def add(self, item):\n        self.items.append(item)\n'
    '        del self.items[:-self.capacity]\n',
    '\n\ndef {f}(text, width={n}):\n    """{d}."""\n    words, line = text.split(), ""\n    for word in words:\n'
    '        if len(line) + len(word) > width:\n            yield line.strip()\n            line = ""\n'
    '        line += word + " "\n    yield line.strip()\n',
])
GO = Language("{m}/{m}.go", '// Package {m} belongs to {t}.\npackage {m}\n\nimport (\n\t"errors"\n\t"strings"\n)\n', [
    '\n// {f}: {d}.\nfunc {f}(entries []string) []string {{\n\tif len(entries) > {n} {{\n\t\treturn entries[:{n}]\n\t}}\n'
    '\treturn entries\n}}\n',
    '\n// {f}: {d}.\nfunc {f}(line string) (string, error) {{\n\tline = strings.TrimSpace(line)\n'
    '\tif len(line) > {n} {{\n\t\treturn "", errors.New("line too long")\n\t}}\n\treturn line, nil\n}}\n',
    '\n// {f}: {d}.\nfunc {f}(words []string, seen map[string]int) int {{\n\ttotal := 0\n\tfor _, word := range words {{\n'
    '\t\tseen[strings.ToLower(word)]++\n\t\tif seen[word] > {n} {{\n\t\t\tcontinue\n\t\t}}\n\t\ttotal++\n\t}}\n'
    '\treturn total\n}}\n',
    '\n// {f}: {d}.\ntype {f} struct {{\n\titems []string\n}}\n\n// Push forgets the oldest item when there are {n}.\n'
    'func (q *{f}) Push(item string) {{\n\tif len(q.items) == {n} {{\n\t\tq.items = q.items[1:]\n\t}}\n'
    '\tq.items = append(q.items, item)\n}}\n',
])
SCRIPT = Language("lib/{m}.js", "// {t}: {m}\n", [
    '\n// {d}.\nexport function {f}(entries, limit = {n}) {{\n  return entries.filter(Boolean).slice(0, limit)\n}}\n',
    '\n// {d}.\nexport function {f}(value, step = {n}) {{\n  return Math.round(value / step) * step\n}}\n',
    '\n// {d}.\nexport function {f}(node, points) {{\n  const path = points.map(([x, y]) => `${{x * {n}}},${{y * {n}}}`)\n'
    '  node.setAttribute("points", path.join(" "))\n}}\n',
    '\n// {d}.\nexport const {f} = (text) => {{\n  const [head, ...rest] = text.trim().split(/\\s+/)\n'
    '  return {{ head, rest: rest.slice(0, {n}) }}\n}}\n',
])
C = Language("src/{m}.c", "/* {t}: {m} */\n#include <stddef.h>\n#include <stdint.h>\n", [
    '\n/* {d}. */\nint {f}(const int *values, size_t count)\n{{\n    int sum = {n};\n'
    '    for (size_t i = 0; i < count; i++)\n        sum += values[i];\n    return sum;\n}}\n',
    '\n/* {d}. */\nuint32_t {f}(uint32_t state)\n{{\n    state ^= state << {n};\n    state ^= state >> 7;\n    return state;\n}}\n',
    '\n/* {d}. */\nstatic size_t {f}(char *to, const char *from, size_t room)\n{{\n    size_t used = 0;\n'
    '    while (used + 1 < room && from[used] && used < {n}) {{\n        to[used] = from[used];\n        used++;\n    }}\n'
    '    to[used] = 0;\n    return used;\n}}\n',
])
SHELL = Language("bin/{m}.sh", "#!/bin/sh\n# {t}: {m}\nset -eu\n", [
    '\n# {d}.\n{f}() {{\n    head -n {n} "$1"\n}}\n',
    '\n# {d}.\n{f}() {{\n    find "$1" -type f -mtime +{n} -print\n}}\n',
    '\n# {d}.\n{f}() {{\n    tries=0\n    until "$@"; do\n        tries=$((tries + 1))\n        [ "$tries" -lt {n} ] || return 1\n    done\n}}\n',
])
TEXT = Language("{m}.md", "# {m}\n\nPart of {t}.\n", [
    "\n## {f}\n\n{d}. Read this first if you have been here for less than {n} days.\n",
    "\n## {f}\n\n{d}:\n\n1. Say what you are about to do.\n2. Do it, in no more than {n} minutes.\n3. Say what came of it.\n",
    "\n## {f}\n\n{d}. We measured this with {n} people; the notes are in the archive.\n\n> When in doubt, ask.\n",
    "\n## {f}\n\n| case | what to do |\n| --- | --- |\n| fewer than {n} | nothing |\n| more | {d} |\n",
])
LANGUAGES = {"py": PYTHON, "go": GO, "js": SCRIPT, "c": C, "sh": SHELL, "md": TEXT}
VERBS = {"md": ["Beginning with", "Checking", "Explaining", "Ordering", "Reviewing", "Sharing"],
         "": ["load", "check", "pick", "merge", "trim", "count", "render", "split", "follow", "group"]}


def name(language, module, rng, number):
    """A name for a new piece, in the manner of its language; the number keeps it apart from the others."""
    verb = rng.choice(VERBS.get(language, VERBS[""]))
    if language == "md":
        return f"{verb} {module}, part {number}"
    if language in ("go", "js"):
        return f"{verb.capitalize() if language == 'go' else verb}{module.capitalize()}{number}"
    return f"{verb}_{module}_{number}"
