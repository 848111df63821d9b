//! `kill -9` while recording loses nothing that a client had fully received.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, ensure};
use hyper::body::Bytes;

use crate::harness::{Bench, live_web, origin};

/// The recorder is killed once this many answers have arrived.
const ENOUGH: usize = 60;

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_received_survives_kill_9() -> Result<()> {
    let bench = Bench::new()?;
    let origin = origin().await?;
    let file = bench.path("killed.wacz");
    let live = live_web(&origin);
    let mut arguments = vec!["record", "--listen=127.0.0.1:0", "-o", file.as_str()];
    arguments.extend(live.iter().map(String::as_str));
    let recorder = bench.proxy(&arguments)?;

    let received = Arc::new(Mutex::new(Vec::<(String, Bytes)>::new()));
    let enough = Arc::new(tokio::sync::Notify::new());
    let mut clients = tokio::task::JoinSet::new();
    for worker in 0..4 {
        let (client, received, enough) = (recorder.client()?, Arc::clone(&received), Arc::clone(&enough));
        clients.spawn(async move {
            for number in 0.. {
                let url = format!("https://www.aldria-rail.test/?worker={worker}&number={number}");
                // The first failure is the kill.
                let Ok(answer) = client.get(&url).await else { return };
                let mut received = received.lock().expect("no client panics");
                received.push((url, answer.into_body()));
                if received.len() >= ENOUGH {
                    enough.notify_one();
                }
            }
        });
    }
    tokio::time::timeout(Duration::from_secs(60), enough.notified()).await?;
    recorder.kill()?;
    while clients.join_next().await.is_some() {}
    origin.stop().await;
    ensure!(!file.exists(), "a killed recording is no snapshot yet");

    bench.succeed(&["snapshot", "repair", file.as_str()])?;
    bench.succeed(&["snapshot", "verify", file.as_str()])?;
    let replay = bench.proxy(&["replay", file.as_str()])?;
    let client = replay.client()?;
    let received = std::mem::take(&mut *received.lock().expect("no client panics"));
    ensure!(received.len() >= ENOUGH);
    for (url, body) in received {
        let answer = client.get(&url).await?;
        ensure!(answer.status() == 200 && *answer.body() == body, "{url}: {}", answer.status());
    }
    Ok(())
}
