#!/bin/sh
# Installs every artifact of `make dist` on a bare machine and plays the demo there: the wheel, the
# Debian package and the archive in containers of a minimal Debian, and the image as it is. All must
# give one fingerprint. Prints how long each takes from its first command to the table; packages of
# the distribution are downloaded before, and installed within that time.
#
#     packaging/test.sh [ARTIFACT...]    # wheel, deb, archive, image; all by default
#
# The image is built anew, by a plain `docker build`. Its server must become healthy.
set -eu
cd "$(dirname "$0")/.."
dist=$PWD/target/packages
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
[ -f "$dist/SHA256SUMS" ] || { echo "dist test: target/packages is empty; run: make dist" >&2; exit 3; }
(cd "$dist" && sha256sum --quiet --check SHA256SUMS)

docker image inspect debian:bookworm-slim >/dev/null 2>&1 || images/base.sh bookworm
# A bare machine: nothing but Python, as its image has it. The packages wait in apt's cache.
docker build --quiet -t sandbox-test/bare - >/dev/null <<'END'
FROM debian:bookworm-slim
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends python3 python3-pip ca-certificates
RUN rm -f /etc/apt/apt.conf.d/docker-clean && apt-get install -y -qq --no-install-recommends --download-only \
    chromium chromium-driver chromium-headless-shell fonts-dejavu-core
END

# The image as a plain `docker build` of the folder makes it.
image=sandbox-test/image
docker build --quiet -t "$image" "$dist/images/sandbox" >/dev/null

# on_a_bare_machine COMMANDS: prints what they print, and the seconds that they took.
on_a_bare_machine() {
    docker run --rm --init -v "$dist:/dist:ro" -w /root sandbox-test/bare sh -euc "$1"
}

# serves: the default command of the image answers, as its health check sees.
serves() {
    server=$(docker run --detach --init "$image")
    deadline=$(($(date +%s) + 60))
    until [ "$(docker inspect --format '{{.State.Health.Status}}' "$server")" = healthy ]; do
        [ "$(date +%s)" -lt "$deadline" ] || {
            docker logs "$server" >&2
            docker rm --force "$server" >/dev/null
            echo "dist test: the image's server is not healthy within 60 s" >&2
            exit 1
        }
        sleep 1
    done
    docker rm --force "$server" >/dev/null
    echo "image    serves"
}

# check ARTIFACT LOG SECONDS: the demo of that log went through.
check() {
    fingerprint=$(sed -n 's/^fingerprint *\([0-9a-f]\{64\}\).*/\1/p' "$2")
    [ -n "$fingerprint" ] || { cat "$2" >&2; echo "dist test: $1 printed no fingerprint" >&2; exit 1; }
    echo "$fingerprint" >>"$work/fingerprints"
    printf '%-8s %4s s   %s\n' "$1" "$3" "$fingerprint"
}

play() {
    log=$work/$1.log
    began=$(date +%s)
    case "$1" in
    wheel)
        on_a_bare_machine "pip install --quiet --break-system-packages --root-user-action ignore --no-index \
            --find-links /dist sandbox-agents
            python3 -c 'import sandbox_agents'
            sandbox setup && sandbox demo" >"$log" 2>&1
        ;;
    deb)
        on_a_bare_machine "apt-get install -y -qq --no-install-recommends /dist/sandbox_*.deb chromium-headless-shell
            dpkg -L sandbox | grep -q man1/sandbox-run.1
            dpkg -L sandbox | grep -q bash-completion/completions/sandbox
            sandbox demo" >"$log" 2>&1
        ;;
    archive)
        on_a_bare_machine "tar -xzf /dist/sandbox-*-linux-musl.tar.gz
            cd sandbox-*/ && ./sandbox setup && ./sandbox demo" >"$log" 2>&1
        ;;
    image)
        docker run --rm --init --network none "$image" demo >"$log" 2>&1
        ;;
    esac || { cat "$log" >&2; echo "dist test: $1 failed" >&2; exit 1; }
    check "$1" "$log" $(($(date +%s) - began))
    [ "$1" != image ] || serves
}

[ $# -gt 0 ] || set -- wheel deb archive image
for artifact; do play "$artifact"; done
[ "$(sort -u "$work/fingerprints" | wc -l)" -eq 1 ] || { echo "dist test: the fingerprints differ" >&2; exit 1; }
