//! Routes, connect-to and episodes as a client sees them.

use std::sync::Arc;

use gateway::{Answer as Level, CertificateAuthority, Config, Gateway, Routes, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::Client;
use crate::origin::Origin;
use crate::world::Setup;

#[tokio::test]
async fn hosts_go_where_their_route_says() {
    let one = Origin::plain().await;
    let mut routes = Routes::new();
    routes.add("shop.test", Target::Forward).unwrap();
    routes.add("shop.test:81", Target::Refuse).unwrap();
    routes.add("*.shop.test", Target::Forward).unwrap();
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let mut config = Config::for_everybody(ca.clone(), routes);
    config.connect_to.push(format!("::{}", one.address).parse().unwrap());
    let gateway = Gateway::start(config).await.unwrap();
    let client = Client::new(gateway.local_addr().unwrap(), &ca);
    for (url, status) in [
        ("http://shop.test/hello", 200),
        ("http://SHOP.test:8080/hello", 200),
        ("http://shop.test:81/hello", 403),
        ("http://img.shop.test/hello", 200),
        ("http://forum.test/hello", 403),
    ] {
        assert_eq!(client.get(url).await.status, status, "{url}");
    }

    gateway.set_routes(Routes::new());
    assert_eq!(client.get("http://shop.test/hello").await.status, 403);
}

#[tokio::test]
async fn an_upload_that_nobody_wants_is_answered_all_the_same() {
    let mut routes = Routes::new();
    routes.add("shop.test", Target::Refuse).unwrap();
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let gateway = Gateway::start(Config::for_everybody(ca, routes)).await.unwrap();
    let body = vec![b'a'; 32 << 20];
    let head = format!(
        "POST http://shop.test/ HTTP/1.1\r\nhost: shop.test\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    let mut tcp = TcpStream::connect(gateway.local_addr().unwrap()).await.unwrap();
    tcp.write_all(head.as_bytes()).await.unwrap();
    tcp.write_all(&body).await.unwrap();
    let mut answer = String::new();
    tcp.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}

#[tokio::test]
async fn the_first_connect_to_that_applies_is_taken() {
    let (one, other) = (Origin::plain().await, Origin::raw(|_| async {}).await);
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let mut config = Config::for_everybody(ca.clone(), Routes::all(Target::Forward));
    config.connect_to = vec![
        format!("shop.test:80:{}", one.address).parse().unwrap(),
        format!(":81:{}", one.address).parse().unwrap(),
        format!("::{}", other.address).parse().unwrap(),
    ];
    let gateway = Gateway::start(config).await.unwrap();
    let client = Client::new(gateway.local_addr().unwrap(), &ca);
    assert_eq!(client.get("http://shop.test/hello").await.status, 200);
    assert_eq!(client.get("http://forum.test:81/hello").await.status, 200);
    assert_eq!(client.get("http://forum.test/hello").await.failure(), (502, "upstream-broken"));
}

#[tokio::test]
async fn an_episode_begins_with_an_empty_ledger() {
    let world = Setup { record: false, ..Setup::default() }.plain().await;
    world.client.get("http://shop.test/hello").await;
    world.client.get("http://shop.test/missing").await;
    world.gateway.in_flight().idle(crate::origin::PATIENCE).await.unwrap();
    let old = world.gateway.begin_episode();
    assert!(world.gateway.ledger().entries().is_empty());
    let seen: Vec<_> = old
        .entries()
        .into_iter()
        .map(|entry| (entry.seq, entry.status, entry.bytes, entry.answer))
        .collect();
    assert_eq!(seen, [(0, 200, 32, Level::Live), (1, 404, 12, Level::Live)]);
    world.client.get("http://shop.test/hello").await;
    assert_eq!(world.gateway.ledger().entries()[0].seq, 0);
}
