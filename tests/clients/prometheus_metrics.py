"""Prometheus' own parser on `GET /metrics` of `sandbox gym` and `sandbox gym balance`, while an
episode is played through both.

    prometheus_metrics.py SANDBOX RESULTS
"""

import json
import pathlib
import signal
import subprocess
import sys
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients/python"))
import sandbox_agents

TASK, STEPS = "guest-booking", 2
UNITS = ("_seconds", "_bytes")


def families(url):
    """What the parser reads, by name. Names, types and units are as Prometheus wants them."""
    with urllib.request.urlopen(f"{url}/metrics") as answer:
        assert answer.headers["content-type"] == "text/plain; version=0.0.4", answer.headers
        text = answer.read().decode()
    found = {}
    for family in text_string_to_metric_families(text):
        assert family.name not in found, f"{family.name} is there twice"
        assert family.documentation.endswith("."), family
        assert family.samples, f"{family.name} has no sample"
        if family.type == "histogram":
            assert family.name.endswith(UNITS), family.name
            buckets = [sample for sample in family.samples if sample.name.endswith("_bucket")]
            assert buckets[-1].labels["le"] == "+Inf"
            counts = [bucket.value for bucket in buckets]
            assert counts == sorted(counts), family
        elif family.type == "counter":
            assert all(sample.name == f"{family.name}_total" for sample in family.samples), family
        else:
            assert family.type == "gauge", family
        found[family.name] = family
    # Every line that is no comment was read.
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(lines) == sum(len(family.samples) for family in found.values()), text
    return found


def value(found, name, **labels):
    values = [sample.value for family in found.values() for sample in family.samples if (sample.name, sample.labels) == (name, labels)]
    assert len(values) == 1, (name, labels, values)
    return values[0]


def serve(sandbox, *arguments):
    process = subprocess.Popen([sandbox, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return process, json.loads(process.stdout.readline())["url"]


def main():
    sandbox, results = sys.argv[1], pathlib.Path(sys.argv[2])
    gym, gym_url = serve(sandbox, "gym", "tasks/demo", "--workers", "2", "--output", str(results / "measured"))
    key = str(results / "balancer.key")
    balancer, url = serve(sandbox, "gym", "balance", "--key", key, gym_url)
    try:
        env = sandbox_agents.SandboxEnv(url, TASK)
        env.reset()
        for _ in range(STEPS):
            env.step("noop()")
        found = families(gym_url)
        assert value(found, "sandbox_gym_steps_total") == STEPS
        assert value(found, "sandbox_gym_step_duration_seconds_count") == STEPS
        assert value(found, "sandbox_gym_reset_duration_seconds_count") == value(found, "sandbox_gym_resets_total") == 1
        assert [value(found, "sandbox_gym_places", state=state) for state in ("free", "taken")] == [1, 1]
        own, all_of_it = value(found, "process_resident_memory_bytes"), value(found, "sandbox_gym_resident_memory_bytes")
        assert 1 << 20 < own < all_of_it, (own, all_of_it)
        print(f"gym: {len(found)} families; {own / 2**20:.0f} MiB, {all_of_it / 2**20:.0f} MiB with its browser")

        # Measurements name a gym without the key in its address.
        server, _, key = gym_url.rpartition("/")
        found = families(url)
        assert key not in str(found)
        assert value(found, "sandbox_front_step_duration_seconds_count") == STEPS
        assert value(found, "sandbox_front_sessions_total") == 1
        assert value(found, "sandbox_front_server_up", server=server) == 1
        places = sum(value(found, "sandbox_front_server_places", server=server, state=state) for state in ("free", "taken"))
        assert places == 2 == sum(value(found, "sandbox_front_places", state=state) for state in ("free", "taken"))
        env.close()
        print(f"balancer: {len(found)} families")
    finally:
        for process in (balancer, gym):
            process.send_signal(signal.SIGINT)
            process.wait(60)


if __name__ == "__main__":
    main()
