//! A body of a quarter of a gigabyte is recorded and replayed as it streams by, in little memory.

use anyhow::{Context, Result, ensure};
use http_body_util::BodyExt;
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;

use crate::client::Client;
use crate::harness::{Bench, Proxy};
use crate::server::{Server, begin};

const URL: &str = "http://films.test/long.mp4";
/// More than a proxy may hold; unoptimised builds need too long for more. (A gigabyte passes as
/// well.)
const LENGTH: u64 = 256 << 20;
const CHUNK: usize = 64 << 10;
/// What a proxy may hold at its peak, in MiB.
const MEMORY: u64 = 100;

/// One chunk of the body; no two are alike.
fn chunk(number: u64) -> Vec<u8> {
    let mut chunk: Vec<u8> = format!("chunk {number:>16} ").into_bytes().repeat(CHUNK / 23 + 1);
    chunk.truncate(CHUNK);
    chunk
}

fn expected() -> [u8; 32] {
    let mut digest = Sha256::new();
    (0..LENGTH / CHUNK as u64).for_each(|number| digest.update(chunk(number)));
    digest.finalize().into()
}

/// Fetches the body without holding it.
async fn fetch(client: &Client) -> Result<[u8; 32]> {
    let mut body = client.open(URL, "GET", &[], "").await?.into_body();
    let (mut digest, mut length) = (Sha256::new(), 0);
    while let Some(frame) = body.frame().await {
        let data = frame?.into_data().ok().context("a frame of data")?;
        length += data.len() as u64;
        digest.update(&data);
    }
    ensure!(length == LENGTH, "{length} bytes");
    Ok(digest.finalize().into())
}

async fn fetch_through(proxy: &Proxy, expected: &[u8; 32]) -> Result<()> {
    ensure!(fetch(&proxy.client()?).await? == *expected, "the body is another");
    let peak = proxy.peak_memory()?;
    ensure!(peak < MEMORY, "the proxy held {peak} MiB");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_body_passes_through_little_memory() -> Result<()> {
    let bench = Bench::new()?;
    let film = Server::start(|_, mut tcp| async move {
        begin(&mut tcp, LENGTH).await?;
        for number in 0..LENGTH / CHUNK as u64 {
            tcp.write_all(&chunk(number)).await?;
        }
        Ok(())
    })
    .await?;
    let expected = tokio::task::spawn_blocking(expected).await?;
    let file = bench.path("film.wacz");
    let recorder = bench.proxy(&[
        "record",
        "--listen=127.0.0.1:0",
        &film.as_live_web(),
        "-o",
        file.as_str(),
    ])?;
    fetch_through(&recorder, &expected).await?;
    recorder.end()?;
    drop(film);

    let replay = bench.proxy(&["replay", file.as_str()])?;
    fetch_through(&replay, &expected).await?;
    replay.end()?;
    Ok(())
}
