#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};

use camino::{Utf8Path, Utf8PathBuf};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use super::*;
use crate::http::{write_request, write_response};
use crate::matching::{self, Payload, ReplayRequest};
use crate::warc::{RecordHead, VISIT};
use crate::{Headers, RecordKind, Timestamp};

/// Writes a WARC record by record, each in its own gzip member if `gzip`.
pub(super) struct Writer {
    bytes: Vec<u8>,
    gzip: bool,
    pub(super) clock: i64,
    records: u32,
    /// The visit of the requests.
    pub(super) visit: Option<String>,
    /// What each request carries.
    pub(super) cookie: Option<String>,
}

impl Writer {
    pub(super) fn new(gzip: bool) -> Writer {
        Writer {
            bytes: Vec::new(),
            gzip,
            clock: 1_767_225_600_000,
            records: 0,
            visit: None,
            cookie: None,
        }
    }

    fn record(
        &mut self,
        kind: RecordKind,
        url: &str,
        fields: &[(&str, &str)],
        block: &[u8],
    ) -> String {
        self.records += 1;
        let id = format!("urn:test:{}", self.records);
        let date = Timestamp::from_millis(self.clock);
        let mut head = RecordHead::new(kind, &id, date).field("WARC-Target-URI", url);
        for (name, value) in fields {
            head = head.field(name, value);
        }
        let mut record = head.finish(block.len() as u64);
        record.extend_from_slice(block);
        record.extend_from_slice(b"\r\n\r\n");
        if self.gzip {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&record).unwrap();
            record = encoder.finish().unwrap();
        }
        self.bytes.extend_from_slice(&record);
        id
    }

    pub(super) fn response(&mut self, url: &str, fields: &[(&str, &str)], body: &str) -> String {
        self.clock += 1000;
        let mut block = Vec::new();
        write_response(&mut block, 200, "OK", &Headers::new());
        block.extend_from_slice(body.as_bytes());
        let kind = ("Content-Type", "application/http; msgtype=response");
        self.record(RecordKind::Response, url, &[&[kind], fields].concat(), &block)
    }

    pub(super) fn json(&mut self, url: &str, body: &str) -> String {
        self.of_type("application/json", url, body)
    }

    pub(super) fn of_type(&mut self, media_type: &str, url: &str, body: &str) -> String {
        self.clock += 1000;
        let mut block = Vec::new();
        let headers = [("Content-Type", media_type)].into_iter().collect();
        write_response(&mut block, 200, "OK", &headers);
        block.extend_from_slice(body.as_bytes());
        let kind = [("Content-Type", "application/http; msgtype=response")];
        self.record(RecordKind::Response, url, &kind, &block)
    }

    pub(super) fn request(
        &mut self,
        url: &str,
        to: &str,
        method: &str,
        content_type: &str,
        body: &str,
    ) {
        let mut block = Vec::new();
        let mut headers: Headers = [("Content-Type", content_type)].into_iter().collect();
        self.cookie.iter().for_each(|cookie| headers.push("Cookie", cookie.as_str()));
        write_request(&mut block, method, "/", &headers);
        block.extend_from_slice(body.as_bytes());
        let to = format!("<{to}>");
        let mut fields = vec![
            ("Content-Type", "application/http; msgtype=request"),
            ("WARC-Concurrent-To", &to),
        ];
        let visit = self.visit.clone();
        fields.extend(visit.as_deref().map(|visit| (VISIT, visit)));
        self.record(RecordKind::Request, url, &fields, &block);
    }

    pub(super) fn revisit(
        &mut self,
        url: &str,
        profile: &str,
        fields: &[(&str, &str)],
        head: bool,
    ) {
        self.clock += 1000;
        let mut block = Vec::new();
        if head {
            write_response(&mut block, 200, "OK", &[("X-Revisit", "1")].into_iter().collect());
        }
        let profile = format!("http://netpreserve.org/warc/{profile}");
        let kind = [
            ("Content-Type", "application/http; msgtype=response"),
            ("WARC-Profile", profile.as_str()),
        ];
        self.record(RecordKind::Revisit, url, &[&kind, fields].concat(), &block);
    }

    pub(super) fn save(&self, folder: &TempDir, name: &str) -> Utf8PathBuf {
        let path = Utf8Path::from_path(folder.path()).unwrap().join(name);
        std::fs::write(&path, &self.bytes).unwrap();
        path
    }
}

pub(super) fn open(paths: &[Utf8PathBuf]) -> ReplaySet {
    ReplaySet::open(paths, None, &mut |_, _| {}).unwrap()
}

pub(super) fn get(set: &ReplaySet, url: &str) -> Vec<IndexHit> {
    set.exact(&matching::exact(&ReplayRequest::bare("GET", url))).unwrap()
}

/// The body of a hit, as stored in the archive.
fn body(set: &ReplaySet, hit: IndexHit) -> Option<String> {
    let capture = set.capture(hit).unwrap();
    let (member, at) = set.body_of(hit, &capture).unwrap()?;
    let mut record = set.read(member, at).unwrap();
    if capture.kind != CaptureKind::Resource && capture.kind != CaptureKind::Socket {
        record.response_head().unwrap();
    }
    let mut text = String::new();
    record.block.read_to_string(&mut text).unwrap();
    Some(text)
}

pub(super) fn bodies(set: &ReplaySet, url: &str) -> Vec<String> {
    get(set, url).into_iter().map(|hit| body(set, hit).unwrap_or("-".into())).collect()
}

#[test]
fn requests_lead_to_answers_in_recorded_order() {
    for gzip in [false, true] {
        let mut warc = Writer::new(gzip);
        for n in 0..3 {
            let id = warc.response("https://a.test/poll", &[], &format!("poll {n}"));
            warc.request("https://a.test/poll", &id, "GET", "", "");
        }
        for user in [1, 2] {
            let id = warc.response("https://a.test/api", &[], &format!("user {user}"));
            let body = format!("{{\"user\": {user}, \"op\": 0}}");
            warc.request("https://a.test/api", &id, "POST", "application/json", &body);
        }
        warc.response("https://a.test/alone", &[], "no request");
        warc.record(
            RecordKind::Resource,
            "https://a.test/file.txt",
            &[("Content-Type", "text/plain")],
            b"file",
        );
        warc.record(RecordKind::Metadata, "https://a.test/alone", &[], b"x");
        let folder = TempDir::new().unwrap();
        let set = open(&[warc.save(&folder, "a.warc.gz")]);

        assert_eq!(bodies(&set, "https://a.test/poll"), ["poll 0", "poll 1", "poll 2"]);
        assert_eq!(bodies(&set, "https://a.test/alone"), ["no request"]);
        assert_eq!(bodies(&set, "https://a.test/file.txt"), ["file"]);
        assert_eq!(bodies(&set, "https://a.test/api"), [""; 0], "a GET is not answered by a POST");
        let post = |text: &'static str| ReplayRequest {
            method: "POST",
            url: "https://a.test/api",
            content_type: Some("application/json"),
            body: Payload::Bytes(text.as_bytes()),
        };
        let exact = set.exact(&matching::exact(&post("{\"user\": 2, \"op\": 0}"))).unwrap();
        assert_eq!(body(&set, exact[0]).unwrap(), "user 2");
        let other = post("{\"op\":0,\"user\":1}");
        assert!(set.exact(&matching::exact(&other)).unwrap().is_empty());
        let normalised = set.normalised(&matching::normalised(&other).0).unwrap();
        assert_eq!(body(&set, normalised[0]).unwrap(), "user 1");
        assert!(
            set.normalised(&matching::normalised(&post("{\"op\":0,\"user\":3}")).0)
                .unwrap()
                .is_empty()
        );

        let capture = set.capture(normalised[0]).unwrap();
        let line = set.request_line(normalised[0], &capture).unwrap();
        assert_eq!(line, ("POST".to_owned(), "https://a.test/api".to_owned()));
        let parts = set.request(normalised[0], &capture).unwrap().unwrap();
        assert_eq!(parts.body.as_deref(), Some(&b"{\"user\": 1, \"op\": 0}"[..]));

        let summary = set.members().next().unwrap().1;
        assert_eq!(
            (summary.captures, summary.paired, summary.revisits, summary.damaged),
            (7, 5, 0, 0)
        );
    }
}

#[test]
fn revisits_lead_to_their_body() {
    let mut warc = Writer::new(true);
    let digest = ("WARC-Payload-Digest", "sha1:ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
    let first = warc.response("https://a.test/x", &[digest], "the body");
    let date = Timestamp::from_millis(warc.clock).to_string();
    let first = format!("<{first}>");
    let id = [("WARC-Refers-To", first.as_str())];
    let time = [("WARC-Refers-To-Target-URI", "https://a.test/x"), ("WARC-Refers-To-Date", &date)];
    warc.revisit("https://a.test/by-id", "1.1/revisit/identical-payload-digest", &id, true);
    warc.revisit("https://a.test/by-time", "1.0/revisit/identical-payload-digest", &time, true);
    warc.revisit("https://a.test/x", "0.18/revisit/identical-payload-digest", &[digest], true);
    warc.revisit(
        "https://b.test/y",
        "1.0/revisit/uri-agnostic-identical-payload-digest",
        &[digest],
        false,
    );
    warc.revisit("https://a.test/x", "1.1/revisit/server-not-modified", &time, true);
    warc.revisit(
        "https://a.test/lost",
        "1.1/revisit/identical-payload-digest",
        &[("WARC-Refers-To", "<urn:no>")],
        true,
    );
    let folder = TempDir::new().unwrap();
    let set = open(&[warc.save(&folder, "a.warc.gz")]);
    for url in ["https://a.test/by-id", "https://a.test/by-time", "https://b.test/y"] {
        assert_eq!(bodies(&set, url), ["the body"], "{url}");
    }
    assert_eq!(bodies(&set, "https://a.test/x"), ["the body"; 3]);
    assert_eq!(bodies(&set, "https://a.test/lost"), ["-"]);
    let summary = set.members().next().unwrap().1;
    assert_eq!((summary.revisits, summary.dangling), (6, 1));
    let head = set.capture(get(&set, "https://b.test/y")[0]).unwrap();
    assert_eq!(
        (head.status, head.response),
        (200, head.body),
        "a revisit without a head has that of its origin"
    );
    let own = set.capture(get(&set, "https://a.test/by-id")[0]).unwrap();
    assert_ne!(own.response, own.body, "a revisit with a head keeps it");
}

#[test]
fn a_digest_that_differs_is_not_the_same_body() {
    let mut warc = Writer::new(false);
    warc.response("https://a.test/x", &[("WARC-Payload-Digest", "sha1:AAA")], "first");
    let date = Timestamp::from_millis(warc.clock).to_string();
    warc.response("https://a.test/y", &[("WARC-Payload-Digest", "sha1:BBB")], "second");
    let fields = [
        ("WARC-Refers-To-Target-URI", "https://a.test/x"),
        ("WARC-Refers-To-Date", date.as_str()),
        ("WARC-Payload-Digest", "sha1:BBB"),
    ];
    warc.revisit("https://a.test/z", "1.1/revisit/identical-payload-digest", &fields, true);
    let folder = TempDir::new().unwrap();
    assert_eq!(bodies(&open(&[warc.save(&folder, "a.warc")]), "https://a.test/z"), ["second"]);
}

#[test]
fn archives_of_a_set_are_one_recording() {
    let digest = ("WARC-Payload-Digest", "sha256:00ff");
    let (mut early, mut late) = (Writer::new(true), Writer::new(false));
    late.clock += 3_600_000;
    early.response("https://a.test/x", &[digest], "early");
    late.response("https://a.test/x", &[], "late");
    late.revisit("https://a.test/z", "1.1/revisit/identical-payload-digest", &[digest], true);
    let folder = TempDir::new().unwrap();
    let paths = [late.save(&folder, "late.warc"), early.save(&folder, "early.warc.gz")];
    let set = open(&paths);
    assert_eq!(bodies(&set, "https://a.test/x"), ["early", "late"]);
    assert_eq!(bodies(&set, "https://a.test/z"), ["early"]);
    assert_eq!(bodies(&open(&paths[..1]), "https://a.test/z"), ["-"]);
}

#[test]
fn web_sockets_are_found_with_the_answer_to_their_handshake() {
    let mut warc = Writer::new(true);
    let id = warc.response("https://a.test/live", &[], "");
    let concurrent = format!("<{id}>");
    let fields = [("Content-Type", SOCKET_FRAMES), ("WARC-Concurrent-To", concurrent.as_str())];
    warc.record(RecordKind::Resource, "wss://a.test/live", &fields, b"{}\n");
    let folder = TempDir::new().unwrap();
    let set = open(&[warc.save(&folder, "a.warc.gz")]);
    let hits =
        set.exact(&matching::exact(&ReplayRequest::bare(SOCKET, "wss://a.test/live"))).unwrap();
    assert_eq!(body(&set, hits[0]).unwrap(), "{}\n");
    let capture = set.capture(hits[0]).unwrap();
    assert_eq!(set.read(0, capture.response).unwrap().id(), Some(id.as_str()));
    assert!(get(&set, "wss://a.test/live").is_empty());
}

#[test]
fn neighbours_share_the_host() {
    let mut warc = Writer::new(true);
    for n in 0..40 {
        warc.response(&format!("https://a.test/list?page={n}"), &[], "");
        warc.response(&format!("https://a.test/item/{n}"), &[], "");
        warc.response(&format!("https://b.test/list?page={n}"), &[], "");
    }
    let folder = TempDir::new().unwrap();
    let set = open(&[warc.save(&folder, "a.warc.gz")]);
    let near = set.neighbours("GET", "https://a.test/list?page=99", 8).unwrap();
    assert!((8..=32).contains(&near.len()));
    assert!(near.iter().all(|found| found.url.starts_with("https://a.test/")));
    assert!(near.iter().any(|found| found.url.contains("/list?page=9")));
    assert!(!set.neighbours("GET", "https://a.test/items", 8).unwrap().is_empty());
    assert!(set.neighbours("GET", "https://c.test/", 8).unwrap().is_empty());
    assert!(set.neighbours("GET", "about:blank", 8).unwrap().is_empty());
}

#[test]
fn hosts_are_told_once_each() {
    let mut warc = Writer::new(true);
    for n in 0..40 {
        warc.response(&format!("https://b.test/{n}"), &[], "");
        warc.response(&format!("http://B.test:8080/{n}"), &[], "");
        warc.response(&format!("https://www.b.test/{n}"), &[], "");
        warc.response("dns:b.test", &[], "");
    }
    let mut other = Writer::new(true);
    other.response("https://a.test/", &[], "");
    other.response("https://b.test/", &[], "");
    let folder = TempDir::new().unwrap();
    let set = open(&[warc.save(&folder, "b.warc.gz"), other.save(&folder, "a.warc.gz")]);
    assert_eq!(set.hosts().unwrap(), ["a.test", "b.test", "www.b.test"]);
    assert!(open(&[]).hosts().unwrap().is_empty());
    assert!(set.has_port("b.test", 8080).unwrap());
    for (host, port) in [("b.test", 80), ("a.test", 8080), ("www.b.test", 8080), ("test", 8080)] {
        assert!(!set.has_port(host, port).unwrap(), "{host}:{port}");
    }
}

#[test]
fn an_index_is_kept_and_built_again_when_it_no_longer_fits() {
    let mut warc = Writer::new(true);
    warc.response("https://a.test/x", &[], "one");
    let folder = TempDir::new().unwrap();
    let path = warc.save(&folder, "a.warc.gz");
    let cache = Utf8Path::from_path(folder.path()).unwrap().join("cache");
    let sidecar = Index::sidecar(&path, &cache);
    let built = |expect: bool| {
        let mut reports = 0;
        let set =
            ReplaySet::open(std::slice::from_ref(&path), Some(&cache), &mut |_, _| reports += 1)
                .unwrap();
        assert_eq!(reports > 0, expect);
        bodies(&set, "https://a.test/x")
    };
    assert_eq!(built(true), ["one"]);
    assert_eq!(built(false), ["one"]);

    let whole = std::fs::read(&sidecar).unwrap();
    for length in [0, 10, PAGE, whole.len() - 1] {
        std::fs::write(&sidecar, &whole[..length]).unwrap();
        assert_eq!(built(true), ["one"], "cut to {length}");
    }
    let mut other_version = whole.clone();
    other_version[40] += 1;
    std::fs::write(&sidecar, other_version).unwrap();
    assert_eq!(built(true), ["one"]);

    warc.response("https://a.test/x", &[], "two");
    warc.save(&folder, "a.warc.gz");
    assert_eq!(built(true), ["one", "two"]);
}

#[test]
fn a_damaged_row_is_an_error_and_no_answer() {
    let mut warc = Writer::new(true);
    for n in 0..50 {
        warc.response(&format!("https://a.test/{n}"), &[], "x");
    }
    let folder = TempDir::new().unwrap();
    let path = warc.save(&folder, "a.warc.gz");
    let archive = Archive::open(&path).unwrap();
    let cache = Utf8Path::from_path(folder.path()).unwrap().join("cache");
    let index = Index::open_or_build(&archive, &cache, &mut |_| {}).unwrap();
    let mut bytes = std::fs::read(index.path()).unwrap();
    bytes[PAGE..].iter_mut().step_by(16).for_each(|byte| *byte ^= 0x55);
    let bad = folder.path().join("bad");
    let layout = index.layout;
    // The fan-outs are left intact, because they are checked when the file is opened.
    for table in [layout.exact, layout.normalised, layout.anchors] {
        let (from, to) = (table.fan as usize, table.end() as usize);
        bytes[from..to].copy_from_slice(&std::fs::read(index.path()).unwrap()[from..to]);
    }
    std::fs::write(&bad, &bytes).unwrap();
    let bad = Index::open(&archive, Utf8Path::from_path(&bad).unwrap()).unwrap().unwrap();
    for n in 0..50 {
        let key = matching::exact(&ReplayRequest::bare("GET", &format!("https://a.test/{n}")));
        assert!(bad.exact(&key).map_or(true, |found| found.is_empty()));
        assert!(matches!(bad.capture(n), Err(IndexError::Damaged { .. })));
    }
    assert!(bad.neighbours("GET", "https://a.test/7", 4).is_err());
}

proptest::proptest! {
    #[test]
    fn any_file_is_indexed_or_refused(cut in 0..4000_usize, flips in proptest::collection::vec((0..4000_usize, 0..255_u8), 0..6)) {
        let mut warc = Writer::new(false);
        for n in 0..4 {
            let id = warc.response(&format!("https://a.test/{n}"), &[("WARC-Payload-Digest", "sha1:A")], "body");
            warc.request(&format!("https://a.test/{n}"), &id, "POST", "application/json", "{}");
            warc.revisit("https://a.test/r", "1.0/revisit/x", &[("WARC-Payload-Digest", "sha1:A")], n % 2 == 0);
        }
        warc.bytes.truncate(cut.max(16));
        for (at, value) in flips {
            if let Some(byte) = warc.bytes.get_mut(at) {
                *byte = value;
            }
        }
        let folder = TempDir::new().unwrap();
        let path = warc.save(&folder, "a.warc");
        if let Ok(set) = ReplaySet::open(&[path], None, &mut |_, _| {}) {
            let _ = set.neighbours("GET", "https://a.test/2", 4);
            for n in 0..4 {
                let _ = set.exact(&matching::exact(&ReplayRequest::bare("GET", &format!("https://a.test/{n}"))));
            }
        }
    }
}
