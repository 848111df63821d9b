//! A small HTTP client that goes through a proxy, as a program with `HTTP_PROXY` and `HTTPS_PROXY`
//! set does.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use camino::Utf8Path;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::WebSocketStream;
use url::{Position, Url};

/// A client of one proxy.
#[derive(Clone)]
pub(crate) struct Client {
    proxy: SocketAddr,
    /// What it shows to be let in.
    authorization: String,
    tls: Arc<ClientConfig>,
}

impl Client {
    /// Goes through the proxy of this URL, with the key in it, and trusts the certificate in `ca`.
    pub(crate) fn new(proxy: &str, ca: &Utf8Path) -> Result<Client> {
        let (key, address) =
            proxy.strip_prefix("http://").and_then(|rest| rest.split_once('@')).context("a key")?;
        let authorization = format!("Basic {}", BASE64_STANDARD.encode(key));
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(ca).with_context(|| ca.to_string())?)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Client { proxy: address.parse()?, authorization, tls: Arc::new(tls) })
    }

    /// One GET over a connection of its own, with the whole body.
    pub(crate) async fn get(&self, url: &str) -> Result<Response<Bytes>> {
        self.send(url, "GET", &[], "").await
    }

    /// One request over a connection of its own, with the whole body of its answer.
    pub(crate) async fn send(
        &self,
        url: &str,
        method: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Response<Bytes>> {
        let (parts, body) = self.open(url, method, headers, body).await?.into_parts();
        Ok(Response::from_parts(parts, body.collect().await?.to_bytes()))
    }

    /// One request over a connection of its own, and its answer as far as the head.
    pub(crate) async fn open(
        &self,
        url: &str,
        method: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Response<Incoming>> {
        let url = Url::parse(url)?;
        // A proxy is asked for the whole URL, a server at the end of a tunnel for what is behind
        // its host.
        let (stream, target) = match url.scheme() {
            "https" => (self.tls(&url).await?, &url[Position::BeforePath..Position::AfterQuery]),
            _ => (boxed(TcpStream::connect(self.proxy).await?), &url[..Position::AfterQuery]),
        };
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(target).header("host", host(&url)?);
        if url.scheme() == "http" {
            request = request.header("proxy-authorization", &self.authorization);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Ok(sender.send_request(request.body(Full::new(Bytes::from(body.to_owned())))?).await?)
    }

    /// What it shows to be let in, as a line of a request's head.
    pub(crate) fn authorization(&self) -> String {
        format!("Proxy-Authorization: {}\r\n", self.authorization)
    }

    /// A WebSocket.
    pub(crate) async fn socket(&self, url: &str) -> Result<WebSocketStream<TcpStream>> {
        let parsed = Url::parse(url)?;
        let tunnel =
            self.tunnel(host(&parsed)?, parsed.port_or_known_default().context("a port")?).await?;
        Ok(tokio_tungstenite::client_async(url, tunnel).await?.0)
    }

    /// A tunnel, before anything is said in it.
    pub(crate) async fn tunnel(&self, host: &str, port: u16) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(self.proxy).await?;
        let ask = format!(
            "CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\nProxy-Authorization: {}\r\n\r\n",
            self.authorization
        );
        stream.write_all(ask.as_bytes()).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        ensure!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
        Ok(stream)
    }

    async fn tls(&self, url: &Url) -> Result<Stream> {
        let host = host(url)?;
        let tunnel = self.tunnel(host, url.port_or_known_default().context("a port")?).await?;
        let name = ServerName::try_from(host.to_owned())?;
        Ok(boxed(TlsConnector::from(Arc::clone(&self.tls)).connect(name, tunnel).await?))
    }
}

fn host(url: &Url) -> Result<&str> {
    url.host_str().context("a host")
}

type Stream = Box<dyn Io>;

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Io for S {}

fn boxed(stream: impl Io + 'static) -> Stream {
    Box::new(stream)
}
