//! Every `.har` of the captures folder is read with all its entries, and survives being written and
//! read again; or it is refused with a reason. Run by `make conformance`.
#![allow(clippy::unwrap_used)]

mod folder;

use std::collections::BTreeMap;
use std::fs;

use camino::Utf8Path;
use folder::captures;
use snapshots::har::{self, Attachments, Entry, Error, Limits, Note};

/// The captures that are no HAR, and what the refusal must say.
const REFUSED: [(&str, &str); 2] = [
    (
        "corrupted_har/brokenfile.har",
        "line 2 column 1: invalid type: sequence, expected an object with `entries`",
    ),
    ("data/har_extractor.har", "the document has no `log` object"),
];

/// How many entries a general JSON parser finds.
fn count(path: &Utf8Path) -> Option<usize> {
    let text = fs::read_to_string(path).ok()?;
    let json: serde_json::Value = serde_json::from_str(text.trim_start_matches('\u{FEFF}')).ok()?;
    json.get("log")?.get("entries")?.as_array().map(Vec::len)
}

fn read_file(path: &Utf8Path) -> Result<Vec<Entry>, Error> {
    let mut entries = Vec::new();
    let log = har::read_file(path, Limits::default(), |entry| {
        entries.push(entry);
        Ok::<(), Error>(())
    })?;
    assert_eq!(log.entries, entries.len() as u64);
    Ok(entries)
}

fn written(entries: &[Entry]) -> Vec<u8> {
    let mut writer = har::Writer::new(Vec::new(), "0").unwrap();
    for entry in entries {
        writer.entry(&entry.exchange, entry.frames.as_deref(), entry.page.as_deref()).unwrap();
    }
    writer.finish().unwrap()
}

fn read_back(text: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    har::read(text, &mut Attachments::default(), Limits::default(), |entry| {
        entries.push(entry);
        Ok::<(), Error>(())
    })
    .unwrap();
    entries
}

#[test]
fn every_har_is_read_whole_or_refused() {
    let (_, files) = captures(&[".har"]);
    assert!(files.len() >= 26, "only {} HAR files found", files.len());
    let mut notes: BTreeMap<String, usize> = BTreeMap::new();
    let mut total = 0;
    for path in &files {
        if let Some((_, reason)) = REFUSED.iter().find(|(name, _)| path.as_str().ends_with(name)) {
            let error = read_file(path).unwrap_err().to_string();
            assert!(error.contains(reason), "{path}: {error}");
            continue;
        }
        let entries = read_file(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(Some(entries.len()), count(path), "{path}");
        total += entries.len();
        for note in entries.iter().flat_map(|entry| &entry.notes) {
            *notes.entry(note.kind().to_owned()).or_default() += 1;
        }
        let again = read_back(&written(&entries));
        assert_eq!(again.len(), entries.len(), "{path}");
        for (before, after) in entries.iter().zip(&again) {
            assert_same(path, before, after);
        }
    }
    println!("{} files, {total} entries, notes: {notes:?}", files.len());
}

/// The second reading may only take the content coding off where the writer could decode what the
/// first had kept coded.
fn assert_same(path: &Utf8Path, before: &Entry, after: &Entry) {
    let place = format!("{path} entry {}", before.number);
    let (a, b) = (&before.exchange, &after.exchange);
    assert_eq!(a.url, b.url, "{place}");
    assert_eq!(a.started, b.started, "{place}");
    assert_eq!(a.ip, b.ip, "{place}");
    assert_eq!(a.request.method, b.request.method, "{place}");
    assert_eq!(a.request.headers, b.request.headers, "{place}");
    assert_eq!(
        a.request.body.to_vec(1 << 30).unwrap(),
        b.request.body.to_vec(1 << 30).unwrap(),
        "{place}"
    );
    assert_eq!(
        (a.response.status, &a.response.reason),
        (b.response.status, &b.response.reason),
        "{place}"
    );
    assert_eq!(before.frames, after.frames, "{place}");
    assert_eq!(before.page, after.page, "{place}");
    let body = |entry: &Entry| entry.exchange.response.body.to_vec(1 << 30).unwrap();
    let decoded = after.notes.iter().find_map(|note| match note {
        Note::ContentEncodingDropped { coding } => Some(coding),
        _ => None,
    });
    match decoded {
        None => {
            assert_eq!(a.response.headers, b.response.headers, "{place}");
            assert_eq!(body(before), body(after), "{place}");
        }
        Some(coding) => {
            let plain =
                snapshots::http::decode_content(coding, &body(before)[..], 1 << 30).unwrap();
            assert_eq!(plain, body(after), "{place}");
        }
    }
}
