#![allow(clippy::unwrap_used)]

use std::io::{Cursor, Write};

use camino::{Utf8Path, Utf8PathBuf};
use proptest::prelude::*;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;
use crate::{Archive, Error, Page, Record, Timestamp};

const WARC: &[u8] =
    b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: u:a\r\nContent-Length: 1\r\n\r\na\r\n\r\n";

fn zip(entries: &[(&str, bool, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, stored, content) in entries {
        let method = if *stored { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn open(bytes: &[u8]) -> Result<Archive, Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    // The archive keeps the file open after its name is gone.
    Archive::open(Utf8Path::from_path(file.path()).unwrap())
}

fn out() -> (tempfile::TempDir, Utf8PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(dir.path()).unwrap().join("x.wacz");
    (dir, path)
}

fn records(archive: &Archive) -> Vec<Record> {
    archive.records().map(|record| record.unwrap().1).collect()
}

#[test]
fn other_ways_to_make_a_package() {
    // No index, no descriptions; several WARCs; one of them deflated against the specification.
    let archive =
        open(&zip(&[("archive/one.warc", true, WARC), ("archive/two.warc", false, WARC)])).unwrap();
    assert_eq!(records(&archive).len(), 2);
    assert_eq!(
        archive.segments().iter().map(|s| s.name.as_str()).collect::<Vec<_>>(),
        ["one.warc", "two.warc"]
    );
    assert_eq!((archive.index().count(), archive.pages().len()), (0, 0));
    assert_eq!(archive.package().unwrap().digest().unwrap(), None);
    assert!(
        archive
            .package()
            .unwrap()
            .check()
            .unwrap()
            .iter()
            .all(|file| file.state == FileState::Unlisted)
    );

    // Pages in several lists, with keys of other programs; the index is uncompressed.
    let pages = br#"{"format":"json-pages-1.0","id":"pages","title":"x"}
{"id":"1","url":"https://harbour.test/","ts":"2026-11-20T10:11:12.5Z","title":"Harbour","depth":0}

"#;
    let extra = br#"{"url":"https://harbour.test/2","ts":"20261120101112"}"#;
    let index = br#"a 2026 {"url":"u:a","offset":0,"length":"1","filename":"one.warc"}"#;
    let archive = open(&zip(&[
        ("pages/extraPages.jsonl", false, extra),
        ("pages/pages.jsonl", false, pages),
        ("archive/one.warc", true, WARC),
        ("indexes/index.cdx", false, index),
        (
            "datapackage.json",
            false,
            br#"{"profile":"wacz","resources":[],"home":{"url":"https://harbour.test/"}}"#,
        ),
    ]))
    .unwrap();
    let pages = archive.pages();
    assert_eq!(
        (pages[0].title.as_deref(), pages[1].url.as_str()),
        (Some("Harbour"), "https://harbour.test/2")
    );
    assert_eq!(pages[0].extra["depth"], 0);
    assert_eq!(archive.index().next().unwrap().unwrap().offset(), Some(0));
    assert!(archive.package().unwrap().zipnum().unwrap().is_none());
}

#[test]
fn a_package_of_a_later_version_is_refused_in_words() {
    let record = b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    let with_version = |version: &str| {
        let description = format!(r#"{{"wacz_version": "{version}"}}"#);
        open(&zip(&[
            ("archive/a.warc", true, record),
            ("datapackage.json", true, description.as_bytes()),
        ]))
    };
    for version in ["1.0.0", "1.1.1", "1.9", "one", ""] {
        assert!(with_version(version).is_ok(), "{version}");
    }
    let error = with_version("2.0.0").unwrap_err().to_string();
    assert!(
        error.ends_with("it has format 2.0, and this version reads 1.x; use a newer sandbox"),
        "{error}"
    );
}

#[test]
fn what_is_no_package_is_refused_with_the_reason() {
    let reason = |bytes: &[u8]| open(bytes).unwrap_err().to_string();
    assert!(reason(b"").contains("neither WACZ, WARC nor ARC"));
    assert!(reason(b"<html>").contains("neither WACZ, WARC nor ARC"));
    assert!(reason(b"PK\x03\x04 and nothing more").contains("no ZIP file"));
    assert!(reason(&zip(&[("data/x.txt", true, b"x")])).contains("no WARC under archive/"));
    let whole = zip(&[("archive/one.warc", true, WARC)]);
    assert!(reason(&whole[..whole.len() - 30]).contains("no ZIP file"));
    for name in ["../archive/x.warc", "/archive/x.warc", "archive/../../x.warc", "archive\\x.warc"]
    {
        // The writer sanitises names, so invalid ones are patched in.
        let mark = "Z".repeat(name.len());
        let mut bytes = zip(&[("archive/one.warc", true, WARC), (&mark, true, b"")]);
        for at in 0..bytes.len() - name.len() {
            if bytes[at..].starts_with(mark.as_bytes()) {
                bytes[at..at + name.len()].copy_from_slice(name.as_bytes());
            }
        }
        assert!(reason(&bytes).contains("outside of the container"), "{name}: {}", reason(&bytes));
    }
    let broken =
        open(&zip(&[("archive/one.warc", true, WARC), ("pages/pages.jsonl", true, b"{}\n{")]))
            .unwrap();
    let lines: Vec<_> = broken.page_lines().collect();
    assert!(matches!(&lines[..], [Err(Error::Line { line: 2, .. })]));
    assert_eq!(broken.pages(), []);
}

#[test]
fn a_change_is_found() {
    let (_dir, path) = out();
    let mut writer = SnapshotWriter::create(&path).unwrap();
    records(&open(WARC).unwrap()).into_iter().for_each(|record| writer.add(record).unwrap());
    writer.add_page(&Page::new("https://harbour.test/", Timestamp::from_millis(0))).unwrap();
    writer.finish(Description::default()).unwrap();
    let good = std::fs::read(&path).unwrap();
    let states = |bytes: &[u8]| {
        let checks = open(bytes).unwrap().package().unwrap().check().unwrap();
        checks
            .into_iter()
            .filter(|file| !file.is_good())
            .map(|file| (file.path, file.state))
            .collect::<Vec<_>>()
    };
    assert_eq!(states(&good), []);
    let magic = good.windows(3).position(|w| w == [0x1f, 0x8b, 8]).unwrap();
    let mut changed = good;
    changed[magic + 4] ^= 1; // the time in the gzip header, which inflating does not notice
    assert_eq!(states(&changed), [("archive/data.warc.gz".to_owned(), FileState::Changed)]);
}

#[test]
fn older_records_become_new_ones() {
    let old = b"WARC/1.0\r\nWARC-Type: revisit\r\nWARC-Record-ID: <urn:x>\r\nWARC-Target-URI: <https://harbour.test/>\r\n\
        WARC-Date: 2014-01-01T00:00:00Z\r\nWARC-Payload-Digest: sha1:AAAA\r\n\
        WARC-Profile: http://netpreserve.org/warc/0.18/revisit/identical-payload-digest\r\nContent-Length: 0\r\n\r\n\r\n\r\n\
        https://harbour.test/a 10.0.0.1 20140101000000 text/html 19\nHTTP/1.0 200 OK\n\nab\n";
    let (_dir, path) = out();
    let mut writer = SnapshotWriter::create(&path).unwrap();
    records(&open(old).unwrap()).into_iter().for_each(|record| writer.add(record).unwrap());
    writer.finish(Description::default()).unwrap();
    let archive = Archive::open(&path).unwrap();
    let new = records(&archive);
    assert!(new.iter().all(|record| record.version == crate::warc::Version::One(1)));
    let field = |record: &Record, name: &str| record.headers.get_str(name).map(str::to_owned);
    assert_eq!(
        field(&new[0], "WARC-Profile").as_deref(),
        Some("http://netpreserve.org/warc/1.1/revisit/identical-payload-digest")
    );
    assert_eq!(field(&new[0], "WARC-Payload-Digest").as_deref(), Some("sha1:AAAA"));
    assert_eq!(field(&new[0], "WARC-Target-URI").as_deref(), Some("https://harbour.test/"));
    assert_eq!(field(&new[1], "WARC-IP-Address").as_deref(), Some("10.0.0.1"));
    assert!(new[1].id().is_some());
    let lines: Vec<_> = archive.index().map(|line| line.unwrap()).collect();
    assert_eq!((lines[0].text("mime"), lines[1].status()), (Some("warc/revisit"), Some(200)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_damage_to_a_package_is_survived(at in 0_usize..2000, change in proptest::collection::vec(any::<u8>(), 1..30)) {
        let mut bytes = zip(&[
            ("archive/one.warc", true, WARC),
            ("indexes/index.cdx", false, b"a 2026 {}\n"),
            ("pages/pages.jsonl", false, b"{\"url\":\"u:a\",\"ts\":\"2026\"}\n"),
            ("datapackage.json", false, b"{\"resources\":[{\"path\":\"archive/one.warc\",\"hash\":\"sha256:00\"}]}"),
        ]);
        let at = at % bytes.len();
        let end = (at + change.len()).min(bytes.len());
        bytes.splice(at..end, change);
        if let Ok(archive) = open(&bytes) {
            archive.records().for_each(drop);
            archive.index().for_each(drop);
            let _ = archive.pages();
            let _ = archive.package().map(Package::check);
        }
    }
}

/// The WARC and the index of a snapshot that this many threads write.
fn written_by(threads: usize) -> Vec<Vec<u8>> {
    let (_dir, path) = out();
    let mut writer = SnapshotWriter::with_threads(&path, threads).unwrap();
    for n in 0..400_u32 {
        // One in five has a payload that was there before, and one is large.
        let size = if n == 77 { 9 << 20 } else { n % 5 * 3000 };
        let byte = |at: u32| (at.wrapping_mul(at ^ 2_654_435_761).wrapping_add(n % 80) >> 13) as u8;
        let body: Vec<u8> = (0..size).map(byte).collect();
        let [response, request] = [
            (
                "response",
                [b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", &body[..]].concat(),
            ),
            ("request", format!("POST /{n} HTTP/1.1\r\nHost: a.test\r\n\r\nbody={n}").into_bytes()),
        ]
        .map(|(kind, block)| {
            let head = format!(
                "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:{kind}:{n}>\r\n\
                 WARC-Concurrent-To: <urn:response:{n}>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n\
                 WARC-Target-URI: http://a.test/{n}\r\nContent-Type: application/http\r\n\
                 Content-Length: {}\r\n\r\n",
                block.len()
            );
            [head.as_bytes(), &block, b"\r\n\r\n"].concat()
        });
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[response, request].concat()).unwrap();
        let archive = Archive::open(Utf8Path::from_path(file.path()).unwrap()).unwrap();
        records(&archive).into_iter().for_each(|record| writer.add(record).unwrap());
    }
    let report = writer.finish(Description::default()).unwrap();
    assert!(report.parts.len() > 1 && report.deduplicated > 100, "{report:?}");
    let archive = Archive::open(&path).unwrap();
    let package = archive.package().unwrap();
    let names = ["archive/data.warc.gz", "indexes/index.cdx.gz", "indexes/index.idx"];
    names.iter().map(|name| package.read(name, 1 << 30).unwrap().unwrap()).collect()
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let alone = written_by(1);
    for threads in [2, 5] {
        assert!(written_by(threads) == alone, "{threads} threads");
    }
}

/// A container whose directory names one deflated file many times: a few kilobytes would unpack to
/// any size.
#[test]
fn files_of_a_container_may_not_overlap() {
    let whole = zip(&[("archive/one.warc", false, &[b' '; 1 << 20])]);
    let at = |mark: &[u8]| whole.windows(mark.len()).position(|window| window == mark).unwrap();
    let (directory, end) = (at(b"PK\x01\x02"), at(b"PK\x05\x06"));
    let mut bytes = whole[..directory].to_vec();
    for number in 0..100_u16 {
        let mut entry = whole[directory..end].to_vec();
        let name = entry.windows(3).position(|window| window == b"one").unwrap();
        entry[name..name + 3].copy_from_slice(format!("{number:03}").as_bytes());
        bytes.extend(entry);
    }
    let (start, length) = (directory as u32, (bytes.len() - directory) as u32);
    let mut tail = whole[end..].to_vec();
    tail[8..10].copy_from_slice(&100_u16.to_le_bytes());
    tail[10..12].copy_from_slice(&100_u16.to_le_bytes());
    tail[12..16].copy_from_slice(&length.to_le_bytes());
    tail[16..20].copy_from_slice(&start.to_le_bytes());
    bytes.extend(tail);
    let error = open(&bytes).unwrap_err().to_string();
    assert!(error.contains("overlap"), "{error}");
}

#[test]
fn what_deflated_files_unpack_to_is_bounded_all_together() {
    // What the directory declares is the most that is read.
    let declare = |count: usize| {
        let entries = [("archive/one.warc", false, WARC), ("archive/two.warc", false, WARC)];
        let mut bytes = zip(&entries[..count]);
        let marks = bytes.windows(4).enumerate().filter(|(_, mark)| *mark == b"PK\x01\x02");
        for at in marks.map(|(at, _)| at).collect::<Vec<_>>() {
            bytes[at + 24..at + 28].copy_from_slice(&(150_u32 << 20).to_le_bytes());
        }
        open(&bytes)
    };
    assert!(declare(1).is_ok());
    let error = declare(2).unwrap_err().to_string();
    assert!(error.contains("all together"), "{error}");
}
