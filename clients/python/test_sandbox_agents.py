"""Tests of ``sandbox_agents`` with plain Python on the demo suite.

    SANDBOX_BIN=target/debug/sandbox python3 -m unittest discover clients/python
"""

import io
import json
import os
import pathlib
import queue
import re
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
import sandbox_agents
from sandbox_agents import AttachedSession, Gym, SandboxEnv, SandboxError

SANDBOX = str(pathlib.Path(os.environ["SANDBOX_BIN"]).resolve())
DEMO = str(ROOT / "tasks/demo")
WAY = ["My trips", "Continue as guest", "RE 406"]
HELLO = {"type": "hello", "protocol": 1}


def guest(observation):
    """Knows its way through the task `guest-booking`."""
    if observation["step"] > len(WAY):
        return "send_msg_to_user('This is the train.')", "it is booked"
    link = re.search(rf"\[(\w+)\] link '{WAY[observation['step'] - 1]}", observation["axtree"])
    return f"click('{link[1]}')"


def link(observation, name):
    """The bid of a link in a raw tree."""
    nodes = observation["axtree_object"]["nodes"]
    found = [node for node in nodes if node["role"]["value"] == "link" and node["name"]["value"].startswith(name)]
    return found[0]["browsergym_id"]


class Serving:
    """A server in a thread, as long as the process lasts."""

    def __init__(self, act):
        urls = queue.Queue()
        threading.Thread(target=sandbox_agents.serve, args=(act, 0), kwargs={"ready": urls.put}, daemon=True).start()
        self.url = urls.get(timeout=20)

    def post(self, body, length=None, headers={}):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url, data, headers)
        if length is not None:
            request.add_header("content-length", length)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = folder.name + "/run"

    def play(self, agent, *arguments, ends=0):
        command = [SANDBOX, "run", DEMO, "--task", "guest-booking", "--agent", agent, "--output", self.out, "--json", *arguments]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, ends, run.stderr)
        return json.loads(run.stdout)


class Agents(Case):
    def test_a_function_is_a_program(self):
        script = pathlib.Path(self.out).with_name("agent.py")
        script.write_text(
            f"import sys; sys.path[:0] = [{str(HERE)!r}]\nimport sandbox_agents, test_sandbox_agents\n"
            "def act(observation):\n    print('thinking of', observation['goal'])\n    return test_sandbox_agents.guest(observation)\n"
            "sandbox_agents.run(act, name='guest')\n")
        summary = self.play(f"program:SANDBOX_BIN={SANDBOX} {sys.executable} -B {script}")
        self.assertEqual((summary["score"], summary["errors"]), (1.0, 0))
        said = pathlib.Path(self.out, "episodes/guest-booking-1/agent.stderr.txt").read_text()
        self.assertIn("thinking of Sign in to Aldria Rail", said)

    def test_a_function_is_a_server_for_several_episodes_at_a_time(self):
        seen = set()

        def act(observation):
            seen.add((observation["episode"], observation["goal"]))
            return guest(observation)

        summary = self.play(Serving(act).url, "--repeat", "2", "--workers", "2", "--check")
        self.assertEqual((summary["score"], summary["episodes"], summary["deterministic"]), (1.0, 2, True))
        self.assertEqual(len(seen), 2)

    def test_what_a_server_raises_is_in_the_results(self):
        def act(observation):
            raise LookupError("no model")

        summary = self.play(Serving(act).url, ends=1)
        self.assertIn("LookupError: no model", summary["causes"][0]["message"])
        record = json.loads(pathlib.Path(self.out, "episodes/guest-booking-1/episode.json").read_text())
        self.assertIn("LookupError: no model", record["outcome"]["message"])
        self.assertIn("status is 500", record["outcome"]["message"])

    def test_what_is_no_message_is_refused(self):
        server = Serving(guest)
        for bad in (b"{", b"[]", b"{}", b'{"type":"hello"}', b'{"episode":"x"}', b"\xff"):
            status, said = server.post(bad)
            self.assertEqual((status, "no message" in said["error"]), (400, True), bad)
        for length in ("-1", str(1 << 40), "many"):
            status, said = server.post(b"{}", length)
            self.assertEqual(status, 400, length)
        # The browser of whoever runs the agent may be shown a page that posts to it.
        status, said = server.post({**HELLO, "episode": "x"}, headers={"origin": "https://evil.test"})
        self.assertEqual((status, "Origin" in said["error"]), (403, True))
        status, said = server.post({"type": "hello", "protocol": 2, "episode": "x"})
        self.assertEqual((status, "version 2" in said["error"]), (500, True))
        self.assertEqual(server.post({**HELLO, "episode": "x"}), (200, HELLO))

    def test_actions_are_texts_with_or_without_reasons(self):
        replies = [
            ("noop()", {"action": "noop()"}), (("noop()", "why"), {"action": "noop()", "reason": "why"}),
            (("noop()", None), {"action": "noop()", "reason": None}), (None, {"stop": True}),
        ]
        for reply, answer in replies:
            observation = {"type": "observation", "step": 1, "episode": "x"}
            self.assertEqual(Serving(lambda _: reply).post(observation), (200, answer))
        status, said = Serving(lambda _: 7).post({"type": "observation", "episode": "x"})
        self.assertEqual((status, "neither an action" in said["error"]), (500, True))

    def test_standard_output_is_the_protocols_alone(self):
        lines = [{**HELLO}, {"type": "task", "task": "t", "goal": "G", "max_steps": 3}, {"type": "observation", "step": 1}, {"type": "end"}]
        stdin, stdout, sys.stdin, sys.stdout = sys.stdin, sys.stdout, io.StringIO("\n".join(map(json.dumps, lines))), io.StringIO()
        try:
            sandbox_agents.run(lambda seen: f"noop() # {seen['goal']}", name="n", observe={"html": True})
            said = sys.stdout.getvalue()
        finally:
            sys.stdin, sys.stdout = stdin, stdout
        answers = [json.loads(line) for line in said.splitlines()]
        self.assertEqual(answers, [{**HELLO, "name": "n", "observe": {"html": True}}, {"action": "noop() # G"}])


class Environments(Case):
    def test_a_task_is_an_environment(self):
        with Gym(DEMO, out=self.out, sandbox=SANDBOX) as gym:
            self.assertIn("guest-booking", [task["id"] for task in gym.tasks()])
            env = gym.env("guest-booking", observe={"pruned_html": {}})
            obs, info = env.reset(seed=1)
            self.assertEqual((info["task"], obs["last_action"], obs["url"]), ("guest-booking", "", "https://www.aldria-rail.test/"))
            self.assertEqual(obs["chat_messages"][0]["message"], obs["goal"])
            self.assertIn("My trips", obs["pruned_html"])
            for name in WAY:
                obs, reward, terminated, truncated, info = env.step(f"click('{link(obs, name)}')")
                self.assertEqual((reward, terminated, truncated, obs["last_action_error"]), (0.0, False, False, ""))
            self.assertLessEqual(info["action_exec_start"], info["action_exec_stop"])
            obs, reward, terminated, truncated, info = env.step("send_msg_to_user('This is the train.')")
            self.assertEqual((reward, terminated, truncated, env.result["outcome"]["kind"]), (1.0, True, False, "answered"))
            with self.assertRaisesRegex(SandboxError, "call reset first"):
                env.step("noop()")
            env.close()
            # Beginning again ends what is under way.
            env.reset()
            env.reset(options={"task": "quiet-coach"})
            env.close()
            self.assertEqual((env.result["task"], env.result["outcome"]["kind"]), ("quiet-coach", "stopped"))
        self.assertEqual((gym.summary["episodes"], gym.summary["errors"]), (3, 0))

    def test_the_score_so_far_is_known_at_every_step_and_may_be_the_reward(self):
        with Gym(DEMO, out=self.out, sandbox=SANDBOX) as gym:
            env = gym.env("guest-booking", reward="delta")
            obs, info = env.reset()
            self.assertEqual(info["score"], 0.0)
            rewards, scores = [], []
            for name in [*WAY, None]:
                action = "send_msg_to_user('This is the train.')" if name is None else f"click('{link(obs, name)}')"
                obs, reward, terminated, truncated, info = env.step(action)
                rewards.append(reward)
                scores.append(info["score"])
            self.assertAlmostEqual(sum(rewards), 1.0)
            self.assertEqual((scores[-1], terminated), (1.0, True))
            self.assertEqual(scores, sorted(scores))
            self.assertTrue(0 < scores[-2] <= 1, scores)
            with self.assertRaisesRegex(SandboxError, "neither \"score\" nor \"delta\""):
                gym.env("quiet-coach", reward="gain")

    def test_what_is_wrong_says_what_to_do(self):
        with Gym(DEMO, out=self.out, sandbox=SANDBOX, arguments=["--idle-timeout", "1"]) as gym:
            with self.assertRaisesRegex(SandboxError, "no task \"nonesuch\" here"):
                gym.env("nonesuch").reset()
            env, other = gym.env("quiet-coach"), gym.env("guest-booking")
            env.reset()
            # There is one place, so that this waits until the first was left alone for too long.
            other.reset()
            with self.assertRaisesRegex(SandboxError, "within 1 s: it sent none") as caught:
                env.step("noop()")
            self.assertEqual((caught.exception.status, env.result["outcome"]["kind"]), (410, "agent_failed"))
            with self.assertRaisesRegex(SandboxError, "leave them out"):
                gym.env("quiet-coach", headless=False)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with self.assertRaisesRegex(SandboxError, "see that `sandbox gym` runs"):
            SandboxEnv(f"http://127.0.0.1:{port}", "x").reset()
        with self.assertRaisesRegex(SandboxError, "exit code 2"):
            Gym("tasks/nonesuch", sandbox=SANDBOX)
        with self.assertRaisesRegex(SandboxError, "say where it is"):
            Gym(DEMO, sandbox="/nonesuch/sandbox")


class Doors(Case):
    def test_a_browser_is_there_as_long_as_the_block_lasts(self):
        with AttachedSession(DEMO, "guest-booking", out=self.out, sandbox=SANDBOX) as session:
            with urllib.request.urlopen(session.cdp + "/json/list", timeout=20) as tabs:
                self.assertIn(session.facts["start_url"], [tab["url"] for tab in json.load(tabs)])
            result = session.answer("several\nlines")
            self.assertEqual((result["answer"], result["outcome"]["kind"]), ("several lines", "answered"))
        with AttachedSession(DEMO, "guest-booking", out=self.out + "2", sandbox=SANDBOX) as session:
            pass
        self.assertEqual(session.result["outcome"]["kind"], "stopped")


if __name__ == "__main__":
    unittest.main()
