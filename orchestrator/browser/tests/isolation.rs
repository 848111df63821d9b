//! Nothing passes from one episode to the next, nothing leaves the browser, nothing is left behind.
//!
//! A program of its own: it looks at all browsers that the process has started.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "browser/web/mod.rs"]
mod web;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use actions::Action;
use browser::{Determinism, Error, Launch, Session};
use in_flight::InFlight;

const PATIENCE: Duration = Duration::from_secs(20);

/// The tests here look at all browsers of this process, so they run one after the other.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
/// Leaves a mark in everything that stores data, and reports what it found there. On localhost,
/// because a service worker needs a secure origin.
const MARKS: &str = "<!doctype html><title>marks</title><pre id=out>pending</pre>
    <iframe src='http://third.test/'></iframe><script>
    const found = { cookie: document.cookie, sent: '%COOKIE%', local: localStorage.mark, session: sessionStorage.mark };
    document.cookie = 'mark=1; max-age=9999'; localStorage.mark = sessionStorage.mark = 'set';
    (async () => {
        found.workers = (await navigator.serviceWorker.getRegistrations()).length;
        await navigator.serviceWorker.register('/sw.js');
        found.caches = (await caches.keys()).length;
        await (await caches.open('mark')).put('/x', new Response('x'));
        found.databases = (await indexedDB.databases()).length;
        await new Promise((done, failed) => { const r = indexedDB.open('mark'); r.onsuccess = done; r.onerror = failed; });
        found.name = window.name; window.name = 'mark'; found.history = history.length;
        out.textContent = JSON.stringify(found);
    })().catch(e => out.textContent = String(e));
    </script>";

async fn marks(session: &mut Session) -> String {
    session.act(&Action::Goto { url: "http://localhost/".to_owned() }).await.unwrap();
    session.settle(&InFlight::default(), PATIENCE).await.unwrap();
    session.page_text().await.unwrap()
}

#[tokio::test]
async fn nothing_is_carried_over_and_nothing_gets_out() {
    let _turn = TURN.lock().await;
    let web = crate::web::Web::serve(&[
        ("localhost/", MARKS),
        ("localhost/sw.js", "addEventListener('fetch', () => {})"),
        ("third.test/", "<script>document.write('third had ' + (document.cookie || 'nothing')); document.cookie = 'third=1; SameSite=None'</script>"),
        ("leaks.test/", "<script>
            new Image().src = 'http://10.0.0.1/x';
            const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:203.0.113.1:3478' }] });
            window.candidates = []; peer.onicecandidate = e => e.candidate && document.body.append(e.candidate.candidate);
            peer.createDataChannel('x'); peer.createOffer().then(offer => peer.setLocalDescription(offer));
            </script><link rel=dns-prefetch href='//prefetched.example'><link rel=preconnect href='https://preconnected.example'><p>leaks</p>"),
    ])
    .await;
    let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
    let launch = Launch { determinism: Some(world), ..Launch::new(web.address, "") };
    let mut session = Session::start(&launch).await.unwrap();

    let first = marks(&mut session).await;
    let clean =
        r#"{"cookie":"","sent":"","workers":0,"caches":0,"databases":0,"name":"","history":2}"#;
    assert!(first.starts_with(clean), "{first}");
    // The marks are stored; otherwise their absence would prove nothing.
    assert!(marks(&mut session).await.starts_with(
        r#"{"cookie":"mark=1","sent":"mark=1","local":"set","session":"set","workers":1,"caches":1,"databases":1"#
    ));
    let before = web.requests().len();
    session.reset(Some(world)).await.unwrap();
    assert_eq!(marks(&mut session).await, first);
    // Everything was requested anew: nothing came from a cache.
    let again: Vec<String> = web.requests().split_off(before);
    assert!(again.iter().any(|line| line.ends_with("/sw.js")), "{again:?}");

    session.act(&Action::Goto { url: "http://leaks.test/".to_owned() }).await.unwrap();
    session.settle(&InFlight::default(), PATIENCE).await.unwrap();
    assert_eq!(session.page_text().await.unwrap(), "leaks", "WebRTC found a way");
    session.act(&Action::Goto { url: "http://127.0.0.1:8009/".to_owned() }).await.unwrap();
    session.close().await.unwrap();
    let known = [
        "localhost",
        "third.test",
        "leaks.test",
        "127.0.0.1:8009",
        "10.0.0.1",
        "preconnected.example",
    ];
    let strange: Vec<String> = web
        .requests()
        .into_iter()
        .filter(|line| !known.iter().any(|host| line.contains(host)))
        .collect();
    assert_eq!(strange, Vec::<String>::new(), "only what pages ask for reaches the gateway");
    for through in ["http://127.0.0.1:8009/", "http://10.0.0.1/x"] {
        assert!(
            web.requests().iter().any(|line| line.contains(through)),
            "{through} did not come to the gateway"
        );
    }
}

#[tokio::test]
async fn nothing_is_left_behind_however_a_session_ends() {
    let _turn = TURN.lock().await;
    let web = crate::web::Web::serve(&[("a.test/", "<h1>A</h1>")]).await;
    let launch = Launch::new(web.address, "");
    let session = Session::start(&launch).await.unwrap();
    assert!(ours().len() > 3, "{:?}", ours());
    session.close().await.unwrap();
    assert!(folders().is_empty(), "closing waits for that");
    gone("closing").await;

    let session = Session::start(&launch).await.unwrap();
    drop(session);
    gone("dropping").await;

    let mut session = Session::start(&launch).await.unwrap();
    for (pid, _) in ours().iter().filter(|(_, command)| command.contains("type=renderer")) {
        kill(*pid);
    }
    let seen = session.observe().await;
    assert!(matches!(seen, Err(Error::NoPage { .. } | Error::Refused { .. })), "{seen:?}");
    session.reset(None).await.unwrap();
    session.act(&Action::Goto { url: "http://a.test/".to_owned() }).await.unwrap();
    session.settle(&InFlight::default(), PATIENCE).await.unwrap();
    assert_eq!(session.page_text().await.unwrap(), "A");
    for (pid, _) in ours().iter().filter(|(_, command)| !command.contains("--type=")) {
        kill(*pid);
    }
    let error = session.observe().await.unwrap_err();
    assert!(matches!(error, Error::Gone { .. } | Error::NoPage { .. }), "{error}");
    drop(session);
    gone("a crash").await;
}

/// The browser processes of this test, zombies included: chromedriver has the folder of its
/// session, and leads a group.
fn ours() -> Vec<(i32, String)> {
    let mark = format!("sandbox-browser-{}-", std::process::id());
    let all = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let read = |file: &str| fs::read(entry.path().join(file));
        let command = String::from_utf8_lossy(&read("cmdline").ok()?).replace('\0', " ");
        let environment =
            String::from_utf8_lossy(&read("environ").unwrap_or_default()).into_owned();
        // PID (NAME) STATE PARENT GROUP ...
        let stat = String::from_utf8_lossy(&read("stat").ok()?).into_owned();
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        let group: i32 = fields[2].parse().ok()?;
        let zombie = fields[0] == "Z" && fields[1] == std::process::id().to_string();
        let named = zombie || command.contains(&mark) || environment.contains(&mark);
        Some((pid, group, named, command))
    });
    let all: Vec<_> = all.collect();
    let own = |group: i32| all.iter().any(|(_, other, named, _)| *named && *other == group);
    let ours = all.iter().filter(|(_, group, named, _)| *named || own(*group));
    ours.map(|(pid, _, _, command)| (*pid, command.clone())).collect()
}

fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// The folder of a dropped session goes a moment later than its processes.
async fn gone(after: &str) {
    let waiting = async {
        let mut polls = tokio::time::interval(Duration::from_millis(20));
        while !ours().is_empty() || !folders().is_empty() {
            polls.tick().await;
        }
    };
    if tokio::time::timeout(Duration::from_secs(5), waiting).await.is_err() {
        panic!("after {after} there are still {:?} and {:?}", ours(), folders());
    }
}

/// The folders of the sessions of this test.
fn folders() -> Vec<PathBuf> {
    let mark = format!("sandbox-browser-{}-", std::process::id());
    let above =
        processes::temporary::all().into_iter().filter_map(|folder| fs::read_dir(folder).ok());
    let own = above
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(&mark)));
    own.map(|entry| entry.path()).collect()
}
