//! Sites that are commands on this machine.

#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use sites::{Lease, Options, Site, SiteGroup, SiteTarget};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const SOON: Duration = Duration::from_secs(30);

fn manifest(folder: &Utf8Path, lines: &str) -> Utf8PathBuf {
    let folder = folder.join("small");
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!(
        "title: Small\nabout: A small site.\ndriver: process\nhosts: [small.test]\nclock: 2023-06-15T09:00:00Z\n\
         command: [{}, '{{port}}', '{{state}}']\nready: {{front: {{get: /, contains: a small site}}}}\n\
         state: {{trees: [lines]}}\nreset: restore\n{lines}\n",
        env!("CARGO_BIN_EXE_small-site")
    );
    std::fs::write(folder.join("site.yaml"), text).unwrap();
    folder
}

async fn group(folder: &Utf8Path, lines: &str) -> SiteGroup {
    let options = Options { helper: Some(env!("CARGO_BIN_EXE_owner").into()), ..options(folder) };
    start(folder, lines, options).await.0
}

fn options(folder: &Utf8Path) -> Options {
    Options::new("test", folder.join("data"))
}

/// A group, and the warnings that it gives.
async fn start(
    folder: &Utf8Path,
    lines: &str,
    options: Options,
) -> (SiteGroup, Arc<Mutex<Vec<String>>>) {
    let site = Site::load(&manifest(folder, lines)).unwrap();
    let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&warnings);
    let events = Arc::new(move |event: &sites::Event| kept.lock().unwrap().extend(event.warning()));
    (SiteGroup::start(vec![site], options, events).await.unwrap(), warnings)
}

async fn page(lease: &Lease, path: &str) -> String {
    let mut stream = lease.upstream().connect().await.unwrap();
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nHost: small.test\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
}

fn folder(keep: &tempfile::TempDir) -> Utf8PathBuf {
    Utf8PathBuf::from_path_buf(keep.path().to_owned()).unwrap()
}

#[tokio::test]
async fn a_process_is_put_back_while_it_runs_replaced_when_it_ends_and_gone_in_the_end() {
    let keep = tempfile::tempdir().unwrap();
    let group = group(&folder(&keep), "").await;
    for round in 0..5 {
        let lease = group.lease("small", SOON).await.unwrap();
        assert_eq!(lease.difference().await.unwrap(), None);
        assert_eq!(page(&lease, "/lines").await, "");
        assert_eq!(page(&lease, "/clock").await, "2023-06-15 09:00:00\n");
        page(&lease, &format!("/add?{round}")).await;
        assert_eq!(lease.difference().await.unwrap().as_deref(), Some("lines/all was added"));
        lease.hand_back(true).await;
    }
    group.reset("small").await.unwrap();
    group.measure().await;
    // What is measured is told to whom a lease asks, too: the answer to that one comes after it.
    let lease = group.lease("small", SOON).await.unwrap();
    assert!(
        group.status()[0]
            .instances
            .iter()
            .all(|instance| instance.memory.is_some_and(|bytes| bytes > 0))
    );
    lease.check().await.unwrap();
    page(&lease, "/end?3").await;
    // Nobody has had a moment yet to be told.
    let error = lease.check().await.unwrap_err().to_string();
    assert!(
        error.contains("ended with exit status: 3; its last words:\n  a small site begins"),
        "{error}"
    );
    let next = group.lease("small", SOON).await.unwrap();
    let last = next.upstream();
    assert_ne!(next.upstream(), lease.upstream());
    group.stop().await.unwrap();
    assert!(last.connect().await.is_err());
    assert_eq!(folder(&keep).join("data/copies").read_dir_utf8().unwrap().count(), 0);
}

#[tokio::test]
async fn a_process_whose_owner_was_killed_is_ended_by_the_next_town() {
    let keep = tempfile::tempdir().unwrap();
    let site = manifest(&folder(&keep), "");
    let data = folder(&keep).join("data");
    let mut owner = Command::new(env!("CARGO_BIN_EXE_owner"));
    owner.args([&data, &site]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut owner = owner.spawn().unwrap();
    let mut said = BufReader::new(owner.stdout.take().unwrap()).lines();
    assert_eq!(said.next().unwrap().unwrap(), "ready");
    std::io::Write::write_all(owner.stdin.as_mut().unwrap(), b"\n").unwrap();
    assert!(said.next().unwrap().unwrap().starts_with("leased "));
    let copies = data.join("copies").read_dir_utf8().unwrap().next().unwrap().unwrap();
    let note = std::fs::read_to_string(copies.path().join("small-1/process")).unwrap();
    let process = Utf8Path::new("/proc").join(note.split('-').next().unwrap()).join("exe");
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(process.read_link_utf8().is_ok(), "it outlives its owner");
    let group = group(&folder(&keep), "").await;
    // The kill has been sent; the system takes a moment.
    let deadline = Instant::now() + SOON;
    while process.read_link_utf8().is_ok() {
        assert!(Instant::now() < deadline, "it is still there");
        tokio::task::yield_now().await;
    }
    group.stop().await.unwrap();
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let keep = tempfile::tempdir().unwrap();
    let folder = folder(&keep);
    let site = manifest(&folder, "");
    let text = std::fs::read_to_string(site.join("site.yaml")).unwrap();
    std::fs::write(
        site.join("site.yaml"),
        text.replace(env!("CARGO_BIN_EXE_small-site"), "./nonesuch"),
    )
    .unwrap();
    let options = Options::new("test", folder.join("data"));
    let group = SiteGroup::start(vec![Site::load(&site).unwrap()], options, Arc::new(|_| {}))
        .await
        .unwrap();
    let error = group.ready(SOON).await.unwrap_err().to_string();
    assert!(error.contains("failed to run ./nonesuch: No such file"), "{error}");
    group.stop().await.unwrap();
}

/// Nothing of a command listens on the machine, and it reaches nothing of the machine.
#[tokio::test]
async fn a_process_has_a_network_of_its_own() {
    let keep = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let machine = listener.local_addr().unwrap();
    let group = group(&folder(&keep), "").await;
    let lease = group.lease("small", SOON).await.unwrap();
    let SiteTarget::Socket(socket) = lease.upstream() else {
        panic!("this machine has no namespaces")
    };
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let port = socket.file_stem().unwrap().to_owned();
    assert!(std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_err());
    assert!(page(&lease, &format!("/tcp?{machine}")).await.starts_with("error: "));
    assert!(
        !page(&lease, &format!("/tcp?127.0.0.1:{port}")).await.starts_with("error: "),
        "its own"
    );
    group.stop().await.unwrap();
}

/// Where there is no helper there are no namespaces, and that is said.
#[tokio::test]
async fn a_process_without_a_network_of_its_own_is_warned_of_once() {
    let keep = tempfile::tempdir().unwrap();
    let folder = folder(&keep);
    let (group, warnings) = start(&folder, "", options(&folder)).await;
    let lease = group.lease("small", SOON).await.unwrap();
    assert!(matches!(lease.upstream(), SiteTarget::Address(address) if address.ip().is_loopback()));
    let warnings = warnings.lock().unwrap().clone();
    assert!(
        warnings.len() == 1 && warnings[0].contains("other users of this machine"),
        "{warnings:?}"
    );
    group.stop().await.unwrap();
}
