//! What passes, passes unchanged: protocols on both sides, bodies both ways, headers.

use gateway::body;
use http::Method;

use crate::client::request;
use crate::world::Setup;

fn forward() -> Setup {
    Setup { record: false, ..Setup::default() }
}

#[tokio::test]
async fn plain_http_by_absolute_url() {
    let world = forward().plain().await;
    let answer = world.client.get("http://shop.test/hello").await;
    assert_eq!(answer.text(), "hello from shop.test by HTTP/1.1");
}

#[tokio::test]
async fn plain_http_inside_connect() {
    let world = forward().plain().await;
    let mut connection = world.client.plain_tunnel("shop.test:8080").await;
    let mut ask = request(Method::GET, "/hello", body::empty());
    ask.headers_mut().insert("host", "shop.test:8080".parse().unwrap());
    let answer = match &mut connection {
        crate::client::Connection::Http1(sender) => {
            crate::client::collect(sender.send_request(ask).await.unwrap()).await.unwrap()
        }
        crate::client::Connection::Http2(_) => unreachable!(),
    };
    assert_eq!(answer.text(), "hello from shop.test:8080 by HTTP/1.1");
    assert_eq!(world.gateway.ledger().entries()[0].url, "http://shop.test:8080/hello");
}

#[tokio::test]
async fn tls_in_every_pair_of_versions() {
    for upstream_h2 in [false, true] {
        let world = forward().tls(upstream_h2).await;
        for alpn in ["http/1.1", "h2"] {
            let mut connection = world.client.https("shop.test:443", &[alpn]).await;
            for _ in 0..3 {
                let answer = connection
                    .ask(request(Method::GET, "https://shop.test/hello", body::empty()))
                    .await;
                let version = if upstream_h2 { "HTTP/2.0" } else { "HTTP/1.1" };
                assert_eq!(
                    answer.text(),
                    format!("hello from shop.test by {version}"),
                    "client {alpn}"
                );
            }
        }
    }
}

#[tokio::test]
async fn an_address_is_a_host() {
    let world = forward().tls(true).await;
    let answer = world.client.get("https://127.0.0.1/hello").await;
    assert_eq!(answer.text(), "hello from 127.0.0.1 by HTTP/2.0");
    // The client believes us for the address; the origin has no certificate for it.
    let answer = world.client.get("https://[2001:db8::7]/hello").await;
    assert_eq!(answer.failure(), (502, "upstream-tls"));
}

#[tokio::test]
async fn large_bodies_stream_both_ways() {
    let world = forward().tls(true).await;
    let size = 8 << 20;
    for alpn in ["http/1.1", "h2"] {
        let mut connection = world.client.https("shop.test:443", &[alpn]).await;
        let sent = vec![7; size];
        let post = request(Method::POST, "https://shop.test/echo", body::full(sent.clone()));
        let answer = connection.ask(post).await;
        assert_eq!((answer.header("x-method"), answer.body.len()), (Some("POST"), size));
        assert!(answer.body == sent);
        for path in ["sized", "chunked"] {
            let url = format!("https://shop.test/{path}?{size}");
            let answer = connection.ask(request(Method::GET, &url, body::empty())).await;
            assert_eq!(answer.body.len(), size, "{path} over {alpn}");
        }
    }
}

#[tokio::test]
async fn trailers_pass() {
    for alpn in ["http/1.1", "h2"] {
        let world = forward().tls(true).await;
        let mut connection = world.client.https("shop.test:443", &[alpn]).await;
        let mut ask = request(Method::GET, "https://shop.test/trailers", body::empty());
        ask.headers_mut().insert("te", "trailers".parse().unwrap());
        let answer = connection.ask(ask).await;
        assert_eq!(answer.text(), "body");
        assert_eq!(answer.trailers.unwrap()["x-check"], "42", "over {alpn}");
    }
}

#[tokio::test]
async fn headers_of_the_connection_stay_behind() {
    let world = forward().plain().await;
    let mut connection = world.client.absolute().await;
    let mut ask = request(Method::GET, "http://shop.test/headers", body::empty());
    for (name, value) in [
        ("accept-encoding", "gzip, br, zstd"),
        ("proxy-authorization", "Basic eA=="),
        ("connection", "x-hop"),
        ("x-hop", "1"),
        ("te", "gzip"),
        ("x-end", "2"),
    ] {
        ask.headers_mut().append(name, value.parse().unwrap());
    }
    let answer = connection.ask(ask).await;
    assert_eq!(answer.text(), "host: shop.test\naccept-encoding: gzip, br, zstd\nx-end: 2\n");

    let answer = world.client.get("http://shop.test/hello").await;
    assert_eq!(answer.header("alt-svc"), None);
    assert_eq!(answer.header("x-last"), Some("end"));
    assert_eq!(answer.headers.get_all("set-cookie").iter().count(), 2);
}

#[tokio::test]
async fn spelling_and_reason_pass_from_end_to_end() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let origin = crate::origin::Origin::raw(|mut tcp| async move {
        let mut seen = Vec::new();
        while !seen.ends_with(b"\r\n\r\n") {
            seen.push(tcp.read_u8().await.unwrap());
        }
        let request = String::from_utf8(seen).unwrap();
        assert!(request.contains("\r\nX-CamelCase: 1\r\n"), "{request}");
        tcp.write_all(b"HTTP/1.1 200 Fine So Far\r\nX-OdD: 1\r\nContent-Length: 2\r\n\r\nok")
            .await
            .unwrap();
    })
    .await;
    let world = forward().with(origin, None).await;
    let mut tcp =
        tokio::net::TcpStream::connect(world.gateway.local_addr().unwrap()).await.unwrap();
    let ask = "GET http://shop.test/ HTTP/1.1\r\nHost: shop.test\r\nX-CamelCase: 1\r\nConnection: close\r\n\r\n";
    tcp.write_all(ask.as_bytes()).await.unwrap();
    let mut answer = String::new();
    tcp.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 Fine So Far\r\nX-OdD: 1\r\n"), "{answer}");
}

#[tokio::test]
async fn expect_continue_is_met() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let world = forward().plain().await;
    let mut tcp =
        tokio::net::TcpStream::connect(world.gateway.local_addr().unwrap()).await.unwrap();
    let head = "POST http://shop.test/echo HTTP/1.1\r\nHost: shop.test\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
    tcp.write_all(head.as_bytes()).await.unwrap();
    let mut interim = [0; 25];
    tcp.read_exact(&mut interim).await.unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    tcp.write_all(b"body").await.unwrap();
    let mut answer = [0; 12];
    tcp.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
}

#[tokio::test]
async fn a_connection_gone_stale_is_replaced_unseen() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    // Answers one request on each connection, says it stays open, and closes at the next request.
    let origin = crate::origin::Origin::raw(|mut tcp| async move {
        let mut seen = Vec::new();
        while !seen.ends_with(b"\r\n\r\n") {
            seen.push(tcp.read_u8().await.unwrap());
        }
        tcp.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
        let _ = tcp.read_u8().await;
    })
    .await;
    let world = forward().with(origin, None).await;
    let mut connection = world.client.absolute().await;
    for _ in 0..3 {
        let answer = connection.ask(request(Method::GET, "http://shop.test/", body::empty())).await;
        assert_eq!(answer.text(), "ok");
    }
}

/// A server may close a connection at the very moment at which the next request is to go over it.
#[tokio::test]
async fn connections_that_end_unannounced_cost_no_request() {
    let origin = crate::origin::Origin::raw(|mut tcp| async move {
        let mut buffer = [0; 4096];
        if let Ok(1..) = tokio::io::AsyncReadExt::read(&mut tcp, &mut buffer).await {
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
            tokio::io::AsyncWriteExt::write_all(&mut tcp, answer).await.unwrap();
        }
    })
    .await;
    let world = Setup { record: false, ..Setup::default() }.with(origin, None).await;
    for number in 0..500 {
        let answer = world.client.get("http://shop.test/hello").await;
        assert_eq!((answer.status.as_u16(), answer.text()), (200, "ok"), "request {number}");
    }
}
