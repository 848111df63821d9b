//! `repair` and `redact`: what is kept, what is removed, and that the report says so.

use super::*;

#[test]
fn repair_keeps_every_whole_record() {
    let place = Place::new();
    let good = place.join("good.wacz");
    snapshot(&good, &usual());
    let bytes = fs::read(&good).unwrap();
    let whole = bodies(&good);
    let fix = |name: &str, bytes: &[u8]| {
        let (bad, out) = (place.join(name), place.join(&format!("{name}.fixed.wacz")));
        fs::write(&bad, bytes).unwrap();
        let report = repair(&bad, &out, &mut quiet);
        if report.is_ok() {
            assert_eq!(fs::read(&bad).unwrap(), bytes, "the input is left as it is");
        }
        report.map(|report| (report, bodies(&out), out))
    };
    // No directory: all data is still available.
    let (report, kept, out) = fix("no-directory.wacz", &bytes[..bytes.len() - 200]).unwrap();
    assert_eq!(kept, whole);
    assert_eq!(report.pages, 2);
    valid(&out);
    // Cut in the middle of the WARC.
    let warc_end = bytes.windows(20).position(|w| w == b"indexes/index.cdx.gz").unwrap();
    let (report, kept, _) = fix("cut.wacz", &bytes[..warc_end / 2]).unwrap();
    assert!(!kept.is_empty() && kept.len() < 5 && kept.iter().all(|body| whole.contains(body)));
    assert!(!report.losses.is_empty() && report.pages_found);
    // A flipped byte in the middle; the container is intact.
    let bad = place.join("flipped.wacz");
    rezip(&good, &bad, |entry, mut bytes| {
        if entry.starts_with("archive/") {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0xFF;
        }
        Some((bytes, true))
    });
    let out = place.join("flipped.fixed.wacz");
    let report = repair(&bad, &out, &mut quiet).unwrap();
    assert!(report.records >= 9 && !report.losses.is_empty(), "{report:#?}");
    assert!(report.lost_bytes > 0);
    assert!(bodies(&out).iter().all(|body| whole.contains(body)));
    // No data at all.
    assert!(fix("nothing.wacz", b"PK\x03\x04").is_err());
    assert!(fix("text.txt", b"hello").is_err());
}

#[test]
fn repair_of_a_left_over_recording() {
    let place = Place::new();
    let path = place.join("a.wacz");
    let recording = Recording::create(&path, RecordingOptions::default()).unwrap();
    for exchange in usual() {
        recording.append(&exchange).unwrap();
    }
    recording
        .append_page(&Page::new("https://a.test/", Timestamp::from_millis(1_760_000_000_000)))
        .unwrap();
    drop(recording);
    let folder = Recording::folder_of(&path);
    let mut data = fs::OpenOptions::new().append(true).open(folder.join("data.warc")).unwrap();
    data.write_all(b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 1000\r\n\r\nhalf of")
        .unwrap();
    let mut pages = fs::OpenOptions::new().append(true).open(folder.join("pages.jsonl")).unwrap();
    pages.write_all(b"{\"url\": \"https://a.te").unwrap();
    for (number, input) in [&path, &folder].into_iter().enumerate() {
        let out = place.join(&format!("fixed{number}.wacz"));
        let report = repair(input, &out, &mut quiet).unwrap();
        assert_eq!((report.responses, report.pages), (5, 1));
        assert_eq!(report.losses.len(), 2, "{:#?}", report.losses);
        valid(&out);
        assert_eq!(bodies(&out).len(), 5);
    }
}

#[test]
fn redaction_is_thorough_and_consistent() {
    let place = Place::new();
    let (path, out) = (place.join("a.wacz"), place.join("clean.wacz"));
    let token = "tok/en+0123456789";
    let page = format!(
        r#"<title>x</title><meta name=t content="{token}"><script>var c = {{"csrf": "{token}", "n": 1}}</script>"#
    );
    let mut first = exchange("https://a.test/", 0, "text/html", &gzip(page.as_bytes()));
    first.response.headers.push("Content-Encoding", "gzip");
    first.request.headers.push("Authorization", "Bearer abcdefgh-credential");
    let mut second = exchange(
        "https://a.test/x?csrf=tok%2Fen%2B0123456789&y=1",
        1,
        "text/plain",
        b"saw abcdefgh-credential and Jane Doe",
    );
    second.request.headers.push("Cookie", "theme=dark; sid=abcdef0123456789");
    second.request.headers.push("Referer", "https://a.test/?csrf=tok%2Fen%2B0123456789");
    let third = post(
        "https://a.test/api",
        2,
        format!(r#"{{"csrf": "{token}", "keep": "me"}}"#).as_bytes(),
        br#"{"hello": "Jane Doe"}"#,
    );
    let untouched = exchange("https://a.test/plain", 3, "text/plain", b"nothing here");
    let mut untouched = untouched;
    untouched.response.headers.remove("set-cookie");
    snapshot(&path, &[first, second, third, untouched]);
    let before = scan_secrets(&path, &mut quiet).unwrap();
    assert!(!before.clean);
    assert!(before.counts.contains_key(&SecretKind::AuthorizationHeader), "{before:#?}");
    assert!(before.counts.contains_key(&SecretKind::SessionCookie));

    let what = Redaction {
        credentials: false,
        key: b"k".to_vec(),
        headers: vec!["authorization".into()],
        cookies: vec!["sid".into()],
        fields: vec!["csrf".into()],
        values: vec!["Jane Doe".into()],
    };
    let report = redact(&path, &out, &what, &mut quiet).unwrap();
    assert!(report.replaced >= 10 && report.records_changed >= 6, "{report:#?}");
    valid(&out);
    let archive = Archive::open(&out).unwrap();
    let mut everything = String::new();
    for item in archive.records() {
        let (_, mut record) = item.unwrap();
        everything.push_str(&format!("{:?}\n", record.target_uri()));
        everything.push_str(&String::from_utf8_lossy(&record.read_block(1 << 20).unwrap()));
    }
    for secret in ["0123456789", "abcdefgh-credential", "Jane Doe"] {
        assert!(!everything.contains(secret), "{secret} is still there:\n{everything}");
    }
    assert!(
        everything.contains("\"keep\": \"me\"")
            && everything.contains("theme=dark")
            && everything.contains("nothing here")
    );
    let mark = everything.split("csrf=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    assert!(mark.starts_with("redacted-") && mark.len() == 17, "{mark}");
    assert!(everything.contains(&format!("\"csrf\": \"{mark}\"")), "{everything}");
    assert!(everything.contains(&format!("content=\"{mark}\"")));
    // The cookie that was not named is still there.
    let after = scan_secrets(&out, &mut quiet).unwrap();
    assert_eq!(after.counts, [(SecretKind::Cookie, 1)].into(), "{after:#?}");
    // A second redaction finds nothing to do.
    let report = redact(&out, &place.join("again.wacz"), &what, &mut quiet).unwrap();
    assert_eq!(report.replaced, 0);
    let short = Redaction { values: vec!["abc".into()], ..Redaction::default() };
    assert!(matches!(
        redact(&path, &place.join("x.wacz"), &short, &mut quiet),
        Err(Error::ShortSecret { .. })
    ));
    assert!(!format!("{what:?}").contains("Jane"));
}

#[test]
fn redaction_leaves_references_between_records_as_they_are() {
    let place = Place::new();
    let (path, out) = (place.join("a.wacz"), place.join("b.wacz"));
    snapshot(&path, &usual());
    let references = |path: &Utf8PathBuf| -> Vec<String> {
        let archive = Archive::open(path).unwrap();
        let records = archive.records().map(|item| item.unwrap().1);
        let names = ["WARC-Refers-To", "WARC-Refers-To-Date"];
        records
            .flat_map(|record| names.map(|name| record.headers.get_str(name).map(str::to_owned)))
            .flatten()
            .collect()
    };
    let before = references(&path);
    assert!(before.len() >= 2, "{before:?}");
    // A secret that is also a part of a record's id.
    let id = before.iter().find(|value| value.contains("uuid:")).unwrap();
    let values = vec![id.rsplit('-').next().unwrap().trim_end_matches('>').to_owned()];
    let what = Redaction { key: b"k".to_vec(), values, ..Redaction::default() };
    redact(&path, &out, &what, &mut quiet).unwrap();
    assert_eq!(references(&out), before);
    valid(&out);
}
