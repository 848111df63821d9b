//! A group in this process: what its gateway does with requests to sites, as a browser meets it.

#![allow(clippy::unwrap_used, missing_docs)]

#[path = "shared/up.rs"]
mod up;

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use gateway::CertificateAuthority;
use sites::{Options, Site};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use up::Up;

const SOON: Duration = Duration::from_secs(30);

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
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    seen.len()
                );
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
    assert!(
        seen.contains("get /a?b http/1.1") && seen.contains("host: theirs.test:8443"),
        "{seen}"
    );
    up.client.login("theirs", "ann").await.unwrap();
    assert!(up.page("http://theirs.test/").await.contains("x-who: ann"));
    up.end().await;

    // Who is not believed is not asked.
    let manifest = manifest.replace("authority: ca.pem\n", "ready_within: 300ms\n");
    std::fs::write(folder.join("theirs/site.yaml"), manifest).unwrap();
    let options = Options::new("test", folder.join("data"));
    let site = Site::load(&folder.join("theirs")).unwrap();
    let group = sites::SiteGroup::start(vec![site], options, Arc::new(|_| {})).await.unwrap();
    let error = group.ready(SOON).await.unwrap_err().to_string();
    assert!(error.contains("invalid peer certificate"), "{error}");
    group.stop().await.unwrap();
}
