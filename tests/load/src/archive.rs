//! Writes a corpus as a WARC file and lists it in a manifest.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result};
use camino::Utf8Path;
use flate2::Compression;
use flate2::write::GzEncoder;
use snapshots::warc::{RecordHead, new_record_id};
use snapshots::{RecordKind, Timestamp};

use crate::corpus::{Corpus, Document};
use crate::manifest::{self, Entry};

/// 2026-01-01 00:00 UTC.
const FIRST_CAPTURE_MS: i64 = 1_767_225_600_000;

/// Writes every document as a response record, one each second, and lists every `step`-th in the
/// manifest.
pub(crate) fn write(
    corpus: &Corpus,
    warc: &Utf8Path,
    manifest: &Utf8Path,
    step: u32,
) -> Result<()> {
    let create =
        |path: &Utf8Path| File::create(path).with_context(|| format!("failed to create {path}"));
    let mut records = BufWriter::with_capacity(1 << 20, create(warc)?);
    let mut list = BufWriter::new(create(manifest)?);
    let zipped = warc.extension() == Some("gz");
    for (number, document) in (0u32..).zip(corpus.documents()) {
        let date = Timestamp::from_millis(FIRST_CAPTURE_MS + i64::from(number) * 1000);
        write_record(&mut records, &response(&document, date), zipped)
            .with_context(|| format!("failed to write {warc}"))?;
        if number % step == 0 {
            let Document { host, target, body, .. } = document;
            let entry = Entry { host, target, sha256: manifest::sha256(&body), length: body.len() };
            manifest::write_line(&mut list, &entry)?;
        }
    }
    records.flush().with_context(|| format!("failed to write {warc}"))?;
    list.flush().with_context(|| format!("failed to write {manifest}"))
}

fn response(document: &Document, date: Timestamp) -> Vec<u8> {
    let Document { host, target, media_type, body } = document;
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\nCache-Control: max-age=3600\r\n\
         Server: bench\r\n\r\n",
        body.len()
    );
    let mut record = RecordHead::new(RecordKind::Response, &new_record_id(), date)
        .field("WARC-Target-URI", &format!("https://{host}{target}"))
        .field("Content-Type", "application/http; msgtype=response")
        .finish((head.len() + body.len()) as u64);
    record.extend_from_slice(head.as_bytes());
    record.extend_from_slice(body);
    record.extend_from_slice(b"\r\n\r\n");
    record
}

fn write_record(to: &mut impl Write, record: &[u8], zipped: bool) -> io::Result<()> {
    if !zipped {
        return to.write_all(record);
    }
    let mut member = GzEncoder::new(to, Compression::default());
    member.write_all(record)?;
    member.finish().map(drop)
}
