#!/bin/sh
# Makes the base image debian:SUITE-slim from a Debian mirror alone, for machines that reach no image registry.
#
#     images/base.sh bookworm        # or trixie; any host with mmdebstrap and docker, root not needed
#
# The same kind of image as the registry's: minimal variant, no manuals, translations or package lists, licences kept.
# The mirror is the one this machine's apt uses. SOURCE_DATE_EPOCH fixes every file time, so two runs against the same
# state of the mirror give the same layer.
set -eu

suite=${1:?usage: base.sh SUITE (bookworm or trixie)}
: "${SOURCE_DATE_EPOCH:=1686819600}"
export SOURCE_DATE_EPOCH

for tool in mmdebstrap docker; do
    command -v "$tool" >/dev/null 2>&1 || { echo "base: $tool is missing; install the Debian package $tool" >&2; exit 3; }
done

# apt knows which of its sources are Debian's own: their Release files are labelled so.
mirror_of() {
    found=$(apt-get indextargets --format '$(REPO_URI)' "Label: $1" 2>/dev/null | head -n 1) || found=""
    [ -n "$found" ] || { echo "base: apt has no source labelled $1; add one and run apt-get update" >&2; exit 3; }
    echo "$found" | sed 's:/*$::'
}
mirror=$(mirror_of Debian)
security=$(mirror_of Debian-Security)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
echo "base: making debian:$suite-slim from $mirror and $security"

# Without usr-is-merged apt meets its dependency by usrmerge, which brings all of perl (50 MB).
# The options given here stay in the image as dpkg and apt configuration, so what is installed later is as slim.
mmdebstrap --quiet --variant=minbase --include=usr-is-merged \
    --hook-dir=/usr/share/mmdebstrap/hooks/maybe-merged-usr \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/info/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --aptopt='Acquire::Languages "none"' \
    --aptopt='APT::Install-Recommends "false"' \
    --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/* "$1"/var/log/*' \
    --customize-hook='rm -f "$1"/var/cache/debconf/*-old "$1"/var/lib/dpkg/*-old "$1"/var/cache/ldconfig/aux-cache' \
    "$suite" "$work/base.tar" \
    "deb $mirror $suite main" \
    "deb $mirror $suite-updates main" \
    "deb $security $suite-security main"

id=$(docker import --change 'CMD ["sh"]' "$work/base.tar" "debian:$suite-slim")
echo "base: debian:$suite-slim is $id, $(($(wc -c <"$work/base.tar") / 1000000)) MB"
