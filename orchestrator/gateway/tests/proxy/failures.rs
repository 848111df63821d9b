//! Every failure is one named response, and nothing else suffers.

use std::net::Ipv4Addr;
use std::time::Duration;

use gateway::{
    Answer as Level, CertificateAuthority, Config, Gateway, Limits, Routes, Site, Target, body,
};
use http::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::client::{Client, request};
use crate::origin::Origin;
use crate::world::Setup;

fn hasty() -> Limits {
    let soon = Duration::from_millis(200);
    Limits { connect: soon, upstream_head: soon, upstream_stall: soon, ..Limits::default() }
}

/// Reads a request, writes `bytes`, closes.
async fn says(bytes: &'static [u8]) -> Origin {
    Origin::raw(move |mut tcp| async move {
        let mut buffer = [0; 4096];
        let _ = tcp.read(&mut buffer).await;
        let _ = tcp.write_all(bytes).await;
    })
    .await
}

async fn check(origin: Origin, expect: (u16, &str)) {
    let world = Setup { limits: hasty(), ..Setup::default() }.with(origin, None).await;
    let answer = world.client.get("http://shop.test/").await;
    assert_eq!(answer.failure(), expect);
    assert!(answer.text().contains("shop.test"), "{}", answer.text());
    let entries = world.gateway.ledger().entries();
    assert!(
        matches!(&entries[0].answer, Level::Failed { error } if error.starts_with(expect.1)),
        "{entries:?}"
    );
    assert!(world.recorded().is_empty());
    assert_eq!(world.recorder().report().open, 0);
}

#[tokio::test]
async fn a_server_that_breaks_the_protocol() {
    check(says(b"").await, (502, "upstream-broken")).await;
    check(says(b"SSH-2.0-OpenSSH_9.6\r\n").await, (502, "upstream-broken")).await;
    check(says(b"HTTP/1.1 200 OK\r\nContent-Le").await, (502, "upstream-broken")).await;
    check(
        says(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n").await,
        (502, "upstream-broken"),
    )
    .await;
}

/// A site whose copy has gone, and one that hangs up: the 502 says whose fault it is and what can
/// be done.
#[tokio::test]
async fn a_502_names_the_server_the_error_and_a_cure() {
    let gone = Origin::nobody();
    let address = gone.address;
    let mut routes = Routes::new();
    routes.add("forum.test", Target::Site(Site::new("forum", address).into())).unwrap();
    let ca = std::sync::Arc::new(CertificateAuthority::in_memory().unwrap());
    let gateway = Gateway::start(Config::for_everybody(ca.clone(), routes)).await.unwrap();
    let answer = Client::new(gateway.local_addr().unwrap(), &ca).get("http://forum.test/").await;
    assert_eq!(answer.failure(), (502, "upstream-unreachable"));
    for part in ["forum.test", &address.to_string(), "refused", "sandbox status"] {
        assert!(answer.text().contains(part), "{part}: {}", answer.text());
    }

    let world = Setup { limits: hasty(), record: false, ..Setup::default() }
        .with(says(b"").await, None)
        .await;
    let answer = world.client.get("http://shop.test/").await;
    for part in ["shop.test", "closed", "sandbox logs"] {
        assert!(answer.text().contains(part), "{part}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_server_that_says_nothing() {
    let origin = Origin::raw(|tcp| async move {
        let _keep = tcp;
        std::future::pending().await
    })
    .await;
    check(origin, (504, "upstream-timeout")).await;
}

#[tokio::test]
async fn a_server_that_is_not_there() {
    check(Origin::nobody(), (502, "upstream-unreachable")).await;
}

#[tokio::test]
async fn a_server_whose_certificate_is_not_believed() {
    let ca = std::sync::Arc::new(CertificateAuthority::in_memory().unwrap());
    let world = Setup::default().with(Origin::tls(ca, true).await, None).await;
    let answer = world.client.get("https://shop.test/hello").await;
    assert_eq!(answer.failure(), (502, "upstream-tls"));
}

#[tokio::test]
async fn a_server_that_does_not_finish_tls() {
    let origin = Origin::raw(|tcp| async move {
        let _keep = tcp;
        std::future::pending().await
    })
    .await;
    let world = Setup { limits: hasty(), ..Setup::default() }.with(origin, None).await;
    let answer = world.client.get("https://shop.test/hello").await;
    assert_eq!(answer.failure(), (504, "upstream-connect-timeout"));
}

#[tokio::test]
async fn a_server_whose_head_is_too_large() {
    let world = Setup::default().plain().await;
    let answer = world.client.get("http://shop.test/large-head?70000").await;
    assert_eq!(answer.failure(), (502, "upstream-broken"));
    assert_eq!(world.client.get("http://shop.test/large-head?60000").await.status, 200);
}

#[tokio::test]
async fn a_body_that_stalls_or_is_cut_breaks_off_at_the_client_too() {
    let world = Setup { limits: hasty(), ..Setup::default() }.tls(true).await;
    for alpn in ["http/1.1", "h2"] {
        let mut connection = world.client.https("shop.test:443", &[alpn]).await;
        let response = connection
            .send(request(Method::GET, "https://shop.test/half", body::empty()))
            .await
            .unwrap();
        assert!(crate::client::collect(response).await.is_err(), "over {alpn}");
    }
    let cut = says(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf").await;
    let cut = Setup::default().with(cut, None).await;
    let response = cut
        .client
        .absolute()
        .await
        .send(request(Method::GET, "http://shop.test/", body::empty()))
        .await;
    assert!(crate::client::collect(response.unwrap()).await.is_err());
    for world in [world, cut] {
        world.gateway.in_flight().idle(crate::origin::PATIENCE).await.unwrap();
        let entries = world.gateway.ledger().entries();
        assert!(
            entries.iter().all(|entry| matches!(entry.answer, Level::Failed { .. })),
            "{entries:?}"
        );
        assert_eq!(world.recorder().report().partial as usize, entries.len());
    }
}

/// A gateway that forwards everything and has no `connect-to`.
async fn bare(allow_private: bool) -> (Gateway, Client) {
    let ca = std::sync::Arc::new(CertificateAuthority::in_memory().unwrap());
    let mut config = Config::for_everybody(ca.clone(), Routes::all(Target::Forward));
    config.allow_private = allow_private;
    let gateway = Gateway::start(config).await.unwrap();
    let client = Client::new(gateway.local_addr().unwrap(), &ca);
    (gateway, client)
}

#[tokio::test]
async fn private_addresses_are_not_reached_unless_told() {
    let origin = Origin::plain().await;
    let port = origin.address.port();
    let (gateway, client) = bare(false).await;
    for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"] {
        let answer = client.get(&format!("http://{host}:{port}/hello")).await;
        let (status, name) = answer.failure();
        // The odd spellings of 127.0.0.1 are names to some resolvers and addresses to others; none
        // may get through.
        assert!(
            (status, name) == (403, "upstream-forbidden")
                || (status, name) == (502, "upstream-unresolved"),
            "{host}: {status} {name}"
        );
    }
    assert!(
        matches!(&gateway.ledger().entries()[0].answer, Level::Refused { reason } if reason.contains("loopback"))
    );
    for address in
        ["10.0.0.1", "169.254.169.254", "192.168.0.1", "100.64.0.1", "[fd00::1]", "[fe80::1]"]
    {
        assert_eq!(
            client.get(&format!("http://{address}/")).await.failure(),
            (403, "upstream-forbidden")
        );
    }
    let (_gateway, client) = bare(true).await;
    assert_eq!(client.get(&format!("http://127.0.0.1:{port}/hello")).await.status, 200);
}

#[tokio::test]
async fn the_gateway_does_not_call_itself() {
    let (gateway, client) = bare(true).await;
    let own = gateway.local_addr().unwrap();
    assert_eq!(own.ip(), Ipv4Addr::LOCALHOST);
    let answer = client.get(&format!("http://{own}/")).await;
    assert_eq!(answer.failure(), (508, "loop"));
}

#[tokio::test]
async fn a_document_gets_a_page_and_anything_else_text() {
    let ca = std::sync::Arc::new(CertificateAuthority::in_memory().unwrap());
    let gateway = Gateway::start(Config::for_everybody(ca.clone(), Routes::new())).await.unwrap();
    let client = Client::new(gateway.local_addr().unwrap(), &ca);
    let mut connection = client.https("shop.test:443", &["h2"]).await;
    let mut ask = request(Method::GET, "https://shop.test/a", body::empty());
    ask.headers_mut().insert("sec-fetch-dest", "document".parse().unwrap());
    let answer = connection.ask(ask).await;
    assert_eq!(answer.failure(), (403, "no-route"));
    assert!(answer.text().contains("shop.test is not in this world"), "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    let answer =
        connection.ask(request(Method::GET, "https://shop.test/a.png", body::empty())).await;
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    let entries = gateway.ledger().entries();
    assert!(
        entries.iter().all(|entry| matches!(entry.answer, Level::Refused { .. })),
        "{entries:?}"
    );
    assert_eq!(entries[0].destination.as_deref(), Some("document"));
}
