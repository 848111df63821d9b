#!/bin/sh
# The tests of sites in containers that Podman runs, as root and as an ordinary user.
# Usage: run.sh [FILTER ...], as root. Without FILTER, the tests named below. ENGINES=root is the
# engine of root alone.
#
# Installs what it needs, and makes the user `sandbox-podman`. Each engine is a service of its own,
# with its own socket and storage, and is removed in the end. Needs no network once all is
# installed.
set -eu
cd "$(dirname "$0")/../.."
if [ "$(id -u)" -ne 0 ]; then
    echo "podman: the system's engine and a new user need root; run this as root" >&2
    exit 3
fi
user=sandbox-podman
missing=""
command -v podman >/dev/null 2>&1 || missing="$missing podman"
[ -x /usr/lib/podman/netavark ] || missing="$missing netavark" # Podman only recommends it
command -v newuidmap >/dev/null 2>&1 || missing="$missing uidmap"
command -v crun >/dev/null 2>&1 || missing="$missing crun"
command -v runc >/dev/null 2>&1 || missing="$missing runc"
command -v docker >/dev/null 2>&1 || missing="$missing docker.io" # the client of the tests
command -v curl >/dev/null 2>&1 || missing="$missing curl"
if [ -n "$missing" ]; then
    echo "podman: installing$missing"
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of packages
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
id "$user" >/dev/null 2>&1 || useradd --create-home --shell /bin/sh "$user"
grep -q "^$user:" /etc/subuid || usermod --add-subuids 300000-365535 --add-subgids 300000-365535 "$user"

# Open to the user, who runs the tests from it.
work=$(mktemp -d /tmp/sandbox-podman.XXXXXX)
chmod 755 "$work"
services=""

# Ends what was started, and removes what the engines keep. `podman system reset` would remove what
# belongs to the machine's own engine.
finish() {
    for who in root "$user"; do
        as "$who" podman rm --all --force >/dev/null 2>&1 || true
        as "$who" podman rmi --all --force >/dev/null 2>&1 || true
    done
    for service in $services; do
        kill "$service" 2>/dev/null || true
        wait "$service" 2>/dev/null || true
    done
    # The process that keeps the user's namespace.
    pause=$(cat "$work/$user/tmp/pause.pid" 2>/dev/null) && kill "$pause" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# A runtime that starts containers here: crun refuses control groups of both versions at once.
# Limits that Podman sets by default may exceed those of this process.
runtime=crun
if [ -d /sys/fs/cgroup/unified ]; then runtime=runc; fi
for who in root "$user"; do
    own=$work/$who
    mkdir -p "$own/xdg" "$own/tmp"
    chmod 700 "$own/xdg"
    cat >"$own/storage.conf" <<CONF
[storage]
driver = "overlay"
runroot = "$own/run"
graphroot = "$own/storage"
CONF
    cat >"$own/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=$(ulimit -Sn):$(ulimit -Hn)", "nproc=4096:4096"]
[network]
network_config_dir = "$own/networks"
[engine]
runtime = "$runtime"
tmp_dir = "$own/tmp"
volume_path = "$own/volumes"
CONF
    chown -R "$who" "$own"
done

# as WHO COMMAND...: in the environment of an engine; with `replace=exec`, instead of this shell.
# Podman 4.3 leaves a temporary file of each image that it imports.
replace=""
as() {
    who=$1
    shift
    if [ "$who" = root ]; then
        $replace env XDG_RUNTIME_DIR="$work/root/xdg" CONTAINERS_CONF="$work/root/containers.conf" \
            CONTAINERS_STORAGE_CONF="$work/root/storage.conf" DOCKER_HOST="unix://$work/root/podman.sock" \
            TMPDIR="$work/root/tmp" "$@"
    else
        $replace setpriv --reuid "$who" --regid "$who" --init-groups env HOME="/home/$who" USER="$who" \
            XDG_RUNTIME_DIR="$work/$who/xdg" CONTAINERS_CONF="$work/$who/containers.conf" \
            CONTAINERS_STORAGE_CONF="$work/$who/storage.conf" DOCKER_HOST="unix://$work/$who/podman.sock" \
            TMPDIR="$work/$who/tmp" "$@"
    fi
}

# Starts an engine, and waits until it answers.
serve() {
    socket=$work/$1/podman.sock
    (replace=exec && as "$1" podman system service --time=0 "unix://$socket") >"$work/$1.log" 2>&1 &
    services="$services $!"
    if ! curl --silent --fail --output /dev/null --retry 60 --retry-delay 1 --retry-all-errors \
        --unix-socket "$socket" http://podman/_ping; then
        echo "podman: the engine of $1 does not answer:" >&2
        cat "$work/$1.log" >&2
        exit 3
    fi
}

# The built tests, those of the whole workspace: of one crate, what it depends on would be built
# again with other features. The programs that they start stay where they were built.
built=$(cargo test --workspace --test engine --no-run --message-format=json |
    sed -n '/small-site/s/.*"executable":"\([^"]*\/engine-[^"]*\)".*/\1/p' | tail -n 1)
[ -n "$built" ] || { echo "podman: the tests were not built" >&2; exit 1; }
cp "$built" "$work/engine"
chmod 755 "$work/engine"
beside=$(dirname "$(dirname "$built")")
engines=${ENGINES:-root $user}
if [ "$engines" != root ] && ! as "$user" test -x "$beside/owner"; then
    echo "podman: $user may not read $beside; build below a folder that everybody may read: CARGO_TARGET_DIR=DIR" >&2
    exit 3
fi

# What each engine is held to. Those about networks, addresses and engines that are killed are of
# Docker alone. In `names::`, instances are removed so fast with Podman that a site may be given up
# as one that fails three times in a row.
both="relays:: volumes:: ports:: isolation::a_site_has isolation::a_site_makes isolation::an_image
    life::a_ life::every life::temporary life::what
    faults::a_copy_that_ends faults::a_copy_that_fills faults::a_program faults::a_site_that
    owners::two_towns hostile::a_container"
for who in $engines; do
    serve "$who"
    limits=""
    if [ "$who" = root ]; then limits="life::logs_and_memory"; fi
    if [ $# -eq 0 ]; then
        # shellcheck disable=SC2086 # lists of names
        set -- $both $limits
        named=""
    else
        named=given
    fi
    echo "podman: the tests with the engine of $who"
    (cd tests/sites && as "$who" "$work/engine" --test-threads=1 --include-ignored "$@")
    [ -n "$named" ] || set --
done
echo "podman: passed with the engines of: $engines"
