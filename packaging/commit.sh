#!/bin/sh
# Prints what `sandbox --version` names: the commit and its date. Nothing where there is no history.
git log -1 --format='%h %cs' 2>/dev/null || true
