//! Many episodes that change what they can: `cargo run -p sites --example episodes -- [EPISODES] [SITE...]`.
//!
//! In each, an account logs in, and while the application runs, rows of every table of its databases are changed and
//! deleted and files of its trees written, removed and added, as no user could; then pages are asked for, so that the
//! application sees it. The next lease has to be pristine, by its digest and by the page that it shows. Ends with 1 if one
//! was not.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use rusqlite::Connection;
use sites::manifest::{DriverKind, ResetPolicy};
use sites::{Events, Lease, Options, Site, Town, Upstream};

type Outcome<T> = Result<T, Box<dyn Error>>;

const SOON: Duration = Duration::from_secs(180);

#[tokio::main]
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let episodes: usize = arguments.next().map_or(Ok(20), |episodes| episodes.parse())?;
    let wanted: Vec<String> = arguments.collect();
    let mut all = Site::load_all(&Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sites"))?;
    all.retain(|site| wanted.is_empty() || wanted.contains(&site.name));
    all.retain(|site| site.driver == DriverKind::Docker && site.reset == ResetPolicy::Restore);
    let folder =
        Utf8PathBuf::from_path_buf(std::env::temp_dir().join(format!("episodes-{}", std::process::id())))
            .map_err(|_| "a folder with a plain name")?;
    let mut bad = 0;
    for site in all {
        let (name, site_path) = (site.name.clone(), site.clone());
        let events: Events = Arc::new(|event| {
            use sites::Event::{Drifted, Failed};
            if matches!(event, Failed { .. } | Drifted { .. }) {
                eprintln!("{event:?}");
            }
        });
        let options =
            Options { copies: 1, folder: folder.clone(), listed: Vec::new(), name: "episodes".to_owned() };
        let town = Town::start(vec![site], options, events).await?;
        let began = Instant::now();
        let outcome = run(&town, &site_path, &folder, episodes).await;
        let drifts = town.status().iter().map(|status| status.drifts).sum::<u64>();
        let took = began.elapsed().as_secs_f64();
        match &outcome {
            Ok(()) => println!("{name}: {episodes} episodes in {took:.1} s, {drifts} drifts"),
            Err(error) => println!("{name}: {error}; {drifts} drifts"),
        }
        bad += u64::from(outcome.is_err()) + drifts;
        town.stop().await?;
    }
    fs::remove_dir_all(&folder)?;
    if bad > 0 { Err("not every episode began with a pristine copy".into()) } else { Ok(()) }
}

async fn run(town: &Town, site: &Site, folder: &Utf8Path, episodes: usize) -> Outcome<()> {
    town.ready(SOON).await?;
    let account = site.login.keys().next().cloned();
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for episode in 0..episodes {
        let lease = town.lease(&site.name, SOON).await?;
        if let Some(difference) = lease.difference().await? {
            return Err(format!("episode {episode} began with a copy in which {difference}").into());
        }
        for condition in site.ready.values().filter_map(|ready| ready.get.as_ref()) {
            let page = words(&ask(&lease, condition).await?);
            let first = seen.entry(condition.clone()).or_insert_with(|| page.clone());
            if *first != page {
                return Err(format!("episode {episode} shows another {condition} than the first").into());
            }
        }
        if let Some(account) = &account {
            lease.login(account).await.map_err(|error| format!("episode {episode}: failed to {error}"))?;
        }
        let state = state_of(folder, &lease)?;
        for database in &site.state.sqlite {
            spoil_database(&state.join(database.strip_prefix("/state")?), episode)?;
        }
        for tree in &site.state.trees {
            spoil_tree(&state.join(tree.strip_prefix("/state")?), episode)?;
        }
        // Whatever it answers now.
        let _ = ask(&lease, "/").await;
        if lease.difference().await?.is_none() {
            return Err(format!("episode {episode} changed nothing").into());
        }
        lease.hand_back(true).await;
    }
    Ok(())
}

/// The folder of a copy's state on this machine.
fn state_of(folder: &Utf8Path, lease: &Lease) -> Outcome<Utf8PathBuf> {
    let name = format!("{}-{}", lease.site().name, lease.copy());
    for instance in folder.join("copies").read_dir_utf8()? {
        let state = instance?.path().join(&name).join("state");
        if state.is_dir() {
            return Ok(state);
        }
    }
    Err(format!("no folder of {name}").into())
}

fn spoil_database(path: &Utf8Path, episode: usize) -> Outcome<()> {
    let database = Connection::open(path)?;
    database.busy_timeout(Duration::from_secs(10))?;
    database.execute_batch("PRAGMA foreign_keys = OFF")?;
    let list = "select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%'";
    let tables: Vec<String> =
        database.prepare(list)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for (at, table) in tables.iter().enumerate() {
        // Half of some tables goes; tables without row ids are left.
        if (at + episode).is_multiple_of(3) {
            let _ = database.execute(&format!("delete from \"{table}\" where rowid % 2 = 0"), []);
        }
    }
    database.execute_batch(&format!(
        "create table spoiled_{episode}(x); insert into spoiled_{episode} values (randomblob({}))",
        1 + episode * 7919 % 500_000
    ))?;
    Ok(())
}

fn spoil_tree(tree: &Utf8Path, episode: usize) -> Outcome<()> {
    fs::create_dir_all(tree.join("added/deep"))?;
    fs::write(tree.join("added/deep/file"), episode.to_string())?;
    let mut files = Vec::new();
    collect(tree, &mut files)?;
    for (at, file) in files.iter().enumerate() {
        match (at + episode) % 5 {
            0 => fs::remove_file(file)?,
            1 => fs::write(file, "spoiled")?,
            _ => {}
        }
    }
    Ok(())
}

fn collect(folder: &Utf8Path, files: &mut Vec<Utf8PathBuf>) -> Outcome<()> {
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => collect(entry.path(), files)?,
            kind if kind.is_file() => files.push(entry.into_path()),
            _ => {}
        }
    }
    Ok(())
}

/// A page of a copy, as anybody sees it.
async fn ask(lease: &Lease, path: &str) -> Outcome<String> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let Upstream::Address(address) = lease.upstream() else { return Err("no address".into()) };
    let host = lease.site().canonical();
    let mut stream = tokio::net::TcpStream::connect(address).await?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The words that a page shows: what stands in header fields, tags and scripts may differ from visit to visit.
fn words(page: &str) -> String {
    let body = page.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let shown =
        body.split('<').filter(|part| !part.starts_with("script")).filter_map(|part| part.split_once('>'));
    let words = shown.flat_map(|(_, text)| text.split(|c: char| !c.is_alphabetic()));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
