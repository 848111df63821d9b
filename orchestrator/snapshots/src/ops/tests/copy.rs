//! `import`, `merge`, `export` and `diff`: no loss, no duplicates, no invented data.

use super::*;

#[test]
fn import_of_everything_at_once() {
    let place = Place::new();
    let (one, two) = (place.join("one.warc"), place.join("two.warc.gz"));
    fs::write(
        &one,
        warc(&[
            ("request", "https://a.test/", HTTP, REQUEST),
            ("response", "https://a.test/", HTTP, RESPONSE),
        ]),
    )
    .unwrap();
    let arc = place.join("three.arc");
    let page = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Old</title>";
    let mut text =
        b"filedesc://x.arc 0.0.0.0 20080430204825 text/plain 20\n1 0 Alexa Internet\n\n\n\n"
            .to_vec();
    writeln!(text, "http://c.test/ 10.0.0.1 20080430204826 text/html {}", page.len()).unwrap();
    text.extend_from_slice(page);
    text.push(b'\n');
    fs::write(&arc, text).unwrap();
    let member = gzip(&warc(&[("response", "https://b.test/", HTTP, RESPONSE)]));
    fs::write(&two, [member, gzip(&warc(&[("resource", "urn:x:y", "", b"hello")]))].concat())
        .unwrap();
    let har = place.join("four.har");
    let entry = |url: &str, status: u16, content: serde_json::Value| {
        serde_json::json!({
            "pageref": "p", "startedDateTime": "2026-01-02T03:04:05.678Z",
            "request": {"method": "GET", "url": url, "headers": []},
            "response": {"status": status, "statusText": "", "headers": [{"name": "content-type", "value": "text/html"}], "content": content},
        })
    };
    let log = serde_json::json!({"log": {"pages": [{"id": "p", "title": "A page"}], "entries": [
        entry("https://d.test/", 304, serde_json::json!({"text": "cached"})),
        entry("https://d.test/gone", 200, serde_json::json!({"size": 9})),
        entry("https://d.test/refused", 0, serde_json::json!({})),
        entry("data:text/html,x", 200, serde_json::json!({"text": "x"})),
    ]}});
    fs::write(&har, log.to_string()).unwrap();

    let out = place.join("out.wacz");
    let inputs = [one, two, arc, har];
    let report = import(
        &inputs,
        &out,
        &ImportOptions { title: Some("T".into()), description: None },
        &mut quiet,
    )
    .unwrap();
    assert_eq!((report.responses, report.revisits, report.pages), (4, 1, 4), "{report:#?}");
    let har = report.inputs.iter().find(|input| input.format == "har").unwrap();
    assert_eq!((har.read, har.kept), (4, 1));
    assert_eq!(
        har.skipped[&SkipReason::BodyMissing]
            + har.skipped[&SkipReason::NoResponse]
            + har.skipped[&SkipReason::NotHttp],
        3
    );
    assert!(report.pages_found);
    let archive = Archive::open(&out).unwrap();
    let titles: Vec<_> =
        archive.pages().into_iter().map(|page| page.title.unwrap_or(page.url)).collect();
    assert_eq!(titles, ["A page", "https://a.test/", "https://b.test/", "Old"]);
    assert_eq!(inspect(&out, &mut quiet).unwrap().title.as_deref(), Some("T"));
    // The only flaws are those of the inputs: missing requests of the ARC and of two.warc.gz.
    let flaws = verify(&out, &mut quiet).unwrap().flaws;
    assert_eq!(flaws.keys().collect::<Vec<_>>(), [&Flaw::NoRequest]);
    assert!(matches!(
        import(&inputs, &out, &ImportOptions::default(), &mut quiet),
        Err(Error::Exists { .. })
    ));
    assert!(matches!(
        import(&[], &out, &ImportOptions::default(), &mut quiet),
        Err(Error::NoInput { .. })
    ));
}

#[test]
fn a_damaged_input_is_refused_and_leaves_nothing() {
    let place = Place::new();
    let path = place.join("cut.warc");
    let bytes = warc(&[("response", "https://a.test/", HTTP, RESPONSE)]);
    fs::write(&path, &bytes[..bytes.len() - 10]).unwrap();
    let out = place.join("out.wacz");
    let error = import(&[path], &out, &ImportOptions::default(), &mut quiet).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    assert_eq!(place.root.read_dir_utf8().unwrap().count(), 1);
}

#[test]
fn merge_keeps_each_record_once() {
    let place = Place::new();
    let (a, b, both, again) =
        (place.join("a.wacz"), place.join("b.wacz"), place.join("ab.wacz"), place.join("abb.wacz"));
    let all = usual();
    snapshot(&a, &all[..3]);
    snapshot(&b, &[all[0].clone(), all[3].clone(), all[4].clone()]);
    let report = merge(&[a.clone(), b.clone()], &both, &mut quiet).unwrap();
    // The home page was recorded twice, with two ids: both captures are kept, its payload once.
    assert_eq!((report.responses, report.revisits, report.identical), (6, 2, 0));
    assert_eq!(report.pages, 2);
    valid(&both);
    let report = merge(&[both.clone(), b], &again, &mut quiet).unwrap();
    assert_eq!(report.responses, 6);
    assert!(report.identical >= 5, "{report:?}");
    valid(&again);
    assert_eq!(bodies(&both), bodies(&again));
}

#[test]
fn export_to_every_format_and_back() {
    let place = Place::new();
    let path = place.join("a.wacz");
    let mut all = usual();
    all[1].response.headers.push("Content-Encoding", "gzip");
    all[1].response.body = Body::from(gzip(br#"{"n": 1}"#));
    snapshot(&path, &all);
    let (warc, har, folder) = (place.join("a.warc.gz"), place.join("a.har"), place.join("files"));
    assert_eq!(export(&path, &warc, Format::WarcGz, &mut quiet).unwrap().written, 11);
    assert_eq!(export(&path, &har, Format::Har, &mut quiet).unwrap().written, 5);
    assert_eq!(export(&path, &folder, Format::Folder, &mut quiet).unwrap().written, 5);
    assert_eq!(fs::read(folder.join("a.test/data_x=1.json")).unwrap(), br#"{"n": 1}"#);
    assert_eq!(fs::read_to_string(folder.join("index.jsonl")).unwrap().lines().count(), 5);
    for back in [&warc, &har] {
        let out = place.join("back.wacz");
        import(std::slice::from_ref(back), &out, &ImportOptions::default(), &mut quiet).unwrap();
        valid(&out);
        assert_eq!(bodies(&out), bodies(&path));
        assert!(diff(&path, &out, &mut quiet).unwrap().equal);
        fs::remove_file(out).unwrap();
    }
    assert!(matches!(export(&path, &har, Format::Har, &mut quiet), Err(Error::Exists { .. })));
}

#[test]
fn diff_names_what_changed() {
    let place = Place::new();
    let (old, new) = (place.join("old.wacz"), place.join("new.wacz"));
    let before = usual();
    let mut after = usual();
    after[0].response.body =
        Body::from(b"<title>Home</title><p>Goodbye<script>x</script>".to_vec());
    after[1].response.status = 404;
    after[3] = post("https://a.test/api", 3, br#"{"page": 2}"#, br#"{"items": []}"#);
    after.push(exchange("https://a.test/", 9, "text/html", b"later"));
    snapshot(&old, &before);
    snapshot(&new, &after);
    let report = diff(&old, &new, &mut quiet).unwrap();
    assert!(!report.equal);
    assert_eq!(report.unchanged, 2);
    let urls =
        |captures: &[Capture]| captures.iter().map(|c| (c.url.clone(), c.nth)).collect::<Vec<_>>();
    assert_eq!(urls(&report.removed), [("https://a.test/api".to_owned(), 1)]);
    assert_eq!(
        urls(&report.added),
        [("https://a.test/".to_owned(), 2), ("https://a.test/api".to_owned(), 1)]
    );
    assert_eq!(report.changed.len(), 2);
    let home = report.changed[0].body.as_ref().unwrap();
    assert_eq!((home.text_removed, home.text_added), (1, 1));
    assert_eq!(home.sample, ["- Hello", "+ Goodbye"]);
    assert_eq!((report.changed[1].old.status, report.changed[1].new.status), (200, 404));
    assert!(report.changed[1].body.is_none());
    assert!(diff(&old, &old, &mut quiet).unwrap().equal);
}

#[test]
fn websockets_survive_every_way() {
    let place = Place::new();
    let path = place.join("ws.wacz");
    let recording = Recording::create(&path, RecordingOptions::default()).unwrap();
    let mut opening = exchange("https://a.test/feed", 0, "text/plain", b"");
    opening.response.status = 101;
    let frame = crate::Frame {
        at_ms: 5,
        from: crate::FrameSide::Server,
        text: Some(r#"{"secret": "value-of-it", "n": 1}"#.into()),
        base64: None,
        close: None,
        reason: None,
    };
    recording.append_websocket(&opening, &[frame]).unwrap();
    recording.finish(&|_| ()).unwrap();
    valid(&path);
    let (har, back, clean) =
        (place.join("ws.har"), place.join("back.wacz"), place.join("clean.wacz"));
    export(&path, &har, Format::Har, &mut quiet).unwrap();
    assert!(fs::read_to_string(&har).unwrap().contains("_webSocketMessages"));
    import(&[har], &back, &ImportOptions::default(), &mut quiet).unwrap();
    valid(&back);
    let what = Redaction { fields: vec!["secret".into()], ..Redaction::default() };
    assert_eq!(redact(&back, &clean, &what, &mut quiet).unwrap().replaced, 1);
    valid(&clean);
}

#[test]
fn a_har_without_bodies_is_refused_and_one_with_a_bad_entry_is_not() {
    let place = Place::new();
    let har = |name: &str, responses: &[&str]| {
        let entry = |response: &&str| {
            format!(
                r#"{{"startedDateTime":"2026-01-02T03:04:05Z","pageref":"p","request":{{"method":"GET",
                "url":"https://a.test/"}},"response":{response}}}"#
            )
        };
        let entries: Vec<String> = responses.iter().map(entry).collect();
        let pages = r#"[{"id":"p","title":"t"}]"#;
        let path = place.join(name);
        let text = format!(r#"{{"log":{{"pages":{pages},"entries":[{}]}}}}"#, entries.join(","));
        fs::write(&path, text).unwrap();
        path
    };
    let html = r#""headers":[{"name":"content-type","value":"text/html"}]"#;
    let bare = format!(r#"{{"status":200,{html},"content":{{"size":9}}}}"#);
    let whole = format!(r#"{{"status":200,{html},"content":{{"text":"<p>x</p>"}}}}"#);
    let out = place.join("out.wacz");
    let import = |path| import(&[path], &out, &ImportOptions::default(), &mut quiet);
    let error = import(har("bare.har", &[&bare, &bare])).unwrap_err().to_string();
    assert!(
        error.contains("none of its 2 entries") && error.contains("2 of them lack the body"),
        "{error}"
    );
    assert!(!out.exists());

    // The page is the document, not what comes before it.
    let redirect = r#"{"status":-2}"#;
    let script = r#"{"status":200,"content":{"text":"1","mimeType":"text/javascript"}}"#;
    let made = import(har("whole.har", &[redirect, script, &whole])).unwrap();
    let input = &made.inputs[0];
    assert_eq!((input.read, input.kept, made.pages), (3, 2, 1));
    assert!(input.unusable[0].starts_with("entry 1: response.status"), "{:?}", input.unusable);
}
