//! Real captures and the answers of the Python tools: what we read, what we write, and how we key
//! it.
//!
//! Needs `SANDBOX_CAPTURES` (the folder of captures) and `SANDBOX_CONFORMANCE` (the working folder
//! that `tests/conformance/run.sh` has filled with what the reference tools say). `make
//! conformance` sets both.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::{env, fs};

use base64::Engine;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use snapshots::wacz::{Description, FileState, SnapshotWriter};
use snapshots::{
    Archive, Body, Exchange, Headers, Recording, RecordingOptions, Request, Response, Timestamp,
    post_key, surt, warc,
};

/// Captures whose damage we refuse and warcio reads on through, with what we say instead.
const REFUSED: &[(&str, &str)] = &[
    ("oduwsdl+ipwb/samples/warcs/redirect.warc", "should have 265 bytes, only 256"),
    ("oduwsdl+ipwb/samples/warcs/broken.warc", "336 bytes that belong to no record"),
    (
        "webrecorder+pywb/sample_archive/warcs/missing-status-text.warc",
        "should have 492 bytes, only 491",
    ),
    ("webrecorder+warcio/test/data/example-space-in-url.arc", "should have 1591 bytes, only 1579"),
    (
        "webrecorder+warcio/test/data/example-wrong-chunks.warc.gz",
        "should have 1613 bytes, only 343",
    ),
    // In one gzip member, which warcio refuses behind the first record.
    (
        "archivesunleashed+aut/src/test/resources/arc/badexample.arc.gz",
        "238 bytes that belong to no record",
    ),
    ("webrecorder+warcio/test/data/bad.arc", "is no ARC header line"),
    ("webrecorder+pywb/sample_archive/warcs/bad.arc", "is no ARC header line"),
    ("webrecorder+cdxj-indexer/test/data/bad.arc", "is no ARC header line"),
    ("webrecorder+pywb/sample_archive/waczs/invalid_example_1.wacz", "no WARC under archive/"),
    ("webrecorder+py-wacz/tests/fixtures/invalid_example_1.wacz", "no WARC under archive/"),
];

/// Captures in one gzip member, which warcio refuses behind the first record, and how many we read.
const ONE_MEMBER: &[(&str, u64)] = &[
    ("webrecorder+pywb/sample_archive/warcs/example-bad.warc.gz.bad", 6),
    ("webrecorder+warcio/test/data/example-bad-non-chunked.warc.gz", 6),
    ("webrecorder+warcio/test/data/example-bad.warc.gz.bad", 6),
];

fn folder(variable: &str) -> Utf8PathBuf {
    match env::var(variable) {
        Ok(path) => path.into(),
        Err(_) => panic!("{variable} is not set: run `make conformance SHARED=<folder>`"),
    }
}

fn expected(name: &str) -> String {
    let path = folder("SANDBOX_CONFORMANCE").join(name);
    fs::read_to_string(&path)
        .unwrap_or_else(|e| panic!("{path}: {e}: run tests/conformance/run.sh"))
}

/// The captures that warcio was asked about.
fn captures() -> BTreeMap<String, Value> {
    serde_json::from_str(&expected("counts.json")).unwrap()
}

/// Records by kind, and everything that was said about damage.
fn read(path: &Utf8Path) -> (BTreeMap<&'static str, u64>, String) {
    let (mut counts, mut said) = (BTreeMap::new(), String::new());
    match Archive::open(path) {
        Err(error) => said = error.to_string(),
        Ok(archive) => {
            for record in archive.records() {
                match record {
                    Ok((_, record)) => *counts.entry(record.kind().name()).or_default() += 1,
                    Err(error) => writeln!(said, "{error}").unwrap(),
                }
            }
        }
    }
    (counts, said)
}

#[test]
fn every_capture_is_read_as_warcio_reads_it_or_refused() {
    let root = folder("SANDBOX_CAPTURES");
    let captures = captures();
    assert!(captures.len() > 80, "only {} captures", captures.len());
    let mut wrong = String::new();
    for (name, theirs) in &captures {
        let (counts, said) = read(&root.join(name));
        if let Some((_, records)) = ONE_MEMBER.iter().find(|(member, _)| member == name) {
            assert_eq!((counts.values().sum::<u64>(), said.as_str()), (*records, ""), "{name}");
            continue;
        }
        match REFUSED.iter().find(|(refused, _)| refused == name) {
            Some((_, text)) if said.contains(text) => {}
            Some((_, text)) => writeln!(wrong, "{name}: {text:?} is not in {said:?}").unwrap(),
            None if json!(counts) != theirs["counts"] => {
                writeln!(wrong, "{name}: {} in warcio, {counts:?} here; {said}", theirs["counts"])
                    .unwrap();
            }
            // Where warcio gave up, we must have said why, too.
            None if theirs["errors"] != json!([]) && said.is_empty() => {
                writeln!(wrong, "{name}: no damage found").unwrap()
            }
            None => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_record_is_the_same_when_read_by_its_place() {
    let root = folder("SANDBOX_CAPTURES");
    for name in captures().keys() {
        let Ok(archive) = Archive::open(&root.join(name)) else { continue };
        for (at, mut record) in archive.records().filter_map(Result::ok) {
            let mut again = archive.read_at(at).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(record.headers, again.headers, "{name} {at:?}");
            assert_eq!(
                record.read_block(1 << 30).unwrap(),
                again.read_block(1 << 30).unwrap(),
                "{name} {at:?}"
            );
        }
    }
}

#[test]
fn foreign_indexes_point_to_their_records() {
    let root = folder("SANDBOX_CAPTURES");
    let mut lines = 0;
    for name in captures().keys().filter(|name| name.ends_with(".wacz")) {
        let Ok(archive) = Archive::open(&root.join(name)) else { continue };
        for line in archive.index() {
            let line = line.unwrap();
            let segment = archive
                .segments()
                .iter()
                .position(|s| Some(s.name.as_str()) == line.filename())
                .unwrap();
            let (offset, length) = (line.offset().unwrap(), line.length().unwrap());
            let record = archive
                .read_at(snapshots::RecordRef { segment: segment as u32, offset, length })
                .unwrap();
            assert_eq!(record.target_uri().as_deref(), line.url(), "{name}");
            assert_eq!(surt::surt(line.url().unwrap()), line.key, "{name}");
            lines += 1;
        }
    }
    assert!(lines >= 6, "{lines}");
}

#[test]
fn foreign_packages_are_what_their_digests_say() {
    let root = folder("SANDBOX_CAPTURES").join("webrecorder+py-wacz/tests/fixtures");
    let state = |name: &str| {
        let archive = Archive::open(&root.join(name)).unwrap();
        let checks = archive.package().unwrap().check().unwrap();
        checks
            .iter()
            .filter(|check| check.state != FileState::Good)
            .map(|check| check.path.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(state("valid_example_1.wacz"), Vec::<String>::new());
    assert_eq!(state("valid_example_2.wacz"), Vec::<String>::new());
    // Both signatures are right; the second is invalid for its certificate alone, which is not
    // judged here.
    for name in ["valid_signed_example_1.wacz", "invalid_signed_example_1.wacz"] {
        let archive = Archive::open(&root.join(name)).unwrap();
        assert_eq!(state(name), Vec::<String>::new());
        let mut said = archive.package().unwrap().digest_file().unwrap().unwrap();
        assert_eq!(snapshots::wacz::signature_holds(&said["signedData"]), Some(true));
        said["signedData"]["hash"] = "sha256:00".into();
        assert_eq!(snapshots::wacz::signature_holds(&said["signedData"]), Some(false));
    }
}

#[test]
fn keys_are_those_of_the_python_tools() {
    let (mut urls, mut requests) = (0, 0);
    for line in expected("keys.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| case[name].as_str().unwrap();
        if case["key"].is_string() {
            assert_eq!(surt::surt(text("url")), text("key"), "{:?}", text("url"));
            urls += 1;
        } else {
            let body = base64::engine::general_purpose::STANDARD.decode(text("body")).unwrap();
            let folded =
                post_key::append_post_query(text("url"), text("method"), text("type"), &body);
            assert_eq!(folded, text("folded"), "{line}");
            requests += 1;
        }
    }
    assert!(urls > 20_000 && requests > 3_000, "{urls} URLs, {requests} requests");
}

/// Writes each sound capture as a WACZ for the reference tools to judge.
#[test]
fn captures_are_written_for_the_python_tools() {
    let root = folder("SANDBOX_CAPTURES");
    let out = folder("SANDBOX_CONFORMANCE").join("written");
    fs::create_dir_all(&out).unwrap();
    let captures = captures();
    let sound = captures.keys().filter(|name| REFUSED.iter().all(|(refused, _)| refused != name));
    for (number, name) in sound.enumerate() {
        let Ok(archive) = Archive::open(&root.join(name)) else { continue };
        let path = out.join(format!("{number:03}.wacz"));
        let mut writer = SnapshotWriter::create(&path).unwrap();
        for (_, mut record) in archive.records().filter_map(Result::ok) {
            // Some captures hold digests that were wrong from the start; ours must be right.
            record.headers.remove("WARC-Block-Digest");
            if record.kind() != snapshots::RecordKind::Revisit {
                record.headers.remove("WARC-Payload-Digest");
            }
            writer.add(record).unwrap();
        }
        archive.pages().iter().for_each(|page| writer.add_page(page).unwrap());
        let written = writer
            .finish(Description { title: Some(name.clone()), ..Description::default() })
            .unwrap();
        let (counts, said) = read(&path);
        assert_eq!((counts, said), (written.records, String::new()), "{name}");
    }
}

/// Makes a recording and a list of what must come back when another program replays it.
#[test]
fn a_recording_is_written_for_replay() {
    let folder = folder("SANDBOX_CONFORMANCE").join("replay");
    fs::create_dir_all(&folder).unwrap();
    let recording =
        Recording::create(&folder.join("made.wacz"), RecordingOptions::default()).unwrap();
    let mut cases = String::new();
    for exchange in exchanges() {
        recording.append(&exchange).unwrap();
        let mut body = Vec::new();
        exchange.response.body.reader().read_to_end(&mut body).unwrap();
        let request = &exchange.request;
        let case = json!({
            "url": exchange.url,
            "method": request.method,
            "type": request.headers.get_str("Content-Type"),
            "body": base64::engine::general_purpose::STANDARD.encode(request.body.to_vec(1 << 20).unwrap()),
            "status": exchange.response.status,
            "coding": exchange.response.headers.get_str("Content-Encoding"),
            "sha256": &warc::sha256_text(&Sha256::digest(&body))[7..],
        });
        writeln!(cases, "{case}").unwrap();
    }
    recording
        .append_page(&snapshots::Page::new("https://harbour.test/", Timestamp::now()))
        .unwrap();
    recording.finish(&|_| ()).unwrap();
    fs::write(folder.join("asked.jsonl"), cases).unwrap();
}

fn exchanges() -> Vec<Exchange> {
    let mut all = Vec::new();
    let mut add = |method: &str,
                   path: &str,
                   kind: &str,
                   sent: &str,
                   status: u16,
                   extra: &[(&str, &str)],
                   body: Vec<u8>| {
        let mut headers: Headers = extra.iter().copied().collect();
        headers.push("Content-Length", body.len().to_string());
        let response = Response { status, reason: String::new(), headers, body: Body::Bytes(body) };
        let mut exchange =
            Exchange::get(format!("https://harbour.test{path}"), Timestamp::now(), response);
        exchange.request.method = method.to_owned();
        exchange.request.body = Body::Bytes(sent.as_bytes().to_vec());
        exchange.protocol = Some("h2".to_owned());
        exchange.request = Request { headers: request_headers(kind, sent), ..exchange.request };
        all.push(exchange);
    };
    let html = [("Content-Type", "text/html; charset=utf-8")];
    let json_type = [("Content-Type", "application/json")];
    add("GET", "/", "", "", 200, &html, b"<p>High water at noon".to_vec());
    add("GET", "/again", "", "", 200, &html, b"<p>High water at noon".to_vec());
    add("GET", "/tides?b=2&a=1", "", "", 200, &html, b"<p>a and b".to_vec());
    add("GET", "/gone", "", "", 404, &html, b"<p>No such berth".to_vec());
    add("GET", "/moved", "", "", 302, &[("Location", "https://harbour.test/")], Vec::new());
    add("GET", "/%C3%BCber/ferry%20boat", "", "", 200, &html, b"<p>encoded".to_vec());
    add(
        "GET",
        "/chart.bin",
        "",
        "",
        200,
        &[("Content-Type", "application/octet-stream")],
        (0..200_000_u32).map(|n| (n * 31) as u8).collect(),
    );
    let gzip = {
        let mut e = flate2::read::GzEncoder::new(&b"<p>packed"[..], flate2::Compression::best());
        let mut v = Vec::new();
        e.read_to_end(&mut v).unwrap();
        v
    };
    add(
        "GET",
        "/packed",
        "",
        "",
        200,
        &[("Content-Type", "text/html"), ("Content-Encoding", "gzip")],
        gzip,
    );
    for berth in 1..4 {
        let ask = format!(r#"{{"berth": {berth}, "deep": null, "draught": {berth}.0}}"#);
        add(
            "POST",
            "/api",
            "application/json",
            &ask,
            200,
            &json_type,
            format!(r#"{{"ship":"no {berth}"}}"#).into_bytes(),
        );
        add(
            "POST",
            "/form",
            "application/x-www-form-urlencoded",
            &format!("berth={berth}"),
            200,
            &json_type,
            format!(r#"{{"form":{berth}}}"#).into_bytes(),
        );
    }
    all
}

fn request_headers(kind: &str, sent: &str) -> Headers {
    let mut headers: Headers = [("Host", "harbour.test"), ("Accept", "*/*")].into_iter().collect();
    if !sent.is_empty() {
        headers.push("Content-Type", kind);
        headers.push("Content-Length", sent.len().to_string());
    }
    headers
}
