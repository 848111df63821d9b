//! Recorded through a gateway, finished, and answered by another one, without an origin.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use gateway::replay::ReplayOptions;
use gateway::{
    Answer as Level, CertificateAuthority, Config, Fill, Gateway, Limits, Recorder, Redact, Replay,
    Routes, Target, body,
};
use http::Method;
use snapshots::index::ReplaySet;
use snapshots::{Recording, RecordingOptions};

use crate::client::{Client, request};
use crate::origin::{Origin, PATIENCE};
use crate::sockets::talk;
use crate::world::{Setup, World};

/// What stays of a recorded world: its snapshot.
struct Snapshot {
    path: Utf8PathBuf,
    _keep: tempfile::TempDir,
}

async fn recorded(urls: &[&str], sockets: bool) -> Snapshot {
    let world = Setup::default().tls(true).await;
    for url in urls {
        world.client.get(url).await;
    }
    let mut connection = world.client.https("shop.test:443", &["h2"]).await;
    connection
        .ask(request(Method::POST, "https://shop.test/echo", body::full("{\"page\":1}")))
        .await;
    if sockets {
        talk(&world.client).await;
    }
    let World { gateway, recorder, keep, .. } = world;
    gateway.shutdown().await;
    let recording = recorder.unwrap().close().unwrap();
    let path = recording.path().to_owned();
    recording.finish(&|_| {}).unwrap();
    Snapshot { path, _keep: keep }
}

fn replay(snapshot: &Snapshot) -> Replay {
    let set = ReplaySet::open(std::slice::from_ref(&snapshot.path), None, &mut |_, _| {}).unwrap();
    Replay::new(set, ReplayOptions::default())
}

async fn start(target: Target, change: impl FnOnce(&mut Config)) -> (Gateway, Client) {
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let mut config = Config::for_everybody(ca.clone(), Routes::all(target));
    change(&mut config);
    let gateway = Gateway::start(config).await.unwrap();
    let client = Client::new(gateway.local_addr().unwrap(), &ca);
    (gateway, client)
}

async fn levels(gateway: &Gateway) -> Vec<Level> {
    gateway.in_flight().idle(PATIENCE).await.unwrap();
    gateway.ledger().entries().into_iter().map(|entry| entry.answer).collect()
}

#[tokio::test]
async fn what_was_recorded_is_answered_without_an_origin() {
    let snapshot =
        recorded(&["https://shop.test/hello", "https://shop.test/sized?300000"], true).await;
    let (gateway, client) = start(Target::Replay(Arc::new(replay(&snapshot))), |_| {}).await;
    for alpn in ["http/1.1", "h2"] {
        gateway.begin_episode();
        let mut connection = client.https("shop.test:443", &[alpn]).await;
        let ask = |url| request(Method::GET, url, body::empty());
        let hello = connection.ask(ask("https://shop.test/hello")).await;
        assert_eq!(hello.text(), "hello from shop.test by HTTP/2.0");
        assert_eq!(connection.ask(ask("https://shop.test/sized?300000")).await.body.len(), 300_000);
        let post =
            |body: &'static str| request(Method::POST, "https://shop.test/echo", body::full(body));
        assert_eq!(connection.ask(post("{\"page\":1}")).await.text(), "{\"page\":1}");
        assert_eq!(connection.ask(post("{\"page\":2}")).await.status, 404);
        let levels = levels(&gateway).await;
        assert_eq!(levels[..3], [Level::Exact, Level::Exact, Level::Exact]);
        assert!(matches!(levels[3], Level::Miss { .. }));
    }

    gateway.begin_episode();
    talk(&client).await;
    let entries = gateway.ledger().entries();
    assert_eq!(entries.len(), 1, "no frame differed: {entries:?}");
    assert_eq!((entries[0].status, &entries[0].answer), (101, &Level::Exact));
}

#[tokio::test]
async fn filling_goes_live_for_what_is_missing_and_keeps_it() {
    let snapshot = recorded(&["https://shop.test/hello"], false).await;
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let origin = Origin::tls(ca.clone(), true).await;
    let folder = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(folder.path()).unwrap();
    std::fs::write(dir.join("roots.pem"), ca.certificate_pem()).unwrap();
    let out = dir.join("more.wacz");
    let recording = Recording::create(&out, RecordingOptions::default()).unwrap();
    let recorder = Arc::new(Recorder::new(recording, Redact::default(), 1 << 20));
    let fill = Arc::new(Fill::new(replay(&snapshot), recorder.clone()));
    let (gateway, client) = start(Target::Fill(fill), |config| {
        config.connect_to.push(format!("::{}", origin.address).parse().unwrap());
        config.extra_roots.push(dir.join("roots.pem"));
    })
    .await;
    let mut connection = client.https("shop.test:443", &["h2"]).await;
    connection.ask(request(Method::GET, "https://shop.test/hello", body::empty())).await;
    assert_eq!(recorder.report().recorded, 0);
    let post = request(Method::POST, "https://shop.test/echo", body::full("new"));
    assert_eq!(connection.ask(post).await.text(), "new");
    assert_eq!(
        connection.ask(request(Method::GET, "https://shop.test/range", body::empty())).await.status,
        206
    );
    assert_eq!(levels(&gateway).await, [Level::Exact, Level::Live, Level::Live]);
    assert_eq!(recorder.report().recorded, 2);
    talk(&client).await;
    assert_eq!(gateway.ledger().entries()[3].answer, Level::Live);

    // What was fetched is not fetched again, the socket's frames included.
    while recorder.report().open > 0 {
        tokio::task::yield_now().await;
    }
    drop(origin);
    let post = request(Method::POST, "https://shop.test/echo", body::full("new"));
    assert_eq!(connection.ask(post).await.text(), "new");
    talk(&client).await;
    let answers: Vec<_> = levels(&gateway).await.split_off(4);
    assert_eq!(answers, [Level::Exact, Level::Exact]);
    assert_eq!(recorder.report().recorded, 3);
}

#[tokio::test]
async fn a_body_that_cannot_be_looked_up_is_answered_by_name() {
    let limits = Limits { replayed_body: 1000, ..Limits::default() };
    let (gateway, client) =
        start(Target::Replay(Arc::new(Replay::default())), |config| config.limits = limits).await;
    let mut connection = client.https("shop.test:443", &["h2"]).await;
    let post = |size| request(Method::POST, "https://shop.test/", body::full(vec![0; size]));
    assert_eq!(connection.ask(post(1000)).await.status, 404);
    assert_eq!(connection.ask(post(1001)).await.failure(), (413, "body-too-large"));
    assert!(matches!(levels(&gateway).await[1], Level::Failed { .. }));
}
