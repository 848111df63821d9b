//! The pages once another program has driven them.

use std::time::{Duration, Instant};

use actions::Action;
use browser::{Launch, Session};
use http_body_util::Full;
use tokio::net::TcpStream;
use tokio::time::{interval, timeout};

use crate::hostile_pages::world;
use crate::web::Web;

const LEFT: &str = "<p>left</p><script>fetch('/asked'); alert('left')</script>";
const ASKS: &str = "<script>alert('asked')</script><p>went on</p>";
const GROWS: &str = "<p>grows</p><script>const all = [];
    setInterval(() => all.push(new Uint8Array(32 << 20).fill(1)), 5)</script>";

async fn until(condition: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut polls = interval(Duration::from_millis(10));
    while !holds() {
        assert!(Instant::now() < deadline, "waited 60 s for {condition}");
        polls.tick().await;
    }
}

#[tokio::test]
async fn dialogs_and_crashes_are_noticed_once_the_pages_are_taken_back() {
    let web = Web::serve(&[
        ("left.test/", LEFT),
        ("left.test/asked", ""),
        ("asks.test/", ASKS),
        ("grows.test/", GROWS),
    ])
    .await;
    let launch = Launch {
        determinism: Some(world()),
        attach_mode: true,
        memory: 1 << 30,
        ..Launch::new(web.address, "")
    };
    let mut session = Session::start(&launch).await.unwrap();
    let url = session.serve_devtools().await.unwrap().url;
    let (address, key) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let request = http::Request::put(format!("/{key}/json/new?http://left.test/"));
    let request = request.header(http::header::HOST, address).body(Full::default()).unwrap();
    let opened =
        http_once::exchange(TcpStream::connect(address).await.unwrap(), request, 1 << 20).await;
    assert!(opened.unwrap().status().is_success());
    until("the dialog", || web.requests().iter().any(|line| line.ends_with("/asked"))).await;

    session.reclaim().await.unwrap();
    let soon = Duration::from_secs(20);
    // The page that the program has left in a dialog, and one that opens its own.
    assert_eq!(timeout(soon, session.page_text()).await.unwrap().unwrap(), "left");
    let open = |url: &str| Action::Goto { url: url.to_owned() };
    timeout(soon, session.act(&open("http://asks.test/"))).await.unwrap().unwrap();
    let deadline = Instant::now() + soon;
    while timeout(soon, session.page_text()).await.unwrap().unwrap() != "went on" {
        assert!(Instant::now() < deadline, "the page waits in its dialog");
    }

    session.act(&open("http://grows.test/")).await.unwrap();
    until("the crash", || session.has_crashed()).await;
    let why = session.replace_crashed_pages().await.unwrap().unwrap();
    assert_eq!(why, "the page crashed: it used more than 1024 MiB of memory");
    session.check().unwrap();
    session.close().await.unwrap();
}
