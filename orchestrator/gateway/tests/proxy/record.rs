//! What a client has received whole is on disk, and only what is whole.

use std::sync::Arc;

use gateway::{Redact, body};
use http::Method;
use http_body_util::BodyExt;
use tokio::time::timeout;

use crate::client::request;
use crate::origin::PATIENCE;
use crate::world::Setup;

#[tokio::test]
async fn what_a_client_has_is_on_disk() {
    for (upstream_h2, protocol) in [(false, "http/1.1"), (true, "h2")] {
        let world = Setup::default().tls(upstream_h2).await;
        for alpn in ["http/1.1", "h2"] {
            let before = world.recorded().len();
            let mut connection = world.client.https("shop.test:443", &[alpn]).await;
            for path in
                ["hello", "sized?100000", "chunked?100000", "trailers", "empty", "range", "missing"]
            {
                let url = format!("https://shop.test/{path}");
                let answer = connection.ask(request(Method::GET, &url, body::empty())).await;
                // Read at once: the client has all of it, so it must be there.
                let records = world.recorded();
                let [.., response, request] = records.as_slice() else {
                    panic!("nothing recorded for {path}")
                };
                assert_eq!((response.kind, request.kind), ("response", "request"), "{path}");
                assert_eq!(
                    (response.url.as_str(), request.url.as_str()),
                    (url.as_str(), url.as_str())
                );
                assert_eq!(response.protocol.as_deref(), Some(protocol));
                assert_eq!(request.concurrent_to.as_deref(), Some(response.id.as_str()));
                assert_eq!(response.body().len(), answer.body.len(), "{path} over {alpn}");
                assert!(
                    response.head().starts_with(&format!("HTTP/1.1 {}", answer.status.as_u16()))
                );
                assert!(
                    request.head().starts_with(&format!("GET /{path} HTTP/1.1\r\nhost: shop.test")),
                    "{}",
                    request.head()
                );
            }
            assert_eq!(world.recorded().len() - before, 14);
        }
    }
}

#[tokio::test]
async fn request_bodies_are_kept_also_large_ones() {
    let world = Setup::default().tls(true).await;
    let mut connection = world.client.https("shop.test:443", &["h2"]).await;
    for size in [0, 10, 3 << 20] {
        let sent = "x".repeat(size);
        let post = request(Method::POST, "https://shop.test/echo", body::full(sent.clone()));
        connection.ask(post).await;
        let records = world.recorded();
        let [.., response, request] = records.as_slice() else { panic!("nothing recorded") };
        assert!(request.head().starts_with("POST /echo HTTP/1.1"));
        assert!(request.body() == sent && response.body() == sent, "{size}");
    }
    assert_eq!(world.recorder().report().recorded, 3);
}

#[tokio::test]
async fn a_head_is_kept_as_the_server_spelt_it() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let origin = crate::origin::Origin::raw(|mut tcp| async move {
        let mut seen = Vec::new();
        while !seen.ends_with(b"\r\n\r\n") {
            seen.push(tcp.read_u8().await.unwrap());
        }
        let head = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 Fine\r\nSet-Cookie: a=1\r\nX-OdD: 1\r\nset-cookie: b=2\r\n";
        tcp.write_all(head.as_bytes()).await.unwrap();
        tcp.write_all(b"Content-Length: 2\r\n\r\nok").await.unwrap();
    })
    .await;
    let world = Setup::default().with(origin, None).await;
    world.client.get("http://shop.test/").await;
    assert_eq!(
        world.recorded()[0].block,
        "HTTP/1.1 200 Fine\r\nSet-Cookie: a=1\r\nX-OdD: 1\r\nset-cookie: b=2\r\nContent-Length: 2\r\n\r\nok"
    );
}

#[tokio::test]
async fn head_requests_keep_their_length() {
    let world = Setup::default().plain().await;
    let mut connection = world.client.absolute().await;
    let answer =
        connection.ask(request(Method::HEAD, "http://shop.test/sized?5", body::empty())).await;
    assert_eq!(answer.header("content-length"), Some("5"));
    let records = world.recorded();
    assert!(records[0].head().contains("content-length: 5") && records[0].body().is_empty());
}

/// A browser that is led elsewhere does not wait for the rest.
#[tokio::test]
async fn a_redirect_is_on_disk_before_its_client_is_led_away() {
    let world = Setup::default().tls(true).await;
    for (count, method) in [(2, Method::GET), (4, Method::POST)] {
        let mut connection = world.client.https("shop.test:443", &["h2"]).await;
        let redirect = request(method, "https://shop.test/redirect", body::empty());
        let response = connection.send(redirect).await.unwrap();
        assert_eq!(response.status(), 303);
        drop((response, connection));
        let records = world.recorded();
        assert_eq!(records.len(), count);
        assert_eq!(records[count - 2].body(), "moved");
    }
    assert_eq!(world.recorder().report().partial, 0);
}

#[tokio::test]
async fn what_breaks_off_is_counted_and_not_kept() {
    let world = Setup::default().tls(true).await;
    for alpn in ["http/1.1", "h2"] {
        let mut connection = world.client.https("shop.test:443", &[alpn]).await;
        let half = request(Method::GET, "https://shop.test/half", body::empty());
        let mut response = connection.send(half).await.unwrap();
        let first = response.frame().await.unwrap().unwrap();
        assert_eq!(first.into_data().unwrap(), "half");
        drop((response, connection));
    }
    world.gateway.in_flight().idle(PATIENCE).await.unwrap();
    assert!(world.recorded().is_empty());
    let report = world.recorder().report();
    assert_eq!((report.recorded, report.partial, report.open), (0, 2, 0));
    assert!(report.lost[0].0 == "https://shop.test/half", "{:?}", report.lost);
}

#[tokio::test]
async fn a_body_beyond_the_bound_passes_and_is_named() {
    let world = Setup { body_cap: 1000, ..Setup::default() }.plain().await;
    for url in ["http://shop.test/sized?1001", "http://shop.test/chunked?1001"] {
        assert_eq!(world.client.get(url).await.body.len(), 1001);
    }
    let mut connection = world.client.absolute().await;
    let post = request(Method::POST, "http://shop.test/echo", body::full(vec![0; 1001]));
    assert_eq!(connection.ask(post).await.body.len(), 1001);
    assert_eq!(world.client.get("http://shop.test/sized?1000").await.body.len(), 1000);
    let report = world.recorder().report();
    assert_eq!((report.recorded, report.too_large, report.lost.len()), (1, 3, 3));
}

#[tokio::test]
async fn events_stream_and_are_kept_to_the_last_whole_one() {
    for alpn in ["http/1.1", "h2"] {
        let world = Setup::default().tls(true).await;
        let mut connection = world.client.https("shop.test:443", &[alpn]).await;
        let ask = request(Method::GET, "https://shop.test/events", body::empty());
        let mut response = connection.send(ask).await.unwrap();
        let mut seen = Vec::new();
        while seen != b"data: 1\n\ndata: 2\n\ndata: 3\n" {
            let frame = timeout(PATIENCE, response.frame()).await.unwrap().unwrap().unwrap();
            seen.extend_from_slice(&frame.into_data().unwrap());
        }
        // An open event stream is no unrest.
        world.gateway.in_flight().idle(PATIENCE).await.unwrap();
        assert_eq!(world.gateway.in_flight().counts().streams, 1);
        drop((response, connection));
        timeout(PATIENCE, async {
            while world.recorder().report().open > 0 {
                tokio::task::yield_now().await
            }
        })
        .await
        .unwrap();
        assert_eq!(world.recorded()[0].body(), "data: 1\n\ndata: 2\n\n", "over {alpn}");
    }
}

#[tokio::test]
async fn secrets_are_replaced_before_they_are_written() {
    let redact = Redact {
        headers: vec!["Authorization".into()],
        cookies: vec!["sid".into()],
        ..Redact::default()
    };
    let world = Setup { redact, ..Setup::default() }.plain().await;
    let mut connection = world.client.absolute().await;
    let mut ask = request(Method::GET, "http://shop.test/hello", body::empty());
    ask.headers_mut().insert("authorization", "Bearer secret".parse().unwrap());
    ask.headers_mut().insert("cookie", "a=1; sid=secret".parse().unwrap());
    let answer = connection.ask(ask).await;
    assert!(answer.headers.get_all("set-cookie").iter().any(|value| value == "sid=secret; Path=/"));
    let records = world.recorded();
    assert!(records.iter().all(|record| !record.block.contains("secret")));
    assert!(records[1].head().contains("cookie: a=1; sid=redacted-"));
}

#[tokio::test]
async fn many_at_once_are_all_kept_whole() {
    let world = Arc::new(Setup::default().tls(true).await);
    let clients: Vec<_> = (0..8)
        .map(|n| {
            let world = world.clone();
            tokio::spawn(async move {
                let alpn = if n % 2 == 0 { "h2" } else { "http/1.1" };
                let mut connection = world.client.https(&format!("h{n}.test:443"), &[alpn]).await;
                for size in 0..25 {
                    let url = format!("https://h{n}.test/sized?{}", size * 1000);
                    let answer = connection.ask(request(Method::GET, &url, body::empty())).await;
                    assert_eq!(answer.body.len(), size * 1000);
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    assert_eq!(world.recorded().len(), 400);
    assert_eq!(world.recorder().report().recorded, 200);
    let ledger = world.gateway.ledger().entries();
    assert_eq!(ledger.len(), 200);
    assert!(
        ledger.iter().enumerate().all(|(n, entry)| entry.seq == n as u64 && entry.status == 200)
    );
}

#[tokio::test]
async fn a_recording_can_be_finished_once_nothing_is_under_way() {
    let world = Setup::default().plain().await;
    world.client.get("http://shop.test/hello").await;
    let held = world.recorder().recording();
    assert!(world.recorder().close().is_none());
    drop(held);
    assert!(world.recorder().close().is_some());
    assert!(world.recorder().close().is_none());
    assert_eq!(world.client.get("http://shop.test/hello").await.status, 200);
    assert_eq!(world.recorder().report().partial, 1);
}
