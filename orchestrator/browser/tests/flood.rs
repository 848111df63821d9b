//! Pages that try to fill the disk (`tests/hostile/page/pages`), in a frozen episode and in attach
//! mode.
//!
//! A program of its own: it looks for the only browser of its process.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "browser/hostile_pages/mod.rs"]
mod hostile_pages;
#[allow(dead_code)]
#[path = "browser/web/mod.rs"]
mod web;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use browser::{Launch, Session};
use futures_util::{SinkExt as _, StreamExt as _};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::interval;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::hostile_pages::{DOWNLOADS, Outside, serve, tried, world};

/// The bytes that a browser writes for itself, with the part of a download that is there before it
/// is canceled.
const SLACK: u64 = 200 << 20;
/// The storage limit of pages.
const STORAGE: u64 = 1 << 30;
/// How many small files `downloads.html` saves: Chromium lets a page begin ten, of which two are
/// large.
const SMALL: usize = 8;
/// The tests look for the only browser of this process, so they run one after the other.
static TURN: Mutex<()> = Mutex::const_new(());

/// The folder of the only browser of this process.
fn own_folder() -> PathBuf {
    let mark = format!("sandbox-browser-{}-", std::process::id());
    let all = fs::read_dir(processes::temporary::folder().unwrap()).unwrap();
    let mut own = all.flatten().map(|entry| entry.path());
    own.find(|path| path.file_name().unwrap().to_string_lossy().starts_with(&mark)).unwrap()
}

fn size(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else {
        return path.symlink_metadata().map_or(0, |found| found.len());
    };
    entries.flatten().map(|entry| size(&entry.path())).sum()
}

/// Another program that drives the browser.
struct Client {
    socket: WebSocketStream<TcpStream>,
    last_id: u64,
}

impl Client {
    async fn connect(address: &str) -> Self {
        let (address, key) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let connect = || TcpStream::connect(address);
        let path = format!("/{key}/json/version");
        let request = http::Request::get(path).header(http::header::HOST, address);
        let request = request.body(Full::default()).unwrap();
        let reply = http_once::exchange(connect().await.unwrap(), request, 1 << 20).await.unwrap();
        let version: Value = serde_json::from_slice(reply.body()).unwrap();
        let url = version["webSocketDebuggerUrl"].as_str().unwrap();
        let (socket, _) = client_async(url, connect().await.unwrap()).await.unwrap();
        Self { socket, last_id: 0 }
    }

    /// Sends a command and returns its result.
    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let command = json!({ "id": self.last_id, "method": method, "params": params });
        self.socket.send(Message::text(command.to_string())).await.unwrap();
        loop {
            let message = self.socket.next().await.unwrap().unwrap();
            let Ok(mut reply) = serde_json::from_slice::<Value>(&message.into_data()) else {
                continue;
            };
            if reply["id"] == self.last_id {
                assert!(reply.get("error").is_none(), "{method}: {reply}");
                return reply["result"].take();
            }
        }
    }
}

/// A client may create a context of its own, and direct the downloads of that context to a folder
/// of its own. Playwright does both.
#[tokio::test]
async fn no_page_fills_the_disk_in_a_context_of_a_client() {
    let _turn = TURN.lock().await;
    let (web, outside) = (serve().await, Outside::new().await);
    let launch = Launch {
        determinism: Some(world()),
        attach_mode: true,
        downloads: DOWNLOADS,
        ..Launch::new(web.address, "")
    };
    let mut session = Session::start(&launch).await.unwrap();
    let mut client = Client::connect(&session.serve_devtools().await.unwrap().url).await;
    let folder = tempfile::tempdir().unwrap();
    let context =
        client.call("Target.createBrowserContext", json!({})).await["browserContextId"].take();
    let downloads = json!({
        "behavior": "allowAndName",
        "downloadPath": folder.path(),
        "browserContextId": context,
        "eventsEnabled": true,
    });
    client.call("Browser.setDownloadBehavior", downloads).await;
    let url = format!("http://localhost/downloads.html{}", outside.query());
    let page = json!({ "url": url, "browserContextId": context });
    client.call("Target.createTarget", page).await;

    let deadline = Instant::now() + Duration::from_secs(60);
    let mut polls = interval(Duration::from_millis(50));
    loop {
        // The last attempt of the page comes after its large downloads have begun.
        let targets = client.call("Target.getTargets", json!({})).await["targetInfos"].take();
        let page =
            targets.as_array().unwrap().iter().find(|target| target["browserContextId"] == context);
        let title = &page.unwrap()["title"];
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().flatten().map(|file| file.file_name()).collect();
        let under_way = names.iter().any(|name| name.to_string_lossy().ends_with(".crdownload"));
        let kept = size(folder.path());
        // What fits is there. None need have begun when the page has asked for all of them.
        let asked = web.requests().iter().any(|line| line.contains("endless.zip"));
        if title == "held" && !under_way && kept <= DOWNLOADS && names.len() == SMALL && asked {
            break;
        }
        assert!(Instant::now() < deadline, "{title}: {names:?} hold {kept} bytes");
        polls.tick().await;
    }
    session.close().await.unwrap();
}

#[tokio::test]
async fn no_page_fills_the_disk() {
    let _turn = TURN.lock().await;
    let (web, outside) = (serve().await, Outside::new().await);
    for attach_mode in [false, true] {
        let launch = Launch {
            determinism: Some(world()),
            attach_mode,
            downloads: DOWNLOADS,
            ..Launch::new(web.address, "")
        };
        let mut session = Session::start(&launch).await.unwrap();
        let folder = own_folder();
        let report = tried(&mut session, "downloads.html", &outside.query()).await;
        assert!(report.starts_with("held\n"), "attach mode {attach_mode}: {report}");
        let kept = size(&folder.join("downloads"));
        assert!(kept <= DOWNLOADS, "attach mode {attach_mode}: downloads hold {kept} bytes");
        assert!(
            web.requests().iter().any(|line| line.contains("endless.zip")),
            "attach mode {attach_mode}"
        );
        let names: Vec<_> = fs::read_dir(folder.join("downloads")).unwrap().flatten().collect();
        assert_eq!(names.len(), SMALL, "attach mode {attach_mode}: what fits is there, {names:?}");
        assert!(!Path::new("/tmp/hostile-page-was-here").exists(), "attach mode {attach_mode}");
        for outside in [folder.join("home/Downloads"), folder.join("home/.bashrc")] {
            assert!(!outside.exists(), "{outside:?}");
        }
        session.close().await.unwrap();

        // What a slow disk has not taken yet is in memory, whose limit is another matter.
        let launch = Launch { memory: 8 << 30, ..launch };
        let mut session = Session::start(&launch).await.unwrap();
        let folder = own_folder();
        let report = tried(&mut session, "storage.html", "").await;
        assert!(
            report.starts_with("held\n") && report.contains("Quota"),
            "attach mode {attach_mode}: {report}"
        );
        let stored = size(&folder);
        assert!(stored <= STORAGE + SLACK, "attach mode {attach_mode}: {stored} bytes are stored");
        session.close().await.unwrap();
    }
}
