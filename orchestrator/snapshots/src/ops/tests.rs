//! Each operation on snapshots built here, whole and damaged.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{Read as _, Write as _};

use camino::{Utf8Path, Utf8PathBuf};

use crate::{
    Archive, Body, Exchange, Headers, Page, Progress, Recording, RecordingOptions, Request, Response,
    Timestamp,
};

use super::*;

/// A folder that goes with the test.
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
        [("Content-Type", media), ("Set-Cookie", "sid=abcdef0123456789; Path=/")].into_iter().collect();
    let response = Response { status: 200, reason: "OK".into(), headers, body: Body::from(body.to_vec()) };
    let mut exchange =
        Exchange::get(url, Timestamp::from_millis(1_760_000_000_000 + second * 1000), response);
    exchange.request.headers.push("Host", "a.test");
    exchange
}

pub(super) fn post(url: &str, second: i64, body: &[u8], answer: &[u8]) -> Exchange {
    let headers: Headers = [("Content-Type", "application/json")].into_iter().collect();
    let request =
        Request { method: "POST".into(), target: "/api".into(), headers, body: Body::from(body.to_vec()) };
    Exchange { request, ..exchange(url, second, "application/json", answer) }
}

/// A snapshot of these exchanges; those that are HTML are its pages.
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

/// Writes a copy of a WACZ in which `change` may alter, drop (`None`) or deflate files.
fn rezip(from: &Utf8Path, to: &Utf8Path, change: impl Fn(&str, Vec<u8>) -> Option<(Vec<u8>, bool)>) {
    let mut old = zip::ZipArchive::new(fs::File::open(from).unwrap()).unwrap();
    let mut new = zip::ZipWriter::new(fs::File::create(to).unwrap());
    for index in 0..old.len() {
        let mut entry = old.by_index(index).unwrap();
        let name = entry.name().unwrap().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        let Some((bytes, stored)) = change(&name, bytes) else { continue };
        let method = if stored { zip::CompressionMethod::Stored } else { zip::CompressionMethod::Deflated };
        new.start_file(name, zip::write::SimpleFileOptions::default().compression_method(method)).unwrap();
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
    let give = |found: exchanges::Found| {
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

#[test]
fn a_recording_is_valid_and_inspected() {
    let place = Place::new();
    let path = place.join("a.wacz");
    snapshot(&path, &usual());
    let report = valid(&path);
    assert_eq!((report.records, report.index_lines), (11, 5));
    let inspection = inspect(&path, &mut quiet).unwrap();
    assert_eq!(inspection.records["response"], 4);
    assert_eq!(inspection.records["revisit"], 1);
    assert_eq!(inspection.hosts["a.test"].responses, 4);
    assert_eq!(inspection.statuses[&200], 5);
    assert_eq!(inspection.methods["POST"], 1);
    assert_eq!(inspection.media_types["image/png"], 1);
    assert_eq!((inspection.pages, inspection.damaged), (2, 0));
    assert_eq!(inspection.first.unwrap().as_millis(), 1_760_000_000_000);
    assert_eq!(inspection.signature.unwrap().kind, SignatureKind::Unsigned);
    serde_json::to_string(&inspect(&path, &mut quiet).unwrap()).unwrap();
}

#[test]
fn verify_finds_each_flaw() {
    let place = Place::new();
    let good = place.join("good.wacz");
    snapshot(&good, &usual());
    type Change = Box<dyn Fn(&str, Vec<u8>) -> Option<(Vec<u8>, bool)>>;
    let replace = |name: &'static str, from: &'static str, to: &'static str| -> Change {
        Box::new(move |entry, bytes| {
            if entry != name {
                return Some((bytes, true));
            }
            let text =
                String::from_utf8(if entry.ends_with(".gz") { gunzip(&bytes) } else { bytes }).unwrap();
            assert!(text.contains(from), "{text}");
            let text = text.replacen(from, to, 1);
            Some((if entry.ends_with(".gz") { gzip(text.as_bytes()) } else { text.into_bytes() }, true))
        })
    };
    let drop_entry = |name: &'static str| -> Change {
        Box::new(move |entry, bytes| (entry != name).then_some((bytes, true)))
    };
    let (index, pages) = ("indexes/index.cdx.gz", "pages/pages.jsonl");
    let cases: Vec<(Flaw, Change)> = vec![
        (Flaw::Deflated, Box::new(|entry, bytes| Some((bytes, !entry.starts_with("archive/"))))),
        (Flaw::Description, drop_entry("datapackage.json")),
        (Flaw::DescriptionDigest, drop_entry("datapackage-digest.json")),
        (Flaw::DescriptionDigest, replace("datapackage-digest.json", "sha256:", "sha256:0")),
        (Flaw::Missing, drop_entry(pages)),
        (Flaw::Pages, drop_entry(pages)),
        (Flaw::Index, drop_entry("indexes/index.idx")),
        (Flaw::NotIndexed, drop_entry(index)),
        (Flaw::FileDigest, replace(pages, "All Pages", "All pages")),
        (Flaw::FileSize, replace(pages, "All Pages", "All")),
        (Flaw::PageNotCaptured, replace(pages, "https://a.test/again", "https://a.test/never")),
        (Flaw::Pages, replace(pages, "https://a.test/again\"", "https://a.test/again")),
        (Flaw::IndexBlock, replace(index, "https://a.test/again", "https://a.test/never")),
        (Flaw::IndexValue, replace(index, "https://a.test/again", "https://a.test/never")),
        (Flaw::IndexValue, replace(index, "\"200\"", "\"404\"")),
        (Flaw::IndexValue, replace(index, "text/html", "text/css")),
        (Flaw::IndexValue, replace(index, "\"digest\":\"sha256:", "\"digest\":\"sha256:0")),
        (Flaw::IndexValue, replace(index, " 2025", " 2024")),
        (Flaw::IndexTarget, replace(index, "\"offset\":\"", "\"offset\":\"9")),
        (Flaw::IndexTarget, replace(index, "data.warc.gz", "none.warc.gz")),
        (Flaw::IndexTarget, replace(index, "\"length\":\"", "\"length\":\"9")),
        (Flaw::Index, replace(index, "{\"url\"", "{\"url")),
        (Flaw::NotListed, replace("datapackage.json", "pages/pages.jsonl", "pages/other.jsonl")),
        (Flaw::UnknownDigest, replace("datapackage.json", "\"sha256:", "\"crc:")),
        (Flaw::Description, replace("datapackage.json", "wacz_version", "version")),
        (
            Flaw::Damaged,
            Box::new(|entry, mut bytes| {
                if entry.starts_with("archive/") {
                    let middle = bytes.len() / 2;
                    bytes[middle] ^= 0xFF;
                }
                Some((bytes, true))
            }),
        ),
    ];
    for (number, (flaw, change)) in cases.into_iter().enumerate() {
        let bad = place.join(&format!("bad{number}.wacz"));
        rezip(&good, &bad, change);
        let report = verify(&bad, &mut quiet).unwrap();
        assert!(
            !report.valid && report.flaws.contains_key(&flaw),
            "case {number} {flaw:?}: {:#?}",
            report.findings
        );
    }
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

#[test]
fn verify_judges_records() {
    let place = Place::new();
    let check = |records: &[(&str, &str, &str, &[u8])], expect: &[Flaw]| {
        let path = place.join("x.warc");
        fs::write(&path, warc(records)).unwrap();
        let report = verify(&path, &mut quiet).unwrap();
        let found: Vec<Flaw> = report.flaws.keys().copied().collect();
        assert_eq!(found, expect, "{:#?}", report.findings);
        // What is in order must stay in order when it becomes a snapshot.
        if expect.is_empty() {
            let out = place.join("out.wacz");
            import(&[path], &out, &ImportOptions::default(), &mut quiet).unwrap();
            valid(&out);
            fs::remove_file(out).unwrap();
        }
    };
    let url = "https://a.test/";
    let request = ("request", url, HTTP, REQUEST);
    check(&[("response", url, HTTP, RESPONSE), request], &[]);
    check(&[("response", url, HTTP, RESPONSE)], &[Flaw::NoRequest]);
    check(&[("response", url, HTTP, b"no http at all"), request], &[Flaw::Http]);
    let digest = |label: &str| format!("{HTTP}{label}\r\n");
    let block = digest("WARC-Block-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    check(&[("response", url, &block, RESPONSE), request], &[Flaw::BlockDigest]);
    let payload = digest("WARC-Payload-Digest: sha256:00");
    check(&[("response", url, &payload, RESPONSE), request], &[Flaw::PayloadDigest]);
    let good = digest("WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N");
    check(&[("response", url, &good, RESPONSE), request], &[]);
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    check(&[("response", url, &good, chunked), request], &[]);
    check(
        &[("response", url, &digest("WARC-Block-Digest: md5:x"), RESPONSE), request],
        &[Flaw::UnknownDigest],
    );
    let revisit = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n";
    let lost = format!("{HTTP}{revisit}WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n");
    check(&[("revisit", url, &lost, b"HTTP/1.1 200 OK\r\n\r\n")], &[Flaw::Unresolved]);
    check(
        &[("response", url, &good, RESPONSE), request, ("revisit", url, &lost, b"HTTP/1.1 200 OK\r\n\r\n")],
        &[],
    );
    check(&[("response", "", HTTP, RESPONSE)], &[Flaw::Field]);
    let same_id = warc(&[request]).repeat(2);
    fs::write(place.join("same.warc"), same_id).unwrap();
    assert!(verify(&place.join("same.warc"), &mut quiet).unwrap().flaws.contains_key(&Flaw::RecordId));
}

#[test]
fn hostile_containers_are_refused_and_not_followed() {
    let place = Place::new();
    let good = place.join("good.wacz");
    snapshot(&good, &usual());
    let zip = |name: &str, entries: &[(&str, &[u8], bool)]| {
        let path = place.join(name);
        let mut zip = zip::ZipWriter::new(fs::File::create(&path).unwrap());
        for (name, bytes, stored) in entries {
            let method =
                if *stored { zip::CompressionMethod::Stored } else { zip::CompressionMethod::Deflated };
            let options = zip::write::SimpleFileOptions::default().compression_method(method);
            zip.start_file(*name, options).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap();
        path
    };
    let all = warc(&[("response", "https://a.test/", HTTP, RESPONSE)]);
    let traversal = zip("traversal.wacz", &[("archive/../../evil.warc", &all, true)]);
    let absolute = zip("absolute.wacz", &[("/archive/evil.warc", &all, true)]);
    let empty = zip("empty.wacz", &[("datapackage.json", b"{}", false)]);
    let bytes = fs::read(&good).unwrap();
    let cut = place.join("cut.wacz");
    fs::write(&cut, &bytes[..bytes.len() - 40]).unwrap();
    let text = place.join("text.wacz");
    fs::write(&text, "PK, they said").unwrap();
    for path in [&traversal, &absolute, &empty, &cut, &text] {
        let report = verify(path, &mut quiet).unwrap();
        assert!(!report.valid, "{path}");
        let out = place.join("out.wacz");
        assert!(
            import(std::slice::from_ref(path), &out, &ImportOptions::default(), &mut quiet).is_err()
                || path == &absolute
        );
        assert!(
            !place.join("evil.warc").exists() && !place.root.parent().unwrap().join("evil.warc").exists()
        );
        let _ = fs::remove_file(&out);
    }
    // A page list of 64 MiB of zeros in 64 KiB costs its size at most, and is no page list.
    let bomb =
        zip("bomb.wacz", &[("archive/a.warc", &all, true), ("pages/pages.jsonl", &vec![0; 64 << 20], false)]);
    assert!(verify(&bomb, &mut quiet).unwrap().flaws.contains_key(&Flaw::Pages));
    assert!(verify(&place.join("absent.wacz"), &mut quiet).is_err());
}

#[test]
fn import_of_everything_at_once() {
    let place = Place::new();
    let (one, two) = (place.join("one.warc"), place.join("two.warc.gz"));
    fs::write(
        &one,
        warc(&[
            ("request", "https://a.test/", HTTP, REQUEST),
            ("response", "https://a.test/", HTTP, RESPONSE),
        ]),
    )
    .unwrap();
    let arc = place.join("three.arc");
    let page = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Old</title>";
    let mut text =
        b"filedesc://x.arc 0.0.0.0 20080430204825 text/plain 20\n1 0 Alexa Internet\n\n\n\n".to_vec();
    writeln!(text, "http://c.test/ 10.0.0.1 20080430204826 text/html {}", page.len()).unwrap();
    text.extend_from_slice(page);
    text.push(b'\n');
    fs::write(&arc, text).unwrap();
    let member = gzip(&warc(&[("response", "https://b.test/", HTTP, RESPONSE)]));
    fs::write(&two, [member, gzip(&warc(&[("resource", "urn:x:y", "", b"hello")]))].concat()).unwrap();
    let har = place.join("four.har");
    let entry = |url: &str, status: u16, content: serde_json::Value| {
        serde_json::json!({
            "pageref": "p", "startedDateTime": "2026-01-02T03:04:05.678Z",
            "request": {"method": "GET", "url": url, "headers": []},
            "response": {"status": status, "statusText": "", "headers": [{"name": "content-type", "value": "text/html"}], "content": content},
        })
    };
    let log = serde_json::json!({"log": {"pages": [{"id": "p", "title": "A page"}], "entries": [
        entry("https://d.test/", 304, serde_json::json!({"text": "cached"})),
        entry("https://d.test/gone", 200, serde_json::json!({"size": 9})),
        entry("https://d.test/refused", 0, serde_json::json!({})),
        entry("data:text/html,x", 200, serde_json::json!({"text": "x"})),
    ]}});
    fs::write(&har, log.to_string()).unwrap();

    let out = place.join("out.wacz");
    let inputs = [one, two, arc, har];
    let report =
        import(&inputs, &out, &ImportOptions { title: Some("T".into()), description: None }, &mut quiet)
            .unwrap();
    assert_eq!((report.responses, report.revisits, report.pages), (4, 1, 1), "{report:#?}");
    let har = report.inputs.iter().find(|input| input.format == "har").unwrap();
    assert_eq!((har.read, har.kept), (4, 1));
    assert_eq!(
        har.skipped[&Skipped::BodyMissing]
            + har.skipped[&Skipped::NoResponse]
            + har.skipped[&Skipped::NotHttp],
        3
    );
    assert!(!report.pages_found);
    let archive = Archive::open(&out).unwrap();
    assert_eq!(archive.pages().unwrap()[0].title.as_deref(), Some("A page"));
    assert_eq!(inspect(&out, &mut quiet).unwrap().title.as_deref(), Some("T"));
    // Only what the inputs lacked is missing: requests of the ARC and of two.warc.gz.
    let flaws = verify(&out, &mut quiet).unwrap().flaws;
    assert_eq!(flaws.keys().collect::<Vec<_>>(), [&Flaw::NoRequest]);
    assert!(matches!(
        import(&inputs, &out, &ImportOptions::default(), &mut quiet),
        Err(Error::Exists { .. })
    ));
    assert!(matches!(import(&[], &out, &ImportOptions::default(), &mut quiet), Err(Error::NoInput { .. })));
}

#[test]
fn a_damaged_input_is_refused_and_leaves_nothing() {
    let place = Place::new();
    let path = place.join("cut.warc");
    let bytes = warc(&[("response", "https://a.test/", HTTP, RESPONSE)]);
    fs::write(&path, &bytes[..bytes.len() - 10]).unwrap();
    let out = place.join("out.wacz");
    let error = import(&[path], &out, &ImportOptions::default(), &mut quiet).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    assert_eq!(place.root.read_dir_utf8().unwrap().count(), 1);
}

#[test]
fn merge_keeps_each_record_once() {
    let place = Place::new();
    let (a, b, both, again) =
        (place.join("a.wacz"), place.join("b.wacz"), place.join("ab.wacz"), place.join("abb.wacz"));
    let all = usual();
    snapshot(&a, &all[..3]);
    snapshot(&b, &[all[0].clone(), all[3].clone(), all[4].clone()]);
    let report = merge(&[a.clone(), b.clone()], &both, &mut quiet).unwrap();
    // The home page was recorded twice, under two ids: both captures stay, its payload once.
    assert_eq!((report.responses, report.revisits, report.identical), (6, 2, 0));
    assert_eq!(report.pages, 2);
    valid(&both);
    let report = merge(&[both.clone(), b], &again, &mut quiet).unwrap();
    assert_eq!(report.responses, 6);
    assert!(report.identical >= 5, "{report:?}");
    valid(&again);
    assert_eq!(bodies(&both), bodies(&again));
}

#[test]
fn export_to_every_format_and_back() {
    let place = Place::new();
    let path = place.join("a.wacz");
    let mut all = usual();
    all[1].response.headers.push("Content-Encoding", "gzip");
    all[1].response.body = Body::from(gzip(br#"{"n": 1}"#));
    snapshot(&path, &all);
    let (warc, har, folder) = (place.join("a.warc.gz"), place.join("a.har"), place.join("files"));
    assert_eq!(export(&path, &warc, Format::WarcGz, &mut quiet).unwrap().written, 11);
    assert_eq!(export(&path, &har, Format::Har, &mut quiet).unwrap().written, 5);
    assert_eq!(export(&path, &folder, Format::Folder, &mut quiet).unwrap().written, 5);
    assert_eq!(fs::read(folder.join("a.test/data_x=1.json")).unwrap(), br#"{"n": 1}"#);
    assert_eq!(fs::read_to_string(folder.join("index.jsonl")).unwrap().lines().count(), 5);
    for back in [&warc, &har] {
        let out = place.join("back.wacz");
        import(std::slice::from_ref(back), &out, &ImportOptions::default(), &mut quiet).unwrap();
        valid(&out);
        assert_eq!(bodies(&out), bodies(&path));
        assert!(diff(&path, &out, &mut quiet).unwrap().equal);
        fs::remove_file(out).unwrap();
    }
    assert!(matches!(export(&path, &har, Format::Har, &mut quiet), Err(Error::Exists { .. })));
}

#[test]
fn diff_names_what_changed() {
    let place = Place::new();
    let (old, new) = (place.join("old.wacz"), place.join("new.wacz"));
    let before = usual();
    let mut after = usual();
    after[0].response.body = Body::from(b"<title>Home</title><p>Goodbye<script>x</script>".to_vec());
    after[1].response.status = 404;
    after[3] = post("https://a.test/api", 3, br#"{"page": 2}"#, br#"{"items": []}"#);
    after.push(exchange("https://a.test/", 9, "text/html", b"later"));
    snapshot(&old, &before);
    snapshot(&new, &after);
    let report = diff(&old, &new, &mut quiet).unwrap();
    assert!(!report.equal);
    assert_eq!(report.unchanged, 2);
    let urls = |captures: &[Capture]| captures.iter().map(|c| (c.url.clone(), c.nth)).collect::<Vec<_>>();
    assert_eq!(urls(&report.removed), [("https://a.test/api".to_owned(), 1)]);
    assert_eq!(
        urls(&report.added),
        [("https://a.test/".to_owned(), 2), ("https://a.test/api".to_owned(), 1)]
    );
    assert_eq!(report.changed.len(), 2);
    let home = report.changed[0].body.as_ref().unwrap();
    assert_eq!((home.text_removed, home.text_added), (1, 1));
    assert_eq!(home.sample, ["- Hello", "+ Goodbye"]);
    assert_eq!((report.changed[1].old.status, report.changed[1].new.status), (200, 404));
    assert!(report.changed[1].body.is_none());
    assert!(diff(&old, &old, &mut quiet).unwrap().equal);
}

#[test]
fn repair_keeps_every_whole_record() {
    let place = Place::new();
    let good = place.join("good.wacz");
    snapshot(&good, &usual());
    let bytes = fs::read(&good).unwrap();
    let whole = bodies(&good);
    let fix = |name: &str, bytes: &[u8]| {
        let (bad, out) = (place.join(name), place.join(&format!("{name}.fixed.wacz")));
        fs::write(&bad, bytes).unwrap();
        let report = repair(&bad, &out, &mut quiet);
        if report.is_ok() {
            assert_eq!(fs::read(&bad).unwrap(), bytes, "the input is left as it is");
        }
        report.map(|report| (report, bodies(&out), out))
    };
    // No directory: everything is still there.
    let (report, kept, out) = fix("no-directory.wacz", &bytes[..bytes.len() - 200]).unwrap();
    assert_eq!(kept, whole);
    assert_eq!(report.pages, 2);
    valid(&out);
    // Cut in the middle of the WARC.
    let warc_end = bytes.windows(20).position(|w| w == b"indexes/index.cdx.gz").unwrap();
    let (report, kept, _) = fix("cut.wacz", &bytes[..warc_end / 2]).unwrap();
    assert!(!kept.is_empty() && kept.len() < 5 && kept.iter().all(|body| whole.contains(body)));
    assert!(!report.losses.is_empty() && report.pages_found);
    // A byte wrong in the middle, with the container intact.
    let bad = place.join("flipped.wacz");
    rezip(&good, &bad, |entry, mut bytes| {
        if entry.starts_with("archive/") {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0xFF;
        }
        Some((bytes, true))
    });
    let out = place.join("flipped.fixed.wacz");
    let report = repair(&bad, &out, &mut quiet).unwrap();
    assert!(report.records >= 9 && !report.losses.is_empty(), "{report:#?}");
    assert!(report.lost_bytes > 0);
    assert!(bodies(&out).iter().all(|body| whole.contains(body)));
    // Nothing there.
    assert!(fix("nothing.wacz", b"PK\x03\x04").is_err());
    assert!(fix("text.txt", b"hello").is_err());
}

#[test]
fn repair_of_a_left_over_recording() {
    let place = Place::new();
    let path = place.join("a.wacz");
    let recording = Recording::create(&path, RecordingOptions::default()).unwrap();
    for exchange in usual() {
        recording.append(&exchange).unwrap();
    }
    recording.append_page(&Page::new("https://a.test/", Timestamp::from_millis(1_760_000_000_000))).unwrap();
    drop(recording);
    let folder = Recording::folder_of(&path);
    let mut data = fs::OpenOptions::new().append(true).open(folder.join("data.warc")).unwrap();
    data.write_all(b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 1000\r\n\r\nhalf of").unwrap();
    let mut pages = fs::OpenOptions::new().append(true).open(folder.join("pages.jsonl")).unwrap();
    pages.write_all(b"{\"url\": \"https://a.te").unwrap();
    for (number, input) in [&path, &folder].into_iter().enumerate() {
        let out = place.join(&format!("fixed{number}.wacz"));
        let report = repair(input, &out, &mut quiet).unwrap();
        assert_eq!((report.responses, report.pages), (5, 1));
        assert_eq!(report.losses.len(), 2, "{:#?}", report.losses);
        valid(&out);
        assert_eq!(bodies(&out).len(), 5);
    }
}

#[test]
fn redaction_is_thorough_and_consistent() {
    let place = Place::new();
    let (path, out) = (place.join("a.wacz"), place.join("clean.wacz"));
    let token = "tok/en+0123456789";
    let page = format!(
        r#"<title>x</title><meta name=t content="{token}"><script>var c = {{"csrf": "{token}", "n": 1}}</script>"#
    );
    let mut first = exchange("https://a.test/", 0, "text/html", &gzip(page.as_bytes()));
    first.response.headers.push("Content-Encoding", "gzip");
    first.request.headers.push("Authorization", "Bearer abcdefgh-credential");
    let mut second = exchange(
        "https://a.test/x?csrf=tok%2Fen%2B0123456789&y=1",
        1,
        "text/plain",
        b"saw abcdefgh-credential and Jane Doe",
    );
    second.request.headers.push("Cookie", "theme=dark; sid=abcdef0123456789");
    second.request.headers.push("Referer", "https://a.test/?csrf=tok%2Fen%2B0123456789");
    let third = post(
        "https://a.test/api",
        2,
        format!(r#"{{"csrf": "{token}", "keep": "me"}}"#).as_bytes(),
        br#"{"hello": "Jane Doe"}"#,
    );
    let untouched = exchange("https://a.test/plain", 3, "text/plain", b"nothing here");
    let mut untouched = untouched;
    untouched.response.headers.remove("set-cookie");
    snapshot(&path, &[first, second, third, untouched]);
    let before = scan_secrets(&path, &mut quiet).unwrap();
    assert!(!before.clean);
    assert!(before.counts.contains_key(&SecretKind::AuthorizationHeader), "{before:#?}");
    assert!(before.counts.contains_key(&SecretKind::SessionCookie));

    let what = Redaction {
        key: b"k".to_vec(),
        headers: vec!["authorization".into()],
        cookies: vec!["sid".into()],
        fields: vec!["csrf".into()],
        values: vec!["Jane Doe".into()],
    };
    let report = redact(&path, &out, &what, &mut quiet).unwrap();
    assert!(report.replaced >= 10 && report.records_changed >= 6, "{report:#?}");
    valid(&out);
    let archive = Archive::open(&out).unwrap();
    let mut everything = String::new();
    for item in archive.records() {
        let (_, mut record) = item.unwrap();
        everything.push_str(&format!("{:?}\n", record.target_uri()));
        everything.push_str(&String::from_utf8_lossy(&record.read_block(1 << 20).unwrap()));
    }
    for secret in ["0123456789", "abcdefgh-credential", "Jane Doe"] {
        assert!(!everything.contains(secret), "{secret} is still there:\n{everything}");
    }
    assert!(
        everything.contains("\"keep\": \"me\"")
            && everything.contains("theme=dark")
            && everything.contains("nothing here")
    );
    let mark = everything.split("csrf=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    assert!(mark.starts_with("redacted-") && mark.len() == 17, "{mark}");
    assert!(everything.contains(&format!("\"csrf\": \"{mark}\"")), "{everything}");
    assert!(everything.contains(&format!("content=\"{mark}\"")));
    assert!(scan_secrets(&out, &mut quiet).unwrap().clean);
    // A second redaction finds nothing to do.
    let report = redact(&out, &place.join("again.wacz"), &what, &mut quiet).unwrap();
    assert_eq!(report.replaced, 0);
    let short = Redaction { values: vec!["abc".into()], ..Redaction::default() };
    assert!(matches!(
        redact(&path, &place.join("x.wacz"), &short, &mut quiet),
        Err(Error::ShortSecret { .. })
    ));
    assert!(!format!("{what:?}").contains("Jane"));
}

#[test]
fn websockets_survive_every_way() {
    let place = Place::new();
    let path = place.join("ws.wacz");
    let recording = Recording::create(&path, RecordingOptions::default()).unwrap();
    let mut opening = exchange("https://a.test/feed", 0, "text/plain", b"");
    opening.response.status = 101;
    let frame = crate::Frame {
        at_ms: 5,
        from: crate::FrameSide::Server,
        text: Some(r#"{"secret": "value-of-it", "n": 1}"#.into()),
        base64: None,
        close: None,
        reason: None,
    };
    recording.append_websocket(&opening, &[frame]).unwrap();
    recording.finish(&|_| ()).unwrap();
    valid(&path);
    let (har, back, clean) = (place.join("ws.har"), place.join("back.wacz"), place.join("clean.wacz"));
    export(&path, &har, Format::Har, &mut quiet).unwrap();
    assert!(fs::read_to_string(&har).unwrap().contains("_webSocketMessages"));
    import(&[har], &back, &ImportOptions::default(), &mut quiet).unwrap();
    valid(&back);
    let what = Redaction { fields: vec!["secret".into()], ..Redaction::default() };
    assert_eq!(redact(&back, &clean, &what, &mut quiet).unwrap().replaced, 1);
    valid(&clean);
}
