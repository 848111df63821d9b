//! Every archive of the captures folder becomes a valid snapshot: by `import`, or by `repair` where
//! it is damaged. Run by `make conformance`.
#![allow(clippy::unwrap_used)]

mod folder;

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use folder::captures;
use snapshots::Progress;
use snapshots::index::ReplaySet;
use snapshots::ops::{self, Flaw, ImportOptions, SplitBy};

/// What a source may lack and no conversion can supply: requests, payloads elsewhere, HTTP in a
/// record that says so.
const ALLOWED: [Flaw; 5] =
    [Flaw::NoRequest, Flaw::Unresolved, Flaw::Http, Flaw::UnknownDigest, Flaw::PageNotCaptured];

const ARCHIVES: [&str; 5] = [".warc", ".warc.gz", ".arc", ".arc.gz", ".wacz"];

fn quiet(_: Progress) {}

#[test]
fn every_archive_becomes_a_valid_snapshot() {
    let (folder, files) = captures(&ARCHIVES);
    let dir = tempfile::tempdir().unwrap();
    let out = Utf8PathBuf::from_path_buf(dir.path().join("out.wacz")).unwrap();
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in &files {
        let short = path.strip_prefix(&folder).unwrap();
        ops::inspect(path, &mut quiet)
            .map_or_else(|error| println!("{short}: inspect: {error}"), |_| ());
        ops::verify(path, &mut quiet)
            .map_or_else(|error| println!("{short}: verify: {error}"), |_| ());
        let outcome = match ops::import(
            std::slice::from_ref(path),
            &out,
            &ImportOptions::default(),
            &mut quiet,
        ) {
            Ok(_) => "imported",
            Err(error) => match ops::repair(path, &out, &mut quiet) {
                Ok(report) => {
                    println!(
                        "{short}: {error}; repaired: {} records, {:?}",
                        report.records, report.losses
                    );
                    "repaired"
                }
                Err(second) => {
                    println!("{short}: {error}; repair: {second}");
                    "refused"
                }
            },
        };
        *outcomes.entry(outcome).or_default() += 1;
        if outcome == "refused" {
            continue;
        }
        let report = ops::verify(&out, &mut quiet).unwrap();
        let bad: Vec<_> =
            report.findings.iter().filter(|finding| !ALLOWED.contains(&finding.flaw)).collect();
        if !bad.is_empty() {
            wrong.push(format!("{short}: {bad:#?}"));
        }
        std::fs::remove_file(&out).unwrap();
    }
    println!("{outcomes:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Known verdicts: those of py-wacz on packages (but for the trust in a signer, which is not judged
/// here), those of `warcio check` on digests.
const VERDICTS: [(&str, &[Flaw]); 9] = [
    ("py-wacz/tests/fixtures/valid_example_2.wacz", &[]),
    ("py-wacz/tests/fixtures/valid_signed_example_1.wacz", &[Flaw::Signature]),
    ("py-wacz/tests/fixtures/valid_example_1.wacz", &[Flaw::DescriptionDigest, Flaw::IndexBlock]),
    ("warcio/test/data/example-digest.warc", &[Flaw::RecordId, Flaw::PayloadDigest]),
    (
        "warcio/test/data/example-trunc.warc",
        &[Flaw::Damaged, Flaw::BlockDigest, Flaw::PayloadDigest],
    ),
    ("warcio/test/data/example-iana.org-chunked.warc", &[]),
    ("ipwb/samples/warcs/baconIpsum_chunked.warc", &[Flaw::BlockDigest, Flaw::PayloadDigest]),
    ("pywb/sample_archive/warcs/iana.warc.gz", &[]),
    ("aut/src/test/resources/warc/example.warc.gz", &[]),
];

#[test]
fn verdicts_agree_with_the_python_tools() {
    let (_, files) = captures(&ARCHIVES);
    for (end, expect) in VERDICTS {
        let path = files
            .iter()
            .find(|path| path.as_str().ends_with(end))
            .unwrap_or_else(|| panic!("{end} is not there"));
        let report = ops::verify(path, &mut quiet).unwrap();
        assert_eq!(
            report.flaws.keys().copied().collect::<Vec<_>>(),
            expect,
            "{end}: {:#?}",
            report.findings
        );
    }
}

/// Captures that are split and merged: with pages, with several hosts, and with revisits.
const SPLIT: [&str; 3] = [
    "warc-bench/web_archives/windy/windy-archive.wacz",
    "pywb/sample_archive/warcs/iana.warc.gz",
    "warc-bench/web_archives/triwest/triwest.wacz",
];

/// Method, URL, time, status and body of a capture.
type Answer = (String, String, u64, u16, Option<Vec<u8>>);

fn answers(path: &Utf8Path) -> BTreeSet<Answer> {
    let set = ReplaySet::open(&[path.to_owned()], None, &mut |_, _| {}).unwrap();
    let mut answers = BTreeSet::new();
    for host in set.hosts().unwrap() {
        for found in set.of_host(&host, usize::MAX).unwrap() {
            let body = set.document(found.hit, 1 << 30).unwrap().map(|document| document.bytes);
            answers.insert((found.method, found.url, found.hit.at_millis, found.hit.status, body));
        }
    }
    answers
}

#[test]
fn split_and_merged_captures_answer_the_same() {
    let (_, files) = captures(&ARCHIVES);
    for end in SPLIT {
        let path = files.iter().find(|path| path.as_str().ends_with(end)).unwrap();
        let expect = answers(path);
        assert!(expect.len() > 2, "{end}");
        for by in [SplitBy::Host, SplitBy::Date] {
            let dir = tempfile::tempdir().unwrap();
            let root = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
            let (folder, merged) = (root.join("parts"), root.join("merged.wacz"));
            let report = ops::split(path, &folder, by, &mut quiet).unwrap();
            let collection = folder.join(ops::COLLECTION_NAME);
            println!("{end}: {by:?}: {} files", report.collection.files);
            assert!(answers(&collection) == expect, "{end}: {by:?}: split");
            ops::merge(&[collection], &merged, &mut quiet).unwrap();
            assert!(answers(&merged) == expect, "{end}: {by:?}: merged");
        }
    }
}
