"""Sets BrowserGym's own code on `sandbox gym`, by way of clients/python: its texts of pages are ours, and its loop earns the score.

    browsergym_gym.py SANDBOX RESULTS
"""

import dataclasses
import json
import pathlib
import re
import sys

import gymnasium
import numpy
from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.experiments import AbstractAgentArgs, Agent, EnvArgs, ExpArgs, loop
from browsergym.utils.obs import flatten_axtree_to_str, flatten_dom_to_str, prune_html

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients/python"))
import sandbox_agents

KEYS = {
    "chat_messages", "goal", "goal_object", "open_pages_urls", "open_pages_titles", "active_page_index", "url", "screenshot",
    "dom_object", "axtree_object", "extra_element_properties", "focused_element_bid", "last_action", "last_action_error", "elapsed_time",
}
TREES = [
    {},
    {"with_visible": True, "with_clickable": True, "with_center_coords": True, "with_bounding_box_coords": True, "with_som": True},
    {"filter_visible_only": True, "skip_generic": False, "remove_redundant_static_text": False},
    {"filter_with_bid_only": True, "hide_all_children": True, "hide_bid_if_invisible": True, "coord_decimals": 2, "with_center_coords": True},
]
PRUNED = [{}, {"with_visible": True, "with_clickable": True, "with_center_coords": True}, {"filter_visible_only": True}, {"filter_som_only": True}]


def state_in_html(text):
    """BrowserGym writes what elements hold into their attributes before it looks; in the snapshot alone it is not."""
    return re.sub(r' (value="[^"]*"|selected="")', "", text)


def texts(env):
    """Looks at a page in every way that both can write; counts the lines."""
    lines = 0
    for tree, pruned in zip(TREES, PRUNED):
        env.observe = {"axtree": tree, "pruned_html": pruned}
        obs, _ = env.reset()
        for action in ("noop()", "scroll(0, 300)", None):
            assert KEYS < set(obs), KEYS - set(obs)
            properties = obs["extra_element_properties"]
            theirs = flatten_axtree_to_str(obs["axtree_object"], properties, **tree)
            assert theirs == obs["axtree"], (env.task, tree, theirs, obs["axtree"])
            html = prune_html(flatten_dom_to_str(obs["dom_object"], properties, **pruned))
            assert state_in_html(html) == state_in_html(obs["pruned_html"]), (env.task, pruned, html, obs["pruned_html"])
            assert obs["screenshot"].shape == (720, 1280, 3) and obs["screenshot"].dtype == numpy.uint8
            assert obs["active_page_index"].shape == (1,) and obs["open_pages_urls"][obs["active_page_index"][0]] == obs["url"]
            lines += len(theirs.splitlines()) + len(html.splitlines())
            if action:
                obs, *_ = env.step(action)
        env.close()
    return lines


class Guest(Agent):
    """Knows its way through `guest-booking`."""

    action_set = HighLevelActionSet(subsets=["chat", "bid"], strict=True, multiaction=False)
    way = ["My trips", "Continue as guest", "RE 406"]

    def __init__(self):
        self.left = list(self.way)

    def get_action(self, obs):
        assert obs["last_action_error"] == "", obs["last_action_error"]
        if not self.left:
            return "send_msg_to_user('This is the train.')", {}
        bid = re.search(rf"\[(\w+)\] link '{self.left.pop(0)}", obs["axtree_txt"])[1]
        return f"click('{bid}')", {"think": "the way is known"}


@dataclasses.dataclass
class GuestArgs(AbstractAgentArgs):
    def make_agent(self):
        return Guest()


def main():
    sandbox, results = sys.argv[1], pathlib.Path(sys.argv[2])
    with sandbox_agents.Gym("tasks/demo", out=str(results / "gym"), sandbox=sandbox) as gym:
        names = sandbox_agents.register(gym.url)
        assert isinstance(gymnasium.make(names[0]).unwrapped, sandbox_agents.SandboxEnv)
        tasks = [task["id"] for task in gym.tasks()]
        lines = sum(texts(gym.env(task)) for task in tasks)
        print(f"{len(tasks) * len(TREES) * 3} looks at {len(tasks)} tasks' pages, {lines} lines: equal in every one")

        # It counts tokens by a vocabulary that it would download.
        loop.count_tokens = lambda text: len(text.split())
        experiment = ExpArgs(GuestArgs(), EnvArgs("sandbox.guest-booking", task_seed=0, max_steps=8), logging_level=30)
        experiment.prepare(results / "experiments")
        experiment.run()
        summary = json.loads((experiment.exp_dir / "summary_info.json").read_text())
        assert summary["err_msg"] is None and summary["cum_reward"] == 1.0 and summary["terminated"], summary
        print(f"BrowserGym's loop: {summary['n_steps']} steps, reward {summary['cum_reward']}")
    trace = [json.loads(line) for line in (results / "gym/episodes" / f"guest-booking-{len(TREES) + 1}/trace.jsonl").open()]
    assert trace[0]["action"].startswith("click(") and "the way is known" in trace[0]["reason"], trace[0]
    assert gym.summary["episodes"] == len(tasks) * len(TREES) + 1 and gym.summary["errors"] == 0, gym.summary


if __name__ == "__main__":
    main()
