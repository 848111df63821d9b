#!/bin/sh
# Other people's programs in attach mode (`sandbox attach`): each drives a task of the demo suite in
# our Chromium and must earn its score. Gymnasium's checker passes the gym's environments, and
# Prometheus' parser reads the measurements of gym and balancer.
# BrowserGym's code on the gym: what it makes of observations is our own text, and its loop earns
# the score; so does AgentLab's own agent. Usage: run.sh SANDBOX
set -eu
sandbox=$(realpath "${1:?usage: run.sh SANDBOX}")
here=$(dirname "$(realpath "$0")")
root=$(dirname "$(dirname "$here")")
venv=${CARGO_TARGET_DIR:-$root/target}/clients-venv

"$root/tests/venv.sh" "$venv" "$here/requirements.txt"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
cd "$root"
drive() {
    program=$1 task=$2
    shift 2
    "$sandbox" attach tasks/demo "$task" "$@" --check --within 120 --output "$results/$program" -- "$venv/bin/python" -B "$here/drive_$program.py"
}
drive playwright guest-booking
drive selenium quiet-coach --webdriver

gym=${CARGO_TARGET_DIR:-$root/target}/browsergym-venv
"$root/tests/venv.sh" "$gym" "$here/browsergym.txt"
"$gym/bin/python" -B -W ignore "$here/browsergym_gym.py" "$sandbox" "$results" 2> "$results/said" || { cat "$results/said"; exit 1; }

checked=${CARGO_TARGET_DIR:-$root/target}/gymnasium-venv
"$root/tests/venv.sh" "$checked" "$here/gymnasium.txt"
"$checked/bin/python" -B "$here/gymnasium_check.py" "$sandbox" "$results"

prometheus=${CARGO_TARGET_DIR:-$root/target}/prometheus-venv
"$root/tests/venv.sh" "$prometheus" "$here/prometheus.txt"
"$prometheus/bin/python" -B "$here/prometheus_metrics.py" "$sandbox" "$results"

lab=${CARGO_TARGET_DIR:-$root/target}/agentlab-venv
# Alone, without the machine-learning libraries that its other agents need.
"$root/tests/venv.sh" "$lab" "$here/agentlab.txt" "$here/agentlab_alone.txt"
"$lab/bin/python" -B -W ignore "$here/agentlab_agent.py" "$sandbox" "$results" 2> "$results/said" || { cat "$results/said"; exit 1; }

# The examples as a user would run them, that of browser-use with a scripted model; their runs go
# where they are started.
ln -s "$root/tasks" "$results/tasks"
cd "$results"
example() {
    said=$("$1/bin/python" -B "$2" "$sandbox" 2> "$results/said" | tail -n 1) || true
    [ "$said" = "answered 1.0" ] || { cat "$results/said"; echo "$2: $said"; exit 1; }
    echo "$(basename "$2"): $said"
}
example "$venv" "$root/clients/python/examples/with_playwright.py"
example "$gym" "$root/clients/python/examples/with_browsergym.py"
use=${CARGO_TARGET_DIR:-$root/target}/browser-use-venv
"$root/tests/venv.sh" "$use" "$here/browser_use.txt"
example "$use" "$here/browser_use_example.py"
