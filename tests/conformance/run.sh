#!/bin/sh
# Holds our formats and scores against other people's programs and data: what the reference tools in
# Python read, how they key, whether they accept and replay what we write; and what published
# scorers and task files say. Usage: SHARED=FOLDER tests/conformance/run.sh, where FOLDER has
# captures/, vectors/ and datasets/. SHOWN="PART ..." shows only captures with such a part in their
# names. WITHOUT_BROWSERS=yes leaves out what needs one.
set -eu

: "${SHARED:?is not set: call \`make conformance SHARED=<folder with captures/, vectors/ and datasets/>\`}"
captures=$(cd "$SHARED/captures" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
target=${CARGO_TARGET_DIR:-$PWD/target}
venv=$target/conformance-venv
work=$target/conformance

tests/venv.sh "$venv" "$here/requirements.txt" "$here/alone.txt"
rm -rf "$work"
mkdir -p "$work"

# Every build is one of the whole workspace: with one crate alone, libraries have other features and
# are built again.
echo "== asking warcio, surt and pywb"
"$venv/bin/python" -W ignore "$here/count_records.py" "$captures" >"$work/counts.json" 2>"$work/warcio.log"
"$venv/bin/python" -W ignore "$here/keys.py" >"$work/keys.jsonl"

echo "== reading and writing the captures"
export SANDBOX_CAPTURES="$captures" SANDBOX_CONFORMANCE="$work"
cargo test -q --workspace --test captures --test har_captures --test ops_captures

if [ -z "${WITHOUT_BROWSERS:-}" ]; then
    echo "== annotating a page of the captures"
    cargo test -q --workspace --test annotated_captures
fi

echo "== having what we wrote judged"
"$venv/bin/python" -W ignore "$here/judge.py" "$work"/written/*.wacz "$work"/replay/made.wacz
"$venv/bin/python" -W ignore "$here/compare_index.py" "$work"/written/*.wacz "$work"/replay/made.wacz

echo "== replaying a recording with pywb"
"$venv/bin/python" -W ignore "$here/replay_with_pywb.py" "$venv/bin" "$work/replay"

if [ -z "${WITHOUT_BROWSERS:-}" ]; then
    echo "== opening a collection of ours in ReplayWeb.page"
    cargo build -q --workspace --bin sandbox
    command -v npm >/dev/null || apt-get install -y -qq --no-install-recommends npm >/dev/null
    (cd "$work" && npm pack --silent replaywebpage@2.4.6 >/dev/null && tar xzf replaywebpage-2.4.6.tgz)
    "$target/debug/sandbox" snapshot split snapshots/demo.wacz --output "$work/hosts" >/dev/null
    "$venv/bin/python" "$here/replaywebpage.py" "$work/package" "$work/hosts/datapackage.json" \
        https://www.hearthside.test/ https://www.aldria-rail.test/ https://www.cityscreen.test/

    echo "== showing the pages of the captures, beside pywb"
    cargo build -q --workspace --bin sandbox
    # shellcheck disable=SC2086 # a list of parts of names
    "$venv/bin/python" -W ignore "$here/shown.py" "$venv/bin" "$target/debug/sandbox" "$captures" "$work" ${SHOWN:-}
fi

echo "== scoring what the published scorers scored, reading the published tasks"
"$venv/bin/python" -W ignore "$here/pictures.py" >"$work/visualwebarena.image_ssim.jsonl"
SANDBOX_VECTORS=$SHARED/vectors SANDBOX_DATASETS=$SHARED/datasets SANDBOX_PICTURES=$work/visualwebarena.image_ssim.jsonl \
    cargo test -q --workspace --test vectors --test datasets

echo "== reading imported suites by YAML 1.1"
cargo build -q --workspace --bin sandbox
suites=$work/suites shared=$(cd "$SHARED/datasets" && pwd)
import() { "$target/debug/sandbox" tasks import "$@" >/dev/null; }
(
    cd "$work" # where no manifests lie: those that come with the program are written
    import webarena "$shared/webarena/test.raw.json" --output "$suites/webarena"
    import webchorearena "$shared/webchorearena/test_webchore.raw.json" --output "$suites/webchorearena"
    import visualwebarena "$shared"/visualwebarena/test_[crs]*.raw.json --output "$suites/visualwebarena"
    import mind2web-live "$shared/mind2web-live/mind2web-live_test_20241024.json" --output "$suites/mind2web-live"
    import turkingbench "$shared/turkingbench" --rows 5 --output "$suites/turkingbench"
)
"$venv/bin/python" "$here/yaml11.py" "$target/debug/sandbox" "$suites"/*

echo "== asking Python what answers to WARC-Bench are worth"
"$venv/bin/python" "$here/warcbench.py" >"$work/warcbench.jsonl"
SANDBOX_WARCBENCH_REFERENCE=$work/warcbench.jsonl cargo test -q --workspace --test warcbench_reference

if [ -z "${WITHOUT_BROWSERS:-}" ]; then
    echo "== solving WARC-Bench's tasks in its recordings"
    cargo build -q --workspace --bin sandbox
    tests/warcbench/run.py "$target/debug/sandbox" "$SHARED" --short
fi

echo "== asking WorkArena's package for its goals and verdicts"
workarena=$("$venv/bin/python" "$here/workarena.py" "$work/workarena.jsonl")
SANDBOX_WORKARENA=$workarena SANDBOX_WORKARENA_REFERENCE=$work/workarena.jsonl \
    cargo test -q --workspace --test workarena_reference

echo "== looking whether WorkArena's tasks are feasible on the service desk"
SANDBOX_WORKARENA=$workarena cargo test -q -p embedded-sites --lib itsm -- --ignored

echo "== asking WebArena-Verified's package for its scores"
verified=$("$venv/bin/python" -W ignore "$here/verified.py" "$work/verified.jsonl")
SANDBOX_VERIFIED=$verified SANDBOX_VERIFIED_REFERENCE=$work/verified.jsonl \
    cargo test -q --workspace --test webarena_verified_reference
echo "conformance: all good"
