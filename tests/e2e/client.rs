//! A small HTTP client that goes through a proxy, as a program with `HTTPS_PROXY` set does.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use camino::Utf8Path;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// A client of one proxy.
#[derive(Clone)]
pub(crate) struct Client {
    proxy: SocketAddr,
    tls: Arc<ClientConfig>,
}

impl Client {
    /// Trusts the certificate in `ca`.
    pub(crate) fn new(proxy: SocketAddr, ca: &Utf8Path) -> Result<Client> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(ca).with_context(|| ca.to_string())?)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Client { proxy, tls: Arc::new(tls) })
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
        let url = url::Url::parse(url)?;
        let host = url.host_str().context("a host")?.to_owned();
        let port = url.port_or_known_default().context("a port")?;
        let mut stream = TcpStream::connect(self.proxy).await?;
        stream
            .write_all(format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n").as_bytes())
            .await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        ensure!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
        let stream = TlsConnector::from(Arc::clone(&self.tls))
            .connect(ServerName::try_from(host.clone())?, stream)
            .await?;

        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(connection);
        let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let mut request = Request::builder().method(method).uri(target).header("host", &host);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = sender.send_request(request.body(Full::new(Bytes::from(body.to_owned())))?).await?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        connection.abort();
        Ok(Response::from_parts(parts, body))
    }
}
