//! Tests each operation on snapshots built here, intact and damaged.
#![allow(clippy::unwrap_used)]

mod clean;
mod copy;
mod hostile;
mod kept;
mod many;
mod secrets;
mod verify;

use std::fs;
use std::io::{Read as _, Write as _};

use camino::{Utf8Path, Utf8PathBuf};

use super::*;
use crate::{
    Archive, Body, Exchange, Headers, Page, Progress, Recording, RecordingOptions, Request,
    Response, Timestamp, content,
};

/// A folder that is deleted with the test.
pub(super) struct Place {
    _dir: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl Place {
    pub(super) fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        Place { _dir: dir, root }
    }

    pub(super) fn join(&self, name: &str) -> Utf8PathBuf {
        self.root.join(name)
    }
}

pub(super) fn quiet(_: Progress) {}

pub(super) fn exchange(url: &str, second: i64, media: &str, body: &[u8]) -> Exchange {
    let headers: Headers =
        [("Content-Type", media), ("Set-Cookie", "sid=abcdef0123456789; Path=/")]
            .into_iter()
            .collect();
    let response =
        Response { status: 200, reason: "OK".into(), headers, body: Body::from(body.to_vec()) };
    let mut exchange =
        Exchange::get(url, Timestamp::from_millis(1_760_000_000_000 + second * 1000), response);
    exchange.request.headers.push("Host", "a.test");
    exchange
}

pub(super) fn post(url: &str, second: i64, body: &[u8], answer: &[u8]) -> Exchange {
    let headers: Headers = [("Content-Type", "application/json")].into_iter().collect();
    let request = Request {
        method: "POST".into(),
        target: "/api".into(),
        headers,
        body: Body::from(body.to_vec()),
    };
    Exchange { request, ..exchange(url, second, "application/json", answer) }
}

/// A snapshot of these exchanges. The HTML ones are its pages.
pub(super) fn snapshot(path: &Utf8Path, exchanges: &[Exchange]) {
    let recording = Recording::create(path, RecordingOptions::default()).unwrap();
    for exchange in exchanges {
        recording.append(exchange).unwrap();
        if exchange.response.headers.get_str("content-type") == Some("text/html") {
            recording.append_page(&Page::new(&exchange.url, exchange.started)).unwrap();
        }
    }
    recording.finish(&|_| ()).unwrap();
}

fn usual() -> Vec<Exchange> {
    vec![
        exchange("https://a.test/", 0, "text/html", b"<title>Home</title><p>Hello"),
        exchange("https://a.test/data?x=1", 1, "application/json", br#"{"n": 1}"#),
        exchange("https://a.test/again", 2, "text/html", b"<title>Home</title><p>Hello"),
        post("https://a.test/api", 3, br#"{"page": 1}"#, br#"{"items": []}"#),
        exchange("https://b.test/pic.png", 4, "image/png", &[0x89, b'P', b'N', b'G', 0, 1, 2, 3]),
    ]
}

fn valid(path: &Utf8Path) -> Verification {
    let report = verify(path, &mut quiet).unwrap();
    assert!(report.valid, "{path}: {:#?}", report.findings);
    report
}

/// Copies a WACZ; `change` may alter, drop (`None`) or deflate files.
fn rezip(
    from: &Utf8Path,
    to: &Utf8Path,
    change: impl Fn(&str, Vec<u8>) -> Option<(Vec<u8>, bool)>,
) {
    let mut old = zip::ZipArchive::new(fs::File::open(from).unwrap()).unwrap();
    let mut new = zip::ZipWriter::new(fs::File::create(to).unwrap());
    for index in 0..old.len() {
        let mut entry = old.by_index(index).unwrap();
        let name = entry.name().unwrap().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        let Some((bytes, stored)) = change(&name, bytes) else { continue };
        let method =
            if stored { zip::CompressionMethod::Stored } else { zip::CompressionMethod::Deflated };
        new.start_file(name, zip::write::SimpleFileOptions::default().compression_method(method))
            .unwrap();
        new.write_all(&bytes).unwrap();
    }
    new.finish().unwrap();
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut out).unwrap();
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn bodies(path: &Utf8Path) -> Vec<(String, Vec<u8>)> {
    let archive = Archive::open(path).unwrap();
    let mut all = Vec::new();
    let give = |found: exchanges::LocatedExchange| {
        let response = &found.exchange.response;
        all.push((
            found.exchange.url.clone(),
            content::decoded(&response.headers, &response.body, 1 << 30).unwrap(),
        ));
        Ok(())
    };
    exchanges::Exchanges::of(&archive).unwrap().each(&mut quiet, |_| (), give).unwrap();
    all.sort();
    all
}

/// A WARC of the given records: type, URL, extra fields, block.
fn warc(records: &[(&str, &str, &str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, (kind, url, extra, block)) in records.iter().enumerate() {
        write!(
            out,
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:test:{number}>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n\
             WARC-Target-URI: {url}\r\n{extra}Content-Length: {}\r\n\r\n",
            block.len()
        )
        .unwrap();
        out.extend_from_slice(block);
        out.extend_from_slice(b"\r\n\r\n");
    }
    out
}

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello";
const HTTP: &str = "Content-Type: application/http\r\n";
