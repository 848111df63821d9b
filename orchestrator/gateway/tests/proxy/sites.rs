//! Copies of sites behind host names.

use std::sync::Arc;

use gateway::{Answer as Level, CertificateAuthority, Config, Gateway, Routes, Site, Target, body};
use http::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

use crate::client::{Client, request};
use crate::origin::{Origin, PATIENCE};

/// Answers every request of a connection with its own head, as at a time of its own, in which a
/// cookie is to live for an hour.
async fn copy(name: &'static str) -> Origin {
    Origin::raw(move |mut tcp| async move {
        let mut seen = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = tcp.read(&mut buffer).await {
            seen.extend_from_slice(&buffer[..count]);
            if !seen.windows(4).any(|end| end == b"\r\n\r\n") {
                continue;
            }
            let echo = format!("{name}\n{}", String::from_utf8_lossy(&std::mem::take(&mut seen)));
            let answer = format!(
                "HTTP/1.1 200 OK\r\ndate: Thu, 15 Jun 2023 09:00:00 GMT\r\n\
                 set-cookie: a=1; expires=Thu, 15 Jun 2023 10:00:00 GMT; path=/\r\n\
                 content-length: {}\r\n\r\n{echo}",
                echo.len()
            );
            tcp.write_all(answer.as_bytes()).await.unwrap();
        }
    })
    .await
}

fn routes(site: &Arc<Site>) -> Routes {
    let mut routes = Routes::new();
    routes.add("shop.test", Target::Site(site.clone())).unwrap();
    routes
}

#[tokio::test]
async fn an_upload_that_a_site_refuses_midway_is_answered() {
    // It answers at the head, says no more, and reads on until the client has ended.
    let refusing = Origin::raw(|mut tcp| async move {
        let mut buffer = [0; 4096];
        let _ = tcp.read(&mut buffer).await;
        let refusal =
            b"HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        tcp.write_all(refusal).await.unwrap();
        tcp.shutdown().await.unwrap();
        while let Ok(1..) = tcp.read(&mut buffer).await {}
    })
    .await;
    let site = Arc::new(Site::new("shop", refusing.address));
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let gateway = Gateway::start(Config::for_everybody(ca, routes(&site))).await.unwrap();
    let body = vec![b'a'; 32 << 20];
    let head = format!(
        "POST http://shop.test/ HTTP/1.1\r\nhost: shop.test\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    for _ in 0..5 {
        let mut tcp = TcpStream::connect(gateway.local_addr().unwrap()).await.unwrap();
        tcp.write_all(head.as_bytes()).await.unwrap();
        tcp.write_all(&body).await.unwrap();
        let mut answer = String::new();
        tcp.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    }
}

#[tokio::test]
async fn a_copy_answers_under_the_sites_name_until_the_route_leads_to_another() {
    let (one, two) = (copy("one").await, copy("two").await);
    let (first, second) =
        (Arc::new(Site::new("shop", one.address)), Arc::new(Site::new("shop", two.address)));
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let gateway = Gateway::start(Config::for_everybody(ca.clone(), routes(&first))).await.unwrap();
    let client = Client::new(gateway.local_addr().unwrap(), &ca);

    let mut connection = client.https("shop.test:443", &["h2", "http/1.1"]).await;
    let answer = connection.ask(request(Method::GET, "https://shop.test/a?b", body::empty())).await;
    let text = answer.text().to_ascii_lowercase();
    assert!(text.starts_with("one\nget /a?b http/1.1\r\n"), "{text}");
    assert!(text.contains("\r\nhost: shop.test\r\n"), "{text}");
    assert!(text.contains("\r\nx-forwarded-proto: https\r\n"), "{text}");
    assert_eq!(answer.header("set-cookie"), Some("a=1; path=/; Max-Age=3600"));
    assert_eq!(first.changes(), 0, "asking changes nothing");

    gateway.set_routes(routes(&second));
    let answer = connection.ask(request(Method::POST, "https://shop.test/a", body::empty())).await;
    assert!(
        answer.text().starts_with("two\n"),
        "the same connection of the client reaches the other copy"
    );
    assert_eq!((first.changes(), second.changes()), (0, 1));

    gateway.in_flight().idle(PATIENCE).await.unwrap();
    let levels: Vec<_> = gateway.ledger().entries().into_iter().map(|entry| entry.answer).collect();
    assert_eq!(levels, [Level::Site, Level::Site]);
}

#[tokio::test]
async fn connections_end_with_the_copy_they_lead_to() {
    let (ended, mut ends) = tokio::sync::mpsc::unbounded_channel();
    let opened = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let origin = Origin::raw(move |mut tcp| {
        let number = opened.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let ended = ended.clone();
        async move {
            let mut buffer = [0; 4096];
            while let Ok(1..) = tcp.read(&mut buffer).await {
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{number}");
                tcp.write_all(answer.as_bytes()).await.unwrap();
            }
            ended.send(number).unwrap();
        }
    })
    .await;
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    // Two copies may have one address, one after the other.
    let site = || Arc::new(Site::new("shop", origin.address));
    let gateway = Gateway::start(Config::for_everybody(ca.clone(), routes(&site()))).await.unwrap();
    let client = Client::new(gateway.local_addr().unwrap(), &ca);
    for next in ["0", "1", "2"] {
        assert_eq!(client.get("http://shop.test/").await.text(), next);
        gateway.set_routes(routes(&site()));
        let end = tokio::time::timeout(PATIENCE, ends.recv()).await.unwrap();
        assert_eq!(end.map(|number| number.to_string()).as_deref(), Some(next));
    }
}

#[tokio::test]
async fn a_copy_that_is_gone_is_a_named_failure() {
    let gone = copy("gone").await.address;
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let site = Arc::new(Site::new("shop", gone));
    let gateway = Gateway::start(Config::for_everybody(ca.clone(), routes(&site))).await.unwrap();
    let client = Client::new(gateway.local_addr().unwrap(), &ca);
    let failure = client.get("http://shop.test/").await;
    assert_eq!(failure.failure(), (502, "upstream-unreachable"));
}

#[tokio::test]
async fn a_site_elsewhere_is_asked_by_its_own_name_over_tls() {
    for h2 in [true, false] {
        let theirs = Arc::new(CertificateAuthority::in_memory().unwrap());
        let origin = Origin::tls(theirs.clone(), h2).await;
        let keep = tempfile::tempdir().unwrap();
        let roots = camino::Utf8Path::from_path(keep.path()).unwrap().join("roots.pem");
        std::fs::write(&roots, theirs.certificate_pem()).unwrap();
        let site = Arc::new(Site::new("shop", "https://own.test:8443/".parse::<Url>().unwrap()));
        let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
        let mut config = Config::for_everybody(ca.clone(), routes(&site));
        config.connect_to.push(format!("own.test:8443:{}", origin.address).parse().unwrap());
        config.extra_roots.push(roots);
        let gateway = Gateway::start(config).await.unwrap();
        let client = Client::new(gateway.local_addr().unwrap(), &ca);
        for url in ["http://shop.test/hello", "https://shop.test/hello?a=b"] {
            let answer = client.get(url).await;
            assert_eq!(answer.status.as_u16(), 200, "{url}: {}", answer.text());
        }
        let seen = client.get("https://shop.test/headers").await.text().to_ascii_lowercase();
        assert!(!seen.contains("shop.test") && !seen.contains("x-forwarded-proto"), "{seen}");
        assert!(h2 || seen.contains("host: own.test:8443"), "{seen}");
        gateway.in_flight().idle(PATIENCE).await.unwrap();
        assert!(gateway.ledger().entries().iter().all(|entry| entry.answer == Level::Live));
    }
}

#[tokio::test]
async fn a_site_elsewhere_at_an_address_is_asked_by_the_name_of_the_site() {
    let origin = copy("theirs").await;
    for url in [
        format!("http://{}/", origin.address),
        format!("http://localhost:{}/", origin.address.port()),
    ] {
        let site = Arc::new(Site::new("shop", url.parse::<Url>().unwrap()));
        let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
        let gateway =
            Gateway::start(Config::for_everybody(ca.clone(), routes(&site))).await.unwrap();
        let client = Client::new(gateway.local_addr().unwrap(), &ca);
        let seen = client.get("https://shop.test/a?b").await.text().to_ascii_lowercase();
        assert!(seen.starts_with("theirs\nget /a?b http/1.1\r\n"), "{seen}");
        assert!(
            seen.contains("\r\nhost: shop.test\r\n") && seen.contains("x-forwarded-proto: https"),
            "{seen}"
        );
    }
}
