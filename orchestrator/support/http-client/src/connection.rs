//! Connections to servers: trusted certificates, and an optional HTTP proxy.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tower::Service;

use crate::Error;

/// The connector of the HTTP client.
pub type Connector = HttpsConnector<Connection>;

/// Maximum size of a proxy's answer to CONNECT.
const MAX_HEAD: usize = 16 << 10;

/// A TCP connector, direct or through a proxy.
#[derive(Clone)]
pub struct Connection {
    http: HttpConnector,
    proxy: Option<Arc<Proxy>>,
}

struct Proxy {
    uri: Uri,
    /// The `Proxy-Authorization` header line, or empty.
    authorization: String,
}

impl Connection {
    /// A connector through the HTTP proxy at this address, or a direct one.
    pub(crate) fn new(through: Option<&str>) -> Result<Connection, Error> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        // A request is written in one piece, and is not to wait for an acknowledgement.
        http.set_nodelay(true);
        Ok(Connection { http, proxy: through.map(proxy).transpose()?.map(Arc::new) })
    }
}

fn proxy(text: &str) -> Result<Proxy, Error> {
    // The text may contain a password, so errors do not show it.
    let failed = |reason: &str| Error::Proxy { reason: reason.to_owned() };
    let spelled = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url = url::Url::parse(&spelled).map_err(|error| failed(&error.to_string()))?;
    if url.scheme() != "http" {
        return Err(failed("only http:// proxies are supported"));
    }
    let host = url.host_str().ok_or_else(|| failed("it names no host"))?;
    let uri = format!("http://{host}:{}", url.port().unwrap_or(80)).parse();
    let uri = uri.map_err(|_| failed("it is no address"))?;
    let known_as =
        |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let authorization = match (url.username(), url.password()) {
        ("", None) => String::new(),
        (name, password) => {
            let pair = format!("{}:{}", known_as(name), known_as(password.unwrap_or_default()));
            format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(pair))
        }
    };
    Ok(Proxy { uri, authorization })
}

impl Service<Uri> for Connection {
    type Response = TokioIo<TcpStream>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.http.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        // Plain HTTP is for servers nearby, so it needs no proxy.
        let proxy = self.proxy.clone().filter(|_| uri.scheme_str() == Some("https"));
        let to = proxy.as_ref().map_or_else(|| uri.clone(), |proxy| proxy.uri.clone());
        let connecting = self.http.call(to);
        Box::pin(async move {
            let mut stream = connecting.await?.into_inner();
            if let Some(proxy) = proxy {
                open(&mut stream, &proxy, &uri).await?;
            }
            Ok(TokioIo::new(stream))
        })
    }
}

/// Opens a tunnel through the proxy.
async fn open(stream: &mut TcpStream, proxy: &Proxy, to: &Uri) -> io::Result<()> {
    let (host, port) = (to.host().unwrap_or_default(), to.port_u16().unwrap_or(443));
    let Proxy { authorization, .. } = proxy;
    let ask =
        format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{authorization}\r\n");
    stream.write_all(ask.as_bytes()).await?;
    let mut head = Vec::new();
    // Read byte by byte: what follows the head belongs to the server.
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
        if head.len() > MAX_HEAD {
            return Err(io::Error::other("the proxy's answer has no end"));
        }
    }
    let line =
        String::from_utf8_lossy(head.split(|byte| *byte == b'\r').next().unwrap_or_default())
            .into_owned();
    match line.split(' ').nth(1) {
        Some(status) if status.starts_with('2') => Ok(()),
        _ => Err(io::Error::other(format!("the proxy does not connect to {host}:{port}: {line}"))),
    }
}
