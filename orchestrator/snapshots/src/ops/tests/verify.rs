//! `inspect` and `verify`: valid snapshots, and each possible flaw.

use super::*;

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
                String::from_utf8(if entry.ends_with(".gz") { gunzip(&bytes) } else { bytes })
                    .unwrap();
            assert!(text.contains(from), "{text}");
            let text = text.replacen(from, to, 1);
            Some((
                if entry.ends_with(".gz") { gzip(text.as_bytes()) } else { text.into_bytes() },
                true,
            ))
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

#[test]
fn verify_judges_records() {
    let place = Place::new();
    let check = |records: &[(&str, &str, &str, &[u8])], expect: &[Flaw]| {
        let path = place.join("x.warc");
        fs::write(&path, warc(records)).unwrap();
        let report = verify(&path, &mut quiet).unwrap();
        let found: Vec<Flaw> = report.flaws.keys().copied().collect();
        assert_eq!(found, expect, "{:#?}", report.findings);
        // A valid archive must stay valid when it becomes a snapshot.
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
    assert!(
        verify(&place.join("x.warc"), &mut quiet).unwrap().valid,
        "other tools write no requests"
    );
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
    let revisit =
        "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n";
    let lost =
        format!("{HTTP}{revisit}WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n");
    check(&[("revisit", url, &lost, b"HTTP/1.1 200 OK\r\n\r\n")], &[Flaw::Unresolved]);
    check(
        &[
            ("response", url, &good, RESPONSE),
            request,
            ("revisit", url, &lost, b"HTTP/1.1 200 OK\r\n\r\n"),
        ],
        &[],
    );
    check(&[("response", "", HTTP, RESPONSE)], &[Flaw::Field]);
    let same_id = warc(&[request]).repeat(2);
    fs::write(place.join("same.warc"), same_id).unwrap();
    assert!(
        verify(&place.join("same.warc"), &mut quiet).unwrap().flaws.contains_key(&Flaw::RecordId)
    );
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
            let method = if *stored {
                zip::CompressionMethod::Stored
            } else {
                zip::CompressionMethod::Deflated
            };
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
        assert!(verify(path, &mut quiet).map_or(true, |report| !report.valid), "{path}");
        let out = place.join("out.wacz");
        assert!(
            import(std::slice::from_ref(path), &out, &ImportOptions::default(), &mut quiet)
                .is_err()
                || path == &absolute
        );
        assert!(
            !place.join("evil.warc").exists()
                && !place.root.parent().unwrap().join("evil.warc").exists()
        );
        let _ = fs::remove_file(&out);
    }
    // A page list of 64 MiB of zeros in 64 KiB costs at most its size, and is not a page list.
    let bomb = zip(
        "bomb.wacz",
        &[("archive/a.warc", &all, true), ("pages/pages.jsonl", &vec![0; 64 << 20], false)],
    );
    assert!(verify(&bomb, &mut quiet).unwrap().flaws.contains_key(&Flaw::Pages));
    // A file that is not a snapshot is rejected by name: an HTML page named as a WARC, an encrypted
    // package.
    let html = place.join("page.warc.gz");
    fs::write(&html, "<!doctype html><title>404</title>").unwrap();
    let mut secret = fs::read(zip("secret.wacz", &[("archive/a.warc", &all, true)])).unwrap();
    let directory = secret.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    (secret[6], secret[directory + 8]) = (1, 1);
    let encrypted = place.join("secret.wacz");
    fs::write(&encrypted, secret).unwrap();
    for (path, says) in [(&html, "neither WACZ"), (&encrypted, "encrypted")] {
        let error = verify(path, &mut quiet).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains(path.as_str()), "{error}");
    }
    assert!(verify(&place.join("absent.wacz"), &mut quiet).is_err());
}

#[test]
fn sizes_that_lie_are_found() {
    let place = Place::new();
    let good = place.join("good.wacz");
    snapshot(&good, &usual());
    let bytes = fs::read(&good).unwrap();
    let directory = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    let name = b"pages/pages.jsonl";
    let at = directory
        + bytes[directory..].windows(name.len()).position(|window| window == name).unwrap();
    // The uncompressed size is 22 bytes before the name in the directory.
    for lie in [1_u32, 40, 100_000, u32::MAX - 1] {
        let mut bad = bytes.clone();
        bad[at - 22..at - 18].copy_from_slice(&lie.to_le_bytes());
        let path = place.join("lie.wacz");
        fs::write(&path, bad).unwrap();
        match verify(&path, &mut quiet) {
            Ok(report) => assert!(!report.valid, "{lie}"),
            // Sizes that cannot be are refused at the opening.
            Err(Error::Snapshot(crate::Error::Container { .. })) => {}
            Err(error) => panic!("{lie}: {error}"),
        }
    }
}
