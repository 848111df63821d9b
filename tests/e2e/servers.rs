//! Servers that stall, break off or say too much while they are recorded: the client is told, the
//! snapshot is whole, and other requests do not notice.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::Client;
use crate::harness::{Bench, text};
use crate::server::{Server, begin, say};

/// What a deadline of two seconds may take on a busy machine.
const IN_TIME: Duration = Duration::from_secs(20);
const BODY: &[u8] = b"a body of some length";

async fn answer(path: String, mut tcp: TcpStream) -> Result<()> {
    match path.as_str() {
        "/silent" => std::future::pending().await,
        "/no-body" | "/stalls" | "/resets" => {
            begin(&mut tcp, 2 * BODY.len() as u64).await?;
            if path != "/no-body" {
                tcp.write_all(BODY).await?;
            }
            if path == "/resets" {
                return Ok(tcp.set_zero_linger()?);
            }
            std::future::pending().await
        }
        "/resets-at-once" => Ok(tcp.set_zero_linger()?),
        "/much-head" | "/too-much-head" => {
            let size = if path == "/much-head" { 60 } else { 70 } * 1024;
            tcp.write_all(
                format!("HTTP/1.1 200 OK\r\nX-Large: {}\r\n", "a".repeat(size)).as_bytes(),
            )
            .await?;
            tcp.write_all(b"Content-Length: 4\r\nConnection: close\r\n\r\ngood").await?;
            Ok(tcp.shutdown().await?)
        }
        _ => say(&mut tcp, path.as_bytes()).await,
    }
}

/// Expects one of our own failures, by name and status.
async fn fails(client: &Client, path: &str, status: u16, name: &str) -> Result<()> {
    let answer = timeout(IN_TIME, client.get(&format!("http://slow.test{path}"))).await??;
    ensure!(answer.status() == status, "{path}: {}", answer.status());
    ensure!(answer.headers()["sandbox-error"] == name, "{path}: {:?}", answer.headers());
    ensure!(text(answer.body()).contains("slow.test"), "{path}: {}", text(answer.body()));
    Ok(())
}

/// Expects a body that is cut off.
async fn breaks_off(client: &Client, path: &str) -> Result<()> {
    match timeout(IN_TIME, client.get(&format!("http://slow.test{path}"))).await? {
        Ok(answer) => bail!("{path} ended well, with {} bytes", answer.body().len()),
        Err(_) => Ok(()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_servers_harm_nothing_but_their_own_answers() -> Result<()> {
    let bench = Bench::new()?;
    let server = Server::start(answer).await?;
    let file = bench.path("bad.wacz");
    let recorder = bench.proxy(&[
        "record",
        "--listen=127.0.0.1:0",
        "--stall-timeout=2",
        &server.as_live_web(),
        "-o",
        file.as_str(),
    ])?;
    let client = recorder.client()?;
    let good = async {
        // Far quicker than the bad ones are given up.
        for number in 0..50 {
            let answer = client.get(&format!("http://slow.test/good/{number}")).await?;
            ensure!(text(answer.body()) == format!("/good/{number}"));
        }
        anyhow::Ok(())
    };
    tokio::try_join!(
        good,
        fails(&client, "/silent", 504, "upstream-timeout"),
        fails(&client, "/resets-at-once", 502, "upstream-broken"),
        fails(&client, "/too-much-head", 502, "upstream-broken"),
        breaks_off(&client, "/no-body"),
        breaks_off(&client, "/stalls"),
        breaks_off(&client, "/resets"),
    )?;
    let large = client.get("http://slow.test/much-head").await?;
    ensure!(large.headers()["x-large"].len() == 60 * 1024 && large.body() == "good");

    let said = recorder.end()?;
    drop(server);
    for (path, why) in [
        ("/silent", "within 2s"),
        ("/resets-at-once", "get an answer from slow.test"),
        ("/too-much-head", "get an answer from slow.test"),
        ("/no-body", "nothing for 2s"),
        ("/stalls", "nothing for 2s"),
        ("/resets", "it broke off"),
    ] {
        let line = said
            .lines()
            .find(|line| line.contains(&format!("not recorded: http://slow.test{path}: ")));
        ensure!(line.is_some_and(|line| line.contains(why)), "{path} is not explained:\n{said}");
    }
    bench.succeed(&["snapshot", "verify", file.as_str()])?;

    let replay = bench.proxy(&["replay", file.as_str()])?;
    let client = replay.client()?;
    for number in 0..50 {
        let answer = client.get(&format!("http://slow.test/good/{number}")).await?;
        ensure!(text(answer.body()) == format!("/good/{number}"));
    }
    let large = client.get("http://slow.test/much-head").await?;
    ensure!(large.headers()["x-large"].len() == 60 * 1024 && large.body() == "good");
    for path in ["/silent", "/resets-at-once", "/too-much-head", "/no-body", "/stalls", "/resets"] {
        let answer = client.get(&format!("http://slow.test{path}")).await?;
        ensure!(answer.status() == 404, "{path}: half an answer is none");
    }
    replay.end()?;
    Ok(())
}
