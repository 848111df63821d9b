//! Clients that are slow, broken or greedy: they are bounded, and nobody else notices.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::harness::{Bench, Proxy, text};
use crate::server::{Server, begin, say};

/// What a deadline of two seconds may take on a busy machine.
const IN_TIME: Duration = Duration::from_secs(20);
/// The beginning of a request; what follows ends with an empty line.
const REQUEST: &str =
    "GET http://site.test/hello HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n";

struct World {
    bench: Bench,
    proxy: Proxy,
    /// Told when the endless answer could not be given any further.
    gave_up: Arc<Notify>,
    _server: Server,
}

/// A recorder with a deadline of two seconds, and a server that answers `/endless` for as long as
/// somebody takes it.
async fn world() -> Result<World> {
    let bench = Bench::new()?;
    let gave_up = Arc::new(Notify::new());
    let notify = Arc::clone(&gave_up);
    let server = Server::start(move |path, mut tcp| {
        let notify = Arc::clone(&notify);
        async move {
            if path != "/endless" {
                return say(&mut tcp, path.as_bytes()).await;
            }
            begin(&mut tcp, 1 << 40).await?;
            while tcp.write_all(&[b'x'; 4096]).await.is_ok() {}
            notify.notify_one();
            Ok(())
        }
    })
    .await?;
    let file = bench.path("clients.wacz");
    let proxy = bench.proxy(&[
        "record",
        "--listen=127.0.0.1:0",
        "--stall-timeout=2",
        &server.as_live_web(),
        "-o",
        file.as_str(),
    ])?;
    Ok(World { bench, proxy, gave_up, _server: server })
}

impl World {
    async fn connect(&self) -> Result<TcpStream> {
        let tcp = TcpStream::connect(self.proxy.address).await?;
        tcp.set_nodelay(true)?;
        Ok(tcp)
    }

    /// A whole request with this beginning.
    fn request(&self, head: &str) -> Result<String> {
        Ok(format!("{head}{}\r\n", self.proxy.client()?.authorization()))
    }

    /// Another client is served, and quickly.
    async fn serves_others(&self) -> Result<()> {
        let answer =
            timeout(IN_TIME, self.proxy.client()?.get("http://site.test/others")).await??;
        ensure!(text(answer.body()) == "/others", "{}", answer.status());
        Ok(())
    }

    /// The proxy ends well, and what it recorded is whole.
    fn end(self) -> Result<()> {
        self.proxy.end()?;
        self.bench.succeed(&["snapshot", "verify", self.bench.path("clients.wacz").as_str()])?;
        Ok(())
    }
}

/// Reads until the other side closes, in time.
async fn rest(tcp: &mut TcpStream) -> Result<String> {
    let mut bytes = Vec::new();
    // A reset is an end as well.
    let _ = timeout(IN_TIME, tcp.read_to_end(&mut bytes))
        .await
        .context("the connection was not closed")?;
    Ok(text(&bytes))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_comes_byte_by_byte_is_answered_and_one_that_never_ends_is_cut() -> Result<()>
{
    let world = world().await?;
    let mut slow = world.connect().await?;
    for (number, byte) in world.request(REQUEST)?.bytes().enumerate() {
        slow.write_all(&[byte]).await?;
        if number % 30 == 0 {
            world.serves_others().await?;
        }
    }
    ensure!(rest(&mut slow).await?.ends_with("/hello"));

    let mut silent = world.connect().await?;
    silent.write_all(&REQUEST.as_bytes()[..40]).await?;
    let mut dripping = world.connect().await?;
    dripping.write_all(b"GET http://site.test/hello HTTP/1.1\r\nX-Endless: ").await?;
    let begun = Instant::now();
    let mut end = [0];
    // A byte now and then is no progress that counts.
    while timeout(Duration::from_millis(100), dripping.read(&mut end)).await.is_err() {
        ensure!(begun.elapsed() < IN_TIME, "a request without end was not cut");
        // Fails once the proxy has closed, which the next read sees.
        let _ = dripping.write_all(b"x").await;
    }
    world.serves_others().await?;
    rest(&mut silent).await?;
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_takes_nothing_is_cut_and_holds_little() -> Result<()> {
    let world = world().await?;
    let mut idle = world.connect().await?;
    let endless = "GET http://site.test/endless HTTP/1.1\r\nHost: site.test\r\n";
    idle.write_all(world.request(endless)?.as_bytes()).await?;
    world.serves_others().await?;
    timeout(IN_TIME, world.gave_up.notified()).await.context("the server was read on and on")?;
    world.serves_others().await?;
    let peak = world.proxy.peak_memory()?;
    ensure!(peak < 150, "the proxy held {peak} MiB");
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_ends_its_own_connection_and_nothing_else() -> Result<()> {
    let world = world().await?;
    let noise: Vec<u8> =
        (0..70_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let hello = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];
    for bytes in [
        &noise[..],
        b"\0\0\0\0",
        b"\r\n\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        &[0x16; 5000],
    ] {
        let mut plain = world.connect().await?;
        // Refused in the middle of it, perhaps.
        let _ = plain.write_all(bytes).await;
        let answer = rest(&mut plain).await?;
        ensure!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
    }
    for bytes in [
        &noise[..],
        &[&hello[..], &noise].concat(),
        &hello,
        &[0x16, 3, 1, 0xff, 0xff],
        &[0x16, 3, 1, 0, 0],
        &[0x15, 3, 3, 0, 2, 2, 40],
        b"\0",
    ] {
        let mut tunnel = world.proxy.client()?.tunnel("site.test", 443).await?;
        let _ = tunnel.write_all(bytes).await;
        let answer = rest(&mut tunnel).await?;
        ensure!(!answer.contains("HTTP/1.1 2"), "{answer}");
    }
    world.serves_others().await?;
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_beyond_64_kib_is_refused_by_status_and_one_below_is_replayed() -> Result<()> {
    let world = world().await?;
    let client = world.proxy.client()?;
    let large = "a".repeat(60 * 1024);
    let answer = client.send("http://site.test/large", "GET", &[("x-large", &large)], "").await?;
    ensure!(answer.status() == 200);
    let larger = "a".repeat(70 * 1024);
    let answer = client.send("http://site.test/larger", "GET", &[("x-large", &larger)], "").await?;
    ensure!(answer.status() == 431, "{}", answer.status());
    let World { bench, proxy, .. } = world;
    proxy.end()?;
    let replay = bench.proxy(&["replay", bench.path("clients.wacz").as_str()])?;
    let answer =
        replay.client()?.send("http://site.test/large", "GET", &[("x-large", &large)], "").await?;
    ensure!(answer.status() == 200 && answer.body() == "/large");
    replay.end()?;
    Ok(())
}
