"""AgentLab's own agent on `sandbox gym`, unchanged, in AgentLab's own loop: asked by its prompts, a model that replies by a script earns the score.

    agentlab_agent.py SANDBOX RESULTS
"""

import copy
import json
import os
import pathlib
import re
import sys
import types

import scripted_model

# It would ask for the prices of models.
os.environ.update(AGENTLAB_EXP_ROOT=sys.argv[2], LITELLM_LOCAL_MODEL_COST_MAP="True")
import tiktoken
from agentlab.agents.generic_agent.agent_configs import FLAGS_GPT_4o
from agentlab.agents.generic_agent.generic_agent import GenericAgentArgs
from agentlab.experiments.loop import EnvArgs, ExpArgs
from agentlab.llm.chat_api import OpenAIModelArgs
from bgym import HighLevelActionSetArgs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients/python"))
import sandbox_agents

LEFT = ["My trips", "Continue as guest", "RE 406"]


def reply(prompt):
    """The agent is shown the tree that BrowserGym's code makes of our observation."""
    action = "send_msg_to_user('This is the train.')"
    if LEFT:
        link = re.search(rf"\[(\w+)\] link '{LEFT.pop(0)}", prompt)
        action = f"click('{link[1]}')" if link else "report_infeasible('lost')"
    return f"<think>\nthe way is known\n</think>\n<action>\n{action}\n</action>"


def main():
    sandbox, results = sys.argv[1], pathlib.Path(sys.argv[2])
    # Tokens are counted by a vocabulary that would be downloaded.
    words = types.SimpleNamespace(encode=lambda text, **_: text.split())
    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda _: words
    with scripted_model.serve(reply) as address, sandbox_agents.Gym("tasks/demo", out=str(results / "agentlab"), sandbox=sandbox) as gym:
        os.environ.update(OPENAI_API_KEY="none", OPENAI_BASE_URL=address)
        sandbox_agents.register(gym.url)
        model = OpenAIModelArgs(model_name="scripted", max_total_tokens=40_000, max_input_tokens=30_000, max_new_tokens=1_000)
        flags = copy.deepcopy(FLAGS_GPT_4o)
        # As a benchmark of its would ask for.
        flags.action.action_set = HighLevelActionSetArgs(subsets=["chat", "bid"], multiaction=False)
        agent = GenericAgentArgs(chat_model_args=model, flags=flags)
        experiment = ExpArgs(agent, EnvArgs("sandbox.guest-booking", task_seed=0, max_steps=8), logging_level=30, logging_level_stdout=30)
        experiment.prepare(results / "experiments-agentlab")
        experiment.run()
        summary = json.loads((experiment.exp_dir / "summary_info.json").read_text())
        assert summary["err_msg"] is None and summary["cum_reward"] == 1.0 and summary["terminated"], summary
    assert gym.summary["episodes"] == 1 and gym.summary["errors"] == 0, gym.summary
    print(f"AgentLab's GenericAgent: {summary['n_steps']} steps, reward {summary['cum_reward']}")


if __name__ == "__main__":
    main()
