# For the scripts beside it: the folder `target/$work`, an origin that can be started and stopped,
# and what they print. $captures are further options of the origin.
cd "$(dirname "$0")/../.."
# Built as the program is.
case $sandbox in
*/target/debug/*) built=debug profile=dev ;;
*) built=release profile=release ;;
esac
cargo build --quiet --profile "$profile" --bin origin
origin=$PWD/target/$built/origin
captures=${captures:-}
work=$PWD/target/$work
rm -rf "$work"
mkdir -p "$work"
cd "$work"
export SANDBOX_DATA="$work/data"

server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
start_origin() {
    mkfifo ready
    # shellcheck disable=SC2086 # none of the paths has a space
    "$origin" $captures >ready &
    server=$!
    while read -r what value; do
        [ "$what" != http ] || plain=${value#http://}
        [ "$what" != https ] || secure=${value#https://}
        [ "$what" != ca ] || { ca=$value && break; }
    done <ready
    rm ready
    live="--connect-to :80:$plain --connect-to :443:$secure --upstream-ca $ca"
}
stop_origin() {
    kill "$server"
    wait "$server" || true
    server=
}
# say WHAT COMMAND...: how long it took.
say() {
    what=$1
    shift
    began=$(date +%s)
    "$@" >"$what.log" 2>&1 || { tail -20 "$what.log" >&2; echo "internet: $what failed" >&2; exit 1; }
    printf '%-28s %5s s\n' "$what" $(($(date +%s) - began))
}
# play SUITE AGENT NAME: passed, and misses an episode.
play() {
    "$sandbox" run "$1" --agent "$2" --max-steps 12 --workers 2 --json -o "runs/$3" >"$3.json" 2>"$3.log" || true
    python3 - "$3" <<'END'
import json, sys
summary = json.load(open(sys.argv[1] + ".json"))
requests = summary["requests"]
total = sum(requests.values())
print(f"{sys.argv[1]:28} {summary['passed']} of {summary['episodes']} passed, {requests['miss']} misses of {total} requests"
      f" ({requests['miss'] / max(1, summary['episodes']):.2f} an episode), {summary['errors']} errors")
END
}
# write_captures_suite CAPTURE...: the suite `real`, a task for the first pages of each recording.
write_captures_suite() {
    mkdir real
    printf 'name: real\nworld: {snapshots: [web.wacz]}\n' >real/suite.yaml
    number=0
    for file; do
        number=$((number + 1))
        rm -f listed.wacz
        "$sandbox" snapshot import "$file" -o listed.wacz >/dev/null
        python3 - "real/task-$number.yaml" "$number" <<'END' || echo "internet: $file lists no page of the web"
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
}
