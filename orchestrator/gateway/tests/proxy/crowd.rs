//! Many clients at once: there is a bound, the longest idle makes room, and nobody else notices.

use std::time::Duration;

use gateway::{Body, Limits, body};
use http::{Method, Request};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::client::request;
use crate::origin::PATIENCE;
use crate::world::{Setup, World};

/// A world with room for so many, who may be silent for a minute.
async fn room_for(connections: usize) -> World {
    let limits = Limits { connections, ..Limits::default() };
    Setup { limits, record: false, ..Setup::default() }.plain().await
}

async fn connect(world: &World) -> TcpStream {
    TcpStream::connect(world.gateway.local_addr().unwrap()).await.unwrap()
}

/// Waits until the gateway has closed a connection.
async fn closed(io: &mut (impl AsyncRead + Unpin)) -> bool {
    timeout(PATIENCE, io.read_to_end(&mut Vec::new())).await.is_ok()
}

fn get(url: &str) -> Request<Body> {
    request(Method::GET, url, body::empty())
}

async fn serves(world: &World) {
    let answer = timeout(PATIENCE, world.client.get("http://shop.test/hello")).await;
    assert_eq!(answer.expect("a client is served meanwhile").status, 200);
}

#[tokio::test]
async fn the_longest_idle_makes_room_and_who_waits_for_an_answer_stays() {
    let world = room_for(4).await;
    let mut busy = connect(&world).await;
    busy.write_all(b"GET http://shop.test/stall HTTP/1.1\r\nHost: shop.test\r\n\r\n")
        .await
        .unwrap();
    timeout(PATIENCE, async {
        while world.gateway.in_flight().counts().requests == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    let mut idle = Vec::new();
    for _ in 0..3 {
        idle.push(connect(&world).await);
    }
    serves(&world).await;
    assert!(closed(&mut idle[0]).await, "the longest idle has gone");
    assert_eq!(world.gateway.in_flight().counts().requests, 1, "who waits for an answer stays");
}

#[tokio::test]
async fn tunnels_are_clients_too() {
    let world = room_for(3).await;
    let mut tunnels = Vec::new();
    for _ in 0..6 {
        tunnels.push(world.client.tunnel("shop.test:443").await);
    }
    serves(&world).await;
    for tunnel in &mut tunnels[..3] {
        assert!(closed(tunnel).await, "the longest idle has gone");
    }
}

#[tokio::test]
async fn a_connection_of_http2_that_asks_no_more_is_closed() {
    let limits = Limits { client_head: Duration::from_millis(200), ..Limits::default() };
    let world = Setup { limits, record: false, ..Setup::default() }.tls(true).await;
    let tls = world.client.tls("shop.test:443", &["h2"]).await;
    let (mut sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(tls)).await.unwrap();
    let ended = tokio::spawn(connection);
    assert_eq!(sender.send_request(get("https://shop.test/hello")).await.unwrap().status(), 200);
    timeout(PATIENCE, ended).await.expect("the gateway closes").unwrap().unwrap();
}

#[tokio::test]
async fn streams_that_take_nothing_are_given_up_and_others_are_not() {
    let limits = Limits { client_stall: Duration::from_millis(300), ..Limits::default() };
    let world = Setup { limits, record: false, ..Setup::default() }.tls(true).await;
    let tls = world.client.tls("shop.test:443", &["h2"]).await;
    let (mut sender, connection) = http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(0)
        .handshake(TokioIo::new(tls))
        .await
        .unwrap();
    tokio::spawn(connection);
    let mut heads = Vec::new();
    for path in ["sized?300000", "chunked?300000", "hello"].iter().cycle().take(60) {
        let url = format!("https://shop.test/{path}");
        heads.push(sender.send_request(get(&url)).await.unwrap());
    }
    world.gateway.in_flight().idle(PATIENCE).await.unwrap_or_else(|busy| panic!("{busy}"));

    // One that waits for its server, and not for its client, is not touched.
    let mut patient = world.client.https("shop.test:443", &["h2"]).await;
    let stall = patient.send(get("https://shop.test/stall"));
    assert!(timeout(Duration::from_secs(1), stall).await.is_err(), "the request is under way");
    let events = patient.send(get("https://shop.test/events")).await.unwrap();
    assert_eq!(events.status(), 200);
}

#[tokio::test]
async fn others_are_served_beside_hundreds_that_dribble() {
    let limits =
        Limits { connections: 200, client_head: Duration::from_secs(3), ..Limits::default() };
    let world = Setup { limits, record: false, ..Setup::default() }.plain().await;
    let head =
        b"GET http://shop.test/hello HTTP/1.1\r\nHost: shop.test\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let mut slow = Vec::new();
    for _ in 0..300 {
        slow.push(connect(&world).await);
    }
    let mut ticks = interval(Duration::from_millis(100));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    for byte in &head[..20] {
        for tcp in &mut slow {
            // One that has made room for another no longer takes bytes.
            let _ = tcp.write_all(&[*byte]).await;
        }
        serves(&world).await;
        ticks.tick().await;
    }
    for tcp in &mut slow {
        // However many bytes came: the head did not come whole in time.
        let _ =
            timeout(PATIENCE, tcp.read_to_end(&mut Vec::new())).await.expect("the gateway closes");
    }
    serves(&world).await;
}
