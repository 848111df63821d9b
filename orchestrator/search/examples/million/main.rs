//! Speed of searches among many pages, for `make bench ONLY=search`: makes snapshots of invented
//! pages, indexes them, asks queries of several kinds, and asks SQLite's FTS5 the same.
//!
//! ```text
//! million FOLDER PAGES record|index|add|ask|peer
//! ```

mod asking;
mod pages;
mod peer;

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use camino::{Utf8Path, Utf8PathBuf};
use search::Search;
use snapshots::index::ReplaySet;
use snapshots::{Body, Exchange, Page, Recording, RecordingOptions, Response, Timestamp};

use self::pages::Web;

/// Pages of one snapshot.
const EACH: u64 = 50_000;
/// Thu, 01 Jan 2026 00:00:00 GMT, in milliseconds
const RECORDED: i64 = 1_767_225_600_000;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next =
        || arguments.next().context("usage: million FOLDER PAGES record|index|add|ask|peer");
    let (folder, pages, what) = (Utf8PathBuf::from(next()?), next()?.parse::<u64>()?, next()?);
    match &*what {
        "record" => record(&folder, pages),
        "index" => index(&folder, &archives(&folder, pages)),
        "add" => {
            // One snapshot more, which is all that is indexed.
            let archives = archives(&folder, pages + EACH);
            write(&folder, pages / EACH)?;
            index(&folder, &archives)
        }
        "ask" => asking::ask(&open(&folder, &archives(&folder, pages))?),
        "peer" => peer::run(&folder, pages),
        _ => bail!("{what} is none of record, index, add, ask and peer"),
    }
}

fn archives(folder: &Utf8Path, pages: u64) -> Vec<Utf8PathBuf> {
    (0..pages.div_ceil(EACH)).map(|number| folder.join(format!("{number:03}.wacz"))).collect()
}

fn record(folder: &Utf8Path, pages: u64) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let begin = Instant::now();
    for number in 0..pages.div_ceil(EACH) {
        write(folder, number)?;
    }
    println!("record: {pages} pages in {:.1} s", begin.elapsed().as_secs_f64());
    Ok(())
}

/// Writes one snapshot: a page list with texts, and a small response for each page.
fn write(folder: &Utf8Path, number: u64) -> Result<()> {
    let path = folder.join(format!("{number:03}.wacz"));
    if path.exists() {
        return Ok(());
    }
    let (recording, web) = (Recording::create(&path, RecordingOptions::default())?, Web::new());
    let at = Timestamp::from_millis(RECORDED);
    for page in number * EACH..(number + 1) * EACH {
        let page = web.page(page);
        let headers = [("Content-Type", "text/html")].into_iter().collect();
        let body = Body::from(b"<!doctype html>".to_vec());
        let response = Response { status: 200, reason: String::new(), headers, body };
        recording.append(&Exchange::get(&page.url, at, response))?;
        recording.append_page(&Page {
            title: Some(page.title),
            text: Some(page.text),
            ..Page::new(page.url, at)
        })?;
    }
    recording.finish(&|_| ())?;
    Ok(())
}

fn open(folder: &Utf8Path, archives: &[Utf8PathBuf]) -> Result<Search> {
    let cache = folder.join("cache");
    let begin = Instant::now();
    let set = ReplaySet::open(archives, Some(&cache), &mut |_, _| {})?;
    println!("open: {} snapshots in {:.2} s", archives.len(), begin.elapsed().as_secs_f64());
    Ok(Search::new(Arc::new(set), Some(&cache)))
}

fn index(folder: &Utf8Path, archives: &[Utf8PathBuf]) -> Result<()> {
    let search = open(folder, archives)?;
    let (begin, own, mut pages, mut last) = (Instant::now(), processor()?, 0, 0);
    search.prepare(&mut |at| {
        pages += if at.pages >= last { at.pages - last } else { at.pages };
        last = at.pages;
    })?;
    let (took, own) = (begin.elapsed().as_secs_f64(), processor()? - own);
    println!(
        "index: {pages} pages in {took:.1} s ({own:.1} s on a processor), {:.0} pages a second; {:.2} GB; at most {} MB of memory",
        pages as f64 / own,
        size(&folder.join("cache"), "pages")? as f64 / 1e9,
        peak()?
    );
    Ok(())
}

/// The bytes of the files in a folder that end so.
pub(crate) fn size(folder: &Utf8Path, ending: &str) -> Result<u64> {
    let mut bytes = 0;
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        if entry.path().extension() == Some(ending) {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}

/// The time that this thread has had on a processor, in seconds. Other programs do not add to it.
pub(crate) fn processor() -> Result<f64> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(times.split(' ').next().context("no schedstat")?.parse::<f64>()? / 1e9)
}

/// The most memory that this process has had, in MB.
pub(crate) fn peak() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse::<u64>()? / 1000)
}
