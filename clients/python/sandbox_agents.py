"""Agents for ``sandbox`` in Python, in one file that needs nothing besides Python 3.9.

- :func:`run` makes an agent of a function, for ``sandbox run SUITE --agent 'program:python3 agent.py'``.
- :func:`serve` makes one that listens, for ``sandbox run SUITE --agent http://127.0.0.1:9000/``.
- :class:`SandboxEnv` is an environment as Gymnasium has them, with BrowserGym's observations, in front of ``sandbox gym SUITE``;
  :class:`Gym` starts that, and :func:`register` lets ``gymnasium.make`` find its tasks.
- :class:`AttachedSession` is the browser of ``sandbox attach SUITE TASK``, for Playwright,
  browser-use and other programs that drive Chromium.

Whatever is wrong is a :class:`SandboxError` that says what to do.
"""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import warnings
from collections import OrderedDict
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

try:
    import gymnasium

    class _Pages(gymnasium.Space):
        """All observations: dictionaries with BrowserGym's keys."""

        def contains(self, x: Any) -> bool:
            return isinstance(x, dict) and {"url", "goal", "last_action", "last_action_error"} <= set(x)

        def sample(self, mask: Any = None, probability: Any = None) -> Any:
            raise NotImplementedError("nothing can be drawn from all pages there are; reset and step show some")

    class _Actions(gymnasium.Space):
        """All actions, which are texts. Those that are drawn make sense on the page seen last: a click on what can be
        clicked there, or something that can be done on any page."""

        ANYWHERE = ["noop()", "scroll(0, 300)", "scroll(0, -300)", "keyboard_press('Tab')", "keyboard_press('Enter')"]

        def __init__(self) -> None:
            super().__init__()
            self._clickable: List[str] = []

        def look(self, observation: Dict[str, Any]) -> None:
            """Takes notice of a page."""
            known = observation.get("extra_element_properties") or {}
            self._clickable = [bid for bid, of in known.items() if of.get("clickable") and of.get("visibility", 0) > 0.5]

        def contains(self, x: Any) -> bool:
            return isinstance(x, str)

        def sample(self, mask: Any = None, probability: Any = None) -> str:
            if mask is not None or probability is not None:
                raise SandboxError("actions are texts, which masks and probabilities do not go with; leave them out")
            actions = [f"click('{bid}')" for bid in self._clickable] + self.ANYWHERE
            return actions[int(self.np_random.integers(len(actions)))]

    class _Env(gymnasium.Env):
        observation_space = _Pages()

except ImportError:
    gymnasium = None

    class _Env:  # type: ignore[no-redef]
        pass


try:
    import numpy
    import PIL.Image
except ImportError:
    numpy = None

Observation = Dict[str, Any]
#: An action in BrowserGym's spelling; with the reason for it; or None, which ends the episode
#: without an answer.
Action = Union[str, Tuple[str, Optional[str]], None]
Act = Callable[[Observation], Action]

PROTOCOL = 1
#: What a message may weigh. Observations with the raw trees of a page are some megabytes.
_MOST_BYTES = 256 << 20
#: Episodes whose goals a server remembers.
_MOST_EPISODES = 1000


class SandboxError(RuntimeError):
    """Something that ``sandbox`` refused or that went wrong in it.

    ``status`` is that of its answer, if it gave one; ``result`` how the episode ended, if it has.
    """

    def __init__(self, message: str, status: Optional[int] = None, result: Optional[Dict[str, Any]] = None):
        super().__init__(message)
        self.status = status
        self.result = result


# Agents.


class _Conversation:
    """One episode's half of the agent protocol: what is answered to each message."""

    def __init__(self, act: Act, name: Optional[str], observe: Optional[Dict[str, Any]]):
        self.act, self.name, self.observe = act, name, observe
        self.task: Dict[str, Any] = {}

    def answer(self, message: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """The answer to a message; None where it takes none."""
        kind = message.get("type")
        if kind == "hello":
            if message.get("protocol") != PROTOCOL:
                raise SandboxError(f"sandbox speaks version {message.get('protocol')} of the agent protocol, this file {PROTOCOL}; take the one that came with it")
            hello: Dict[str, Any] = {"type": "hello", "protocol": PROTOCOL}
            if self.name is not None:
                hello["name"] = self.name
            if self.observe is not None:
                hello["observe"] = self.observe
            return hello
        if kind == "task":
            self.task = message
        if kind == "observation":
            told = {"task": self.task.get("task"), "goal": self.task.get("goal"), "max_steps": self.task.get("max_steps")}
            return _answer(self.act({**told, **message}))
        return None


def _answer(action: Action) -> Dict[str, Any]:
    if action is None:
        return {"stop": True}
    if isinstance(action, str):
        return {"action": action}
    if isinstance(action, tuple) and len(action) == 2 and isinstance(action[0], str):
        return {"action": action[0], "reason": action[1]}
    raise TypeError(f"act gave {action!r}, which is neither an action, nor an action and a reason, nor None")


def run(act: Act, *, name: Optional[str] = None, observe: Optional[Dict[str, Any]] = None) -> None:
    """Plays one episode over standard input and output.

    ``act`` gets each observation as the agent protocol has it, and besides ``task``, ``goal`` and ``max_steps``. ``observe`` says how pages are to be
    seen, such as ``{"axtree": None, "html": True}``. While it runs, whatever is printed goes to standard error.
    """
    conversation = _Conversation(act, name, observe)
    answers, sys.stdout = sys.stdout, sys.stderr
    try:
        for line in sys.stdin:
            answer = conversation.answer(json.loads(line))
            if answer is not None:
                answers.write(json.dumps(answer) + "\n")
                answers.flush()
    finally:
        sys.stdout = answers


def serve(
    act: Act,
    port: int,
    *,
    host: str = "127.0.0.1",
    name: Optional[str] = None,
    observe: Optional[Dict[str, Any]] = None,
    ready: Optional[Callable[[str], None]] = None,
) -> None:
    """Listens for episodes until it is interrupted; several may be played at a time, told apart by ``observation["episode"]``.

    Port 0 is a free one; ``ready`` is called with the address once it answers. What ``act`` raises is told to ``sandbox``, and ends that episode.
    """
    conversations: "OrderedDict[str, _Conversation]" = OrderedDict()
    lock = threading.Lock()

    def of(episode: str, ends: bool) -> _Conversation:
        with lock:
            found = conversations.pop(episode, None) or _Conversation(act, name, observe)
            if not ends:
                conversations[episode] = found
                if len(conversations) > _MOST_EPISODES:
                    conversations.popitem(last=False)
            return found

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            if self.headers.get("origin") is not None:
                self.close_connection = True
                return self.reply(403, {"error": "web pages have no business here: the request has an Origin"})
            try:
                length = int(self.headers.get("content-length", ""))
                if not 0 <= length <= _MOST_BYTES:
                    raise ValueError(f"its length is {length}")
                message = json.loads(self.rfile.read(length))
                conversation = of(str(message["episode"]), message["type"] == "end")
            except (ValueError, KeyError, TypeError) as error:
                # What is left of the request cannot be told from the next one.
                self.close_connection = True
                return self.reply(400, {"error": f"this is no message of the agent protocol: {error!r}"})
            try:
                self.reply(200, conversation.answer(message) or {})
            except Exception as error:
                self.reply(500, {"error": f"{type(error).__name__}: {error}"})

        def reply(self, status: int, body: Dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer((host, port), Handler) as server:
        server.daemon_threads = True
        if ready is not None:
            ready(f"http://{host}:{server.server_address[1]}/")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


# Environments.


class SandboxEnv(_Env):
    """A task of a suite as a Gymnasium environment, with the observations and actions of BrowserGym's.

    ``url`` is what ``sandbox gym SUITE`` prints, or :class:`Gym` has. A step's reward is 0 until the episode ends, and then the task's score; with
    ``reward="delta"`` it is what the step has added to the score so far, so that the rewards' sum is the score. ``info["score"]`` is the score so
    far, of ``reset`` too: ``None`` where it is only known in the end. That an episode ended in an error is raised. With numpy and PIL the screenshot is an array, otherwise a PNG's bytes; it is ``None`` where the gym takes none. ``observe`` asks for forms of
    the agent protocol besides, such as ``{"pruned_html": {}}``.

    The other settings are those that BrowserGym's ``EnvArgs`` gives every environment. Actions are read as they are written, whatever
    ``action_mapping`` is; somebody to watch or to talk to is not there.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        url: str,
        task: str,
        *,
        observe: Optional[Dict[str, Any]] = None,
        reward: str = "score",
        timeout: float = 900.0,
        action_mapping: Optional[Callable[[str], str]] = None,
        headless: bool = True,
        wait_for_user_message: bool = False,
        use_raw_page_output: bool = False,
    ):
        if not headless or wait_for_user_message or use_raw_page_output:
            raise SandboxError("headless=False, wait_for_user_message and use_raw_page_output are not to be had here; leave them out")
        if reward not in ("score", "delta"):
            raise SandboxError(f"reward={reward!r} is neither \"score\" nor \"delta\"")
        self.reward = reward
        #: The score so far; what is only known in the end is 0 until then.
        self._score = 0.0
        #: The page's clock at the last look, in seconds.
        self._clock = 0.0
        if gymnasium is not None:
            self.action_space = _Actions()
        self.url, self.task, self.observe, self.timeout = url.rstrip("/"), task, observe, timeout
        #: Takes what BrowserGym's loop says of an action before it is done; it is kept as the
        #: reason for it.
        self.chat = _Chat()
        self.session: Optional[str] = None
        #: How the last episode ended, once it has: outcome, score, answer, fingerprint and so on.
        self.result: Optional[Dict[str, Any]] = None

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Tuple[Observation, Dict[str, Any]]:
        """Begins an episode from a pristine world, after the one that may be under way has been closed.

        All attempts begin alike, whatever ``seed`` is; it seeds ``np_random`` alone. ``options`` may have ``task``, another task of the suite, and ``repeat``, the number of the attempt.
        """
        if gymnasium is not None:
            super().reset(seed=seed)
        self.close()
        asked = {"task": self.task, "observe": self.observe, **(options or {})}
        begun = self._call("/reset", asked)
        self.session, self.result = begun["session"], None
        self._score = begun["info"].get("score") or 0.0
        self._clock = self._seen(begun["observation"])
        return _observation(begun["observation"]), begun["info"]

    def step(self, action: str) -> Tuple[Observation, float, bool, bool, Dict[str, Any]]:
        """Acts; gives observation, reward, terminated, truncated and info. The last observation is that of the page before the action."""
        if self.session is None:
            raise SandboxError("there is no episode under way; call reset first")
        try:
            done = self._call("/step", {"session": self.session, "action": action, "reason": self.chat.take()})
        except SandboxError as error:
            if error.result is not None:
                self.session, self.result = None, error.result
            raise
        info = done["info"]
        # In the page's time, as a step takes it whenever it is repeated.
        began, self._clock = self._clock, self._seen(done["observation"])
        info.update(action_exec_start=began, action_exec_stop=self._clock, action_exec_timeout=0.0)
        if done["terminated"] or done["truncated"]:
            session, self.session, self.result = self.session, None, info.get("result")
            self._forget(session)
        reward, before = done["reward"], self._score
        score = info.get("score")
        if score is None and (done["terminated"] or done["truncated"]):
            score = done["reward"]
        if score is not None:
            self._score = score
        if self.reward == "delta":
            reward = self._score - before
        return _observation(done["observation"]), float(reward), done["terminated"], done["truncated"], info

    def _seen(self, observation: Optional[Dict[str, Any]]) -> float:
        """Takes notice of a page; gives its time."""
        if observation is None:
            return self._clock
        if gymnasium is not None:
            self.action_space.look(observation)
        return float(observation["elapsed_time"][0])

    def close(self) -> None:
        """Ends the episode under way, if one is, as if the agent had stopped; ``result`` says what it was worth."""
        session, self.session = self.session, None
        if session is not None:
            try:
                self.result = self._call("/close", {"session": session})["result"]
            except SandboxError as error:
                # It has ended by itself, of having been left alone for example.
                if error.status not in (404, 410):
                    raise

    def _forget(self, session: str) -> None:
        try:
            self._call("/close", {"session": session})
        except SandboxError:
            # What came of it is known.
            pass

    def _call(self, path: str, body: Dict[str, Any]) -> Dict[str, Any]:
        return _call(self.url + path, body, self.timeout)


class _Chat:
    def __init__(self) -> None:
        self.messages: List[Dict[str, str]] = []

    def add_message(self, role: str, msg: str) -> None:
        self.messages.append({"role": role, "message": msg})

    def take(self) -> Optional[str]:
        said, self.messages = self.messages, []
        return "\n".join(message["message"] for message in said) or None


def register(url: str, prefix: str = "sandbox") -> List[str]:
    """Registers every task of a gym with Gymnasium as ``browsergym/PREFIX.TASK``; gives the names.

    ``gymnasium.make`` finds them then, and so does BrowserGym's ``EnvArgs(task_name="PREFIX.TASK")``. What is in a task's id that
    Gymnasium does not take in a name becomes ``_``.
    """
    if gymnasium is None:
        raise SandboxError("the package gymnasium is not there; install it, or use SandboxEnv as it is")
    names = []
    for task in _call(url.rstrip("/") + "/tasks", None, 60)["tasks"]:
        name = f"browsergym/{prefix}.{re.sub('[^A-Za-z0-9_:.-]', '_', task['id'])}"
        gymnasium.register(name, SandboxEnv, kwargs={"url": url, "task": task["id"]}, order_enforce=False)
        names.append(name)
    return names


def _call(url: str, body: Optional[Dict[str, Any]], timeout: float) -> Dict[str, Any]:
    """Asks a gym."""
    data = None if body is None else json.dumps({key: value for key, value in body.items() if value is not None}).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    # Proxies are for the web, and a gym is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=timeout) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        text = error.read()
        try:
            told = json.loads(text)
            message, result = told["error"], told["info"]["result"]
        except (ValueError, KeyError, TypeError):
            message, result = text.decode(errors="replace")[:200], None
        raise SandboxError(f"{url}: {message}", error.code, result) from None
    except OSError as error:
        raise SandboxError(f"{url}: {getattr(error, 'reason', error)}; see that `sandbox gym` runs, and that this is the address it printed") from error


def _observation(told: Optional[Dict[str, Any]]) -> Observation:
    """What came over the wire, in the types that BrowserGym's environments give."""
    seen = dict(told or {})
    for key in ("open_pages_urls", "open_pages_titles", "chat_messages", "goal_object"):
        if key in seen:
            seen[key] = tuple(seen[key])
    if seen.get("screenshot") is not None:
        seen["screenshot"] = base64.b64decode(seen["screenshot"])
    if numpy is not None:
        for key in ("active_page_index", "elapsed_time"):
            if key in seen:
                seen[key] = numpy.asarray(seen[key])
        if seen.get("screenshot") is not None:
            seen["screenshot"] = numpy.array(PIL.Image.open(io.BytesIO(seen["screenshot"])).convert("RGB"))
    return seen


class _Started:
    """A ``sandbox`` command that prints a line of JSON once it is there, and another when it ends."""

    def __init__(self, arguments: Sequence[str], sandbox: str):
        command = [sandbox, *map(str, arguments)]
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        except OSError as error:
            raise SandboxError(f"start {sandbox}: {error}; say where it is by `sandbox=`, or put it on the PATH") from error
        try:
            self.facts = self.line(" ".join(command))
        except BaseException:
            self.kill()
            raise

    def line(self, what: str) -> Dict[str, Any]:
        line = self.process.stdout.readline()
        if not line:
            raise SandboxError(f"{what} ended with exit code {self.process.wait()}; what it said on standard error says why")
        return json.loads(line)

    def kill(self) -> None:
        """Ends it, in order if it lets itself be ended so."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Gym:
    """``sandbox gym SUITE``, as long as the block lasts::

        with Gym("tasks/demo", workers=2) as gym:
            env = gym.env("guest-booking")
    """

    def __init__(self, suite: str, *, workers: int = 1, out: Optional[str] = None, sandbox: str = "sandbox", arguments: Sequence[str] = ()):
        asked = ["gym", suite, "--workers", str(workers), *(["--output", out] if out else []), *arguments]
        self._started = _Started(asked, sandbox)
        self.url: str = self._started.facts["url"]
        #: The folder of the results.
        self.run: str = self._started.facts["run"]
        #: What was played, once the block has ended: the folder, how many episodes, their score.
        self.summary: Optional[Dict[str, Any]] = None

    def env(self, task: str, **settings: Any) -> SandboxEnv:
        """An environment of a task; settings as of :class:`SandboxEnv`."""
        return SandboxEnv(self.url, task, **settings)

    def tasks(self) -> List[Dict[str, Any]]:
        """All tasks: id, goal, start_url, max_steps, sites and tags of each."""
        return _call(self.url + "/tasks", None, 60)["tasks"]

    def close(self) -> None:
        """Closes it. Episodes under way are as if they had never begun."""
        if self.summary is None and self._started.process.poll() is None:
            self._started.process.terminate()
            self.summary = self._started.line("sandbox gym")
        self._started.kill()

    def __enter__(self) -> "Gym":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


# Browsers.


class AttachedSession:
    """The browser of one task, for any program that drives Chromium::

        with AttachedSession("tasks/demo", "guest-booking") as session:
            with session.playwright() as page:
                page.get_by_role("link", name="My trips").click()
            print(session.answer("This is the train.")["score"])

    ``facts`` is what ``sandbox attach`` says: task, goal, start_url, cdp, ws, clock, seed,
    answer_file, and webdriver with the argument ``--webdriver``.
    """

    def __init__(self, suite: str, task: str, *, out: Optional[str] = None, sandbox: str = "sandbox", arguments: Sequence[str] = ()):
        output = ["--output", out] if out else []
        self._started = _Started(["attach", suite, task, *output, *arguments], sandbox)
        self.facts: Dict[str, Any] = self._started.facts
        self.goal: str = self.facts["goal"]
        #: Where the browser's DevTools are: ``http://127.0.0.1:PORT/KEY``.
        self.cdp: str = self.facts["cdp"]
        self.result: Optional[Dict[str, Any]] = None

    def answer(self, text: str = "") -> Dict[str, Any]:
        """Ends the episode with an answer, or without one; gives what came of it: score, outcome and so on."""
        if self.result is None:
            self._started.process.stdin.write(" ".join(text.split("\n")) + "\n")
            self._started.process.stdin.flush()
            self.result = self._started.line("sandbox attach")
            self._started.process.wait()
        return self.result

    @contextmanager
    def playwright(self) -> Iterator[Any]:
        """Playwright's page of the first tab, which is logged in and has the start page open. Needs the package ``playwright``."""
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            browser = playwright.chromium.connect_over_cdp(self.cdp)
            yield browser.contexts[0].pages[0]

    def browser_use(self, **settings: Any) -> Any:
        """A browser for browser-use's agents. Needs the package ``browser-use``."""
        import browser_use

        return browser_use.Browser(cdp_url=self.cdp, **settings)

    def close(self) -> None:
        """Ends the episode without an answer, where it has not ended."""
        if self.result is None and self._started.process.poll() is None:
            self.answer()
        self._started.kill()

    def __enter__(self) -> "AttachedSession":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def __getattr__(name: str) -> Any:
    """The older name of :class:`AttachedSession`."""
    if name == "Door":
        warnings.warn("Door is now called AttachedSession", DeprecationWarning, stacklevel=2)
        return AttachedSession
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
