//! Tests sets of many archives against one archive with the same records.
#![allow(clippy::unwrap_used)]

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use super::tests::{Writer, bodies, get, open};
use super::*;
use crate::matching::{ReplayRequest, normalised};

const ARCHIVES: usize = 12;

/// Records of three hosts, spread over archives by time, and in one archive. Each URL is recorded
/// several times, and one body is in another archive than its revisit.
fn recorded(folder: &TempDir) -> (Vec<Utf8PathBuf>, Utf8PathBuf) {
    let digest = ("WARC-Payload-Digest", "sha256:aa");
    let mut all = Writer::new(true);
    let mut paths = Vec::new();
    for archive in 0..ARCHIVES {
        let mut one = Writer::new(true);
        one.clock = all.clock;
        for writer in [&mut one, &mut all] {
            for n in 0..40 {
                let host = ["a.test", "b.test", "c.test:8080"][(n + archive) % 3];
                let url = format!("https://{host}/item?id={}&_={archive}", n % 7);
                writer.response(&url, &[], &format!("{archive} {n}"));
            }
            writer.response("https://a.test/poll", &[], &format!("poll {archive}"));
            if archive == 3 {
                writer.response("https://a.test/original", &[digest], "the original");
            }
            if archive == 9 {
                writer.revisit(
                    "https://b.test/again",
                    "1.1/revisit/identical-payload-digest",
                    &[digest],
                    true,
                );
            }
            if archive == 5 {
                writer.response(&format!("https://only{archive}.test/"), &[], "once");
            }
        }
        paths.push(one.save(folder, &format!("{archive:02}.warc.gz")));
    }
    (paths, all.save(folder, "all.warc.gz"))
}

/// What a set says of a request: time and body of each capture.
fn said(set: &ReplaySet, hits: &[IndexHit]) -> Vec<(u64, u16)> {
    hits.iter().map(|hit| (hit.at_millis, set.capture(*hit).unwrap().status)).collect()
}

#[test]
fn many_archives_answer_as_one_with_the_same_records() {
    let folder = TempDir::new().unwrap();
    let (paths, whole) = recorded(&folder);
    let cache = Utf8Path::from_path(folder.path()).unwrap().join("cache");
    let one = open(&[whole]);
    for cache in [None, Some(cache.as_path()), Some(cache.as_path())] {
        let many = ReplaySet::open(&paths, cache, &mut |_, _| {}).unwrap();
        assert!(many.routes.is_some() && one.routes.is_none());
        assert_eq!(many.hosts().unwrap(), one.hosts().unwrap());
        let urls = (0..ARCHIVES).flat_map(|archive| {
            let hosts = ["a.test", "b.test", "c.test:8080", "d.test"];
            hosts.map(|host| format!("https://{host}/item?id=3&_={archive}"))
        });
        for url in urls.chain(["https://a.test/poll".to_owned(), "https://only5.test/".to_owned()])
        {
            assert_eq!(bodies(&many, &url), bodies(&one, &url), "{url}");
            let (key, _) = normalised(&ReplayRequest::bare("GET", &url));
            let (ours, theirs) = (many.normalised(&key).unwrap(), one.normalised(&key).unwrap());
            assert_eq!(said(&many, &ours), said(&one, &theirs), "{url}");
        }
        assert_eq!(bodies(&many, "https://a.test/poll").len(), ARCHIVES);
        assert_eq!(bodies(&many, "https://b.test/again"), ["the original"]);
        for (host, port) in [("c.test", 8080), ("c.test", 80), ("a.test", 8080), ("none.test", 80)]
        {
            assert_eq!(many.has_port(host, port).unwrap(), one.has_port(host, port).unwrap());
        }
        let near = |set: &ReplaySet| {
            let found = set.neighbours("GET", "https://only5.test/x", 4).unwrap();
            found.into_iter().map(|found| found.url).collect::<Vec<_>>()
        };
        assert_eq!(near(&many), near(&one));
        assert_eq!(
            many.of_host("b.test", 1 << 20).unwrap().len(),
            one.of_host("b.test", 1 << 20).unwrap().len()
        );
        assert!(many.neighbours("GET", "https://d.test/", 4).unwrap().is_empty());
    }
}

#[test]
fn routes_are_made_again_when_they_no_longer_fit() {
    let folder = TempDir::new().unwrap();
    let (paths, _) = recorded(&folder);
    let cache = Utf8Path::from_path(folder.path()).unwrap().join("cache");
    let open = || ReplaySet::open(&paths, Some(&cache), &mut |_, _| {}).unwrap();
    assert_eq!(get(&open(), "https://only5.test/").len(), 1);
    let mut found = cache.read_dir_utf8().unwrap().map(|entry| entry.unwrap().into_path());
    let routes = found.find(|path| path.extension() == Some("routes")).unwrap();
    let whole = std::fs::read(&routes).unwrap();
    let paths_at = open().routes.unwrap().paths_at as usize;
    for at in (0..whole.len()).step_by(97) {
        let mut bad = whole.clone();
        bad[at] ^= 0x55;
        std::fs::write(&routes, &bad).unwrap();
        let set = open();
        assert_eq!(get(&set, "https://only5.test/").len(), 1, "byte {at}");
        if at < paths_at {
            assert!(std::fs::read(&routes).unwrap() == whole, "byte {at}");
        } else {
            // The paths are checked row by row.
            let walked =
                ["a.test", "b.test", "c.test", "only5.test"].map(|host| set.of_host(host, 1 << 20));
            assert!(
                walked.iter().any(|found| matches!(found, Err(IndexError::Damaged { .. }))),
                "byte {at}"
            );
            std::fs::write(&routes, &whole).unwrap();
        }
    }
    for length in [0, 100, 256, whole.len() - 1] {
        std::fs::write(&routes, &whole[..length]).unwrap();
        assert_eq!(get(&open(), "https://only5.test/").len(), 1, "cut to {length}");
    }
    // The archive that has the page changes.
    let mut other = Writer::new(true);
    other.response("https://new.test/", &[], "new");
    other.save(&folder, "05.warc.gz");
    let set = open();
    assert!(get(&set, "https://only5.test/").is_empty());
    assert_eq!(get(&set, "https://new.test/").len(), 1);
    assert!(set.hosts().unwrap().contains(&"new.test".to_owned()));
}

#[test]
fn progress_of_many_indexes_is_one_sum() {
    let folder = TempDir::new().unwrap();
    let (paths, _) = recorded(&folder);
    let total: u64 = paths.iter().map(|path| path.metadata().unwrap().len()).sum();
    let mut last = (0, 0);
    ReplaySet::open(&paths, None, &mut |_, at| {
        assert!(at.bytes >= last.0 && at.total_bytes == total && at.archives == ARCHIVES);
        last = (at.bytes, at.finished);
    })
    .unwrap();
    assert_eq!(last, (total, ARCHIVES));
}
