#![allow(clippy::unwrap_used)]

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};

use camino::{Utf8Path, Utf8PathBuf};

use super::*;
use crate::{Archive, Body, Error, Exchange, Headers, Page, RecordKind, Request, Response, Timestamp};

pub(crate) fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(dir.path()).unwrap().to_owned();
    (dir, path)
}

pub(crate) fn exchange(url: &str, body: &[u8]) -> Exchange {
    let headers: Headers = [("Content-Type", "text/html"), ("X-Odd", "a  b")].into_iter().collect();
    let response = Response { status: 200, reason: "OK".into(), headers, body: Body::Bytes(body.to_vec()) };
    Exchange::get(url, Timestamp::from_millis(1_700_000_000_123), response)
}

#[test]
fn what_is_appended_is_there_at_once() {
    let (_dir, path) = folder();
    let out = path.join("a.wacz");
    let recording = Recording::create(&out, RecordingOptions::default()).unwrap();
    recording.append(&exchange("https://site.test/one#part", b"<p>one")).unwrap();
    let mut big = exchange("https://site.test/two", b"");
    big.response.body = Body::spool(&vec![7_u8; 100_000][..], 10).unwrap();
    big.response.headers.push("Transfer-Encoding", "chunked");
    big.request = Request {
        method: "POST".into(),
        target: "/two".into(),
        headers: Headers::new(),
        body: Body::Bytes(b"q".to_vec()),
    };
    recording.append(&big).unwrap();

    let archive = Archive::open(&Recording::folder_of(&out).join("data.warc")).unwrap();
    let mut records: Vec<_> = archive.records().map(Result::unwrap).collect();
    let kinds: Vec<_> = records.iter().map(|(_, record)| record.kind()).collect();
    use RecordKind::{Request as Q, Response as R, Warcinfo};
    assert_eq!(kinds, [Warcinfo, R, Q, R, Q]);
    assert_eq!(records[1].1.target_uri().unwrap(), "https://site.test/one");
    assert_eq!(records[2].1.concurrent_to().next(), records[1].1.id());
    let (at, two) = &mut records[3];
    let head = two.response_head().unwrap();
    assert_eq!(head.headers.get_str("content-length"), Some("100000"));
    assert!(!head.headers.contains("transfer-encoding"));
    assert_eq!(two.read_block(1 << 20).unwrap(), vec![7; 100_000]);
    let mut again = archive.read_at(*at).unwrap();
    again.response_head().unwrap();
    assert_eq!(again.block.remaining(), 100_000);
    assert_eq!(records[4].1.request_head().unwrap().method, "POST");
}

#[test]
fn nothing_is_overwritten_and_a_killed_recording_goes_on() {
    let (_dir, path) = folder();
    let out = path.join("a.wacz");
    let recording = Recording::create(&out, RecordingOptions::default()).unwrap();
    recording.append(&exchange("https://site.test/", b"whole")).unwrap();
    recording.append_page(&Page::new("https://site.test/", Timestamp::from_millis(0))).unwrap();
    let whole = recording.bytes();
    drop(recording);
    let data = Recording::folder_of(&out).join("data.warc");
    OpenOptions::new()
        .append(true)
        .open(&data)
        .unwrap()
        .write_all(b"WARC/1.1\r\nWARC-Type: response\r\nConte")
        .unwrap();

    assert!(matches!(Recording::create(&out, RecordingOptions::default()), Err(Error::LeftOver { .. })));
    let (recording, cut) = Recording::recover(&out, RecordingOptions::default()).unwrap();
    assert_eq!((recording.bytes(), cut), (whole, 36));
    recording.append(&exchange("https://site.test/next", b"next")).unwrap();
    let archive = Archive::open(&data).unwrap();
    assert_eq!(archive.records().filter(Result::is_ok).count(), 5);
    assert!(archive.records().all(|record| record.is_ok()));

    fs::write(&out, b"").unwrap();
    assert!(matches!(Recording::create(&out, RecordingOptions::default()), Err(Error::Exists { .. })));
}

#[test]
fn many_threads_append_at_once() {
    let (_dir, path) = folder();
    let recording = Recording::create(&path.join("a.wacz"), RecordingOptions::default()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let recording = &recording;
            scope.spawn(move || {
                for n in 0..50 {
                    recording
                        .append(&exchange(&format!("https://site.test/{thread}/{n}"), &vec![b'x'; n * 100]))
                        .unwrap();
                }
            });
        }
    });
    let archive = Archive::open(&Recording::folder_of(recording.path()).join("data.warc")).unwrap();
    let mut count = 0;
    for record in archive.records() {
        let (_, mut record) = record.unwrap();
        let mut block = Vec::new();
        record.block.read_to_end(&mut block).unwrap();
        count += 1;
    }
    assert_eq!(count, 1 + 4 * 50 * 2);
}
