#![allow(clippy::unwrap_used)]

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;

use camino::{Utf8Path, Utf8PathBuf};

use super::*;
use crate::{
    Archive, Body, Error, Exchange, Headers, Page, RecordKind, Request, Response, Timestamp,
};

pub(crate) fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(dir.path()).unwrap().to_owned();
    (dir, path)
}

pub(crate) fn exchange(url: &str, body: &[u8]) -> Exchange {
    let headers: Headers = [("Content-Type", "text/html"), ("X-Odd", "a  b")].into_iter().collect();
    let response =
        Response { status: 200, reason: "OK".into(), headers, body: Body::Bytes(body.to_vec()) };
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
fn what_is_left_out_is_in_no_snapshot() {
    let (_dir, path) = folder();
    let out = path.join("a.wacz");
    let recording = Recording::create(&out, RecordingOptions::default()).unwrap();
    let mut wall = exchange("https://site.test/wall", b"<title>Are you human?</title>");
    wall.started = Timestamp::from_millis(1_700_000_005_000);
    recording.append(&exchange("https://site.test/", b"<title>Home</title>")).unwrap();
    recording.append(&wall).unwrap();
    // Half a line, of a process that was killed.
    fs::write(Recording::folder_of(&out).join("left-out.txt"), "2023-11-14T22:13").unwrap();
    let at = |millis: i64| Timestamp::from_millis(1_700_000_000_000 + millis);
    recording.leave_out((at(4_000), at(6_000))).unwrap();
    let repaired = path.join("repaired.wacz");
    crate::ops::repair(&Recording::folder_of(&out), &repaired, &mut |_| {}).unwrap();
    recording.finish(&|_| {}).unwrap();
    for file in [out, repaired] {
        let archive = Archive::open(&file).unwrap();
        let urls: Vec<String> = archive
            .records()
            .filter_map(|found| Some(found.unwrap().1.target_uri()?.into_owned()))
            .collect();
        assert_eq!(urls, ["https://site.test/", "https://site.test/"], "{file}");
        let pages: Vec<String> = archive.pages().into_iter().map(|page| page.url).collect();
        assert_eq!(pages, ["https://site.test/"], "{file}");
    }
}

#[test]
fn what_a_person_browsed_at_the_end_is_listed() {
    let (_dir, path) = folder();
    let out = path.join("a.wacz");
    let recording = Recording::create(&out, RecordingOptions::default()).unwrap();
    let page = |url: &str, second: i64| {
        let mut page = exchange(url, b"<title>Page</title>");
        page.started = Timestamp::from_millis(1_700_000_000_000 + second * 1000);
        recording.append(&page).unwrap();
    };
    page("https://site.test/", 1);
    page("https://site.test/frame", 2);
    // The crawler saw a CAPTCHA at the address of a page.
    page("https://site.test/account", 3);
    recording
        .leave_out((
            Timestamp::from_millis(1_700_000_002_500),
            Timestamp::from_millis(1_700_000_003_500),
        ))
        .unwrap();
    recording.append_page(&Page::new("https://site.test/", Timestamp::from_millis(0))).unwrap();
    let handed_over = Timestamp::from_millis(1_700_000_003_600);
    let walled = ["https://site.test/account", "https://site.test/orders"].map(str::to_owned);
    recording.hand_over(handed_over, &walled).unwrap();
    for (url, second, status) in [(&walled[0], 4, 403), (&walled[1], 5, 302)] {
        let mut wall = exchange(url, b"<title>Are you human?</title>");
        wall.started = Timestamp::from_millis(1_700_000_000_000 + second * 1000);
        wall.response.status = status;
        recording.append(&wall).unwrap();
    }
    page("https://site.test/account", 6);
    page("https://site.test/", 7);
    // A second hand-over, after a kill, lists no less.
    recording.hand_over(Timestamp::from_millis(1_700_000_008_000), &walled[1..]).unwrap();
    recording.finish(&|_| {}).unwrap();
    let archive = Archive::open(&out).unwrap();
    let responses = archive.records().filter_map(|found| {
        let (_, mut record) = found.unwrap();
        (record.kind() == RecordKind::Response || record.kind() == RecordKind::Revisit).then(|| {
            (record.target_uri().unwrap().into_owned(), record.response_head().unwrap().status)
        })
    });
    let of_account: Vec<_> = responses.filter(|(url, _)| walled.contains(url)).collect();
    assert_eq!(of_account, [("https://site.test/account".to_owned(), 200)]);
    let pages = Archive::open(&out).unwrap().pages();
    let urls: Vec<&str> = pages.iter().map(|page| page.url.as_str()).collect();
    assert_eq!(urls, ["https://site.test/", "https://site.test/account"]);
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

    assert!(matches!(
        Recording::create(&out, RecordingOptions::default()),
        Err(Error::LeftOver { .. })
    ));
    let (recording, cut) = Recording::recover(&out, RecordingOptions::default()).unwrap();
    assert_eq!((recording.bytes(), cut), (whole, 36));
    recording.append(&exchange("https://site.test/next", b"next")).unwrap();
    let archive = Archive::open(&data).unwrap();
    assert_eq!(archive.records().filter(Result::is_ok).count(), 5);
    assert!(archive.records().all(|record| record.is_ok()));

    fs::write(&out, b"").unwrap();
    assert!(matches!(
        Recording::create(&out, RecordingOptions::default()),
        Err(Error::Exists { .. })
    ));
}

#[test]
fn a_large_recording_reads_the_same_at_any_moment_and_after_a_kill() {
    let (_dir, path) = folder();
    let out = path.join("a.wacz");
    let recording = Recording::create(&out, RecordingOptions::default()).unwrap();
    let data = Recording::folder_of(&out).join("data.warc");
    for n in 0..80 {
        recording
            .append(&exchange(&format!("https://site.test/{n}"), &vec![b'x'; 23_000]))
            .unwrap();
        let archive = Archive::open(&data).unwrap();
        if n % 20 == 19 {
            assert_eq!(archive.records().map(Result::unwrap).count(), 1 + 2 * (n + 1));
        }
    }
    // The state after a kill: the next entry is present except for its first byte.
    let whole = recording.bytes();
    let killed = path.join("killed.wacz");
    fs::create_dir(Recording::folder_of(&killed)).unwrap();
    let copy = Recording::folder_of(&killed).join("data.warc");
    fs::copy(&data, &copy).unwrap();
    assert!(fs::metadata(&copy).unwrap().len() > whole);
    let tail = b"ARC/1.1\r\nWARC-Type: response\r\nContent-Length: 10\r\n\r\nhalf";
    OpenOptions::new().write(true).open(&copy).unwrap().write_all_at(tail, whole + 1).unwrap();

    let (recovered, cut) = Recording::recover(&killed, RecordingOptions::default()).unwrap();
    assert_eq!((recovered.bytes(), cut), (whole, tail.len() as u64 + 1));
    drop(recovered);
    assert_eq!(fs::metadata(&copy).unwrap().len(), whole);
    let (_, cut) = Recording::recover(&killed, RecordingOptions::default()).unwrap();
    assert_eq!(cut, 0);
    let finished = recording.finish(&|_| {}).unwrap();
    assert_eq!(finished.responses, 80);
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
                        .append(&exchange(
                            &format!("https://site.test/{thread}/{n}"),
                            &vec![b'x'; n * 100],
                        ))
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

#[test]
fn a_finished_recording_is_a_snapshot() {
    let (_dir, path) = folder();
    let out = path.join("a.wacz");
    let options = RecordingOptions { title: Some("Harbour".into()), ..RecordingOptions::default() };
    let recording = Recording::create(&out, options).unwrap();
    recording.append(&exchange("https://harbour.test/tides?b=2&a=1", b"the same words")).unwrap();
    recording.append(&exchange("https://harbour.test/ferry", b"the same words")).unwrap();
    recording.append(&exchange("https://harbour.test/empty", b"")).unwrap();
    recording.append(&exchange("https://harbour.test/none", b"")).unwrap();
    let mut post = exchange("https://harbour.test/api", b"{}");
    post.request.method = "POST".into();
    post.request.headers = [("Content-Type", "application/json")].into_iter().collect();
    post.request.body = Body::Bytes(br#"{"berth": 4.0}"#.to_vec());
    recording.append(&post).unwrap();
    let mut big = exchange("https://harbour.test/big", b"");
    let bytes: Vec<u8> = (0..6_000_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    big.response.body = Body::spool(&bytes[..], 1 << 10).unwrap();
    recording.append(&big).unwrap();
    let frame = Frame {
        at_ms: 12,
        from: FrameSide::Server,
        text: Some("high water".into()),
        base64: None,
        close: None,
        reason: None,
    };
    let mut opening = exchange("https://harbour.test/live", b"");
    opening.response.status = 101;
    recording.append_websocket(&opening, &[frame]).unwrap();
    let mut page =
        Page::new("https://harbour.test/tides?b=2&a=1", Timestamp::from_millis(1_700_000_000_123));
    page.text = Some("the same words".into());
    recording.append_page(&page).unwrap();

    let seen = std::cell::Cell::new(Progress { done: 0, total: 0 });
    let finished = recording.finish(&|progress| seen.set(progress)).unwrap();
    assert!(seen.get().done > 0 && seen.get().done == seen.get().total);
    assert_eq!((finished.responses, finished.revisits, finished.pages), (7, 1, 1));
    assert!(
        !Recording::folder_of(&out).exists() && !Utf8Path::new(&format!("{out}.part")).exists()
    );

    let archive = Archive::open(&out).unwrap();
    let package = archive.package().unwrap();
    assert!(package.check().unwrap().iter().all(crate::wacz::FileCheck::is_good));
    assert_eq!(package.digest().unwrap(), Some(finished.digest));
    let description = package.description().unwrap().unwrap();
    assert_eq!(
        (description["title"].as_str(), description["wacz_version"].as_str()),
        (Some("Harbour"), Some("1.1.1"))
    );
    assert_eq!(description["mainPageUrl"].as_str(), Some("https://harbour.test/tides?b=2&a=1"));
    assert_eq!(archive.pages()[0].text.as_deref(), Some("the same words"));

    let keys: Vec<String> = archive.index().map(|line| line.unwrap().key).collect();
    let mut sorted = keys.clone();
    sorted.sort();
    assert_eq!(keys, sorted);
    assert!(keys.contains(&"test,harbour)/api?__wb_method=post&berth=4".to_owned()), "{keys:?}");
    assert!(keys.contains(&"test,harbour)/tides?a=1&b=2".to_owned()));

    let index = package.zipnum().unwrap().unwrap();
    let read = |key: &str| {
        let line = index.find(key).unwrap().remove(0);
        let at = crate::RecordRef {
            segment: 0,
            offset: line.offset().unwrap(),
            length: line.length().unwrap(),
        };
        archive.read_at(at).unwrap()
    };
    let mut ferry = read("test,harbour)/ferry");
    assert_eq!(ferry.kind(), RecordKind::Revisit);
    assert_eq!(
        ferry.headers.get_str("WARC-Refers-To-Target-URI"),
        Some("https://harbour.test/tides?b=2&a=1")
    );
    assert_eq!(ferry.response_head().unwrap().status, 200);
    assert_eq!(ferry.block.remaining(), 0);
    assert_eq!(read("test,harbour)/empty").kind(), RecordKind::Response);
    let mut big = read("test,harbour)/big");
    big.response_head().unwrap();
    let mut back = Vec::new();
    big.block.read_to_end(&mut back).unwrap();
    assert!(back == bytes);
    let mut frames = read("test,harbour)/live");
    frames.response_head().unwrap();
    let lines = archive
        .index()
        .map(Result::unwrap)
        .find(|line| line.url() == Some("wss://harbour.test/live"))
        .unwrap();
    assert_eq!(lines.text("mime"), Some("application/x-websocket-frames+jsonl"));
}

#[test]
fn every_digest_of_a_snapshot_is_right() {
    let (_dir, path) = folder();
    let out = path.join("a.wacz");
    let recording = Recording::create(&out, RecordingOptions::default()).unwrap();
    for n in 0..5 {
        recording
            .append(&exchange(
                &format!("https://harbour.test/{n}"),
                format!("words {}", n / 2).as_bytes(),
            ))
            .unwrap();
    }
    recording.finish(&|_| ()).unwrap();
    let mut checked = 0;
    for record in Archive::open(&out).unwrap().records() {
        let (_, mut record) = record.unwrap();
        let block_digest = record.headers.get_str("WARC-Block-Digest").unwrap().to_owned();
        let payload_digest = record.headers.get_str("WARC-Payload-Digest").map(str::to_owned);
        let revisit = record.kind() == RecordKind::Revisit;
        let http = record.holds_http();
        let block = record.read_block(1 << 20).unwrap();
        assert_eq!(crate::warc::digest_matches(&block_digest, &block), Some(true));
        let payload =
            if http { &block[crate::http::find_end(&block).unwrap()..] } else { &block[..] };
        if let (Some(digest), false) = (payload_digest, revisit) {
            assert_eq!(crate::warc::digest_matches(&digest, payload), Some(true));
            checked += 1;
        }
    }
    assert_eq!(checked, 3 + 5);
}

fn said(text: &str) -> Frame {
    let from = FrameSide::Server;
    Frame { at_ms: 1, from, text: Some(text.into()), base64: None, close: None, reason: None }
}

/// The frames of each connection of an archive, in file order.
fn frames(archive: &Archive) -> Vec<String> {
    let records = archive.records().map(|record| record.unwrap().1);
    let resources = records.filter(|record| record.kind() == RecordKind::Resource);
    resources
        .map(|mut record| String::from_utf8(record.read_block(1 << 20).unwrap()).unwrap())
        .collect()
}

#[test]
fn a_journal_of_a_later_version_is_refused() {
    let (_dir, path) = folder();
    let out = path.join("a.wacz");
    let recording = Recording::create(&out, RecordingOptions::default()).unwrap();
    let mut opening = exchange("https://harbour.test/live", b"");
    opening.response.status = 101;
    drop((recording.open_websocket(&opening).unwrap(), recording));
    let sockets = Recording::folder_of(&out).join("sockets");
    let journal = fs::read_dir(&sockets).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&journal).unwrap();
    assert!(!text.contains("format"), "{text}");
    fs::write(&journal, text.replacen('{', "{\"format\":2,", 1)).unwrap();
    let error = crate::ops::repair(&out, &path.join("b.wacz"), &mut |_| {}).unwrap_err();
    let why = error_text(&error);
    assert!(
        why.contains("it has format 2.0, and this version reads 1.x; use a newer sandbox"),
        "{why}"
    );
}

/// An error with its causes.
fn error_text(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[test]
fn the_frames_of_open_sockets_survive_a_kill_and_stand_there_once() {
    let (_dir, path) = folder();
    let out = path.join("a.wacz");
    let recording = Recording::create(&out, RecordingOptions::default()).unwrap();
    let mut opening = exchange("https://harbour.test/live", b"");
    opening.response.status = 101;
    let mut open = recording.open_websocket(&opening).unwrap();
    let mut closed = recording.open_websocket(&opening).unwrap();
    let silent = recording.open_websocket(&opening).unwrap();
    open.append(&said("high water")).unwrap();
    closed.append(&said("low water")).unwrap();
    open.append(&said("slack water")).unwrap();
    let sockets = Recording::folder_of(&out).join("sockets");
    let journals =
        || fs::read_dir(&sockets).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let copies: Vec<_> =
        journals().iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    recording.close_websocket(closed).unwrap();
    assert_eq!(journals().len(), 2);
    drop((open, silent, recording));
    // The state after a kill: a record is written while its journal still exists, and a line lacks
    // its first byte.
    for (path, mut bytes) in copies {
        if String::from_utf8_lossy(&bytes).contains("slack") {
            bytes.extend_from_slice(b"\0\"at_ms\":2,\"from\":\"server\",\"text\":\"torn\"}\n");
        }
        fs::write(path, bytes).unwrap();
    }

    let high = "{\"at_ms\":1,\"from\":\"server\",\"text\":\"high water\"}\n";
    let slack = high.replace("high", "slack");
    let expect = [high.replace("high", "low"), [high, &slack].concat(), String::new()];
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    let expect = sorted(expect.to_vec());
    let repaired = path.join("repaired.wacz");
    crate::ops::repair(&out, &repaired, &mut |_| {}).unwrap();
    let archive = Archive::open(&repaired).unwrap();
    assert_eq!(sorted(frames(&archive)), expect);
    let ids: Vec<_> = archive
        .records()
        .map(|record| record.unwrap().1)
        .filter(|record| record.kind() == RecordKind::Response)
        .map(|record| record.id().unwrap().to_owned())
        .collect();
    for record in archive.records().map(|record| record.unwrap().1) {
        if record.kind() == RecordKind::Resource {
            assert_eq!(record.target_uri().unwrap(), "wss://harbour.test/live");
            assert!(ids.iter().any(|id| record.concurrent_to().next() == Some(id)));
        }
    }

    let (recording, _) = Recording::recover(&out, RecordingOptions::default()).unwrap();
    recording.finish(&|_| ()).unwrap();
    assert_eq!(sorted(frames(&Archive::open(&out).unwrap())), expect);
}
