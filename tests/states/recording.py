"""Records a small site with `sandbox record`: a suite of one task, which its solution solves."""

import json
import subprocess


def steps_of(site, names):
    """The steps of a solution that does these actions. JSON is YAML."""
    tabs, steps = 1, []
    for action in map(site.action, names):
        for kind, *words in action.steps:
            match kind:
                case "click" | "open" | "follow":
                    steps.append({"click": {"role": "css", "name": words[0]}})
                case "fill":
                    steps.append({"fill": {"role": "css", "name": words[0], "value": words[1]}})
                case "select":
                    steps.append({"select": {"role": "css", "name": words[0], "options": [words[1]]}})
                case "goto":
                    steps.append({"goto": site.url(words[0])})
                case "tab" if words[0] < tabs:
                    steps.append({"focus_tab": words[0]})
                case "tab":
                    tabs += 1
                    steps += ["new_tab", {"goto": site.url(words[1])}]
    return [*steps, {"answer": "done"}]


def write_suite(site, names, folder):
    steps = steps_of(site, names)
    task = {
        "id": site.name,
        "goal": "Do all that can be done.",
        "start_url": site.url("/"),
        "max_steps": len(steps) + 1,
        "scorer": {"equals": "done"},
        "oracle": steps,
    }
    folder.mkdir(parents=True)
    world = {"snapshots": [f"../{site.name}.wacz"], "clock": site.clock}
    (folder / "suite.yaml").write_text(json.dumps({"name": site.name, "world": world}, indent=2))
    (folder / "task.yaml").write_text(json.dumps(task, indent=2))


def record(sandbox, site, names, reached, folder):
    """Makes the snapshot of a site in which these actions were done, one after the other."""
    suite, output = folder / site.name, folder / f"{site.name}.wacz"
    write_suite(site, names, suite)
    command = [
        sandbox, "record", "--suite", suite, "--depth=0", "--delay=0", "--stay=0", "--agent=oracle",
        "--rounds=1", *reached, "--data", folder / "data", "-o", output,
    ]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0 or ", 1 passed" not in ended.stderr + ended.stdout:
        raise RuntimeError(f"{site.name} was not recorded: {ended.stderr}{ended.stdout}")
