//! Serves the pages that try to break out, and what they could reach.

use std::fs;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use actions::Action;
use browser::{Determinism, Session};
use in_flight::InFlight;
use tokio::net::TcpListener;

use crate::web::Web;

const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/hostile/page/pages");
const PATIENCE: Duration = Duration::from_secs(20);
/// How long all attempts of a page may take.
const ALL: Duration = Duration::from_secs(120);
/// The limit of downloads together.
pub(crate) const DOWNLOADS: u64 = 8 << 20;

/// Serves every page under a secure origin, and its resources.
pub(crate) async fn serve() -> Web {
    let mut pages = vec![
        ("localhost/alternative".to_owned(), "alternative".to_owned()),
        ("localhost/endless.zip".to_owned(), String::new()),
    ];
    for entry in fs::read_dir(PAGES).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        pages.push((format!("localhost/{name}"), fs::read_to_string(entry.path()).unwrap()));
    }
    let pages: Vec<(&str, &str)> = pages.iter().map(|(place, body)| (&**place, &**body)).collect();
    Web::serve(&pages).await
}

/// Listeners on this machine that no page may reach.
pub(crate) struct Outside {
    tcp: TcpListener,
    udp: UdpSocket,
}

impl Outside {
    pub(crate) async fn new() -> Outside {
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_nonblocking(true).unwrap();
        Outside { tcp: TcpListener::bind("127.0.0.1:0").await.unwrap(), udp }
    }

    pub(crate) fn query(&self) -> String {
        format!("?tcp={}&udp={}", self.tcp.local_addr().unwrap(), self.udp.local_addr().unwrap())
    }

    pub(crate) async fn nobody_came(&self, page: &str) {
        assert!(self.udp.recv_from(&mut [0; 2048]).is_err(), "{page}: a packet came");
        let accepting = tokio::time::timeout(Duration::from_millis(1), self.tcp.accept());
        assert!(accepting.await.is_err(), "{page}: a connection came");
    }
}

/// Opens a page, waits until it has tried everything, and returns its report.
pub(crate) async fn tried(session: &mut Session, page: &str, query: &str) -> String {
    let url = format!("http://localhost/{page}{query}");
    session.act(&Action::Goto { url }).await.unwrap();
    let deadline = Instant::now() + ALL;
    loop {
        // Endless downloads are waited for until they are canceled.
        let _ = session.settle(&InFlight::default(), PATIENCE).await;
        let seen = session.observe().await.unwrap();
        if seen.title == "held" || seen.title.starts_with("ESCAPED") {
            let text = session.page_text().await.unwrap();
            return format!("{}\n{text}", seen.title);
        }
        assert!(
            Instant::now() < deadline,
            "{page} does not come to its end: {} {:?}",
            seen.title,
            seen.tabs
        );
        session.act(&Action::Noop).await.unwrap();
    }
}

pub(crate) fn world() -> Determinism {
    Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 }
}
