//! Collections and splits.

use super::*;
use crate::collection::{Collection, CollectionFlaw};
use crate::index::{IndexError, ReplaySet};
use crate::matching::{self, ChangingParts, ReplayRequest};

/// Exchanges of three hosts over three days; one payload is on two hosts.
fn web() -> Vec<Exchange> {
    let day = 86_400;
    let mut exchanges = usual();
    for n in 0..6 {
        let url = format!("https://c.test/poll?n={}", n % 2);
        exchanges.push(exchange(
            &url,
            n * day / 2 + 10,
            "text/html",
            format!("<p>poll {n}").as_bytes(),
        ));
    }
    exchanges.push(exchange(
        "https://b.test/copy",
        day,
        "text/html",
        b"<title>Home</title><p>Hello",
    ));
    exchanges
}

fn open(path: &Utf8Path) -> ReplaySet {
    ReplaySet::open(&[path.to_owned()], None, &mut |_, _| {}).unwrap()
}

/// What a set answers to each of these requests, by time.
fn answers(set: &ReplaySet, exchanges: &[Exchange]) -> Vec<(String, u64, Vec<u8>)> {
    let mut answers = Vec::new();
    for exchange in exchanges {
        let request = ReplayRequest {
            method: &exchange.request.method,
            ..ReplayRequest::bare("", &exchange.url)
        };
        let key = match exchange.request.body.to_vec(1 << 20).unwrap() {
            body if body.is_empty() => matching::exact(&request),
            body => matching::exact(&ReplayRequest {
                content_type: Some("application/json"),
                body: matching::Payload::Bytes(&body),
                ..request
            }),
        };
        let hits = set.exact(&key).unwrap();
        assert!(!hits.is_empty(), "{}", exchange.url);
        for hit in hits {
            let document = set.document(hit, 1 << 20).unwrap().unwrap();
            answers.push((exchange.url.clone(), hit.at_millis, document.bytes));
        }
    }
    answers
}

fn pages(path: &Utf8Path) -> Vec<(String, Timestamp)> {
    let mut pages: Vec<_> =
        Archive::open(path).unwrap().pages().into_iter().map(|page| (page.url, page.ts)).collect();
    pages.sort();
    pages
}

#[test]
fn split_and_merged_it_is_the_same_snapshot() {
    let place = Place::new();
    let whole = place.join("whole.wacz");
    snapshot(&whole, &web());
    let rules = ChangingParts::from_yaml(
        "rules:\n- method: GET\n  url: https://a.test/data\n  query: [x]\n",
    );
    let ruled = place.join("ruled.wacz");
    set_rules(&whole, &rules.unwrap(), &ruled, &mut quiet).unwrap();
    for (by, files) in
        [(SplitBy::Host, vec!["a.test", "b.test", "c.test"]), (SplitBy::Date, vec![])]
    {
        let folder = place.join(if files.is_empty() { "days" } else { "hosts" });
        let report = split(&ruled, &folder, by, &mut quiet).unwrap();
        let listed = folder.join(COLLECTION_NAME);
        assert_eq!(report.collection.path, listed);
        let names: Vec<&str> = report
            .collection
            .members
            .iter()
            .map(|member| member.path.trim_end_matches(".wacz"))
            .collect();
        match by {
            SplitBy::Host => assert_eq!(names, files),
            SplitBy::Date => {
                assert_eq!(names, ["2025-10-09", "2025-10-10", "2025-10-11"]);
            }
        }
        for member in &report.collection.members {
            valid(&folder.join(&member.path));
            assert!(member.records.unwrap() > 0 && member.first <= member.last, "{member:?}");
        }
        let verified = verify_collection(&listed, &mut quiet).unwrap();
        assert!(verified.valid, "{verified:#?}");
        assert_eq!(inspect_collection(&listed).unwrap().members, report.collection.members);

        let merged = place.join(&format!("{}.wacz", folder.file_name().unwrap()));
        merge(std::slice::from_ref(&listed), &merged, &mut quiet).unwrap();
        valid(&merged);
        assert_eq!(bodies(&merged), bodies(&whole));
        assert_eq!(pages(&merged), pages(&whole));
        let expect = answers(&open(&whole), &web());
        for set in [open(&merged), open(&listed)] {
            assert_eq!(answers(&set, &web()), expect);
            assert_eq!(set.hosts().unwrap(), ["a.test", "b.test", "c.test"]);
            assert_eq!(set.changing_parts().rules.len(), 1);
        }
        assert!(matches!(split(&whole, &folder, by, &mut quiet), Err(Error::Exists { .. })));
    }
}

/// A folder with the files `a.wacz`, `b.wacz` and their collection.
fn two(place: &Place) -> (Vec<Utf8PathBuf>, Utf8PathBuf) {
    let files = ["a", "b"].map(|name| {
        let path = place.join(&format!("{name}.wacz"));
        snapshot(
            &path,
            &[exchange(&format!("https://{name}.test/"), 0, "text/html", name.as_bytes())],
        );
        path
    });
    let out = place.join("both.json");
    collection(&files, &place.join(""), &out, &mut quiet).unwrap();
    (files.to_vec(), out)
}

fn flaw(error: impl Into<IndexError>) -> CollectionFlaw {
    match error.into() {
        IndexError::Archive(crate::Error::Collection { flaw, .. }) => flaw,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_the_listed_file_is_found() {
    let place = Place::new();
    let (files, listed) = two(&place);
    let open = || ReplaySet::open(std::slice::from_ref(&listed), None, &mut |_, _| {});
    assert_eq!(open().unwrap().members().count(), 2);
    let whole = fs::read(&files[1]).unwrap();

    // A byte inside: only reading all finds it.
    let mut changed = whole.clone();
    changed[200] ^= 1;
    fs::write(&files[1], changed).unwrap();
    open().unwrap();
    let report = verify_collection(&listed, &mut quiet).unwrap();
    assert!(!report.valid && report.members[0].flaw.is_none(), "{report:#?}");
    assert!(report.members[1].flaw.as_ref().unwrap().contains("digest"), "{report:#?}");

    // Another length, another package of the same length, and no file.
    fs::write(&files[1], &whole[..whole.len() - 1]).unwrap();
    assert!(
        matches!(flaw(open().unwrap_err()), CollectionFlaw::Changed { member, .. } if member == "b.wacz")
    );
    let text = fs::read_to_string(&listed).unwrap();
    let (other, bytes) = (fs::read(&files[0]).unwrap(), format!("\"bytes\": {}", whole.len()));
    fs::write(&files[1], &other).unwrap();
    // Both files may have the same length; that of the second is listed last.
    let (before, after) = text.rsplit_once(&bytes).unwrap();
    let with_length = |length: usize| format!("{before}\"bytes\": {length}{after}");
    fs::write(&listed, with_length(other.len())).unwrap();
    let found = flaw(open().unwrap_err());
    assert!(
        matches!(&found, CollectionFlaw::Changed { what, .. } if what.contains("datapackage")),
        "{found}"
    );
    fs::remove_file(&files[1]).unwrap();
    assert_eq!(flaw(open().unwrap_err()), CollectionFlaw::Missing("b.wacz".into()));
    let report = verify_collection(&listed, &mut quiet).unwrap();
    assert!(report.errors == 1 && report.members[1].flaw.is_some(), "{report:#?}");

    // A collection in a collection.
    fs::write(&files[1], &text).unwrap();
    fs::write(&listed, with_length(text.len())).unwrap();
    assert_eq!(flaw(open().unwrap_err()), CollectionFlaw::Nested("b.wacz".into()));
}

#[test]
fn only_wacz_files_of_the_folder_are_listed_once() {
    let place = Place::new();
    let (files, listed) = two(&place);
    let below = place.join("below");
    fs::create_dir(&below).unwrap();
    let list = |files: &[Utf8PathBuf], name: &str| {
        let out = place.join(name);
        let folder = out.parent().unwrap().to_owned();
        collection(files, &folder, &out, &mut quiet)
    };
    let failed = |files: &[Utf8PathBuf], name: &str| match list(files, name).unwrap_err() {
        Error::Snapshot(error) => error,
        other => panic!("{other}"),
    };
    assert!(matches!(flaw(failed(&files, "below/x.json")), CollectionFlaw::Outside(_)));
    let copy = place.join("copy.wacz");
    fs::copy(&files[0], &copy).unwrap();
    assert_eq!(
        flaw(failed(&[files[0].clone(), copy], "x.json")),
        CollectionFlaw::Twice("copy.wacz".into())
    );
    assert!(matches!(
        flaw(failed(&[files[0].clone(), listed.clone()], "x.json")),
        CollectionFlaw::Nested(_)
    ));
    let odd = place.join("50%.wacz");
    fs::copy(&files[0], &odd).unwrap();
    assert!(failed(&[odd], "x.json").to_string().contains("URLs"));
    assert!(matches!(list(&[], "x.json"), Err(Error::NoInput { .. })));
    assert!(matches!(list(&files, "both.json"), Err(Error::Exists { .. })));
    assert!(!place.join("x.json").exists());

    // Operations on one file say what to do.
    let error = export(&listed, &place.join("x.har"), Format::Har, &mut quiet).unwrap_err();
    assert!(error.to_string().contains("snapshot merge"), "{error}");
    // An import takes all of it.
    let out = place.join("imported.wacz");
    import(std::slice::from_ref(&listed), &out, &ImportOptions::default(), &mut quiet).unwrap();
    assert_eq!(bodies(&out).len(), 2);
    assert_eq!(Collection::read(&listed).unwrap().resources[0].hosts, ["a.test"]);
}
