//! A town in this process: what its gateway does with requests to sites, as a browser meets it.

#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use gateway::{CertificateAuthority, Config, Routes};
use sites::{Options, Site};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;
use town::{Client, Folder, Served};

const SOON: Duration = Duration::from_secs(30);

/// A town that ends with its test.
struct Up {
    client: Client,
    stop: CancellationToken,
    served: tokio::task::JoinHandle<Result<(), town::Error>>,
}

impl Up {
    /// The sites of these manifests, by name.
    async fn start(folder: &Utf8Path, manifests: &[(&str, &str)]) -> Up {
        for (name, text) in manifests {
            std::fs::create_dir_all(folder.join(name)).unwrap();
            std::fs::write(folder.join(name).join("site.yaml"), text).unwrap();
        }
        let sites = manifests.iter().map(|(name, _)| Site::load(&folder.join(name)).unwrap()).collect();
        let data = Folder::new(folder.join("data"));
        let options = Options {
            copies: 1,
            folder: data.path().to_owned(),
            listed: Vec::new(),
            name: "test".to_owned(),
        };
        let gateway = Config::new(Arc::new(CertificateAuthority::in_memory().unwrap()), Routes::new());
        let (client, stop) = (Client::new(&data), CancellationToken::new());
        let reset = ([127, 0, 0, 1], 0).into();
        let served = Served { folder: data, sites, options, gateway, reset };
        let served = tokio::spawn(town::serve(served, Arc::new(|_| {}), stop.clone()));
        let up = Up { client, stop, served };
        let deadline = Instant::now() + SOON;
        let mut look = tokio::time::interval(Duration::from_millis(20));
        loop {
            look.tick().await;
            let status = up.client.status().await;
            if status.as_ref().is_ok_and(town::TownStatus::is_up) {
                return up;
            }
            assert!(Instant::now() < deadline, "the town is not up: {status:?}");
        }
    }

    /// A page by its URL, through the proxy.
    async fn page(&self, url: &str) -> String {
        let proxy = self.client.status().await.unwrap().proxy;
        let mut stream = tokio::net::TcpStream::connect(proxy.trim_start_matches("http://")).await.unwrap();
        let request = format!("GET {url} HTTP/1.1\r\nX-Who: the client\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer.to_ascii_lowercase()
    }

    async fn end(self) {
        self.stop.cancel();
        self.served.await.unwrap().unwrap();
    }
}

fn small(lines: &str) -> String {
    let program = env!("CARGO_BIN_EXE_small-site");
    format!(
        "title: Small\nabout: A small site.\ndriver: process\nhosts: [small.test]\n\
         command: [{program}, '{{port}}', '{{state}}']\nready: {{front: {{get: /, contains: a small site}}}}\n{lines}\n"
    )
}

#[tokio::test]
async fn header_log_ins_are_carried_by_every_request_also_after_a_reset() {
    let keep = tempfile::tempdir().unwrap();
    let folder = Utf8Path::from_path(keep.path()).unwrap();
    let manifest = small(
        "accounts: {ann: {username: ann, password: x}, bob: {username: bob, password: y}}\n\
         login: {ann: {header: {X-Who: '{username}:{password}'}}, bob: {cookie: {who: bob}}}",
    );
    let up = Up::start(folder, &[("small", &manifest)]).await;
    let fields = "http://small.test/fields";
    assert!(up.page(fields).await.contains("x-who: the client"));
    let given = up.client.login("small", "ann").await.unwrap();
    assert_eq!(given.headers, [("X-Who".to_owned(), "ann:x".to_owned())]);
    let seen = up.page(fields).await;
    assert!(seen.contains("x-who: ann:x") && !seen.contains("the client"), "{seen}");
    up.client.reset("small").await.unwrap();
    assert!(up.page(fields).await.contains("x-who: ann:x"));
    // Somebody else, by other means.
    up.client.login("small", "bob").await.unwrap();
    assert!(up.page(fields).await.contains("x-who: the client"));
    up.end().await;
}

/// A server that speaks TLS alone, and answers each request with its own head.
async fn in_tls(authority: CertificateAuthority) -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let mut config = (*authority.server_config("localhost").unwrap()).clone();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        loop {
            let (tcp, _) = listener.accept().await.unwrap();
            let Ok(mut tls) = acceptor.accept(tcp).await else { continue };
            tokio::spawn(async move {
                let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
                while !seen.ends_with(b"\r\n\r\n") {
                    match tls.read(&mut buffer).await {
                        Ok(count @ 1..) => seen.extend_from_slice(&buffer[..count]),
                        _ => return,
                    }
                }
                let head =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", seen.len());
                let _ = tls.write_all(&[head.as_bytes(), &seen].concat()).await;
                let _ = tls.shutdown().await;
            });
        }
    });
    port
}

#[tokio::test]
async fn a_site_elsewhere_is_reached_over_tls() {
    let keep = tempfile::tempdir().unwrap();
    let folder = Utf8Path::from_path(keep.path()).unwrap();
    let authority = CertificateAuthority::in_memory().unwrap();
    std::fs::create_dir_all(folder.join("theirs")).unwrap();
    std::fs::write(folder.join("theirs/ca.pem"), authority.certificate_pem()).unwrap();
    let port = in_tls(authority).await;
    let manifest = format!(
        "title: Theirs\nabout: Somebody else's.\ndriver: external\nurl: https://localhost:{port}/\nauthority: ca.pem\n\
         hosts: [theirs.test, 'theirs.test:8443']\nreset: never\nready: {{front: {{get: /ready, contains: theirs.test}}}}\n\
         accounts: {{ann: {{username: ann, password: x}}}}\nlogin: {{ann: {{header: {{X-Who: ann}}}}}}\n"
    );
    let up = Up::start(folder, &[("theirs", &manifest)]).await;
    let seen = up.page("http://theirs.test:8443/a?b").await;
    assert!(seen.contains("get /a?b http/1.1") && seen.contains("host: theirs.test:8443"), "{seen}");
    up.client.login("theirs", "ann").await.unwrap();
    assert!(up.page("http://theirs.test/").await.contains("x-who: ann"));
    up.end().await;

    // Who is not believed is not asked.
    let manifest = manifest.replace("authority: ca.pem\n", "ready_within: 300ms\n");
    std::fs::write(folder.join("theirs/site.yaml"), manifest).unwrap();
    let options =
        Options { copies: 1, folder: folder.join("data"), listed: Vec::new(), name: "test".to_owned() };
    let site = Site::load(&folder.join("theirs")).unwrap();
    let town = sites::Town::start(vec![site], options, Arc::new(|_| {})).await.unwrap();
    let error = town.ready(SOON).await.unwrap_err().to_string();
    assert!(error.contains("invalid peer certificate"), "{error}");
    town.stop().await.unwrap();
}
