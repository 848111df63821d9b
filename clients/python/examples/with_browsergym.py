"""An agent as those of BrowserGym and AgentLab are: an action set, ``obs_preprocessor`` and ``get_action``, in a loop that owns the environment.
Needs ``pip install browsergym-core``.

    python3 clients/python/examples/with_browsergym.py [SANDBOX]
"""

import pathlib
import re
import sys

from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.utils.obs import flatten_axtree_to_str

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sandbox_agents


class GuestAgent:
    """Knows its way; a model would be asked with ``self.action_set.describe()``, the goal and the tree."""

    way = ("My trips", "Continue as guest", "RE 406")

    def __init__(self):
        self.action_set = HighLevelActionSet(subsets=["chat", "bid"], strict=True, multiaction=False)
        self.done = 0

    def obs_preprocessor(self, obs):
        return {
            "goal": obs["goal"],
            "last_action_error": obs["last_action_error"],
            "axtree_txt": flatten_axtree_to_str(obs["axtree_object"], obs["extra_element_properties"]),
        }

    def get_action(self, obs):
        assert not obs["last_action_error"], obs["last_action_error"]
        if self.done == len(self.way):
            action = "send_msg_to_user('This is the train.')"
        else:
            link = re.search(rf"\[(\w+)\] link '{self.way[self.done]}", obs["axtree_txt"])
            action = f"click('{link[1]}')"
        self.done += 1
        # Raises where the action is none of the set.
        self.action_set.to_python_code(action)
        return action, {"think": f"step {self.done}"}


sandbox = sys.argv[1] if len(sys.argv) > 1 else "sandbox"
with sandbox_agents.Gym("tasks/demo", sandbox=sandbox) as gym:
    agent, env = GuestAgent(), gym.env("guest-booking")
    obs, info = env.reset(seed=0)
    reward, terminated, truncated = 0.0, False, False
    while not (terminated or truncated):
        action, agent_info = agent.get_action(agent.obs_preprocessor(obs))
        obs, reward, terminated, truncated, info = env.step(action)
    env.close()
print(env.result["outcome"]["kind"], reward)
