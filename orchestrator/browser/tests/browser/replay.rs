//! The browser behind the real gateway: TLS by our own authority, service workers, event streams,
//! and replayed WebSockets.

use std::sync::Arc;
use std::time::Duration;

use actions::Action;
use browser::{Determinism, Launch, Pace, Session};
use camino::{Utf8Path, Utf8PathBuf};
use gateway::{CertificateAuthority, Config, Gateway, Replay, ReplayOptions, Routes, Target};
use snapshots::index::ReplaySet;
use snapshots::{
    Exchange, Frame, FrameSide, Headers, Recording, RecordingOptions, Response, Timestamp,
};

const TICKER: &str = "<!doctype html><title>Ticker</title><h1>Ticker</h1><pre id=out></pre><p id=worker></p><p id=told></p><script>
    const say = what => out.textContent += `${what} @${Date.now()} ${Math.random()}\\n`;
    say(crypto.randomUUID());
    const socket = new WebSocket('wss://ticker.test/live');
    socket.onopen = () => { say('open'); socket.send('subscribe'); };
    socket.onmessage = e => { say(e.data); if (e.data === 'price 3') socket.send('more'); };
    setInterval(() => say('tick'), 1000);
    navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready).then(() => worker.textContent = 'service worker');
    const events = new EventSource('/events');
    events.onmessage = e => { told.textContent = `event ${e.data}`; events.close(); };
    </script>";
const SERVICE: &str = "addEventListener('fetch', e => {});
    addEventListener('activate', e => e.waitUntil(clients.claim()));";

/// Registers a service worker while the page's time runs.
const LATE: &str = "<!doctype html><p id=p></p><script>
    setTimeout(async () => {
      const before = Date.now();
      await navigator.serviceWorker.register('/sw.js');
      p.textContent = `registered after ${Date.now() - before} ms`;
    }, 700);
    </script>";

/// Asks for what is now, at once and in a piece of time of its own, and for tomorrow.
const NOW: &str = "<!doctype html><p id=p></p><script>
    const ask = async (when, ahead) => {
      const { status } = await fetch(`/now?t=${Date.now() + ahead}`);
      p.textContent += `${when} ${status}, `;
    };
    ask('at once', 0);
    setTimeout(() => ask('later', 0), 4000);
    setTimeout(() => ask('tomorrow', 86400000), 4500);
    </script>";

/// Writes a snapshot of one site.
fn snapshot(folder: &Utf8Path) -> Utf8PathBuf {
    let out = folder.join("ticker.wacz");
    let recording = Recording::create(&out, RecordingOptions::default()).unwrap();
    let at: Timestamp = "2026-03-01T09:00:00Z".parse().unwrap();
    let exchange = |path: &str, status: u16, kind: &str, body: &str| {
        let mut headers = Headers::new();
        headers.push("Content-Type", kind);
        let response = Response {
            status,
            reason: String::new(),
            headers,
            body: body.as_bytes().to_vec().into(),
        };
        Exchange::get(format!("https://ticker.test{path}"), at, response)
    };
    recording.append(&exchange("/", 200, "text/html", TICKER)).unwrap();
    recording.append(&exchange("/late", 200, "text/html", LATE)).unwrap();
    recording.append(&exchange("/clock", 200, "text/html", NOW)).unwrap();
    let now = exchange(&format!("/now?t={}", at.as_millis()), 200, "text/plain", "now");
    recording.append(&now).unwrap();
    recording.append(&exchange("/sw.js", 200, "text/javascript", SERVICE)).unwrap();
    recording.append(&exchange("/events", 200, "text/event-stream", "data: hello\n\n")).unwrap();
    let text = |from: FrameSide, text: &str| Frame {
        at_ms: 0,
        from,
        text: Some(text.to_owned()),
        base64: None,
        close: None,
        reason: None,
    };
    let mut frames = vec![text(FrameSide::Client, "subscribe")];
    frames.extend((1..=3).map(|n| text(FrameSide::Server, &format!("price {n}"))));
    frames.push(text(FrameSide::Client, "more"));
    frames.extend((4..=5).map(|n| text(FrameSide::Server, &format!("price {n}"))));
    let mut opening = exchange("/live", 101, "text/plain", "");
    opening.url = "wss://ticker.test/live".to_owned();
    recording.append_websocket(&opening, &frames).unwrap();
    recording.finish(&|_| {}).unwrap();
    out
}

fn world() -> Determinism {
    Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 }
}

/// A gateway that replays the site, and a browser behind it.
async fn open(folder: &Utf8Path) -> (Gateway, Session) {
    let set = ReplaySet::open(&[snapshot(folder)], None, &mut |_, _| {}).unwrap();
    let replay = Arc::new(Replay::new(set, ReplayOptions::default()));
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let gateway =
        Gateway::start(Config::new(ca.clone(), Routes::all(Target::Replay(replay)))).await.unwrap();
    let launch = Launch {
        determinism: Some(world()),
        pace: Pace::steady(Duration::from_secs(5)),
        in_flight: Some(gateway.in_flight()),
        ..Launch::new(&gateway, ca.spki_sha256_base64())
    };
    (gateway, Session::start(&launch).await.unwrap())
}

#[tokio::test]
async fn a_recorded_site_behaves_the_same_in_every_episode() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, mut session) = open(Utf8Path::from_path(folder.path()).unwrap()).await;
    let mut first = None;
    for _ in 0..4 {
        session.act(&Action::Goto { url: "https://ticker.test/".to_owned() }).await.unwrap();
        let settled = session.settle(&gateway.in_flight(), Duration::from_secs(20)).await.unwrap();
        assert!(settled.page_time >= Duration::from_secs(5));
        let text = session.page_text().await.unwrap();
        assert_eq!(first.get_or_insert_with(|| text.clone()), &text);
        let ledger = gateway.begin_episode();
        let misses: Vec<String> = ledger
            .entries()
            .into_iter()
            .filter(|entry| {
                matches!(
                    entry.answer,
                    gateway::Answer::Miss { .. } | gateway::Answer::Refused { .. }
                )
            })
            .map(|entry| entry.url.clone())
            .filter(|url| !url.ends_with("/favicon.ico"))
            .collect();
        assert_eq!(misses, Vec::<String>::new());
        session.reset(Some(world())).await.unwrap();
    }
    let text = first.unwrap();
    for expected in ["price 5", "service worker", "event hello", "tick"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    session.close().await.unwrap();
    gateway.shutdown().await;
}

/// The gateway holds responses back while the page's time runs, and the page waits for this one.
#[tokio::test]
async fn a_service_worker_is_registered_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, mut session) = open(Utf8Path::from_path(folder.path()).unwrap()).await;
    session.act(&Action::Goto { url: "https://ticker.test/late".to_owned() }).await.unwrap();
    session.settle(&gateway.in_flight(), Duration::from_secs(20)).await.unwrap();
    assert_eq!(session.page_text().await.unwrap().trim(), "registered after 0 ms");
    session.close().await.unwrap();
    gateway.shutdown().await;
}

#[tokio::test]
async fn what_a_page_asks_of_now_is_found_by_its_own_clock() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, mut session) = open(Utf8Path::from_path(folder.path()).unwrap()).await;
    for clock_start in ["2026-03-01T09:00:00Z", "2031-07-01T18:30:00Z"] {
        let clock_start = clock_start.parse().unwrap();
        session.reset(Some(Determinism { clock_start, seed: 7 })).await.unwrap();
        gateway.begin_episode();
        session.act(&Action::Goto { url: "https://ticker.test/clock".to_owned() }).await.unwrap();
        session.settle(&gateway.in_flight(), Duration::from_secs(20)).await.unwrap();
        let text = session.page_text().await.unwrap();
        assert_eq!(text.trim(), "at once 200, later 200, tomorrow 404,");
    }
    session.close().await.unwrap();
    gateway.shutdown().await;
}
