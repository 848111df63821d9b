//! Frames of HTTP/2 that no well-meaning client sends: each is cheap to send, and must be cheap to
//! get.

use std::time::Duration;

use gateway::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use crate::origin::PATIENCE;
use crate::world::{Setup, World};

const DATA_END: u8 = 1;
const HEADERS_END: u8 = 4;

const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const CONTINUATION: u8 = 9;

/// GET https://shop.test/hello, in the codes of HPACK's static table.
const GET: &[u8] = b"\x82\x87\x44\x06/hello\x41\x09shop.test";

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

async fn world() -> World {
    let limits = Limits { client_stall: Duration::from_secs(2), ..Limits::default() };
    Setup { limits, record: false, ..Setup::default() }.tls(true).await
}

async fn begin(world: &World) -> TlsStream<TcpStream> {
    let mut tls = world.client.tls("shop.test:443", &["h2"]).await;
    tls.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    tls.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
    tls
}

/// Sends what `next` makes until the gateway has had enough; the reason that it gives in its
/// GOAWAY, if it gave one.
async fn flood(
    tls: TlsStream<TcpStream>,
    count: u32,
    next: impl Fn(u32) -> Vec<u8> + Send + 'static,
) -> Option<u32> {
    let (mut read, mut write) = tokio::io::split(tls);
    let sending = tokio::spawn(async move {
        for number in 0..count {
            if write.write_all(&next(number)).await.is_err() {
                return;
            }
        }
        let _ = write.shutdown().await;
    });
    let reading = async {
        loop {
            let mut head = [0; 9];
            read.read_exact(&mut head).await.ok()?;
            let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
            read.read_exact(&mut payload).await.ok()?;
            if head[3] == GO_AWAY && payload[4..8] != [0; 4] {
                return Some(u32::from_be_bytes(payload[4..8].try_into().unwrap()));
            }
        }
    };
    let reason = timeout(PATIENCE, reading).await.expect("the gateway closes");
    sending.abort();
    reason
}

async fn harmless(world: &World) {
    let answer = timeout(PATIENCE, world.client.get("https://shop.test/hello")).await.unwrap();
    assert_eq!(answer.status, 200);
    world.gateway.in_flight().idle(PATIENCE).await.unwrap_or_else(|busy| panic!("{busy}"));
}

#[tokio::test]
async fn requests_that_are_reset_at_once() {
    let world = world().await;
    let reason = flood(begin(&world).await, 20_000, |number| {
        let stream = 2 * number + 1;
        let head = frame(HEADERS, DATA_END | HEADERS_END, stream, GET);
        [head, frame(RESET, 0, stream, &8_u32.to_be_bytes())].concat()
    })
    .await;
    assert_eq!(reason, Some(11), "ENHANCE_YOUR_CALM");
    harmless(&world).await;
}

#[tokio::test]
async fn heads_without_an_end() {
    let world = world().await;
    let reason = flood(begin(&world).await, 20_000, |number| match number {
        0 => frame(HEADERS, DATA_END, 1, GET),
        _ => frame(
            CONTINUATION,
            0,
            1,
            b"\x00\x01a\x40aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ),
    })
    .await;
    assert_eq!(reason, Some(11), "ENHANCE_YOUR_CALM");
    harmless(&world).await;
}

#[tokio::test]
async fn more_requests_at_once_than_are_taken() {
    let world = world().await;
    // None of them takes an answer: the window is closed.
    let mut tls = begin(&world).await;
    tls.write_all(&frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0])).await.unwrap();
    for number in 0..2000 {
        tls.write_all(&frame(HEADERS, DATA_END | HEADERS_END, 2 * number + 1, GET)).await.unwrap();
    }
    let answer = timeout(PATIENCE, world.client.get("https://shop.test/hello")).await.unwrap();
    assert_eq!(answer.status, 200);
    assert!(
        world.gateway.in_flight().counts().requests <= 256,
        "{:?}",
        world.gateway.in_flight().counts()
    );
    harmless(&world).await;
}

#[tokio::test]
async fn pings_and_settings_without_end() {
    let world = world().await;
    for kind in [PING, SETTINGS] {
        let payload: &[u8] = if kind == PING { &[0; 8] } else { &[] };
        let mut tls = begin(&world).await;
        let sending = async {
            for _ in 0..50_000 {
                // Nothing of what comes back is read.
                if tls.write_all(&frame(kind, 0, 0, payload)).await.is_err() {
                    return;
                }
            }
        };
        // Who does not read what it asked for is no longer read from, and is given up.
        timeout(PATIENCE, sending).await.expect("the gateway goes on or closes");
        harmless(&world).await;
    }
}
