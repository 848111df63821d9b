//! A gateway ends in good order.

use std::time::Duration;

use gateway::{Limits, body};
use http::Method;
use http_body_util::BodyExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::request;
use crate::origin::PATIENCE;
use crate::world::Setup;

#[tokio::test]
async fn idle_connections_do_not_hold_it_up() {
    let world = Setup::default().tls(true).await;
    let mut kept = Vec::new();
    for alpn in ["http/1.1", "h2"] {
        let mut connection = world.client.https("shop.test:443", &[alpn]).await;
        connection.ask(request(Method::GET, "https://shop.test/hello", body::empty())).await;
        kept.push(connection);
    }
    let address = world.gateway.local_addr().unwrap();
    timeout(PATIENCE, world.gateway.shutdown()).await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn requests_in_flight_are_finished() {
    let world = Setup::default().tls(true).await;
    let mut connection = world.client.https("shop.test:443", &["h2"]).await;
    let ask = request(Method::GET, "https://shop.test/chunked?5000000", body::empty());
    let response = connection.send(ask).await.unwrap();
    let ending = tokio::spawn(world.gateway.shutdown());
    assert_eq!(crate::client::collect(response).await.unwrap().body.len(), 5_000_000);
    timeout(PATIENCE, ending).await.unwrap().unwrap();
}

#[tokio::test]
async fn requests_without_end_are_cut_at_the_deadline_and_streams_at_once() {
    let limits = Limits { shutdown: Duration::from_millis(200), ..Limits::default() };
    let world = Setup { limits, ..Setup::default() }.tls(true).await;
    let mut first = world.client.https("shop.test:443", &["h2"]).await;
    let mut second = world.client.https("shop.test:443", &["http/1.1"]).await;
    let ask =
        |path: &str| request(Method::GET, &format!("https://shop.test/{path}"), body::empty());
    let mut events = first.send(ask("events")).await.unwrap();
    events.frame().await.unwrap().unwrap();
    let half = second.send(ask("half")).await.unwrap();
    let recorder = world.recorder.clone().unwrap();
    timeout(PATIENCE, world.gateway.shutdown()).await.unwrap();
    assert!(crate::client::collect(half).await.is_err());
    // Nothing is under way any more: the recording can be finished, with the events that came.
    let report = recorder.report();
    assert_eq!((report.open, report.recorded, report.partial), (0, 1, 1));
    assert!(recorder.close().is_some());
}
