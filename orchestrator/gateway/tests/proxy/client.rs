//! A client of the proxy, as a browser is one.

use std::net::SocketAddr;
use std::sync::Arc;

use gateway::{Body, CertificateAuthority, body};
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub struct Client {
    pub proxy: SocketAddr,
    pub roots: Arc<RootCertStore>,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub trailers: Option<HeaderMap>,
}

pub enum Connection {
    Http1(http1::SendRequest<Body>),
    Http2(http2::SendRequest<Body>),
}

impl Client {
    pub fn new(proxy: SocketAddr, ca: &CertificateAuthority) -> Self {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(ca.certificate_pem().as_bytes()).unwrap())
            .unwrap();
        Self { proxy, roots: Arc::new(roots) }
    }

    /// The connection behind `CONNECT host:port`.
    pub async fn tunnel(&self, server: &str) -> TcpStream {
        let mut tcp = TcpStream::connect(self.proxy).await.unwrap();
        tcp.set_nodelay(true).unwrap();
        tcp.write_all(format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(tcp.read_u8().await.unwrap());
        }
        assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
        tcp
    }

    /// TLS inside a tunnel.
    pub async fn tls(&self, server: &str, alpn: &[&str]) -> TlsStream<TcpStream> {
        let mut config = ClientConfig::builder_with_provider(gateway::tls::provider())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(self.roots.clone())
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        let host = server.rsplit_once(':').unwrap().0.trim_matches(['[', ']']).to_owned();
        let tcp = self.tunnel(server).await;
        TlsConnector::from(Arc::new(config))
            .connect(ServerName::try_from(host).unwrap(), tcp)
            .await
            .unwrap()
    }

    pub async fn https(&self, server: &str, alpn: &[&str]) -> Connection {
        let tls = self.tls(server, alpn).await;
        let h2 = tls.get_ref().1.alpn_protocol() == Some(b"h2");
        if h2 {
            let (sender, connection) =
                http2::handshake(TokioExecutor::new(), TokioIo::new(tls)).await.unwrap();
            tokio::spawn(connection);
            return Connection::Http2(sender);
        }
        Self::http1(tls).await
    }

    /// Plain HTTP inside a tunnel.
    pub async fn plain_tunnel(&self, server: &str) -> Connection {
        Self::http1(self.tunnel(server).await).await
    }

    /// Plain HTTP by absolute URLs.
    pub async fn absolute(&self) -> Connection {
        Self::http1(TcpStream::connect(self.proxy).await.unwrap()).await
    }

    async fn http1<S>(io: S) -> Connection
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) = http1::handshake(TokioIo::new(io)).await.unwrap();
        tokio::spawn(connection.with_upgrades());
        Connection::Http1(sender)
    }

    /// A GET on a connection of its own: `https:` in a tunnel, `http:` by absolute URL.
    pub async fn get(&self, url: &str) -> Answer {
        let uri: Uri = url.parse().unwrap();
        let mut connection = match uri.scheme_str() {
            Some("https") => {
                let server = format!("{}:{}", uri.host().unwrap(), uri.port_u16().unwrap_or(443));
                self.https(&server, &["h2", "http/1.1"]).await
            }
            _ => self.absolute().await,
        };
        connection.ask(request(Method::GET, url, body::empty())).await
    }
}

impl Connection {
    /// Sends a request with an absolute URL in the form that the connection wants.
    pub async fn send(&mut self, mut request: Request<Body>) -> hyper::Result<Response<Incoming>> {
        match self {
            Connection::Http1(sender) => {
                sender.ready().await?;
                let host = request.uri().authority().unwrap().as_str().parse().unwrap();
                if !request.headers().contains_key(header::HOST) {
                    let others = std::mem::take(request.headers_mut());
                    request.headers_mut().insert(header::HOST, host);
                    request.headers_mut().extend(others);
                }
                if request.uri().scheme_str() != Some("http") {
                    *request.uri_mut() =
                        request.uri().path_and_query().unwrap().as_str().parse().unwrap();
                }
                sender.send_request(request).await
            }
            Connection::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }

    pub async fn ask(&mut self, request: Request<Body>) -> Answer {
        collect(self.send(request).await.unwrap()).await.unwrap()
    }
}

pub async fn collect(response: Response<Incoming>) -> hyper::Result<Answer> {
    let (parts, incoming) = response.into_parts();
    let collected = incoming.collect().await?;
    let trailers = collected.trailers().cloned();
    Ok(Answer {
        status: parts.status,
        headers: parts.headers,
        body: collected.to_bytes(),
        trailers,
    })
}

pub fn request(method: Method, url: &str, body: Body) -> Request<Body> {
    Request::builder().method(method).uri(url).body(body).unwrap()
}

impl Answer {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The status and name of one of the gateway's own failures.
    pub fn failure(&self) -> (u16, &str) {
        (self.status.as_u16(), self.header("sandbox-error").unwrap_or("not ours"))
    }
}
