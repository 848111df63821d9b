//! Every answer in the real captures is found again by the request that made it, and nothing by one
//! that did not.
//!
//! Needs `SANDBOX_CAPTURES`, the folder of captures; `make conformance` sets it.

#![allow(clippy::unwrap_used)]

use camino::{Utf8Path, Utf8PathBuf};
use gateway::{
    Answer, Episode, MatchLevel, Replay, ReplayOptions, RequestHead, Scheme, StatePolicy,
};
use http_body_util::BodyExt;
use hyper::body::Bytes;
use snapshots::index::ReplaySet;
use snapshots::{Archive, RecordKind};

/// What replaying one capture came to.
#[derive(Debug, Default)]
struct Tally {
    requests: u64,
    answered: u64,
    bytes: u64,
    odd: Vec<String>,
}

fn captures() -> Vec<Utf8PathBuf> {
    let Ok(folder) = std::env::var("SANDBOX_CAPTURES") else {
        panic!("SANDBOX_CAPTURES is not set: run `make conformance SHARED=<folder>`");
    };
    let (mut found, mut folders) = (Vec::new(), vec![Utf8PathBuf::from(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir_utf8().unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().to_ascii_lowercase();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.into_path());
            } else if [".warc", ".warc.gz", ".arc", ".arc.gz", ".wacz"]
                .iter()
                .any(|end| name.ends_with(end))
            {
                found.push(entry.into_path());
            }
        }
    }
    found.sort();
    found
}

fn head(url: &str) -> Option<RequestHead> {
    let url = url::Url::parse(url).ok()?;
    let scheme = if url.scheme() == "https" { Scheme::Https } else { Scheme::Http };
    let mut headers = http::HeaderMap::new();
    headers.insert("accept-encoding", http::HeaderValue::from_static("identity"));
    Some(RequestHead {
        method: http::Method::GET,
        host: url.host_str()?.to_owned(),
        port: url.port_or_known_default()?,
        url: url.into(),
        scheme,
        version: http::Version::HTTP_11,
        headers,
    })
}

/// Asks for every URI of a response that was recorded by GET, once for each record of it.
async fn replayed(path: &Utf8Path, replay: &Replay) -> Tally {
    let (mut tally, episode) = (Tally::default(), Episode::new());
    for (_, record) in Archive::open(path).unwrap().records().flatten() {
        if !matches!(record.kind(), RecordKind::Response | RecordKind::Revisit)
            || !record.holds_http()
        {
            continue;
        }
        let Some(head) = record.target_uri().and_then(|uri| head(&uri)) else { continue };
        tally.requests += 1;
        let reply = replay.answer(&head, &Bytes::new(), &episode);
        if !matches!(reply.answer, Answer::Exact | Answer::Synthesised { .. }) {
            tally.odd.push(format!("{}: {:?}", head.url, reply.answer));
            continue;
        }
        match reply.body.collect().await {
            Ok(body) => {
                tally.answered += 1;
                tally.bytes += body.to_bytes().len() as u64;
            }
            Err(error) => tally.odd.push(format!("{}: {error}", head.url)),
        }
    }
    tally
}

/// What cannot be answered, by file: requests, and why.
const UNANSWERED: &[(&str, usize, &str)] = &[
    ("bad.arc", 1, "the record is damaged"),
    ("broken.warc", 1, "the record is damaged"),
    ("capsule-archive.wacz", 23, "they were asked by POST"),
    ("dupes.warc.gz", 8, "revisits of records in other archives"),
    ("example-trunc.warc", 1, "the body is cut within its gzip coding"),
    ("example-url-agnostic-revisit.warc.gz", 1, "a revisit of a record in another archive"),
    ("missing-http.warc.gz", 1, "there is no HTTP message in the record"),
    ("multiplan.wacz", 4, "they were asked by POST"),
    ("post-test-more.warc", 3, "they were asked by POST"),
    ("post-test.warc.gz", 3, "they were asked by POST"),
    ("sample-1.warc.gz", 10, "revisits of records in other archives"),
    ("triwest.wacz", 2, "they were asked by POST"),
    ("wellcare.wacz", 4, "they were asked by POST"),
    ("wellcare_form.wacz", 6, "they were asked by POST"),
];

fn opened(paths: &[Utf8PathBuf]) -> Option<Replay> {
    let set = ReplaySet::open(paths, None, &mut |_, _| {}).ok()?;
    // In recorded order, whatever was done between.
    let states = StatePolicy::Order;
    Some(Replay::new(
        set,
        ReplayOptions { level: MatchLevel::Exact, states, ..ReplayOptions::default() },
    ))
}

#[tokio::test]
async fn every_recorded_request_is_answered_with_what_was_recorded() {
    let (mut answered, mut wrong) = (0, Vec::new());
    for path in captures() {
        let Some(replay) = opened(std::slice::from_ref(&path)) else { continue };
        let tally = replayed(&path, &replay).await;
        println!("{path}: {}/{} answered, {} bytes", tally.answered, tally.requests, tally.bytes);
        let name = path.file_name().unwrap_or_default();
        let expected =
            UNANSWERED.iter().find(|(file, _, _)| *file == name).map_or(0, |(_, count, _)| *count);
        if tally.odd.len() != expected {
            wrong.push(format!("{path}: {} and not {expected}: {:#?}", tally.odd.len(), tally.odd));
        }
        answered += tally.answered;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(answered > 1_000, "only {answered} requests: are these the captures?");
}

#[tokio::test]
async fn a_revisit_finds_its_body_in_another_archive_of_the_set() {
    let named =
        |name: &str| captures().into_iter().find(|path| path.file_name() == Some(name)).unwrap();
    let revisit = named("example-url-agnostic-revisit.warc.gz");
    let set = [revisit.clone(), named("example-url-agnostic-orig.warc.gz")];
    let tally = replayed(&revisit, &opened(&set).unwrap()).await;
    assert_eq!((tally.answered, tally.bytes), (1, 1270), "{tally:?}");
}
