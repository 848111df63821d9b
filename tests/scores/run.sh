#!/bin/sh
# Times our scorers beside the published ones on the reference vectors, one thread each, taking
# turns in one run, and prints ratios. Of the ten scorers six are on PyPI: Mind2Web-Live's three and
# TurkingBench's are not, and are left out. Usage: SHARED=FOLDER tests/scores/run.sh, where FOLDER
# has vectors/.
set -eu

: "${SHARED:?is not set: call \`make bench ONLY=scores SHARED=<folder with vectors/>\`}"
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
target=${CARGO_TARGET_DIR:-$PWD/target}
venv=$target/scores-venv

tests/venv.sh "$venv" "$here/requirements.txt" "$here/alone.txt"
cargo build --quiet --release --workspace --example score_vectors
# A package on PyPI that comes with NLTK's model of English sentences; nothing else of it is used.
NLTK_DATA=$(echo "$venv"/lib/python3*/site-packages/llama_index/core/_static/nltk_cache)
export NLTK_DATA
exec "$venv/bin/python" -B -W ignore "$here/ratios.py" "$SHARED/vectors" "$target/release/examples/score_vectors"
