"""Asks a verifier of WebArena-Infinity what the state of its application is worth.

    python3 verify.py FILE URL

FILE has a function verify(server_url) that returns whether the task is done, and a message. As in
the benchmark (evaluation/tasks.py: run_task), what it raises is a no. What is no answer of the
verifier's is an error instead: a file that is not there, `requests` not installed, a site that
cannot be reached. The last line on standard output is the decision, as JSON.
"""

import importlib.util
import json
import os
import sys


def decision(file, url):
    if not os.path.isfile(file):
        return {"error": f"{file} is not there; put the benchmark back, or import it again"}
    try:
        import requests
    except ImportError:
        python = sys.executable
        return {
            "error": "the benchmark's verifiers need the Python package `requests`, which "
            f"{python} does not have: {python} -m pip install requests"
        }
    try:
        spec = importlib.util.spec_from_file_location("verifier", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        passed, message = module.verify(url)
    except (requests.exceptions.ConnectionError, requests.exceptions.Timeout) as error:
        return {"error": f"{url} cannot be reached: {error}"}
    except Exception as error:
        passed, message = False, f"Verifier exception: {error}"
    return {"score": 1.0 if passed else 0.0, "reason": str(message)}


if __name__ == "__main__":
    print(json.dumps(decision(sys.argv[1], sys.argv[2])))
