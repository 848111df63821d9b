#!/bin/sh
# Installs what `make demo` and `make test` need and the machine lacks: Chromium, its headless shell
# and its driver.
#
#     ./setup.sh            # that
#     ./setup.sh python     # and what other people's programs need, for the conformance checks and benchmarks
#     ./setup.sh dist       # and what links a static program and makes a Python environment
#     ./setup.sh engine     # and a container engine that answers, with what builds base images and tests pulling
#     ./setup.sh still      # and what makes certificates for recording the pages of `make still`
#     ./setup.sh slurm      # and Slurm's controller, nodes and clients
#     ./setup.sh kubernetes # and kubectl
#
# Says what it installs and starts; without root it prints the command to run instead. Does nothing
# when all is there.
set -eu

missing=""
command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || missing="$missing chromium"
command -v chromium-headless-shell >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || missing="$missing chromium-headless-shell"
command -v chromedriver >/dev/null 2>&1 || missing="$missing chromium-driver"
command -v cc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
fc-list 2>/dev/null | grep -q DejaVuSans.ttf || missing="$missing fonts-dejavu-core"
# The conformance checks and benchmarks run other people's programs in a Python virtual environment.
[ "${1:-}" != python ] || python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
[ "${1:-}" != still ] || command -v openssl >/dev/null 2>&1 || missing="$missing openssl"
if [ "${1:-}" = dist ]; then
    command -v musl-gcc >/dev/null 2>&1 || missing="$missing musl-tools"
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
fi
if [ "${1:-}" = slurm ]; then
    for program in sbatch slurmctld slurmd; do
        command -v $program >/dev/null 2>&1 || { missing="$missing slurm-wlm" && break; }
    done
    command -v munged >/dev/null 2>&1 || missing="$missing munge"
fi
if [ "${1:-}" = kubernetes ]; then
    command -v kubectl >/dev/null 2>&1 || missing="$missing kubernetes-client"
fi
registry=""
if [ "${1:-}" = engine ]; then
    # The client alone does not start an engine; where one answers already, the client is enough.
    command -v docker >/dev/null 2>&1 && { command -v dockerd || docker version; } >/dev/null 2>&1 || missing="$missing docker.io"
    # Base images are made by mmdebstrap where no registry answers; pip fetches the Python packages
    # of images.
    command -v mmdebstrap >/dev/null 2>&1 || missing="$missing mmdebstrap"
    python3 -m pip --version >/dev/null 2>&1 || missing="$missing python3-pip"
    # Tests hold processes and let network interfaces come and go.
    command -v ps >/dev/null 2>&1 || missing="$missing procps"
    command -v ip >/dev/null 2>&1 || missing="$missing iproute2"
    command -v curl >/dev/null 2>&1 || missing="$missing curl"
    command -v docker-registry >/dev/null 2>&1 || { missing="$missing docker-registry"; registry=new; }
fi

install="apt-get install -y --no-install-recommends$missing"
if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "setup: missing:$missing (names of the Debian packages). Install them with your system's package manager." >&2
        exit 3
    fi
    if [ "$(id -u)" -ne 0 ]; then
        echo "setup: missing:$missing. Run this, then try again:" >&2
        echo "    sudo apt-get update && sudo $install" >&2
        exit 3
    fi
    echo "setup: installing$missing"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    $install -qq >/dev/null
    # From Debian 13 on the client is a package of its own.
    case "$missing" in *docker.io*) command -v docker >/dev/null 2>&1 || apt-get install -y -qq docker-cli >/dev/null ;; esac
    # The tests start registries of their own; the one that the package starts would be open to the
    # network.
    [ -z "$registry" ] || [ ! -d /run/systemd/system ] || systemctl disable --quiet --now docker-registry
fi

[ "${1:-}" = engine ] || exit 0

# Whether the engine answers before so many seconds have passed.
answers() {
    deadline=$(($(date +%s) + $1))
    until docker version >/dev/null 2>&1; do
        [ "$(date +%s)" -lt "$deadline" ] || return 1
        sleep 0.2
    done
}

answers 1 && exit 0
if [ -n "${DOCKER_HOST:-}" ]; then
    echo "setup: no container engine answers at DOCKER_HOST=$DOCKER_HOST. Start it, or unset DOCKER_HOST." >&2
    exit 3
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "setup: no container engine answers to this user. Run this, then log in again:" >&2
    echo "    sudo service docker start; sudo usermod -aG docker $(id -un)" >&2
    exit 3
fi
log=/var/log/dockerd.log
if [ -d /run/systemd/system ]; then
    echo "setup: starting the service docker"
    systemctl start docker
    log="journalctl -u docker"
else
    echo "setup: starting dockerd; its log is $log"
    setsid dockerd >"$log" 2>&1 </dev/null &
fi
answers 60 || { echo "setup: the container engine does not answer within 60 s; see $log" >&2; exit 3; }
