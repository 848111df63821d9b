//! WebSockets through the gateway.

use futures_util::{SinkExt, StreamExt};
use http::Request;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::client::Client;
use crate::origin::PATIENCE;
use crate::world::{Setup, World};

type Socket = WebSocketStream<TlsStream<TcpStream>>;

async fn open(
    client: &Client,
    path: &str,
) -> Result<(Socket, http::Response<Option<Vec<u8>>>), tungstenite::Error> {
    let tls = client.tls("shop.test:443", &["http/1.1"]).await;
    let mut request: Request<()> = format!("wss://shop.test{path}").into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "chat".parse().unwrap());
    request.headers_mut().insert("sec-websocket-extensions", "permessage-deflate".parse().unwrap());
    client_async(request, tls).await
}

async fn next(socket: &mut Socket) -> Message {
    loop {
        let message = timeout(PATIENCE, socket.next()).await.unwrap().unwrap().unwrap();
        if !message.is_ping() {
            return message;
        }
    }
}

pub async fn talk(client: &Client) {
    let (mut socket, answer) = open(client, "/socket").await.unwrap();
    assert_eq!(answer.headers()["sec-websocket-protocol"], "chat");
    assert!(!answer.headers().contains_key("sec-websocket-extensions"));
    assert_eq!(next(&mut socket).await, Message::text("welcome"));
    socket.send(Message::text("one")).await.unwrap();
    assert_eq!(next(&mut socket).await, Message::text("echo one"));
    socket.send(Message::binary(vec![0, 255])).await.unwrap();
    assert_eq!(next(&mut socket).await, Message::binary(vec![0, 255]));
    socket.send(Message::text("bye")).await.unwrap();
    assert!(next(&mut socket).await.is_close());
    assert!(matches!(socket.next().await, None | Some(Err(_))));
}

/// The payloads of all frames on disk, in order, without their times.
fn frames(world: &World) -> Vec<String> {
    let records = world.recorded();
    let opening = &records.iter().find(|record| record.kind == "response").unwrap().id;
    records
        .iter()
        .filter(|record| record.kind == "resource")
        .inspect(|record| {
            assert_eq!(record.url, "wss://shop.test/socket");
            assert_eq!(record.concurrent_to.as_ref(), Some(opening));
        })
        .flat_map(|record| record.block.lines().map(str::to_owned).collect::<Vec<_>>())
        .map(|line| line.split_once(',').unwrap().1.to_owned())
        .collect()
}

#[tokio::test]
async fn frames_pass_both_ways_and_are_kept() {
    for h2 in [false, true] {
        let world = Setup::default().tls(h2).await;
        talk(&world.client).await;
        timeout(PATIENCE, async {
            while world.recorder().report().open > 0 {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
        assert_eq!(
            frames(&world),
            [
                r#""from":"server","text":"welcome"}"#,
                r#""from":"client","text":"one"}"#,
                r#""from":"server","text":"echo one"}"#,
                r#""from":"client","base64":"AP8="}"#,
                r#""from":"server","base64":"AP8="}"#,
                r#""from":"client","text":"bye"}"#,
                r#""from":"server","close":1005,"reason":""}"#,
                r#""from":"client","close":1005,"reason":""}"#,
            ]
        );
        let records = world.recorded();
        assert_eq!(records[0].url, "https://shop.test/socket");
        assert!(records[0].head().starts_with("HTTP/1.1 101 "));
        let entries = world.gateway.ledger().entries();
        assert_eq!(
            (entries.len(), entries[0].status, entries[0].url.as_str()),
            (1, 101, "wss://shop.test/socket")
        );
    }
}

#[tokio::test]
async fn frames_of_an_open_socket_are_on_disk_before_they_are_passed_on() {
    let world = Setup::default().tls(false).await;
    let (mut socket, _) = open(&world.client, "/socket").await.unwrap();
    assert_eq!(world.recorded()[0].kind, "response", "the handshake is there at once");
    let written = || {
        let journal =
            std::fs::read_dir(world.folder.join("sockets")).unwrap().next().unwrap().unwrap();
        std::fs::read_to_string(journal.path()).unwrap()
    };
    assert_eq!(next(&mut socket).await, Message::text("welcome"));
    assert!(written().contains("welcome"));
    // Open, but at rest.
    world.gateway.in_flight().idle(PATIENCE).await.unwrap();
    assert_eq!(world.gateway.in_flight().counts().streams, 1);

    socket.send(Message::text("more")).await.unwrap();
    assert_eq!(next(&mut socket).await, Message::text("echo more"));
    assert!(written().contains("echo more"));
    // The gateway's end closes it and loses nothing.
    let World { gateway, recorder, folder, .. } = world;
    timeout(PATIENCE, gateway.shutdown()).await.unwrap();
    assert_eq!(recorder.unwrap().report().open, 0);
    let text = std::fs::read_to_string(folder.join("data.warc")).unwrap();
    assert!(text.contains("echo more"));
    assert_eq!(std::fs::read_dir(folder.join("sockets")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_refused_handshake_is_an_ordinary_answer() {
    let world = Setup::default().tls(false).await;
    let Err(tungstenite::Error::Http(answer)) = open(&world.client, "/missing").await else {
        panic!("a socket without a server")
    };
    assert_eq!(answer.status(), 404);
    assert_eq!(world.recorded().len(), 2);
}
