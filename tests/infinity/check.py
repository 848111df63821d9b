"""WebArena-Infinity's own check of its verifiers, played in our episodes: the state that its solver makes of an application's first one
is worth 1 in an episode that ends in it, and the first one itself is worth 0.

    check.py SANDBOX REPOSITORY [--app NAME]... [--tasks N]

REPOSITORY is the benchmark's. The `sanity_check_real.py` (or `sanity_check.py`) of each application makes the states, and needs Node and the package `requests`;
so do the verifiers, which `python3` runs. Without --app all applications are checked, without --tasks all their tasks.
"""

import argparse
import copy
import importlib.util
import json
import os
import pathlib
import subprocess
import tempfile

SEEDS = ["generate_seed_state", "get_seed_state", "load_seed_state"]


def load(app):
    """The application's own check, as a module."""
    files = [app / "sanity_check_real.py", app / "sanity_check.py"]
    file = next(file for file in files if file.exists())
    spec = importlib.util.spec_from_file_location(app.name.replace("-", "_"), file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def solved(app):
    """The first state, and a solved one for each task that has a solver."""
    check = load(app)
    seed = next(getattr(check, name) for name in SEEDS if hasattr(check, name))()
    solvers = getattr(check, "SOLVERS", None)
    if solvers is None:
        solvers = {name.removeprefix("solve_"): of for name, of in vars(check).items() if name.startswith("solve_task_")}
    states = {}
    for task, solver in solvers.items():
        state = copy.deepcopy(seed)
        # Some change the state, others give another one.
        states[task] = solver(state) or state
    return states


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sandbox")
    parser.add_argument("repository", type=pathlib.Path)
    parser.add_argument("--app", action="append", default=[])
    parser.add_argument("--tasks", type=int)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        suite, out = pathlib.Path(folder, "suite"), pathlib.Path(folder, "run")
        apps = [f"--app={app}" for app in asked.app]
        subprocess.run([asked.sandbox, "tasks", "import", "infinity", asked.repository, *apps, "--output", suite], check=True)
        for app in sorted((suite / "sites").iterdir()):
            states = solved(suite / "apps" / app.name)
            for number, (task, state) in enumerate(states.items()):
                file = suite / f"{app.name}-{task}.yaml"
                if asked.tasks is not None and number >= asked.tasks:
                    continue
                text = file.read_text() + "oracle: [{answer: done}]\n"
                (suite / f"{app.name}-{task}.first.yaml").write_text(text.replace(f"id: {app.name}-{task}\n", f"id: {app.name}-{task}.first\n", 1))
                push = f"fetch('/api/state', {{method: 'PUT', body: JSON.stringify({json.dumps(state)})}})"
                file.write_text(text + f"setup_script: {json.dumps(push)}\n")
        for file in suite.glob("*.yaml"):
            if file.name != "suite.yaml" and "oracle:" not in file.read_text():
                file.unlink()
        subprocess.run([asked.sandbox, "run", suite, "--agent=oracle", f"--workers={os.cpu_count()}", "--output", out, "--json"], stdout=subprocess.PIPE)
        wrong, counts = [], {}
        for record in sorted(out.glob("episodes/*/episode.json")):
            episode = json.loads(record.read_text())
            task, first = episode["task"].removesuffix(".first"), episode["task"].endswith(".first")
            app = task.rsplit("-", 1)[0]
            right = episode["outcome"]["kind"] == "answered" and episode["score"] == (0.0 if first else 1.0)
            count = counts.setdefault(app, {"solved": 0, "accepted": 0, "first": 0, "refused": 0})
            count["first" if first else "solved"] += 1
            count["refused" if first else "accepted"] += right
            if not right:
                wrong.append((episode["task"], episode["outcome"], (episode.get("detail") or {}).get("wrong")))
        for app, count in counts.items():
            print(f"{app}: {count['accepted']} of {count['solved']} solved states accepted, {count['refused']} of {count['first']} first states refused")
        for task in wrong:
            print(*task)
        raise SystemExit(1 if wrong or not counts else 0)


if __name__ == "__main__":
    main()
