//! Filling the gaps of a snapshot: each missing page is fetched once, and nothing is missing
//! afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, ensure};

use crate::harness::{Bench, text};
use crate::server::{Server, say};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_is_fetched_once_and_recorded() -> Result<()> {
    let bench = Bench::new()?;
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&requests);
    // Says something else each time, as the live web does.
    let server = Server::start(move |path, mut tcp| {
        let now = counter.fetch_add(1, Ordering::SeqCst);
        async move { say(&mut tcp, format!("{path}, answer {now}").as_bytes()).await }
    })
    .await?;
    let live = server.as_live_web();
    let (old, new) = (bench.path("old.wacz"), bench.path("new.wacz"));
    let recorder = bench.proxy(&["record", "--listen=127.0.0.1:0", &live, "-o", old.as_str()])?;
    recorder.client()?.get("http://site.test/known").await?;
    recorder.end()?;

    let expected = [
        ("http://site.test/known", "/known, answer 0"),
        ("http://site.test/missed", "/missed, answer 1"),
        ("http://site.test/also?a=1&b=2", "/also?a=1&b=2, answer 2"),
    ];
    let filling = bench.proxy(&["replay", old.as_str(), "--fill", new.as_str(), &live])?;
    let client = filling.client()?;
    for _ in 0..3 {
        for (url, body) in expected {
            ensure!(text(client.get(url).await?.body()) == body, "{url}");
        }
    }
    ensure!(requests.load(Ordering::SeqCst) == 3, "asked {requests:?} times");
    // The same request but for the order of its parameters, which means nothing.
    ensure!(text(client.get("http://site.test/also?b=2&a=1").await?.body()) == expected[2].1);
    let said = filling.end()?;
    ensure!(said.contains("2 live") && said.contains("7 exact"), "{said}");
    ensure!(said.contains("new.wacz: 2 responses"), "{said}");
    drop(server);

    bench.succeed(&["snapshot", "verify", new.as_str()])?;
    let replay = bench.proxy(&["replay", old.as_str(), new.as_str()])?;
    let client = replay.client()?;
    for (url, body) in expected {
        ensure!(text(client.get(url).await?.body()) == body, "{url}");
    }
    let said = replay.end()?;
    ensure!(said.contains("answered: 3 exact\n"), "{said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn filling_is_guarded_as_recording_is() -> Result<()> {
    let bench = Bench::new()?;
    let server = Server::start(|_, mut tcp| async move { say(&mut tcp, b"secret").await }).await?;
    let new = bench.path("new.wacz");
    let filling = bench.proxy(&["replay", "snapshots/demo.wacz", "--fill", new.as_str()])?;
    let answer = filling.client()?.get(&format!("http://{}/", server.address())).await?;
    ensure!(answer.status() == 403 && answer.headers()["sandbox-error"] == "upstream-forbidden");
    filling.end()?;

    let replay = bench.run(&["replay", "snapshots/demo.wacz", "--allow-private"])?;
    ensure!(replay.status.code() == Some(2) && text(&replay.stderr).contains("--fill"));
    Ok(())
}
