#!/bin/sh
# Serves recordings of real webs on loopback under their own hosts, as if they were live, and
# records their pages as a suite. Then the origin is stopped, the suite is played, and each page as
# recorded here is compared with the page of the first recording. Prints what came of each step.
#
#     tests/internet/captures.sh SANDBOX CAPTURE...
set -eu
sandbox=$(realpath "${1:?usage: captures.sh SANDBOX CAPTURE...}")
shift
captures= against= files=
for file; do
    file=$(realpath "$file")
    files="$files $file"
    captures="$captures --capture $file"
    against="$against --against $file"
done
work=captures
. "$(dirname "$0")/origin.sh"

# shellcheck disable=SC2086 # a list of files
write_captures_suite $files
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
