//! Logs that are small, and would be large in memory or on the disk.
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::Write as _;

use camino::Utf8PathBuf;
use serde_json::{Value, json};

use super::attachments::open_zip;
use super::*;
use crate::budget::Budget;

fn entry(content: &Value) -> Value {
    json!({
        "startedDateTime": "2026-01-02T03:04:05.678Z",
        "request": {"method": "GET", "url": "https://a.test/", "headers": []},
        "response": {"status": 200, "headers": [], "content": content},
    })
}

fn log(entries: &[Value]) -> String {
    json!({"log": {"entries": entries}}).to_string()
}

fn read_text(text: &str) -> Result<(Vec<Entry>, Log), Error> {
    let mut entries = Vec::new();
    let log = read(text.as_bytes(), &mut Attachments::default(), Limits::default(), |entry| {
        entries.push(entry);
        Ok::<(), Error>(())
    })?;
    Ok((entries, log))
}

struct Place {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    Place { _folder: folder, root }
}

fn small(bytes: u64) -> Budget {
    let mut budget = Budget::of_contents(0);
    budget.take(budget.left() - bytes).unwrap();
    budget
}

#[test]
fn pages_have_a_most_number_and_size() {
    let pages = |page: &str, count: usize| {
        format!(r#"{{"log":{{"pages":[{}],"entries":[]}}}}"#, vec![page; count].join(","))
    };
    assert_eq!(read_text(&pages("{}", 300_000)).unwrap().1.pages, []);
    assert_eq!(read_text(&pages(r#"{"id":"p"}"#, MOST_PAGES)).unwrap().1.pages.len(), MOST_PAGES);
    assert_eq!(read_text(r#"{"log":{"pages":null,"entries":[]}}"#).unwrap().1.pages, []);
    let long = format!(r#"{{"id":"p","title":"{}"}}"#, "x".repeat(10 << 20));
    for text in [pages(r#"{"id":"p"}"#, MOST_PAGES + 1), pages(&long, 7)] {
        assert!(matches!(read_text(&text), Err(Error::TooManyPages { .. })));
    }
    assert!(read_text(r#"{"log":{"pages":7,"entries":[]}}"#).is_err());
}

#[test]
fn an_entry_has_a_most_number_of_values() {
    let with = |messages: &str, count: usize| {
        let entry = entry(&json!({"text": "x"})).to_string();
        let messages = vec![messages; count].join(",");
        let entry = entry.replacen('{', &format!(r#"{{"_webSocketMessages":[{messages}],"#), 1);
        format!(r#"{{"log":{{"entries":[{entry}]}}}}"#)
    };
    let (entries, log) = read_text(&with("{}", 1_000_000)).unwrap();
    assert!(
        entries.is_empty() && log.named[0].1.contains("more than 2000000 values"),
        "{:?}",
        log.named
    );
    assert_eq!(
        read_text(&with(r#"{"data":"[{,:\"[{,:"}"#, 1000)).unwrap().0[0]
            .frames
            .as_ref()
            .unwrap()
            .len(),
        1000
    );
    // What is in a text is no value.
    let text = log_of_text(&"[{,:".repeat(1_000_000));
    assert_eq!(read_text(&text).unwrap().0.len(), 1);
}

fn log_of_text(text: &str) -> String {
    log(&[entry(&json!({"text": text}))])
}

#[test]
fn a_value_of_line_feeds_is_not_a_million_headers() {
    let with = |name: &str| {
        let mut raw = entry(&json!({"text": "x"}));
        raw["response"]["headers"] = json!([{"name": name, "value": "\n".repeat(1 << 20)}]);
        read_text(&log(&[raw])).unwrap()
    };
    let (entries, log) = with("x-name");
    assert!(
        entries.is_empty() && log.named[0].1.starts_with("response.headers are larger"),
        "{:?}",
        log.named
    );
    assert_eq!(with("bad name").0[0].notes, [Note::HeaderDropped { name: "bad name".to_owned() }]);
}

#[test]
fn a_boundary_is_not_repeated_for_each_field_if_it_is_long() {
    let mut raw = entry(&json!({"text": "x"}));
    let boundary = "b".repeat(10_000);
    let mime = format!("multipart/form-data; boundary={boundary}");
    raw["request"]["postData"] =
        json!({"mimeType": mime, "params": vec![json!({"name": "n", "value": "v"}); 10_000]});
    let (entries, _) = read_text(&log(&[raw])).unwrap();
    assert!(entries[0].exchange.request.body.len() < 100_000);
}

#[test]
fn what_is_said_of_a_bad_entry_is_short() {
    let mut raw = entry(&json!({"text": "x"}));
    raw["startedDateTime"] = json!("y".repeat(1 << 20));
    assert!(read_text(&log(&[raw])).unwrap().1.named[0].1.len() < 1000);
}

/// A file with holes takes no room on the disk, so it brings nothing into the budget.
#[test]
fn bodies_beside_a_log_have_one_budget() {
    let place = place();
    let path = place.root.join("log.har");
    File::create(place.root.join("holes")).unwrap().set_len(600 << 20).unwrap();
    std::fs::write(&path, log(&vec![entry(&json!({"_file": "holes"})); 3])).unwrap();
    let mut seen = 0;
    let outcome = read_file(&path, Limits::default(), |_| {
        seen += 1;
        Ok::<(), Error>(())
    });
    assert!(matches!(outcome, Err(Error::AllTogether { .. })), "{outcome:?}");
    assert_eq!(seen, 1);
}

#[test]
fn a_file_that_takes_room_is_in_the_budget_once() {
    let place = place();
    std::fs::write(place.root.join("body"), [7; 100 << 10]).unwrap();
    std::fs::hard_link(place.root.join("body"), place.root.join("same")).unwrap();
    let mut attachments = Attachments::beside(&place.root, small(0));
    let read = (0..1000).take_while(|n| {
        let name = if n % 2 == 0 { "body" } else { "same" };
        attachments.read(1, name, 1 << 20).is_ok()
    });
    let read = read.count();
    assert!((90..=110).contains(&read), "{read}");
}

#[test]
fn log_and_bodies_in_a_zip_have_one_budget() {
    let place = place();
    let path = place.root.join("x.zip");
    let har = log(&vec![entry(&json!({"_file": "body"})); 100]);
    let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
    for (name, bytes) in [("x.har", har.as_bytes()), ("body", &[7; 100_000])] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
    let open = |budget| open_zip(&path, File::open(&path).unwrap(), u64::MAX, budget);
    assert!(matches!(open(small(har.len() as u64 - 1)), Err(Error::AllTogether { .. })));
    let (_, mut bodies) = open(small(har.len() as u64 + 250_000)).unwrap();
    assert!(bodies.read(1, "body", 1 << 20).is_ok() && bodies.read(2, "body", 1 << 20).is_ok());
    assert!(matches!(bodies.read(3, "body", 1 << 20), Err(Error::AllTogether { .. })));
}

/// One compressed file must not be the content of many.
#[test]
fn files_of_a_zip_do_not_overlap() {
    let place = place();
    let path = place.root.join("x.zip");
    let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
    for name in ["x.har", "body-1", "body-2"] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(if name == "x.har" { b"{\"log\":{\"entries\":[]}}" } else { b"same" })
            .unwrap();
    }
    zip.finish().unwrap();
    assert!(read_file(&path, Limits::default(), |_| Ok::<(), Error>(())).is_ok());
    let mut bytes = std::fs::read(&path).unwrap();
    let entry = |bytes: &[u8], name: &[u8]| {
        bytes.windows(name.len()).rposition(|window| window == name).unwrap() - 46
    };
    // The place of a file is the last field of its fixed part in the directory.
    let (first, second) = (entry(&bytes, b"body-1"), entry(&bytes, b"body-2"));
    bytes.copy_within(first + 42..first + 46, second + 42);
    std::fs::write(&path, bytes).unwrap();
    let error =
        read_file(&path, Limits::default(), |_| Ok::<(), Error>(())).unwrap_err().to_string();
    assert!(error.contains("overlap"), "{error}");
}
