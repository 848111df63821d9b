//! The corpus as a live web: an HTTP/1.1 server over TLS that answers from memory.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use camino::Utf8Path;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::corpus::{Corpus, Document};

/// Host and target to media type and body.
type Documents = HashMap<(String, String), (&'static str, Bytes)>;

/// Serves until killed. Connections that fail are dropped; the client counts them.
#[tokio::main]
pub(crate) async fn serve(corpus: &Corpus, listen: SocketAddr, ca: &Utf8Path) -> Result<()> {
    let documents: Arc<Documents> = Arc::new(
        corpus
            .documents()
            .map(|Document { host, target, media_type, body }| {
                ((host, target), (media_type, Bytes::from(body)))
            })
            .collect(),
    );
    let (config, ca_pem) = tls().context("failed to make certificates")?;
    fs::write(ca, ca_pem).with_context(|| format!("failed to write {ca}"))?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener =
        TcpListener::bind(listen).await.with_context(|| format!("failed to listen on {listen}"))?;
    println!("origin {}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await.context("failed to accept a connection")?;
        let (acceptor, documents) = (acceptor.clone(), documents.clone());
        tokio::spawn(async move {
            let _ended = connection(stream, acceptor, documents).await;
        });
    }
}

async fn connection(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    documents: Arc<Documents>,
) -> Result<()> {
    stream.set_nodelay(true)?;
    let stream = acceptor.accept(stream).await?;
    let service = service_fn(move |request| {
        let response = answer(&documents, &request);
        async move { Ok::<_, Infallible>(response) }
    });
    http1::Builder::new().serve_connection(TokioIo::new(stream), service).await?;
    Ok(())
}

fn answer(documents: &Documents, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default().to_owned();
    let target =
        request.uri().path_and_query().map(|target| target.as_str()).unwrap_or("/").to_owned();
    let mut response = Response::new(Full::default());
    match documents.get(&(host, target)) {
        Some((media_type, body)) => {
            response
                .headers_mut()
                .insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(media_type));
            *response.body_mut() = Full::new(body.clone());
        }
        None => *response.status_mut() = StatusCode::NOT_FOUND,
    }
    response
}

/// A certificate authority of its own and a leaf for every host of a corpus.
fn tls() -> Result<(ServerConfig, String)> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "bench origin");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let key = KeyPair::generate()?;
    let leaf = CertificateParams::new(vec!["*.bench.test".to_owned()])?.signed_by(&key, &issuer)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok((config, issuer.pem()))
}
