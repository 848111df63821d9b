//! Sites that are commands on this machine.

#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use sites::{Lease, Options, Site, SiteGroup, Upstream};
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
    let site = Site::load(&manifest(folder, lines)).unwrap();
    let options = Options::new("test", folder.join("data"));
    SiteGroup::start(vec![site], options, Arc::new(|_| {})).await.unwrap()
}

async fn page(lease: &Lease, path: &str) -> String {
    let Upstream::Address(address) = lease.upstream() else { panic!("an address") };
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: small.test\r\n\r\n").as_bytes()).await.unwrap();
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
        group.status()[0].instances.iter().all(|instance| instance.memory.is_some_and(|bytes| bytes > 0))
    );
    lease.check().await.unwrap();
    page(&lease, "/end?3").await;
    // Nobody has had a moment yet to be told.
    let error = lease.check().await.unwrap_err().to_string();
    assert!(error.contains("ended with exit status: 3; its last words:\n  a small site begins"), "{error}");
    let next = group.lease("small", SOON).await.unwrap();
    let Upstream::Address(address) = next.upstream() else { panic!("an address") };
    assert_ne!(next.upstream(), lease.upstream());
    group.stop().await.unwrap();
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
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
    let leased = said.next().unwrap().unwrap();
    let address = leased.strip_prefix("leased ").unwrap().to_owned();
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(std::net::TcpStream::connect(&address).is_ok(), "it outlives its owner");
    let group = group(&folder(&keep), "").await;
    // The kill has been sent; the system takes a moment.
    let deadline = Instant::now() + SOON;
    while std::net::TcpStream::connect(&address).is_ok() {
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
    std::fs::write(site.join("site.yaml"), text.replace(env!("CARGO_BIN_EXE_small-site"), "./nonesuch"))
        .unwrap();
    let options = Options::new("test", folder.join("data"));
    let group = SiteGroup::start(vec![Site::load(&site).unwrap()], options, Arc::new(|_| {})).await.unwrap();
    let error = group.ready(SOON).await.unwrap_err().to_string();
    assert!(error.contains("failed to run ./nonesuch: No such file"), "{error}");
    group.stop().await.unwrap();
}
