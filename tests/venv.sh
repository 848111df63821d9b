#!/bin/sh
# Keeps a virtual environment of Python at FOLDER with exactly the packages that REQUIREMENTS pins,
# and those of ALONE without what they depend on. Usage: venv.sh FOLDER REQUIREMENTS [ALONE]
set -eu
venv=${1:?usage: venv.sh FOLDER REQUIREMENTS [ALONE]}
requirements=${2:?usage: venv.sh FOLDER REQUIREMENTS [ALONE]}
alone=${3:-/dev/null}
if cat "$requirements" "$alone" | cmp -s - "$venv/.ready"; then
    exit
fi
echo "installing what $requirements names into $venv" >&2
python3 -m venv --clear "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
if [ -s "$alone" ]; then
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$alone"
fi
cat "$requirements" "$alone" > "$venv/.ready"
