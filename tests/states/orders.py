"""Twenty small sites, or three applications, are recorded once, and then used in orders that nobody
recorded, in a real browser: live, from our replay, and from pywb. What is shown has to be the same.

A step of ours that differs is *labelled* if the ledger says of an answer since the step before that
it may be another one than the site would give: recorded in another state, guessed, or missed. Else
it is *silent*. At its first difference an order ends. Exit code 1 if anything of ours is wrong in
silence, or less than 90 % of its steps are equal.
"""

import argparse
import random
import shutil
import sys
from collections import deque
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from playwright.sync_api import sync_playwright

from applications import APPLICATIONS
from client import FRAME, Client
from origin import Origin
from recording import record
from servers import Ours, Pywb
from sites import SITES
from town import Town

# The first of these that is there; the shell is the same browser without a window.
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
ACTIONS = 8
# How often an order is begun anew.
TRIES = 5
RECORDED_ACTIONS = 14
LEAST_EQUAL = 0.9
# Of how many silent differences of a site the shortest order is looked for.
DESCRIBED = 3
# Rules of matching that rest on a guess.
GUESSES = {"time-stamp", "random-token", "issued-token", "other-headers", "websocket-frame-by-count"}
CERTAIN = {"exact", "normalised", "synthesised"}


@dataclass
class Tally:
    """What came of the orders of one site."""

    steps: int = 0
    equal: int = 0
    labelled: int = 0
    silent: int = 0
    # Of the equal steps, those of which the ledger says that they may not be.
    doubted: int = 0
    pywb_steps: int = 0
    pywb_equal: int = 0

    def __add__(self, other):
        return Tally(*(a + b for a, b in zip(vars(self).values(), vars(other).values())))

    def share(self):
        return self.equal / max(1, self.steps)

    def row(self, name):
        ours = f"{self.steps:6} {self.share():6.1%} {self.labelled:9} {self.silent:7} {self.doubted:8}"
        theirs = f"{self.pywb_steps:7} {self.pywb_equal / max(1, self.pywb_steps):6.1%}"
        return f"{name:10} {ours} {theirs}"


HEAD = "site        steps   ours  labelled  silent  doubted   steps   pywb"


@dataclass
class Step:
    """What was shown after an action, and what was asked for since the one before."""

    action: str
    live: str
    shown: str
    requests: list
    # The lines of the ledger for the requests.
    lines: list = field(default_factory=list)

    @property
    def is_equal(self):
        return self.live == self.shown

    @property
    def is_doubted(self):
        return any(map(is_doubtful, self.lines))


def is_doubtful(line):
    """Whether a line of the ledger says that the answer may be another one than the site's."""
    answer = line["answer"]
    while answer:
        if answer["level"] not in CERTAIN or GUESSES & set(answer.get("rules", [])):
            return True
        answer = answer.get("of")
    return False


def give_lines(steps, ledger, site):
    """Gives each step the lines of the ledger for its requests: the n-th of a request is its n-th
    line. Only those frames have lines that differ from the recorded ones: a line goes to the last
    step that may have sent it."""
    waiting = {}
    for line in ledger:
        waiting.setdefault((line["method"], plain(line["url"])), deque()).append(line)
    for step in steps:
        for method, url in step.requests:
            own = waiting.get((method, plain(url))) if method != FRAME else None
            if own:
                step.lines.append(own.popleft())
    left = [line for lines in waiting.values() for line in lines if f"//{site.host()}/" in line["url"]]
    for line in left:
        latest, sender = -1, steps[-1]
        for step in steps:
            is_possible = latest < line["seq"] and any(method == FRAME for method, _ in step.requests)
            sender = step if is_possible else sender
            latest = max([latest, *(known["seq"] for known in step.lines if known not in left)])
        sender.lines.append(line)


def plain(url):
    return url.replace("ws://", "http://", 1)


class Trial:
    """A site that was recorded, and the browser and servers with which its orders are played."""

    def __init__(self, site, browser, origin, options):
        self.site, self.browser, self.origin, self.options = site, browser, origin, options
        self.recording = options.folder / f"{site.name}.wacz"

    def record(self):
        names = self.random_oracle() if self.options.random else self.site.oracle
        self.origin.reset(self.site)
        record(self.options.sandbox, self.site, names, self.origin.reached(self.site), self.options.folder)
        if not self.options.table:
            print(f"recorded {self.site.name}: {', '.join(names)}", flush=True)

    def random_oracle(self):
        """A random order that the live site allows, to be recorded."""
        names, live = [], self.live()
        choose = at_random(self.site, f"recorded {self.options.seed} {self.site.name}", RECORDED_ACTIONS)
        while action := choose(live):
            live.do(action)
            names.append(action.name)
        live.close()
        return names

    def live(self):
        self.origin.reset(self.site)
        return Client(self.browser, self.origin.proxy, self.site)

    def play(self, order, pywb=None):
        """Plays an order of actions live, from ours and from pywb; each of them to its first
        difference. `order` makes what chooses the actions. The steps of ours, and those of pywb."""
        for _ in range(TRIES):
            with Ours(self.options.sandbox, self.recording, self.options.folder) as server:
                played = self.play_from(server, order(), pywb)
            if played:
                return played
        raise RuntimeError(f"the network of this machine changed in {TRIES} tries of one order")

    def play_from(self, server, choose, pywb):
        """What `play` gives; nothing if the network of this machine changed meanwhile."""
        live = self.live()
        clients = [Client(self.browser, server.proxy, self.site)]
        if pywb:
            clients.append(Client(self.browser, pywb.proxy, self.site))
        plays = [[] for _ in clients]
        for client, steps in zip(clients, plays):
            steps.append(Step("enter", live.text(), client.text(), client.requests))
        while (action := choose(live)) and any(steps[-1].is_equal for steps in plays):
            live.do(action)
            shown = live.text()
            for client, steps in zip(clients, plays):
                if steps[-1].is_equal:
                    client.do(action)
                    steps.append(Step(action.name, shown, client.text(), client.requests))
        for client in [live, *clients]:
            client.close()
        if any(client.is_disturbed for client in [live, *clients]):
            return None
        give_lines(plays[0], server.close(), self.site)
        return plays[0], plays[1] if pywb else []

    def play_these(self, names):
        """Plays these actions as far as live pages offer them."""
        return self.play(lambda: in_order(self.site, names))[0]

    def shortest(self, steps):
        """The shortest part of an order that is wrong in silence."""
        best, at = steps, 1
        while at < len(best) - 1:
            names = [step.action for step in best[1:]]
            tried = self.play_these(names[: at - 1] + names[at:])
            if is_silent(tried) and len(tried) < len(best):
                best, at = tried, 1
            else:
                at += 1
        return best


def is_silent(steps):
    return not steps[-1].is_equal and not steps[-1].is_doubted


def in_order(site, names):
    """Chooses these actions, as far as live pages offer them."""
    waiting = deque(names)

    def choose(live):
        if waiting and live.offers(site.action(waiting[0])):
            return site.action(waiting.popleft())
        return None

    return choose


def at_random(site, seed, count):
    """Chooses so many actions, each of those that the live page offers."""
    left, numbers = iter(range(count)), random.Random(seed)

    def choose(live):
        if next(left, None) is None:
            return None
        return numbers.choice([action for action in site.actions if live.offers(action)])

    return choose


def tally(steps, theirs):
    made, last = steps[1:], steps[-1]
    return Tally(
        steps=max(1, len(made)),
        equal=sum(step.is_equal for step in made),
        labelled=int(not last.is_equal and last.is_doubted),
        silent=int(is_silent(steps)),
        doubted=sum(step.is_equal and step.is_doubted for step in made),
        pywb_steps=max(1, len(theirs) - 1) if theirs else 0,
        pywb_equal=sum(step.is_equal for step in theirs[1:]),
    )


def describe(site, steps):
    """What was shown at the end of an order, and what was answered at each step."""
    last = steps[-1]
    kind = "SILENT" if is_silent(steps) else "equal" if last.is_equal else "labelled"
    print(f"{kind} {site.name}: {', '.join(step.action for step in steps[1:])}")
    print(f"   live:  {last.live!r}\n   ours:  {last.shown!r}")
    for step in steps:
        print(f"   {step.action}")
        for line in step.lines:
            print(f"      {line['status']} {line['method']} {line['url']} {line['answer']}")


def arguments():
    formatter = argparse.RawDescriptionHelpFormatter
    options = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    options.add_argument("--sandbox", type=Path, default=Path("target/release/sandbox"), metavar="BIN")
    options.add_argument("--site", action="append", metavar="NAME", help="only this site; can be repeated")
    applications = "applications in containers, in place of the small sites"
    options.add_argument("--applications", action="store_true", help=applications)
    options.add_argument("--orders", type=int, default=50, metavar="N", help="orders of each site [50]")
    options.add_argument("--seed", type=int, default=7, metavar="S", help="of the orders [7]")
    options.add_argument("--random", action="store_true", help="record random orders in place of the oracles")
    options.add_argument("--table", action="store_true", help="print the table alone")
    options.add_argument("--labelled", action="store_true", help="describe labelled differences, too")
    options.add_argument("--recorded", action="store_true", help="play what was recorded the last time")
    options.add_argument("--no-pywb", action="store_true", help="compare with the live sites alone")
    options.add_argument("--play", metavar="ACTION,...", help="play this order, and say what was answered")
    options.add_argument("--folder", type=Path, default=Path("target/states"), help="[target/states]")
    options.add_argument("--browser", default=next(filter(None, map(shutil.which, BROWSERS)), None))
    return options.parse_args()


def play_all(trials, pywb, options):
    """Plays the orders of all sites. What came of each of them, and the silent differences."""
    told = {}
    for trial in trials:
        site = trial.site
        told[site.name] = Tally()
        for order in range(options.orders):
            seed = f"{options.seed} {site.name} {order}"
            steps, theirs = trial.play(partial(at_random, site, seed, ACTIONS), pywb)
            told[site.name] += tally(steps, theirs)
            if is_silent(steps) and told[site.name].silent <= DESCRIBED and not options.table:
                describe(site, trial.shortest(steps))
            elif options.labelled and not steps[-1].is_equal:
                describe(site, steps)
        print(told[site.name].row(site.name), flush=True)
    return told


def main():
    options = arguments()
    options.sandbox, options.folder = options.sandbox.resolve(), options.folder.resolve()
    known = APPLICATIONS if options.applications else SITES
    sites = [site for site in known if site.name in (options.site or [site.name])]
    if not options.recorded:
        shutil.rmtree(options.folder, ignore_errors=True)
        options.folder.mkdir(parents=True)
    origin = Town(options.sandbox, sites, options.folder) if options.applications else Origin(SITES)
    with closing(origin), sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-features=HttpsUpgrades"]
        browser = playwright.chromium.launch(executable_path=options.browser, args=flags)
        trials = []
        for site in sites:
            trials.append(Trial(site, browser, origin, options))
            if not options.recorded:
                trials[-1].record()
        if options.play:
            for trial in trials:
                describe(trial.site, trial.play_these(options.play.split(",")))
            return 0
        recordings = [trial.recording for trial in trials]
        tools = Path(sys.executable).parent
        pywb = nullcontext() if options.no_pywb else closing(Pywb(tools, recordings, options.folder))
        with pywb as server:
            print(HEAD, flush=True)
            told = play_all(trials, server, options)
        browser.close()
    total = sum(told.values(), Tally())
    print(total.row("all"))
    return int(total.silent > 0 or total.share() < LEAST_EQUAL)


if __name__ == "__main__":
    sys.exit(main())
