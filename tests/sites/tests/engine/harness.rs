//! An image with the small site in it, its manifest, and towns of it.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use sites::{Event, Events, Lease, Options, Site, SiteGroup, SiteTarget};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

pub(crate) const SOON: Duration = Duration::from_secs(60);

/// A folder, and an image that goes with it.
pub(crate) struct Bench {
    keep: tempfile::TempDir,
    image: String,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        docker(&["version"])
            .expect("no container engine answers: run `./setup.sh engine`, then try again");
        let keep = tempfile::Builder::new().prefix("small-site-").rand_bytes(8).tempdir().unwrap();
        let name = keep.path().file_name().unwrap().to_str().unwrap().to_lowercase();
        let bench = Bench { image: format!("{name}:1"), keep };
        let tar = bench.path("image.tar");
        image(&tar).unwrap();
        docker(&["import", "--change", "CMD [\"/site\"]", tar.as_str(), &bench.image]).unwrap();
        bench
    }

    pub(crate) fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.keep.path()).unwrap().join(name)
    }

    pub(crate) fn image(&self) -> &str {
        &self.image
    }

    /// The folder of a manifest with these lines beside the usual ones.
    pub(crate) fn manifest(&self, lines: &str) -> Utf8PathBuf {
        let folder = self.path("sites/small");
        std::fs::create_dir_all(&folder).unwrap();
        let usual = "title: Small\nabout: A small site.\ndriver: docker\nport: 8000\nhosts: [small.test]\n\
                     clock: 2023-06-15T09:00:00Z\nready: {front: {get: /, contains: a small site}}\n\
                     state: {trees: [/state/lines]}\n";
        let text = format!("{usual}image: {}\n{lines}\n", self.image);
        std::fs::write(folder.join("site.yaml"), text).unwrap();
        folder
    }

    pub(crate) async fn group(&self, lines: &str, instances: usize) -> Running {
        self.group_of(&self.manifest(lines), instances).await
    }

    pub(crate) async fn group_of(&self, manifest: &Utf8Path, instances: usize) -> Running {
        self.start(manifest, instances).await.unwrap()
    }

    /// Why a site with these lines is not even started.
    pub(crate) async fn refused(&self, lines: &str) -> String {
        let started = self.start(&self.manifest(lines), 1).await;
        started.err().expect("it is refused").to_string()
    }

    async fn start(&self, manifest: &Utf8Path, instances: usize) -> Result<Running, sites::Error> {
        let site = Site::load(manifest).unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&events);
        let on: Events = Arc::new(move |event| heard.lock().unwrap().push(event.clone()));
        let options =
            Options { instances, helper: helper(), ..Options::new("test", self.path("data")) };
        Ok(Running { group: SiteGroup::start(vec![site], options, on).await?, events })
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = docker(&["image", "rm", "--force", &self.image]);
    }
}

/// A group of the small site, and what it told.
pub(crate) struct Running {
    pub(crate) group: SiteGroup,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Running {
    pub(crate) async fn lease(&self) -> Lease {
        self.group.lease("small", SOON).await.unwrap()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }

    /// Waits until something was told.
    pub(crate) async fn hears(&self, what: &str, is: impl Fn(&Event) -> bool) {
        wait_for(what, || self.events.lock().unwrap().iter().any(&is)).await;
    }
}

/// What is a relay.
pub(crate) fn helper() -> Option<Utf8PathBuf> {
    Some(env!("CARGO_BIN_EXE_owner").into())
}

/// A page of an instance.
pub(crate) async fn page(lease: &Lease, path: &str) -> String {
    ask_at(&lease.upstream(), path).await.unwrap()
}

/// A page from an address: the body of the answer.
pub(crate) async fn ask(address: std::net::SocketAddr, path: &str) -> std::io::Result<String> {
    ask_at(&SiteTarget::Address(address), path).await
}

/// As [`ask`], from any target.
pub(crate) async fn ask_at(upstream: &SiteTarget, path: &str) -> std::io::Result<String> {
    let asking = async {
        let mut stream = upstream.connect().await?;
        stream
            .write_all(format!("GET {path} HTTP/1.1\r\nHost: small.test\r\n\r\n").as_bytes())
            .await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    };
    tokio::time::timeout(SOON, asking).await?
}

/// Looks until it is so.
pub(crate) async fn wait_for(condition: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + SOON;
    let mut polls = tokio::time::interval(Duration::from_millis(20));
    while !holds() {
        assert!(Instant::now() < deadline, "waited {SOON:?} in vain until {condition}");
        polls.tick().await;
    }
}

/// Runs the engine's own client; what it printed.
pub(crate) fn docker(arguments: &[&str]) -> Result<String, String> {
    let output =
        Command::new("docker").args(arguments).output().map_err(|error| error.to_string())?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(said(&output.stdout)) } else { Err(said(&output.stderr)) }
}

/// What the engine has with this label.
pub(crate) fn labelled(kind: &str, label: &str) -> Vec<String> {
    let all: &[&str] = if kind == "container" { &["--all"] } else { &[] };
    let filter = format!("label={label}");
    let arguments = [&[kind, "ls", "--quiet", "--filter", &filter], all].concat();
    docker(&arguments).unwrap().lines().map(str::to_owned).collect()
}

/// A root file system: the small site with the libraries it is linked to, and its golden state.
fn image(tar: &Utf8Path) -> std::io::Result<()> {
    let site = env!("CARGO_BIN_EXE_small-site");
    let linked = Command::new("ldd").arg(site).output()?;
    let linked = String::from_utf8_lossy(&linked.stdout).into_owned();
    let mut archive = tar::Builder::new(std::fs::File::create(tar)?);
    archive.append_path_with_name(site, "site")?;
    for library in linked.split_whitespace().filter(|word| word.starts_with('/')) {
        archive.append_path_with_name(
            std::fs::canonicalize(library)?,
            Path::new(library).strip_prefix("/").unwrap(),
        )?;
    }
    for folder in ["seed/", "seed/lines/", "state/", "clock/", "etc/"] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Directory);
        header.set_size(0);
        header.set_mode(0o755);
        archive.append_data(&mut header, folder, std::io::empty())?;
    }
    let database = tar.with_extension("sqlite3");
    small_database(&database);
    archive.append_path_with_name(&database, "seed/db.sqlite3")?;
    let golden = b"golden\n";
    let mut header = tar::Header::new_gnu();
    header.set_size(golden.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, "seed/lines/all", golden.as_slice())?;
    archive.finish()
}

/// A database with a row in it.
pub(crate) fn small_database(path: &Utf8Path) {
    let database = rusqlite::Connection::open(path).unwrap();
    database
        .execute_batch("CREATE TABLE lines(line); INSERT INTO lines VALUES ('golden')")
        .unwrap();
}
