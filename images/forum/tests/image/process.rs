//! The forum in a process of its own and the forum in ours: the same pages, by the same clock, from the same state.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command};

use embedded_sites::{Clock, Golden, Options, forum};
use rusqlite::Connection;
use sites::SiteTarget;
use tokio::net::TcpListener;

use crate::visitor::{Visitor, both, crawl, until_it_answers};

const START: &str = "2023-06-15 09:00:00";

/// The program on a database and a clock of its own, ended when this is dropped.
struct Process {
    child: Child,
    address: SocketAddr,
    folder: tempfile::TempDir,
}

impl Process {
    async fn start() -> Process {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let seeded = Command::new(env!("CARGO_BIN_EXE_forum"))
            .arg("seed")
            .arg(at("golden"))
            .status()
            .unwrap();
        assert!(seeded.success());
        std::fs::copy(at("golden"), at("live")).unwrap();
        std::fs::write(at("now"), START).unwrap();
        // A port that was free a moment ago.
        let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_forum"))
            .args([Path::new("serve"), &at("live"), Path::new(&address.to_string())])
            .env("SITE_CLOCK_FILE", at("now"))
            .spawn()
            .unwrap();
        let process = Process { child, address, folder };
        until_it_answers(address).await;
        process
    }

    /// What the orchestrator does after an episode.
    fn put_back(&self) {
        let open = |name: &str| Connection::open(self.folder.path().join(name)).unwrap();
        let (golden, mut live) = (open("golden"), open("live"));
        live.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
        rusqlite::backup::Backup::new(&golden, &mut live).unwrap().step(-1).unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn in_our_process() -> (SocketAddr, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::fixed("2023-06-15T09:00:00Z".parse().unwrap());
    let copy = forum::start(&Golden::open(folder.path()).unwrap(), &Options::new(clock)).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, copy.router()).await });
    (address, folder)
}

#[tokio::test]
async fn its_pages_are_those_of_the_forum_in_our_process() {
    let process = Process::start().await;
    let (ours, _folder) = in_our_process().await;
    let mut visitors =
        [process.address, ours].map(|address| Visitor::at(SiteTarget::Address(address)));
    assert!(crawl(&mut visitors, 60).await >= 60);
    both(&mut visitors, "POST /login_check", "_username=MarvelsGrantMan136&_password=test1234")
        .await;
    both(&mut visitors, "POST /sv/17", "choice=1").await;
    let post = "submission%5Bforum%5D=books&submission%5Btitle%5D=New&submission%5Bbody%5D=Words";
    let answer = both(&mut visitors, "POST /submit", post).await;
    assert!(answer.starts_with("HTTP/1.1 302"), "{answer}");
    assert!(crawl(&mut visitors, 60).await >= 60);
}

#[tokio::test]
async fn it_goes_on_when_its_database_is_put_back_and_its_clock_is_moved() {
    let process = Process::start().await;
    let mut visitor = Visitor::at(SiteTarget::Address(process.address));
    visitor.send("GET /login", "").await;
    visitor.send("POST /login_check", "_username=tallships&_password=test1234").await;
    let before = visitor.send("GET /f/books/new", "").await;
    for time in ["2023-06-16 10:00:00", "2023-06-15 10:00:00"] {
        std::fs::write(process.folder.path().join("now"), time).unwrap();
        let post =
            "submission%5Bforum%5D=books&submission%5Btitle%5D=Fleeting&submission%5Bbody%5D=Words";
        visitor.send("POST /submit", post).await;
        let changed = visitor.send("GET /f/books/new", "").await;
        assert!(changed.contains("Fleeting") && changed.contains(&time[..10]), "{changed}");
        process.put_back();
        std::fs::write(process.folder.path().join("now"), START).unwrap();
        assert_eq!(visitor.send("GET /f/books/new", "").await, before);
    }
}
