"""Episodes a minute, beside BrowserGym's loop, in one run.

    episodes.py SANDBOX WORK [town]

Plays the demo suite, and with `town` the errands in the town that begin logged out, with the oracle, two at a time. Then plays
the same actions on the same pages in BrowserGym's environment as it is published, with its pauses, two at a time: a replaying
proxy stands for the demo's web, `sandbox up` for the town. BrowserGym resets no site in between, and logs in nowhere. Its
environment is timed from its reset to its close, ours from the first episode's beginning to the last one's end, all that
happens between episodes included. Prints a Markdown table.
"""

import concurrent.futures
import datetime
import importlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import measured  # noqa: E402

WORKERS = 2
REPEATS = 3


def play(sandbox, suite, out, tasks):
    """Our run: its episodes, how long they took in seconds, and the actions of each task's first one."""
    chosen = [f"--task={task}" for task in tasks]
    subprocess.run([sandbox, "run", suite, "--agent", "oracle", "--workers", str(WORKERS), "--repeat", str(REPEATS), "--output",
                    out, *chosen], check=True, stdout=subprocess.DEVNULL)
    ended, began, scripts = [], [], {}
    for path in sorted(out.glob("episodes/*/episode.json")):
        record = json.loads(path.read_text())
        assert record["score"] == 1, f"{path.parent.name} was not solved"
        start = datetime.datetime.fromisoformat(record["started"]).timestamp()
        began.append(start)
        ended.append(start + record["wall_ms"] / 1000)
        if record["repeat"] == 1:
            lines = [json.loads(line) for line in (path.parent / "trace.jsonl").read_text().splitlines()]
            scripts[record["task"]] = (lines[0]["url"], [line["action"] for line in lines if line["action"]])
    return len(began), max(ended) - min(began), scripts


def episode(url, actions, proxy):
    """One of BrowserGym's, with these actions; how many of them failed."""
    import browsergym.core  # noqa: F401 (registers the environment)
    import gymnasium
    import playwright.sync_api

    environment = gymnasium.make(
        "browsergym/openended", task_kwargs={"start_url": url, "goal": "as written"}, headless=True,
        pw_chromium_kwargs={"proxy": {"server": proxy, "bypass": "<-loopback>"}},
        pw_context_kwargs={"ignore_https_errors": True})
    failed = 0
    try:
        environment.reset()
        for action in actions:
            observation, *_ = environment.step(action)
            failed += bool(observation["last_action_error"])
    except playwright.sync_api.Error as error:
        # Chromium fails what is on its way when a container comes or goes; ours is not told of
        # that.
        print(f"{url}: {error}", file=sys.stderr)
        failed = len(actions)
    environment.close()
    return failed


def load(_):
    importlib.import_module("browsergym.core")


def theirs(scripts, proxy):
    """Every task once, two at a time; seconds in all, and actions that failed."""
    with concurrent.futures.ProcessPoolExecutor(WORKERS) as pool:
        # The programs are loaded before the clock starts.
        list(pool.map(load, range(WORKERS)))
        began = time.perf_counter()
        played = [pool.submit(episode, url, actions, proxy) for url, actions in scripts.values()]
        failed = sum(one.result() for one in played)
        return time.perf_counter() - began, failed


def listening(command, pattern):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        found = re.search(pattern, line)
        if found:
            return process, found[1]
    sys.exit(f"{command[1]} did not say where it listens")


def logged_out(suite):
    return [path.stem for path in sorted(pathlib.Path(suite).glob("*.yaml"))
            if path.stem != "suite" and not re.search("^login:", path.read_text(), re.M)]


def main():
    sandbox, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    browsers = work / "browsers/chromium-1117/chrome-linux"
    shutil.rmtree(work, ignore_errors=True)
    browsers.mkdir(parents=True)
    # BrowserGym takes the browser that its library expects.
    (browsers / "chrome").symlink_to("/usr/bin/chromium")
    os.environ["PLAYWRIGHT_BROWSERS_PATH"] = str((work / "browsers").resolve())
    rows = []
    count, seconds, scripts = play(sandbox, "tasks/demo", work / "demo", [])
    proxy, address = listening([sandbox, "replay", "snapshots/demo.wacz", "--no-key", "--data", work / "data"], r"^proxy (http://\S+)")
    try:
        rows.append(("demo", count, seconds, scripts, *theirs(scripts, address)))
    finally:
        proxy.terminate()
    if "town" in sys.argv[3:]:
        tasks = logged_out("tasks/town")
        count, seconds, scripts = play(sandbox, "tasks/town", work / "town", tasks)
        said = subprocess.run([sandbox, "up", "--no-key", "--json"], check=True, capture_output=True, text=True).stdout
        try:
            rows.append(("town", count, seconds, scripts, *theirs(scripts, re.search(r'"proxy": ?"([^"]+)"', said)[1])))
        finally:
            subprocess.run([sandbox, "down"], check=True, stdout=subprocess.DEVNULL)
    print("| suite | episodes a minute, ours | BrowserGym's | ratio | actions of theirs that failed |\n| --- | --- | --- | --- | --- |")
    kept = {}
    for name, count, seconds, scripts, peer, failed in rows:
        mine, other = count / seconds * 60, len(scripts) / peer * 60
        print(f"| {name} | {mine:.1f} | {other:.2f} | {mine / other:.1f}x | {failed} of {sum(len(a) for _, a in scripts.values())} |")
        kept |= {name: mine / other, f"{name}-ours": mine, f"{name}-browsergym": other}
    measured.keep("bench-episodes", kept)


if __name__ == "__main__":
    main()
