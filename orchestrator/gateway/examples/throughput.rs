//! What recording costs: requests a second straight to an origin, through a forwarding gateway, and
//! through a recording one.
//!
//! `cargo run --release -p gateway --example throughput [-- REQUESTS CONNECTIONS BYTES ROUNDS]`.
//! All in one process over loopback, HTTPS and keep-alive, so client and origin share the cores
//! with the gateway: the ratio tells, not the figure. Rounds take turns, the best of each counts.
#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use camino::Utf8Path;
use gateway::{
    Body, CertificateAuthority, Config, Gateway, Recorder, Redact, Routes, Target, body,
};
use http::{Request, Response, header};
use http_body_util::BodyExt;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use snapshots::{Recording, RecordingOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const HOST: &str = "bench.test";
const NAMES: [&str; 3] = ["direct", "forwarded", "recorded"];

#[tokio::main]
async fn main() {
    let args: Vec<usize> = std::env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let arg = |at: usize, default| args.get(at).copied().unwrap_or(default);
    let (requests, connections, bytes, rounds) =
        (arg(0, 20_000), arg(1, 8), arg(2, 23_000), arg(3, 5));

    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let origin = origin(ca.clone(), bytes).await;
    let folder = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(folder.path()).unwrap();
    std::fs::write(dir.join("roots.pem"), ca.certificate_pem()).unwrap();

    let mut best = [0.0_f64; 3];
    let mut least = [f64::MAX; 3];
    for round in 0..rounds {
        let out = dir.join(format!("{round}.wacz"));
        let recording = Recording::create(&out, RecordingOptions::default()).unwrap();
        let recorder = Arc::new(Recorder::new(recording, Redact::default(), 1 << 30));
        let mut rates = vec![run(origin, None, &ca, requests, connections).await];
        for target in [Target::Forward, Target::Record(recorder.clone())] {
            let mut config = Config::for_everybody(ca.clone(), Routes::all(target));
            config.connect_to.push(format!("::{origin}").parse().unwrap());
            config.extra_roots.push(dir.join("roots.pem"));
            let gateway = Gateway::start(config).await.unwrap();
            rates.push(
                run(gateway.local_addr().unwrap(), Some(HOST), &ca, requests, connections).await,
            );
            gateway.shutdown().await;
        }
        assert_eq!(recorder.report().recorded, requests as u64);
        std::fs::remove_dir_all(Recording::folder_of(&out)).unwrap();
        for (at, (rate, cpu)) in rates.iter().enumerate() {
            println!("round {round}: {:>9} {rate:>6.0}/s {cpu:>5.1} us CPU each", NAMES[at]);
            best[at] = best[at].max(*rate);
            least[at] = least[at].min(*cpu);
        }
    }
    let below = 100.0 * (1.0 - best[2] / best[1]);
    println!(
        "recorded is {below:.1} % below forwarded by rate, {:.1} % by CPU",
        100.0 * (1.0 - least[1] / least[2])
    );
}

/// Requests a second, and CPU microseconds for each, by `connections` clients; through a tunnel if
/// `via` names a host.
async fn run(
    to: SocketAddr,
    via: Option<&'static str>,
    ca: &CertificateAuthority,
    requests: usize,
    connections: usize,
) -> (f64, f64) {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca.certificate_pem().as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(gateway::tls::provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let config = Arc::new(config);
    let left = Arc::new(AtomicUsize::new(requests));
    let (started, used) = (Instant::now(), cpu_ticks());
    let clients: Vec<_> = (0..connections)
        .map(|_| {
            let (config, left) = (config.clone(), left.clone());
            tokio::spawn(async move {
                let mut sender = connect(to, via, config).await;
                while left
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
                    .is_ok()
                {
                    sender.ready().await.unwrap();
                    let request = Request::get("/page")
                        .header(header::HOST, HOST)
                        .body(body::empty())
                        .unwrap();
                    let response = sender.send_request(request).await.unwrap();
                    assert_eq!(response.status(), 200);
                    response.into_body().collect().await.unwrap();
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    let rate = requests as f64 / started.elapsed().as_secs_f64();
    // A tick is ten milliseconds.
    (rate, (cpu_ticks() - used) as f64 * 10_000.0 / requests as f64)
}

/// What this process has used of the CPUs so far, user and system: fields 14 and 15 of
/// `/proc/self/stat`.
fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let behind_name = stat.rsplit_once(')').unwrap().1;
    behind_name.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
}

async fn connect(
    to: SocketAddr,
    via: Option<&str>,
    config: Arc<ClientConfig>,
) -> http1::SendRequest<Body> {
    let mut tcp = TcpStream::connect(to).await.unwrap();
    tcp.set_nodelay(true).unwrap();
    if let Some(host) = via {
        tcp.write_all(
            format!("CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n").as_bytes(),
        )
        .await
        .unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(tcp.read_u8().await.unwrap());
        }
    }
    let tls = tokio_rustls::TlsConnector::from(config)
        .connect(ServerName::try_from(HOST).unwrap(), tcp)
        .await
        .unwrap();
    let (sender, connection) = http1::handshake(TokioIo::new(tls)).await.unwrap();
    tokio::spawn(connection);
    sender
}

/// HTTPS with one page of incompressible bytes.
async fn origin(ca: Arc<CertificateAuthority>, bytes: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut config = (*ca.server_config(HOST).unwrap()).clone();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let page = Bytes::from((0..bytes).map(|n| (n * 31 % 251) as u8).collect::<Vec<_>>());
    tokio::spawn(async move {
        loop {
            let (tcp, _) = listener.accept().await.unwrap();
            tcp.set_nodelay(true).unwrap();
            let (acceptor, page) = (acceptor.clone(), page.clone());
            tokio::spawn(async move {
                let Ok(tls) = acceptor.accept(tcp).await else { return };
                let answer = service_fn(move |_| {
                    let page = page.clone();
                    async move {
                        let mut response: Response<Body> = Response::new(body::full(page.clone()));
                        response.headers_mut().insert(header::CONTENT_LENGTH, page.len().into());
                        Ok::<_, std::convert::Infallible>(response)
                    }
                });
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(tls), answer)
                    .await;
            });
        }
    });
    address
}
