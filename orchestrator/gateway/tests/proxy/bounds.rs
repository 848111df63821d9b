//! Clients that are slow, broken or greedy are bounded, and others do not notice.

use std::time::Duration;

use gateway::{Limits, body};
use http::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::request;
use crate::origin::PATIENCE;
use crate::world::{Setup, World};

fn hasty() -> Limits {
    let soon = Duration::from_millis(200);
    Limits { client_head: soon, client_stall: soon, upstream_head: soon, ..Limits::default() }
}

async fn hasty_world() -> World {
    Setup { limits: hasty(), ..Setup::default() }.plain().await
}

/// Sends bytes and reads until the gateway closes.
async fn say(mut tcp: TcpStream, bytes: &[u8]) -> String {
    let _ = tcp.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = timeout(PATIENCE, tcp.read_to_end(&mut answer)).await.expect("the gateway closes");
    String::from_utf8_lossy(&answer).into_owned()
}

async fn still_serves(world: &World) {
    assert_eq!(world.client.get("http://shop.test/hello").await.status, 200);
}

#[tokio::test]
async fn heads_beyond_64_kib_get_431() {
    let world = hasty_world().await;
    for (size, expect) in
        [(60 * 1024, "HTTP/1.1 404"), (70 * 1024, "HTTP/1.1 431"), (1 << 20, "HTTP/1.1 431")]
    {
        let tcp = TcpStream::connect(world.gateway.local_addr().unwrap()).await.unwrap();
        let head = format!(
            "GET http://shop.test/ HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\nX-Large: {}\r\n\r\n",
            "a".repeat(size)
        );
        let answer = say(tcp, head.as_bytes()).await;
        // A client that is still writing when it is refused may only see the reset.
        assert!(
            answer.starts_with(expect) || (size == 1 << 20 && answer.is_empty()),
            "{size}: {answer:.100}"
        );
    }
    let mut connection =
        Setup::default().tls(true).await.client.https("shop.test:443", &["h2"]).await;
    let mut ask = request(Method::GET, "https://shop.test/hello", body::empty());
    ask.headers_mut().insert("x-large", "a".repeat(70 * 1024).parse().unwrap());
    match connection.send(ask).await {
        Ok(response) => assert_eq!(response.status(), 431),
        Err(error) => assert!(!error.is_user(), "{error}"),
    }
    still_serves(&world).await;
}

#[tokio::test]
async fn clients_that_do_not_go_on_are_dropped() {
    let world = hasty_world().await;
    let address = world.gateway.local_addr().unwrap();
    let connect = || async { TcpStream::connect(address).await.unwrap() };
    // No byte; half a head; a tunnel without a byte; half a TLS hello; a kept connection without a
    // second request.
    say(connect().await, b"").await;
    say(connect().await, b"GET http://shop.test/ HTT").await;
    say(world.client.tunnel("shop.test:443").await, b"").await;
    say(world.client.tunnel("shop.test:443").await, &[0x16, 3, 1, 0, 200, 1]).await;
    let kept =
        say(connect().await, b"GET http://shop.test/hello HTTP/1.1\r\nHost: shop.test\r\n\r\n")
            .await;
    assert!(kept.starts_with("HTTP/1.1 200"), "{kept}");
    still_serves(&world).await;
}

#[tokio::test]
async fn an_h2_client_that_asks_nothing_is_dropped_and_one_that_waits_is_not() {
    let limits = Limits { upstream_head: PATIENCE, ..hasty() };
    let world = Setup { limits, ..Setup::default() }.tls(true).await;
    let mut silent = world.client.tls("shop.test:443", &["h2"]).await;
    let mut rest = Vec::new();
    let _ = timeout(PATIENCE, silent.read_to_end(&mut rest)).await.expect("the gateway closes");

    let mut waiting = world.client.https("shop.test:443", &["h2"]).await;
    let stall = waiting.send(request(Method::GET, "https://shop.test/stall", body::empty()));
    assert!(timeout(Duration::from_millis(600), stall).await.is_err(), "a request is under way");
    let hello = waiting.ask(request(Method::GET, "https://shop.test/hello", body::empty())).await;
    assert_eq!(hello.status, 200);
}

#[tokio::test]
async fn garbage_in_place_of_tls_is_dropped() {
    let world = hasty_world().await;
    for bytes in [
        &[0x16_u8, 3, 1, 0, 5, 1, 2, 3, 4, 5][..],
        &[0x16; 4096],
        &[0x16, 3, 1, 0xff, 0xff],
        &[0; 512],
    ] {
        let answer = say(world.client.tunnel("shop.test:443").await, bytes).await;
        assert!(!answer.contains("200 OK"), "{answer}");
    }
    let answer =
        say(world.client.tunnel("shop.test:443").await, b"CONNECT a.test:1 HTTP/1.1\r\n\r\n").await;
    assert!(answer.contains("bad-connect"), "{answer}");
    still_serves(&world).await;
}

#[tokio::test]
async fn requests_that_name_no_url_are_told_so() {
    let world = hasty_world().await;
    for (head, name) in [
        ("GET / HTTP/1.1\r\nHost: shop.test\r\n", "not-proxied"),
        ("GET ftp://shop.test/ HTTP/1.1\r\nHost: shop.test\r\n", "bad-scheme"),
        ("GET http://user@shop.test/ HTTP/1.1\r\nHost: shop.test\r\n", "bad-host"),
        ("CONNECT shop.test HTTP/1.1\r\nHost: shop.test\r\n", "bad-connect"),
    ] {
        let tcp = TcpStream::connect(world.gateway.local_addr().unwrap()).await.unwrap();
        let answer = say(tcp, format!("{head}Connection: close\r\n\r\n").as_bytes()).await;
        assert!(answer.contains(&format!("sandbox-error: {name}")), "{head}: {answer}");
    }
    let tunnel = world.client.tunnel("shop.test:80").await;
    let answer =
        say(tunnel, b"GET / HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 421"), "{answer}");
}

#[tokio::test]
async fn an_upload_that_stalls_is_given_up() {
    let world = hasty_world().await;
    let tcp = TcpStream::connect(world.gateway.local_addr().unwrap()).await.unwrap();
    let answer = say(
        tcp,
        b"POST http://shop.test/echo HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 10\r\n\r\nhalf",
    )
    .await;
    assert!(answer.contains("sandbox-error: client-stalled"), "{answer}");
    assert!(world.recorded().is_empty());
    still_serves(&world).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_given_up_and_holds_little() {
    let world = hasty_world().await;
    let mut tcp = TcpStream::connect(world.gateway.local_addr().unwrap()).await.unwrap();
    let head = b"GET http://shop.test/chunked?200000000 HTTP/1.1\r\nHost: shop.test\r\n\r\n";
    tcp.write_all(head).await.unwrap();
    world.gateway.in_flight().idle(PATIENCE).await.unwrap_or_else(|busy| panic!("{busy}"));
    timeout(PATIENCE, async {
        while world.recorder().report().partial == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    assert!(world.recorded().is_empty());
    still_serves(&world).await;
}

#[tokio::test]
async fn connections_beyond_the_bound_wait() {
    let limits =
        Limits { connections: 2, client_head: Duration::from_millis(300), ..Limits::default() };
    let world = Setup { limits, ..Setup::default() }.plain().await;
    let _first = TcpStream::connect(world.gateway.local_addr().unwrap()).await.unwrap();
    let _second = TcpStream::connect(world.gateway.local_addr().unwrap()).await.unwrap();
    // The third is served once the silent ones have been dropped.
    timeout(PATIENCE, still_serves(&world)).await.unwrap();
}
