//! What replaying from a large archive costs: building its index, opening it, looking up, reading,
//! answering.
//!
//! ```text
//! cargo run --release -p gateway --example replay_speed -- make  FOLDER 1000000
//! cargo run --release -p gateway --example replay_speed -- make  FOLDER 1000000 200
//! cargo run --release -p gateway --example replay_speed -- index FOLDER
//! cargo run --release -p gateway --example replay_speed -- serve FOLDER
//! ```
//!
//! The second number is that of the WACZ files over which the exchanges are spread, in recorded
//! order. A collection lists them.
//!
//! Each step is a process of its own, so that the memory it reports is its own. The archive has one
//! page of 23 kB for every hundred small ones; a fifth of the exchanges are POSTs.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use flate2::Compression;
use flate2::write::GzEncoder;
use gateway::{Episode, Replay, ReplayOptions, RequestHead, Scheme};
use hyper::body::Bytes;
use snapshots::index::ReplaySet;
use snapshots::matching::{self, Payload, ReplayRequest};
use snapshots::wacz::{Description, SnapshotWriter};
use snapshots::warc::{RecordHead, Version};
use snapshots::{Block, Page, Record, RecordKind, Timestamp, ops};

/// As in the program, which these figures stand for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const ARCHIVE: &str = "speed.warc.gz";
const COLLECTION: &str = "datapackage.json";
/// 2026-01-01
const START: i64 = 1_767_225_600_000;

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", folder, count] => make(Utf8Path::new(folder), count.parse()?, 1),
        ["make", folder, count, archives] => {
            make(Utf8Path::new(folder), count.parse()?, archives.parse()?)
        }
        ["index", folder] => index(Utf8Path::new(folder)),
        ["serve", folder] => serve(Utf8Path::new(folder)),
        _ => Err("make FOLDER COUNT [ARCHIVES] | index FOLDER | serve FOLDER".into()),
    }
}

fn make(folder: &Utf8Path, count: u64, archives: u64) -> Outcome {
    std::fs::create_dir_all(folder)?;
    if archives > 1 {
        return make_many(folder, count, archives);
    }
    let mut out = BufWriter::with_capacity(1 << 20, File::create(folder.join(ARCHIVE))?);
    for n in 0..count {
        for (head, message) in exchange(n) {
            member(&mut out, head, message.as_bytes())?;
        }
    }
    out.flush()?;
    println!("archive: {count} exchanges, {} MB", bytes(folder)? >> 20);
    Ok(())
}

fn make_many(folder: &Utf8Path, count: u64, archives: u64) -> Outcome {
    let each = count.div_ceil(archives);
    let watch = Watch::start();
    let mut files = Vec::new();
    for number in 0..archives {
        let path = folder.join(format!("speed-{number:03}.wacz"));
        let mut writer = SnapshotWriter::create(&path)?;
        for n in number * each..count.min((number + 1) * each) {
            let [(response, answer), (request, question)] = exchange(n);
            writer.add(record(response, answer)?)?;
            writer.add(record(request, question)?)?;
            if n % 5 < 2 {
                let (_, url, _) = self::request(n);
                writer.add_page(&Page::new(url, Timestamp::from_millis(START + n as i64)))?;
            }
        }
        writer.finish(Description::default())?;
        files.push(path);
    }
    println!("written: {}", watch.each(1));
    let watch = Watch::start();
    let report = ops::collection(&files, folder, &folder.join(COLLECTION), &mut |_| ())?;
    println!("listed: {}", watch.each(1));
    let (records, pages) = (report.records, report.pages);
    println!(
        "{archives} WACZ files: {records} records, {pages} pages, {} MB",
        bytes(folder)? >> 20
    );
    Ok(())
}

/// A record as a reader gives it.
fn record(head: RecordHead, block: String) -> Result<Record, Box<dyn std::error::Error>> {
    let text = String::from_utf8(head.finish(block.len() as u64))?;
    let headers = text.lines().skip(1).filter_map(|line| line.split_once(": ")).collect();
    Ok(Record { version: Version::One(1), headers, block: Block::from_bytes(block.into_bytes()) })
}

/// The records of exchange `n`: the response and the request.
fn exchange(n: u64) -> [(RecordHead, String); 2] {
    let (method, url, body) = request(n);
    let id = format!("urn:speed:{n}");
    let date = Timestamp::from_millis(START + n as i64);
    let page = if n.is_multiple_of(100) { text(n, 23_000) } else { text(n, 300) };
    let response = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{page}",
        page.len()
    );
    let response_head = RecordHead::new(RecordKind::Response, &id, date)
        .field("WARC-Target-URI", &url)
        .field("WARC-Payload-Digest", &format!("sha256:{n:064x}"))
        .field("Content-Type", "application/http; msgtype=response");
    let request = format!("{method} / HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{body}");
    let request_head = RecordHead::new(RecordKind::Request, &format!("urn:speed:{n}q"), date)
        .field("WARC-Target-URI", &url)
        .uri("WARC-Concurrent-To", &id)
        .field("Content-Type", "application/http; msgtype=request");
    [(response_head, response), (request_head, request)]
}

fn index(folder: &Utf8Path) -> Outcome {
    let watch = Watch::start();
    let set = open(folder)?;
    println!("index built: {}, peak memory {} MB", watch.each(1), memory("VmHWM")?);
    let records: u64 = set.members().map(|(_, summary)| summary.records).sum();
    let (archives, cache) = (set.members().count(), bytes(&folder.join("cache"))? >> 20);
    println!("{records} records in {archives} archives; indexes: {cache} MB");
    Ok(())
}

fn serve(folder: &Utf8Path) -> Outcome {
    let before = memory("VmRSS")?;
    let watch = Watch::start();
    let set = open(folder)?;
    println!("opened: {}, memory {} -> {} MB", watch.each(1), before, memory("VmRSS")?);
    let count: u64 = set.members().map(|(_, summary)| summary.captures).sum();
    let mut random = Random(7);

    const LOOKUPS: u64 = 200_000;
    let watch = Watch::start();
    for _ in 0..LOOKUPS {
        let (method, url, body) = request(random.below(count));
        let kind = Some("application/json");
        let request = ReplayRequest {
            method,
            url: &url,
            content_type: kind,
            body: Payload::Bytes(body.as_bytes()),
        };
        let found = set.exact(&matching::exact(&request))?;
        set.capture(*found.first().ok_or("a recorded request was not found")?)?;
    }
    println!("look-ups: {}, memory {} MB", watch.each(LOOKUPS), memory("VmRSS")?);

    let options = ReplayOptions { cache: 0, ..ReplayOptions::default() };
    let (replay, episode) = (Replay::new(set, options), Episode::new());
    let answer =
        |name: &str, replay: &Replay, times: u64, next: &mut dyn FnMut() -> u64| -> Outcome {
            let watch = Watch::start();
            let mut slowest = Vec::with_capacity(times as usize);
            for _ in 0..times {
                let begun = Instant::now();
                let (method, url, body) = request(next());
                let reply = replay.answer(&head(method, url)?, &Bytes::from(body), &episode);
                if reply.status != 200 {
                    return Err(format!("answered with {}", reply.status).into());
                }
                slowest.push(begun.elapsed().as_micros());
            }
            slowest.sort_unstable();
            let p99 = slowest[slowest.len() * 99 / 100];
            println!("{name}: {}, p99 {p99} us, memory {} MB", watch.each(times), memory("VmRSS")?);
            Ok(())
        };
    let mut small = || random.below(count) / 100 * 100 + 1;
    answer("answers of 300 B from the archive", &replay, 50_000, &mut small)?;
    let mut large = Random(11);
    answer("answers of 23 kB from the archive", &replay, 20_000, &mut || {
        large.below(count) / 100 * 100
    })?;
    let cached = Replay::new(open(folder)?, ReplayOptions::default());
    let mut few = Random(13);
    answer("answers of 23 kB from the cache", &cached, 200_000, &mut || {
        few.below(1_000) * 100 % count
    })?;
    let mut wide = Random(17);
    answer("answers of all kinds through the cache", &cached, 200_000, &mut || wide.below(count))?;

    let watch = Watch::start();
    const MISSES: u64 = 2_000;
    for n in 0..MISSES {
        let url = format!("https://h{}.bench.test/never/{n}?page=2", n % 20);
        if cached.answer(&head("GET", url)?, &Bytes::new(), &episode).status != 404 {
            return Err("an answer to what was never recorded".into());
        }
    }
    println!("misses with what is near: {}, memory {} MB", watch.each(MISSES), memory("VmRSS")?);
    Ok(())
}

fn open(folder: &Utf8Path) -> Result<ReplaySet, Box<dyn std::error::Error>> {
    let collection = folder.join(COLLECTION);
    let path: Utf8PathBuf = if collection.exists() { collection } else { folder.join(ARCHIVE) };
    Ok(ReplaySet::open(&[path], Some(&folder.join("cache")), &mut |_, _| {})?)
}

/// The size of the files in a folder.
fn bytes(folder: &Utf8Path) -> std::io::Result<u64> {
    folder
        .read_dir_utf8()?
        .map(|entry| Ok(entry?.metadata()?).map(|file| if file.is_file() { file.len() } else { 0 }))
        .sum()
}

/// The request that was recorded as number `n`.
fn request(n: u64) -> (&'static str, String, String) {
    let host = n % 20;
    if n % 5 == 3 {
        (
            "POST",
            format!("https://h{host}.bench.test/api/v1/items"),
            format!("{{\"op\":\"get\",\"item\":{n}}}"),
        )
    } else {
        (
            "GET",
            format!("https://h{host}.bench.test/section/{}/item?id={n}&lang=en", n % 997),
            String::new(),
        )
    }
}

fn head(method: &str, url: String) -> Result<RequestHead, Box<dyn std::error::Error>> {
    let host = url.split('/').nth(2).unwrap_or_default().to_owned();
    let mut headers = http::HeaderMap::new();
    headers.insert("content-type", http::HeaderValue::from_static("application/json"));
    headers.insert("accept-encoding", http::HeaderValue::from_static("gzip, br"));
    let (scheme, version) = (Scheme::Https, http::Version::HTTP_11);
    Ok(RequestHead { method: method.parse()?, url, scheme, host, port: 443, version, headers })
}

fn member(out: &mut impl Write, head: RecordHead, block: &[u8]) -> std::io::Result<()> {
    let mut encoder = GzEncoder::new(out, Compression::fast());
    encoder.write_all(&head.finish(block.len() as u64))?;
    encoder.write_all(block)?;
    encoder.write_all(b"\r\n\r\n")?;
    encoder.finish().map(|_| ())
}

/// Text that compresses about as pages do.
fn text(seed: u64, length: usize) -> String {
    const WORDS: [&str; 8] =
        ["<div class=", "timetable", "departure", "</div>", "platform", "href=", "lamp", "price"];
    let mut random = Random(seed + 1);
    let mut text = String::with_capacity(length + 32);
    while text.len() < length {
        text.push_str(WORDS[random.below(8) as usize]);
        text.push_str(&format!(" {} ", random.below(10_000)));
    }
    text
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Time on the clock and time on a processor, which on a busy machine is less.
struct Watch {
    begun: Instant,
    processor: u64,
}

impl Watch {
    fn start() -> Watch {
        Watch { begun: Instant::now(), processor: on_processor() }
    }

    /// Microseconds for each of `times`: by the clock, and on a processor.
    fn each(&self, times: u64) -> String {
        let clock = self.begun.elapsed().as_secs_f64() * 1e6 / times as f64;
        let processor = (on_processor() - self.processor) as f64 / 1e3 / times as f64;
        format!("{clock:.1} us each ({processor:.1} us of processor)")
    }
}

/// Nanoseconds that this thread has run.
fn on_processor() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or_default()
}

/// A line of `/proc/self/status`, in MB.
fn memory(name: &str) -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name)).ok_or("no such line")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse::<u64>()? >> 10)
}
