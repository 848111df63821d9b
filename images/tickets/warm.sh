#!/bin/sh
# Opens the main pages once so that RT's compiled page components can be shipped.
set -eu
mkdir -p /tmp/rt /state/sessions /var/cache/sandbox-mason
cp -R /seed/. /state-warm 2>/dev/null || { mkdir /state-warm && cp -R /seed/. /state-warm; }
export RT_DATABASE=/state-warm/rt.db HOME=/tmp
plackup -E deployment -s Starlet --port 8000 --max-workers 1 /usr/share/sandbox/site.psgi >/dev/null 2>&1 &
server=$!
curl -s --retry 60 --retry-delay 1 --retry-connrefused -o /dev/null http://127.0.0.1:8000/NoAuth/Login.html
get() { curl -s -b /tmp/jar -c /tmp/jar -o /dev/null "http://127.0.0.1:8000$1"; }
curl -s -c /tmp/jar -o /dev/null -d user=noor -d pass=quayside-2023 http://127.0.0.1:8000/NoAuth/Login.html
for page in / /Ticket/Display.html?id=12 '/Ticket/Create.html?Queue=1' '/Ticket/Update.html?id=12&Action=Respond' /Ticket/Modify.html?id=12 \
    /Ticket/ModifyAll.html?id=12 '/Search/Results.html?Query=id>0' /Search/Build.html /Search/Simple.html /Articles/index.html /Articles/Article/Display.html?id=3 \
    /Articles/Article/Search.html /Asset/index.html /Asset/Display.html?id=5 /Asset/Search/ /Dashboards/index.html /Prefs/Other.html /Admin/ /SelfService/ \
    /User/Summary.html?id=30 /Ticket/History.html?id=12 /Ticket/ModifyPeople.html?id=12 /Reports/ '/Search/Chart.html?Query=id>0'; do
    get "$page"
done
kill $server
cp -R /tmp/rt/mason/. /var/cache/sandbox-mason/
chmod -R a+rX /var/cache/sandbox-mason
rm -rf /tmp/rt /tmp/jar /state-warm /state
