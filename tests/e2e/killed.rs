//! `kill -9` while recording loses nothing that a client had fully received: pages, large files,
//! frames of sockets.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::{SinkExt, StreamExt};
use hyper::body::Bytes;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;

use crate::client::Client;
use crate::harness::{Bench, live_web, origin};
use crate::server::{Server, say};

/// The recorder is killed once this many answers, or frames, have arrived.
const ENOUGH: usize = 60;
const PATIENCE: Duration = Duration::from_secs(60);

/// What clients have fully received so far.
#[derive(Clone, Default)]
struct Received {
    bodies: Arc<Mutex<Vec<(String, Bytes)>>>,
    enough: Arc<tokio::sync::Notify>,
}

impl Received {
    fn push(&self, what: String, bytes: Bytes) {
        let mut received = self.bodies.lock().expect("no client panics");
        received.push((what, bytes));
        if received.len() >= ENOUGH {
            self.enough.notify_one();
        }
    }

    /// Waits until there is enough.
    async fn enough(&self) -> Result<()> {
        tokio::time::timeout(PATIENCE, self.enough.notified()).await.context("too little arrived")
    }

    fn take(&self) -> Vec<(String, Bytes)> {
        std::mem::take(&mut self.bodies.lock().expect("no client panics"))
    }
}

/// Asks for one URL after the other until the first failure, which is the kill.
async fn browse(client: Client, received: Received, url: impl Fn(usize) -> String) {
    for number in 0.. {
        let Ok(answer) = client.get(&url(number)).await else { return };
        received.push(url(number), answer.into_body());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_received_survives_kill_9() -> Result<()> {
    let bench = Bench::new()?;
    let origin = origin().await?;
    // Files of all sizes up to a few megabytes: some are held in memory until they are written,
    // some are spooled.
    let files = Server::start(|path, mut tcp| async move {
        let number: usize = path.trim_start_matches('/').parse()?;
        say(&mut tcp, path.as_bytes().repeat(1 + number % 7 * 100_000).as_slice()).await
    })
    .await?;
    let file = bench.path("killed.wacz");
    let mut live = live_web(&origin);
    live.insert(0, files.as_live_web());
    let mut arguments = vec!["record", "--listen=127.0.0.1:0", "-o", file.as_str()];
    arguments.extend(live.iter().map(String::as_str));
    let recorder = bench.proxy(&arguments)?;

    let received = Received::default();
    let mut clients = JoinSet::new();
    for worker in 0..3 {
        clients.spawn(browse(recorder.client()?, received.clone(), move |number| {
            format!("https://www.aldria-rail.test/?worker={worker}&number={number}")
        }));
    }
    clients
        .spawn(browse(recorder.client()?, received.clone(), |n| format!("http://files.test/{n}")));
    received.enough().await?;
    recorder.kill()?;
    while clients.join_next().await.is_some() {}
    origin.stop().await;
    ensure!(!file.exists(), "a killed recording is no snapshot yet");

    bench.succeed(&["snapshot", "repair", file.as_str()])?;
    bench.succeed(&["snapshot", "verify", file.as_str()])?;
    let replay = bench.proxy(&["replay", file.as_str()])?;
    let client = replay.client()?;
    let received = received.take();
    ensure!(received.len() >= ENOUGH);
    ensure!(received.iter().any(|(url, body)| url.contains("files") && body.len() > 1 << 20));
    for (url, body) in received {
        let answer = client.get(&url).await?;
        ensure!(answer.status() == 200 && *answer.body() == body, "{url}: {}", answer.status());
    }
    replay.end()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_frames_of_open_sockets_survive_kill_9() -> Result<()> {
    let bench = Bench::new()?;
    let server = Server::sockets(|mut socket| async move {
        for tick in 0.. {
            socket.send(Message::text(format!("tick {tick}"))).await?;
        }
        Ok(())
    })
    .await?;
    let file = bench.path("sockets.wacz");
    let recorder = bench.proxy(&[
        "record",
        "--listen=127.0.0.1:0",
        &server.as_live_web(),
        "-o",
        file.as_str(),
    ])?;
    let received = Received::default();
    let mut clients = JoinSet::new();
    for number in 0..3 {
        let mut socket = recorder.client()?.socket(&format!("ws://ticker.test/{number}")).await?;
        let received = received.clone();
        clients.spawn(async move {
            // The first failure is the kill.
            while let Some(Ok(message)) = socket.next().await {
                received.push(number.to_string(), message.into_data());
            }
        });
    }
    received.enough().await?;
    recorder.kill()?;
    while clients.join_next().await.is_some() {}
    drop(server);

    bench.succeed(&["snapshot", "repair", file.as_str()])?;
    bench.succeed(&["snapshot", "verify", file.as_str()])?;
    let replay = bench.proxy(&["replay", file.as_str()])?;
    let received = received.take();
    ensure!(received.len() >= ENOUGH);
    for number in 0..3 {
        let mut socket = replay.client()?.socket(&format!("ws://ticker.test/{number}")).await?;
        for (_, expected) in received.iter().filter(|(of, _)| *of == number.to_string()) {
            let message =
                tokio::time::timeout(PATIENCE, socket.next()).await?.context("a frame")??;
            ensure!(message.into_data() == *expected, "socket {number}");
        }
    }
    replay.end()?;
    Ok(())
}
