//! The demo web over real sockets: HTTP/1.1 and HTTP/2 on TLS, plain HTTP, a WebSocket, and
//! stopping.

use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use http::{Request, Response, StatusCode, Version, header};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use origin::{Options, Origin};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;

async fn start() -> Origin {
    Origin::start(&Options::default()).await.unwrap()
}

/// A TLS connection to a host of the demo web, trusting nothing but its authority.
async fn connect(
    origin: &Origin,
    host: &'static str,
    protocol: &[u8],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(origin.certificate_pem().as_bytes()).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    let stream = TcpStream::connect(origin.tls_addr()).await?;
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from(host).unwrap(), stream).await
}

async fn body(response: Response<hyper::body::Incoming>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

async fn get_plain(address: SocketAddr, host: &str, path: &str) -> Response<hyper::body::Incoming> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request =
        Request::get(path).header(header::HOST, host).body(Empty::<Bytes>::new()).unwrap();
    sender.send_request(request).await.unwrap()
}

#[tokio::test]
async fn http1_pages_are_chunked() {
    let origin = start().await;
    let stream = connect(&origin, "www.aldria-rail.test", b"http/1.1").await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    for path in ["/", "/stations"] {
        let request = Request::get(path)
            .header(header::HOST, "www.aldria-rail.test")
            .body(Empty::<Bytes>::new())
            .unwrap();
        let response = sender.send_request(request).await.unwrap();
        assert_eq!((response.status(), response.version()), (StatusCode::OK, Version::HTTP_11));
        assert_eq!(response.headers()[header::TRANSFER_ENCODING], "chunked");
        assert!(body(response).await.ends_with("</html>"));
    }
    origin.stop().await;
}

#[tokio::test]
async fn http2_serves_several_at_once() {
    let origin = start().await;
    let stream = connect(&origin, "www.cityscreen.test", b"h2").await.unwrap();
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    tokio::spawn(connection);
    let get = |path: &str| {
        let request = Request::get(format!("https://www.cityscreen.test{path}"))
            .body(Empty::<Bytes>::new())
            .unwrap();
        let mut sender = sender.clone();
        async move { sender.send_request(request).await.unwrap() }
    };
    let (films, missing, worker) = tokio::join!(get("/films"), get("/nowhere"), get("/sw.js"));
    assert_eq!((films.status(), films.version()), (StatusCode::OK, Version::HTTP_2));
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    assert!(body(worker).await.contains("addEventListener"));
    origin.stop().await;
}

#[tokio::test]
async fn plain_http_leads_to_tls_but_for_the_text_timetable() {
    let origin = start().await;
    let response = get_plain(origin.plain_addr(), "www.hearthside.test", "/agents").await;
    assert_eq!(response.status(), StatusCode::MOVED_PERMANENTLY);
    assert_eq!(response.headers()[header::LOCATION], "https://www.hearthside.test/agents");
    let response = get_plain(origin.plain_addr(), "text.aldria-rail.test", "/").await;
    assert!(body(response).await.contains("CARROW JUNCTION"));
    origin.stop().await;
}

#[tokio::test]
async fn the_board_speaks_and_answers_a_ping() {
    let origin = start().await;
    let stream = connect(&origin, "live.aldria-rail.test", b"http/1.1").await.unwrap();
    let (mut socket, response) =
        client_async("wss://live.aldria-rail.test/board/DUN", stream).await.unwrap();
    assert_eq!(response.status(), StatusCode::SWITCHING_PROTOCOLS);
    let mut kinds = Vec::new();
    while kinds.last().is_none_or(|kind| kind != "settled") {
        let Message::Text(text) = socket.next().await.unwrap().unwrap() else {
            panic!("not a text")
        };
        let message: serde_json::Value = serde_json::from_str(&text).unwrap();
        kinds.push(message["kind"].as_str().unwrap().to_owned());
    }
    assert_eq!(kinds, ["board", "update", "update", "update", "update", "settled"]);
    socket.send(Message::text("ping")).await.unwrap();
    assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("pong"));
    origin.stop().await;
    assert!(
        socket.next().await.is_none_or(|message| message.is_err()),
        "stopping closes open sockets"
    );
}

#[tokio::test]
async fn a_board_asked_for_without_a_handshake_wants_one() {
    let origin = start().await;
    let stream = connect(&origin, "live.aldria-rail.test", b"http/1.1").await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::get("/board/ALD")
        .header(header::HOST, "live.aldria-rail.test")
        .body(Empty::<Bytes>::new())
        .unwrap();
    assert_eq!(sender.send_request(request).await.unwrap().status(), StatusCode::UPGRADE_REQUIRED);
    origin.stop().await;
}

#[tokio::test]
async fn a_stopped_origin_refuses_and_frees_its_addresses() {
    let origin = start().await;
    let (plain, tls) = (origin.plain_addr(), origin.tls_addr());
    let certificate = origin.certificate_path().to_owned();
    assert!(certificate.exists());
    origin.stop().await;
    assert!(TcpStream::connect(plain).await.is_err() && TcpStream::connect(tls).await.is_err());
    assert!(!certificate.exists());
    let again = Origin::start(&Options { listen: plain, tls_listen: tls, ..Options::default() })
        .await
        .unwrap();
    assert_eq!((again.plain_addr(), again.tls_addr()), (plain, tls));
    let taken = Origin::start(&Options { listen: plain, ..Options::default() })
        .await
        .unwrap_err()
        .to_string();
    assert!(taken.starts_with(&format!("listen on {plain}: ")), "{taken}");
}
