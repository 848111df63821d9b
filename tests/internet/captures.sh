#!/bin/sh
# Serves recordings of real webs on loopback under their own hosts, as if they were live, and
# records their pages as a suite. Then the origin is stopped, the suite is played, and each page as
# recorded here is compared with the page of the first recording. Prints what came of each step.
#
#     tests/internet/captures.sh SANDBOX CAPTURE...
set -eu
sandbox=$(realpath "${1:?usage: captures.sh SANDBOX CAPTURE...}")
shift
captures= against=
for file; do
    captures="$captures --capture $(realpath "$file")"
    against="$against --against $(realpath "$file")"
done
work=captures
. "$(dirname "$0")/origin.sh"

# A task for the first pages of each recording.
mkdir real
printf 'name: real\nworld: {snapshots: [web.wacz]}\n' >real/suite.yaml
number=0
for file in $captures; do
    [ "$file" != --capture ] || continue
    number=$((number + 1))
    rm -f listed.wacz
    "$sandbox" snapshot import "$file" -o listed.wacz >/dev/null
    python3 - "real/task-$number.yaml" "$number" <<'END' || echo "captures: $file lists no page of the web"
import json, sys, zipfile
lines = zipfile.ZipFile("listed.wacz").read("pages/pages.jsonl").decode().splitlines()[1:]
urls = list(dict.fromkeys(json.loads(line)["url"].split("#")[0] for line in lines))
urls = [url for url in urls if url.startswith("http")][:3]
if not urls:
    sys.exit(1)
task = {"id": f"task-{sys.argv[2]}", "goal": "Look around.", "start_url": urls[0], "seed_urls": urls[1:],
        "scorer": {"equals": "done"}, "oracle": [{"answer": "done"}]}
json.dump(task, open(sys.argv[1], "w"))
END
done
start_origin
# shellcheck disable=SC2086 # lists of options
{
    say record "$sandbox" record --suite real --depth 0 --delay 0 $live
    # What was just recorded must be shown as it is.
    say again "$sandbox" snapshot check real --live --delay 0 --html live.html $live
    stop_origin
    # Here the time of the visit may show: exit code 1 says that pages differ.
    "$sandbox" snapshot check real $against --html first.html >first.txt 2>first.log || [ $? -eq 1 ]
}
grep '^same\|^tasks' again.log | sed 's/^/visited again   /'
grep -v '^ ' first.txt | sed 's/^/first recording /'
play real oracle oracle
