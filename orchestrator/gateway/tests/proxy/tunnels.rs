//! Where tunnels may lead.

use std::sync::Arc;

use gateway::{Answer as Level, CertificateAuthority, Config, Gateway, Replay, Routes, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::origin::PATIENCE;
use crate::world::Setup;

async fn connect(gateway: &Gateway, server: &str) -> String {
    let mut tcp = TcpStream::connect(gateway.local_addr().unwrap()).await.unwrap();
    tcp.write_all(format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let mut answer = vec![0; 4096];
    let read = timeout(PATIENCE, tcp.read(&mut answer)).await.unwrap().unwrap();
    String::from_utf8_lossy(&answer[..read]).into_owned()
}

#[tokio::test]
async fn tunnels_lead_to_ports_that_the_world_has() {
    let mut routes = Routes::new();
    routes.add("shop.test", Target::Replay(Arc::new(Replay::default()))).unwrap();
    routes.add("live.test", Target::Forward).unwrap();
    routes.add("api.test:8443", Target::Refuse).unwrap();
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let gateway = Gateway::start(Config::for_everybody(ca, routes)).await.unwrap();
    for (server, status) in [
        ("shop.test:443", 200),
        ("nowhere.test:443", 200),
        ("api.test:8443", 200),
        ("live.test:8080", 200),
        ("shop.test:8080", 403),
        ("shop.test:22", 403),
        ("live.test:25", 403),
    ] {
        let answer = connect(&gateway, server).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{server}: {answer}");
        assert_eq!(status == 403, answer.contains("sandbox-error: no-port"), "{server}: {answer}");
    }
    gateway.in_flight().idle(PATIENCE).await.unwrap();
    let entries = gateway.ledger().entries();
    let refused: Vec<_> = entries.iter().map(|entry| (entry.url.as_str(), entry.status)).collect();
    assert_eq!(
        refused,
        [
            ("https://shop.test:8080/", 403),
            ("https://shop.test:22/", 403),
            ("https://live.test:25/", 403)
        ]
    );
    assert!(
        entries.iter().all(|entry| matches!(entry.answer, Level::Refused { .. })),
        "{entries:?}"
    );
}

#[tokio::test]
async fn a_tunnel_is_opening_until_it_can_carry_requests() {
    let world = Setup::default().plain().await;
    let in_flight = world.gateway.in_flight();
    let opening = async |count: usize| {
        assert!(
            in_flight.wait_until(PATIENCE, |counts| counts.opening_tunnels == count).await,
            "{count}"
        );
    };
    let given_up = world.client.tunnel("shop.test:443").await;
    opening(1).await;
    let tls = world.client.tls("shop.test:443", &["h2"]).await;
    opening(1).await;
    drop(given_up);
    opening(0).await;
    drop(tls);
}
