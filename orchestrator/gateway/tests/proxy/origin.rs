//! Servers to be reached: one that speaks HTTP properly, and one that does whatever a test says.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use gateway::{Body, CertificateAuthority, body};
use http::{HeaderMap, Request, Response, header};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

/// A running server; it ends with this value.
pub struct Origin {
    pub address: SocketAddr,
    _tasks: JoinSet<()>,
    _held: Option<TcpSocket>,
}

impl Origin {
    pub async fn plain() -> Self {
        Self::raw(|tcp| async move { serve(tcp).await }).await
    }

    /// TLS for any name, by `ca`; h2 and HTTP/1.1, or HTTP/1.1 alone.
    pub async fn tls(ca: Arc<CertificateAuthority>, h2: bool) -> Self {
        Self::raw(move |tcp| {
            let ca = ca.clone();
            async move {
                let start = tokio_rustls::LazyConfigAcceptor::new(Default::default(), tcp).await;
                let Ok(start) = start else { return };
                let name = start.client_hello().server_name().unwrap_or("127.0.0.1").to_owned();
                let mut config = (*ca.server_config(&name).unwrap()).clone();
                if !h2 {
                    config.alpn_protocols = vec![b"http/1.1".to_vec()];
                }
                if let Ok(tls) = start.into_stream(Arc::new(config)).await {
                    serve(tls).await;
                }
            }
        })
        .await
    }

    /// None: nobody listens at its address, which no other program gets as long as this lives.
    pub fn nobody() -> Self {
        let held = TcpSocket::new_v4().unwrap();
        held.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = held.local_addr().unwrap();
        Self { address, _tasks: JoinSet::new(), _held: Some(held) }
    }

    /// Each connection is handed to `serve`.
    pub async fn raw<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (tcp, _) = listener.accept().await.unwrap();
                tcp.set_nodelay(true).unwrap();
                connections.spawn(serve(tcp));
            }
        });
        Self { address, _tasks: tasks, _held: None }
    }
}

async fn serve<S>(io: S)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let _ = auto::Builder::new(TokioExecutor::new())
        .serve_connection_with_upgrades(TokioIo::new(io), service_fn(answer))
        .await;
}

async fn answer(request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    let query: usize = request.uri().query().and_then(|query| query.parse().ok()).unwrap_or(0);
    Ok(match request.uri().path() {
        "/hello" => hello(&request),
        "/echo" => echo(request).await,
        "/headers" => headers(&request),
        "/sized" => {
            let mut response = Response::new(chunks(query, 16 * 1024));
            response.headers_mut().insert(header::CONTENT_LENGTH, query.into());
            response
        }
        "/chunked" => Response::new(chunks(query, 16 * 1024)),
        "/trailers" => trailers(),
        "/events" => events(),
        "/stall" => std::future::pending().await,
        "/half" => {
            let first = futures_util::stream::iter([Ok(Frame::data(Bytes::from_static(b"half")))]);
            Response::new(
                StreamBody::new(first.chain(futures_util::stream::pending())).boxed_unsync(),
            )
        }
        "/redirect" => {
            let rest = futures_util::stream::once(async {
                for _ in 0..50 {
                    tokio::task::yield_now().await;
                }
                Ok(Frame::data(Bytes::from_static(b"moved")))
            });
            let mut response = Response::new(StreamBody::new(rest).boxed_unsync());
            *response.status_mut() = http::StatusCode::SEE_OTHER;
            response.headers_mut().insert(header::LOCATION, "/hello".parse().unwrap());
            response
        }
        "/range" => {
            let mut response = Response::new(body::full("56789"));
            *response.status_mut() = http::StatusCode::PARTIAL_CONTENT;
            response.headers_mut().insert(header::CONTENT_RANGE, "bytes 5-9/20".parse().unwrap());
            response
        }
        "/empty" => {
            let mut response = Response::new(body::empty());
            *response.status_mut() = http::StatusCode::NO_CONTENT;
            response
        }
        "/large-head" => {
            let mut response = Response::new(body::empty());
            response.headers_mut().insert("x-large", "a".repeat(query).parse().unwrap());
            response
        }
        "/socket" => socket(request),
        _ => {
            let mut response = Response::new(body::full("nothing here"));
            *response.status_mut() = http::StatusCode::NOT_FOUND;
            response
        }
    })
}

fn hello(request: &Request<Incoming>) -> Response<Body> {
    let host = request.uri().host().map(str::to_owned).or_else(|| {
        request.headers().get(header::HOST).map(|host| host.to_str().unwrap().to_owned())
    });
    let text = format!("hello from {} by {:?}", host.unwrap_or_default(), request.version());
    let mut response = Response::new(body::full(text));
    let headers = response.headers_mut();
    headers.insert(header::ALT_SVC, "h3=\":443\"".parse().unwrap());
    headers.append(header::SET_COOKIE, "a=1".parse().unwrap());
    headers.append(header::SET_COOKIE, "sid=secret; Path=/".parse().unwrap());
    headers.insert("x-last", "end".parse().unwrap());
    response
}

async fn echo(request: Request<Incoming>) -> Response<Body> {
    let method = request.method().to_string();
    let mut response = match request.into_body().collect().await {
        Ok(collected) => Response::new(body::full(collected.to_bytes())),
        Err(_) => Response::new(body::empty()),
    };
    response.headers_mut().insert("x-method", method.parse().unwrap());
    response
}

/// What arrived, as text.
fn headers(request: &Request<Incoming>) -> Response<Body> {
    let lines: String = request
        .headers()
        .iter()
        .map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    Response::new(body::full(lines))
}

/// `size` bytes, in pieces.
fn chunks(size: usize, piece: usize) -> Body {
    let pieces = (0..size.div_ceil(piece)).map(move |n| {
        let length = piece.min(size - n * piece);
        Ok(Frame::data(Bytes::from(vec![n as u8; length])))
    });
    StreamBody::new(futures_util::stream::iter(pieces)).boxed_unsync()
}

fn trailers() -> Response<Body> {
    let mut trailers = HeaderMap::new();
    trailers.insert("x-check", "42".parse().unwrap());
    let frames = [Ok(Frame::data(Bytes::from_static(b"body"))), Ok(Frame::trailers(trailers))];
    let mut response =
        Response::new(StreamBody::new(futures_util::stream::iter(frames)).boxed_unsync());
    response.headers_mut().insert(header::TRAILER, "x-check".parse().unwrap());
    response
}

/// Two events and the beginning of a third, then silence.
fn events() -> Response<Body> {
    let pieces = ["data: 1\n\n", "data: 2\n\n", "data: 3\n"];
    let first = pieces.map(|piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes()))));
    let stream = futures_util::stream::iter(first).chain(futures_util::stream::pending());
    let mut response = Response::new(StreamBody::new(stream).boxed_unsync());
    response.headers_mut().insert(header::CONTENT_TYPE, "text/event-stream".parse().unwrap());
    response
}

/// Greets, echoes, and closes on `bye`.
fn socket(mut request: Request<Incoming>) -> Response<Body> {
    let key = request.headers().get(header::SEC_WEBSOCKET_KEY).unwrap().clone();
    let offered = request.headers().contains_key(header::SEC_WEBSOCKET_EXTENSIONS);
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let io = TokioIo::new(upgrade.await.unwrap());
        let mut socket = WebSocketStream::from_raw_socket(io, Role::Server, None).await;
        let greeting = if offered { "compression was offered" } else { "welcome" };
        socket.send(Message::text(greeting)).await.unwrap();
        socket.send(Message::Ping(Bytes::from_static(b"p"))).await.unwrap();
        while let Some(Ok(message)) = socket.next().await {
            match message {
                Message::Text(text) if text.as_str() == "bye" => {
                    let _ = socket.close(None).await;
                }
                Message::Text(text) => {
                    socket.send(Message::text(format!("echo {text}"))).await.unwrap()
                }
                Message::Binary(bytes) => socket.send(Message::Binary(bytes)).await.unwrap(),
                _ => {}
            }
        }
    });
    let mut response = Response::new(body::empty());
    *response.status_mut() = http::StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, "Upgrade".parse().unwrap());
    headers.insert(header::UPGRADE, "websocket".parse().unwrap());
    headers
        .insert(header::SEC_WEBSOCKET_ACCEPT, derive_accept_key(key.as_bytes()).parse().unwrap());
    if request.headers().contains_key(header::SEC_WEBSOCKET_PROTOCOL) {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, "chat".parse().unwrap());
    }
    response
}

/// The longest any test waits for anything.
pub const PATIENCE: Duration = Duration::from_secs(10);
