"""Time of a processor for an episode, beside bare Playwright, in one run.

    processor.py SANDBOX WORK

Plays the demo suite with the oracle on one worker. Then carries out the same actions on the same
pages with Playwright, which takes a screenshot and an aria snapshot after each action and does
nothing else: one browser, a context for each episode, a replaying proxy for the web. Both use the
same program of Chromium. They take turns. The time is that of the whole machine (`/proc/stat`),
less what it uses when nothing is played. Ours has the start of the program and of its browser in
it, theirs has not. Prints a Markdown table.
"""

import ast
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

import playwright.sync_api

import measured
from procs import Server

TURNS = 3
REPEATS = 2
IDLE_SECONDS = 5
# Processors that other programs may keep busy. What they use varies, and falls to one of the two.
QUIET = 0.3
TICKS = os.sysconf("SC_CLK_TCK")
SHELL = "/usr/lib/chromium/chromium-headless-shell"
ELEMENT = re.compile(r"^\s*\[(\S+)\] (\w+) '(.*?)'(?:,| value=|$)", re.MULTILINE)
PATIENCE_MS = 3_000


def busy_seconds():
    """Seconds of a processor that all processes of the machine and its kernel have used."""
    fields = [
        int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]
    ]
    user, nice, system, _idle, _wait, irq, softirq, _steal = fields
    return (user + nice + system + irq + softirq) / TICKS


def seconds_each(play, idle_share):
    """Seconds of a processor for each episode of `play`, which returns their number."""
    before, began = busy_seconds(), time.monotonic()
    count = play()
    took = time.monotonic() - began
    return (busy_seconds() - before - idle_share * took) / count


def ours(sandbox, out, repeats):
    subprocess.run(
        [
            sandbox,
            "run",
            "tasks/demo",
            "--agent",
            "oracle",
            "--workers",
            "1",
            "--repeat",
            str(repeats),
            "--output",
            out,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return len(list(out.glob("episodes/*/episode.json")))


def script(trace):
    """Where an episode begins, and its actions: (function, arguments, element for Playwright)."""
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    actions = []
    for line in lines:
        if not line["action"]:
            continue
        call = ast.parse(line["action"], mode="eval").body
        arguments = [ast.literal_eval(argument) for argument in call.args]
        elements = ELEMENT.findall(line["observation"])
        named = next(
            ((role, name) for bid, role, name in elements if arguments and bid == arguments[0]),
            None,
        )
        same = [bid for bid, role, name in elements if (role, name) == named]
        place = (*named, same.index(arguments[0])) if named else None
        actions.append((call.func.id, arguments, place))
    return lines[0]["url"], actions


def look(page):
    page.wait_for_load_state()
    page.screenshot()
    page.locator("body").aria_snapshot()


def act(page, name, arguments, place):
    if place:
        role, label, number = place
        target = page.get_by_role(role, name=label, exact=True).nth(number)
        getattr(target, name)(*arguments[1:])
    elif name == "goto":
        page.goto(arguments[0])
    elif name == "go_back":
        page.go_back()
    elif name == "scroll":
        page.mouse.wheel(*arguments)
    elif name not in ("noop", "send_msg_to_user"):
        raise playwright.sync_api.Error(f"no element for {arguments}")


def theirs(browser, proxy, scripts):
    """Plays every script once; how many actions failed."""
    failed = 0
    for url, actions in scripts:
        context = browser.new_context(ignore_https_errors=True, proxy={"server": proxy})
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto(url)
        look(page)
        for action in actions:
            try:
                act(page, *action)
            except playwright.sync_api.Error as error:
                print(f"{url}: {action[0]}: {error}".split("\n")[0], file=sys.stderr)
                failed += 1
            look(page)
        context.close()
    return failed


def main():
    sandbox, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) / "processor"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    ours(sandbox, work / "first", 1)
    scripts = [script(path) for path in sorted((work / "first").glob("episodes/*/trace.jsonl"))]
    replay = [sandbox, "replay", "snapshots/demo.wacz", "--no-key", "--data", work / "data"]
    with Server(replay, announce=r"^proxy (http://\S+)", log=work / "replay.log") as proxy:
        address = proxy.address
        with playwright.sync_api.sync_playwright() as library:
            browser = library.chromium.launch(
                executable_path=SHELL, proxy={"server": address, "bypass": "<-loopback>"}
            )
            theirs(browser, address, scripts)
            before = busy_seconds()
            time.sleep(IDLE_SECONDS)
            idle_share = (busy_seconds() - before) / IDLE_SECONDS
            if idle_share > QUIET:
                sys.exit(
                    f"processor: other programs use {idle_share:.1f} processors;"
                    " play this alone on the machine"
                )
            mine, other, failed = [], [], []

            def play_theirs():
                failed.extend(theirs(browser, address, scripts) for _ in range(REPEATS))
                return REPEATS * len(scripts)

            for turn in range(TURNS):
                mine.append(
                    seconds_each(lambda: ours(sandbox, work / f"run-{turn}", REPEATS), idle_share)
                )
                other.append(seconds_each(play_theirs, idle_share))
            browser.close()
    print(
        "| suite | processor an episode, ours | Playwright's | ratio |"
        " actions of theirs that failed |\n| --- | --- | --- | --- | --- |"
    )
    mine, other = statistics.median(mine), statistics.median(other)
    count = TURNS * REPEATS * sum(len(actions) for _, actions in scripts)
    print(
        f"| demo | {mine:.2f} s | {other:.2f} s | {mine / other:.2f}x | {sum(failed)} of {count} |"
    )
    measured.keep(
        "bench-episodes",
        {"processor": mine / other, "processor-ours": mine, "processor-playwright": other},
    )


if __name__ == "__main__":
    main()
