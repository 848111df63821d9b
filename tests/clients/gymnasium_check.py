"""Gymnasium's own checker on `sandbox gym`, by way of clients/python, and a random walk by actions drawn from the space; both
also through `sandbox gym balance`.

    gymnasium_check.py SANDBOX RESULTS
"""

import contextlib
import json
import pathlib
import signal
import subprocess
import sys
import warnings

import gymnasium
from gymnasium.utils.env_checker import check_env

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients/python"))
import sandbox_agents

TASK, STEPS = "guest-booking", 6


def walk(env, seed):
    """Actions drawn by a seed: what they were, what they earned, and the score."""
    env.action_space.seed(seed)
    obs, info = env.reset(seed=seed)
    done, rewards, scores = [], [], [info["score"]]
    over = False
    while not over and len(done) < STEPS:
        action = env.action_space.sample()
        assert action in env.action_space
        obs, reward, terminated, truncated, info = env.step(action)
        assert obs in env.observation_space and obs["last_action"] == action
        # What is clicked at may be covered by now; that there is no such thing is never said.
        assert "no element" not in obs["last_action_error"], obs["last_action_error"]
        done.append(action)
        rewards.append(reward)
        scores.append(info["score"])
        over = terminated or truncated
    env.close()
    return done, rewards, scores


@contextlib.contextmanager
def balancer_over(sandbox, key, url):
    """The address of a balancer over one gym."""
    command = [sandbox, "gym", "balance", "--key", str(key), url]
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    process = subprocess.Popen(command, **quiet)
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def check(url, namespace):
    names = sandbox_agents.register(url, namespace)
    # A warning would be the checker's word on something that is not as it should be.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        name = next(name for name in names if name.endswith(TASK))
        for settings in ({}, {"reward": "delta"}):
            env = gymnasium.make(name, **settings).unwrapped
            check_env(env)
            env.close()


def main():
    sandbox, results = sys.argv[1], pathlib.Path(sys.argv[2])
    with sandbox_agents.Gym("tasks/demo", workers=2, out=str(results / "checked"), sandbox=sandbox) as gym:
        check(gym.url, "sandbox")
        first, again, other = (walk(gym.env(TASK), seed) for seed in (3, 3, 4))
        assert first == again and first[0] != other[0], (first, again, other)
        clicks = sum(action.startswith("click(") for action in first[0] + other[0])
        assert clicks, (first, other)
        with balancer_over(sandbox, results / "balancer.key", gym.url) as url:
            check(url, "balancer")
            assert walk(sandbox_agents.SandboxEnv(url, TASK), 3) == first
        print("check_env: passed with both kinds of rewards, and through a balancer")
        print(f"actions drawn: {len(first[0])}, twice the same; {clicks} of {2 * STEPS} are clicks")


if __name__ == "__main__":
    main()
