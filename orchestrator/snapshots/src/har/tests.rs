//! Dialects, rejected inputs and round trips, on logs built here.
#![allow(clippy::unwrap_used)]

use std::io::Write as _;

use camino::Utf8PathBuf;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{Body, Exchange, Frame, FrameSide, Headers, Request, Response, Timestamp};

/// A Chrome-style entry with the given `content` and response headers.
fn entry(headers: &[(&str, &str)], content: Value) -> Value {
    let headers: Vec<Value> =
        headers.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    json!({
        "startedDateTime": "2026-01-02T03:04:05.678Z",
        "time": 12.5,
        "request": {"method": "GET", "url": "https://a.test/x?y=1", "httpVersion": "h2", "headers": [], "bodySize": 0},
        "response": {"status": 200, "statusText": "OK", "httpVersion": "h2", "headers": headers, "content": content},
        "serverIPAddress": "[2001:db8::1]",
    })
}

fn log(entries: &[Value]) -> String {
    json!({"log": {"version": "1.2", "creator": {"name": "T", "version": "1"}, "entries": entries}})
        .to_string()
}

fn read_all(text: &[u8]) -> Result<(Vec<Entry>, Log), Error> {
    let mut entries = Vec::new();
    let log = read(text, &mut Attachments::default(), Limits::default(), |entry| {
        entries.push(entry);
        Ok::<(), Error>(())
    })?;
    Ok((entries, log))
}

fn one(entry: Value) -> Entry {
    let (mut entries, log) = read_all(log(&[entry]).as_bytes()).unwrap();
    assert_eq!(log.entries, 1);
    entries.pop().unwrap()
}

fn body(entry: &Entry) -> Vec<u8> {
    entry.exchange.response.body.to_vec(1 << 20).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

#[test]
fn a_plain_entry_becomes_the_exchange() {
    let entry = one(entry(&[("Content-Type", "text/plain")], json!({"size": 2, "text": "hi"})));
    assert_eq!(entry.exchange.url, "https://a.test/x?y=1");
    assert_eq!(entry.exchange.request.target, "/x?y=1");
    assert_eq!(entry.exchange.started.to_string(), "2026-01-02T03:04:05.678Z");
    assert_eq!(entry.exchange.ip.unwrap().to_string(), "2001:db8::1");
    assert_eq!(entry.exchange.duration_ms, Some(12.5));
    assert_eq!(body(&entry), b"hi");
    assert!(entry.notes.is_empty(), "{:?}", entry.notes);
    assert!(entry.frames.is_none());
}

#[test]
fn decoded_text_loses_its_content_encoding() {
    let entry = one(entry(
        &[("content-encoding", "br"), ("content-length", "3")],
        json!({"text": "hello"}),
    ));
    assert_eq!(body(&entry), b"hello");
    assert!(!entry.exchange.response.headers.contains("content-encoding"));
    assert_eq!(entry.exchange.response.headers.get_str("content-length"), Some("5"));
    let expect = [
        Note::ContentEncodingDropped { coding: "br".into() },
        Note::ContentLengthCorrected { said: "3".into(), is: 5 },
    ];
    assert_eq!(entry.notes, expect);
}

#[test]
fn a_body_that_is_still_coded_keeps_its_header() {
    use base64::Engine;
    let coded = gzip(b"hello");
    let base64 = base64::engine::general_purpose::STANDARD.encode(&coded);
    let entry =
        one(entry(&[("content-encoding", "gzip")], json!({"text": base64, "encoding": "base64"})));
    assert_eq!(body(&entry), coded);
    assert!(entry.notes.is_empty());
}

#[test]
fn a_gzip_file_sent_under_gzip_and_decoded_by_the_tool_is_told_by_its_sizes() {
    use base64::Engine;
    let file = gzip(b"hello");
    let base64 = base64::engine::general_purpose::STANDARD.encode(&file);
    let content =
        json!({"text": base64, "encoding": "base64", "size": file.len(), "compression": -20});
    let entry = one(entry(&[("content-encoding", "gzip")], content));
    assert_eq!(body(&entry), file);
    assert!(!entry.exchange.response.headers.contains("content-encoding"));
}

#[test]
fn polly_keeps_coded_chunks_and_header_lists() {
    let coded = gzip(b"hello");
    let (a, b) = coded.split_at(5);
    let text = json!([hex::encode(a), hex::encode(b)]).to_string();
    let mut raw = entry(&[("content-encoding", "gzip")], json!({"text": text, "size": 1}));
    raw["response"]["headers"][0]["value"] = json!(["gzip"]);
    raw["response"]["headers"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "set-cookie", "value": ["a=1", "b=2"]}));
    let entry = one(raw);
    assert_eq!(body(&entry), coded);
    let cookies: Vec<_> = entry.exchange.response.headers.get_all("set-cookie").collect();
    assert_eq!(cookies, [b"a=1", b"b=2"]);
}

#[test]
fn header_peculiarities() {
    let entry = one(entry(
        &[(":status", "200"), ("set-cookie", "a=1\nb=2"), ("bad name", "x"), ("x", "a\0b")],
        json!({"text": "x"}),
    ));
    assert_eq!(entry.exchange.response.headers.len(), 2);
    assert_eq!(entry.notes.len(), 3);
}

#[test]
fn absent_bodies_are_told_from_empty_ones() {
    let note = |status: u16, headers: &[(&str, &str)], content: Value| {
        let mut raw = entry(headers, content);
        raw["response"]["status"] = json!(status);
        one(raw).notes
    };
    assert_eq!(note(200, &[], json!({"mimeType": "image/png", "size": 9})), [Note::BodyMissing]);
    assert_eq!(note(200, &[], json!({})), [Note::BodyMissing]);
    assert_eq!(note(200, &[("content-length", "9")], json!({"text": ""})), [Note::BodyMissing]);
    assert_eq!(note(200, &[], json!({"text": ""})), []);
    assert_eq!(note(200, &[], json!({"size": 0})), []);
    assert_eq!(note(204, &[], json!({})), []);
    assert_eq!(note(301, &[], json!({"size": -1})), []);
    assert_eq!(note(304, &[], json!({"text": "cached"})), [Note::BodyFromCache]);
    assert!(matches!(note(0, &[], json!({})).as_slice(), [Note::NoResponse { .. }]));
}

#[test]
fn what_a_browser_had_in_its_cache_keeps_its_media_type() {
    let mut cached = entry(&[], json!({"text": "<p>x</p>", "mimeType": "text/html"}));
    cached["response"]["status"] = json!(304);
    let entry = one(cached);
    assert!(entry.notes.contains(&Note::BodyFromCache));
    assert_eq!(entry.exchange.response.headers.get_str("content-type"), Some("text/html"));
}

#[test]
fn half_surrogates_and_numbers_in_strings() {
    let text = log(&[entry(&[], json!({"text": "HERE", "size": "4"}))])
        .replace("HERE", r"a\ud83dz\ud83d\ude00");
    let (entries, _) = read_all(text.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(body(&entries[0])).unwrap(), "a\u{FFFD}z\u{1F600}");
}

#[test]
fn request_bodies() {
    let post = |data: Value| {
        let mut raw = entry(&[], json!({"text": "x"}));
        raw["request"]["method"] = json!("POST");
        raw["request"]["postData"] = data;
        let entry = one(raw);
        let body = entry.exchange.request.body.to_vec(1 << 20).unwrap();
        (String::from_utf8(body).unwrap(), entry.notes)
    };
    let params = json!([{"name": "a b", "value": "c&d"}, {"name": "é", "value": ""}]);
    assert_eq!(post(json!({"text": "raw", "params": params})).0, "raw");
    let (form, notes) =
        post(json!({"mimeType": "application/x-www-form-urlencoded", "params": params}));
    assert_eq!(form, "a+b=c%26d&%C3%A9=");
    assert_eq!(notes, [Note::RequestBodyRebuilt]);
    let (multipart, _) = post(
        json!({"mimeType": "multipart/form-data; boundary=Q", "params": [{"name": "f", "value": "v", "fileName": "n", "contentType": "t/x"}]}),
    );
    assert_eq!(
        multipart,
        "--Q\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n\"\r\nContent-Type: t/x\r\n\r\nv\r\n--Q--\r\n"
    );
}

#[test]
fn websocket_messages_and_event_streams() {
    let mut raw = entry(&[], json!({"text": ""}));
    raw["response"]["status"] = json!(101);
    raw["_webSocketMessages"] = json!([
        {"type": "send", "time": 1767323046.0, "opcode": 1, "data": "hi"},
        {"type": "receive", "time": 1767323046.5, "opcode": 2, "data": "AAE="},
        {"type": "receive", "time": 1767323047.0, "opcode": 8, "data": "1001"},
    ]);
    let frame = Frame {
        at_ms: 322,
        from: FrameSide::Client,
        text: None,
        base64: None,
        close: None,
        reason: None,
    };
    let expect = [
        Frame { text: Some("hi".into()), ..frame.clone() },
        Frame { at_ms: 822, from: FrameSide::Server, base64: Some("AAE=".into()), ..frame.clone() },
        Frame { at_ms: 1322, from: FrameSide::Server, close: Some(1001), ..frame },
    ];
    assert_eq!(one(raw).frames.unwrap(), expect);

    let mut raw = entry(&[("content-type", "text/event-stream")], json!({}));
    raw["_eventSourceMessages"] = json!([{"eventName": "tick", "eventId": "7", "data": "a\nb"}]);
    let entry = one(raw);
    assert_eq!(body(&entry), b"id: 7\nevent: tick\ndata: a\ndata: b\n\n");
    assert_eq!(entry.notes, [Note::BodyFromEvents]);
}

#[test]
fn a_byte_order_mark_is_skipped_and_utf16_refused() {
    let text = log(&[entry(&[], json!({"text": "x"}))]);
    assert_eq!(read_all(format!("\u{FEFF}{text}").as_bytes()).unwrap().1.entries, 1);
    let error = read_all(b"\xFF\xFE{\0").unwrap_err().to_string();
    assert!(error.contains("UTF-16"), "{error}");
}

#[test]
fn broken_logs_are_refused_with_their_place() {
    let text = |entries: &[Value]| log(entries);
    let good = entry(&[], json!({"text": "x"}));
    let cut = &text(&[good.clone(), good.clone()]);
    let cases = [
        ("".to_owned(), "line 1 column 0"),
        ("[1,2]".to_owned(), "expected an object with `log`"),
        ("{}".to_owned(), "has no `log` object"),
        (r#"{"log": {}}"#.to_owned(), "has no `log` object"),
        ("{\"log\":\n[2]}".to_owned(), "line 2"),
        (format!("{} x", text(&[])), "trailing characters"),
        (cut[..cut.len() - 60].to_owned(), "in entry 2"),
    ];
    for (text, expect) in cases {
        let error = read_all(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expect), "{expect:?} not in {error:?}");
    }
    let deep = format!("{{\"log\": {{\"x\": {}", "[".repeat(100_000));
    assert!(read_all(deep.as_bytes()).is_err());
}

/// An invalid entry is skipped; the rest of the log is read.
#[test]
fn an_entry_that_is_no_exchange_is_left_out_and_named() {
    let good = entry(&[], json!({"text": "x"}));
    let with = |path: &[&str], value: Value| {
        let mut raw = good.clone();
        let mut at = &mut raw;
        for key in path {
            at = &mut at[*key];
        }
        *at = value;
        log(&[good.clone(), raw, good.clone()])
    };
    let cases = [
        (with(&["startedDateTime"], json!("yesterday")), "startedDateTime is not a date"),
        (with(&["request", "url"], json!("/relative")), "request.url is not an absolute URL"),
        (with(&["request", "method"], json!("GE T")), "request.method is not a method"),
        (with(&["request"], json!(null)), "invalid type: null"),
        (with(&["response", "status"], json!(-2)), "response.status is not a status"),
        (with(&["response", "_error"], json!({"code": 7})), "invalid type: map"),
        (
            with(&["response", "content"], json!({"text": "%", "encoding": "base64"})),
            "is not base64",
        ),
        (
            with(&["response", "content"], json!({"_file": "x.txt"})),
            "bodies beside the log were not given",
        ),
    ];
    for (text, expect) in cases {
        let (entries, log) = read_all(text.as_bytes()).unwrap();
        assert_eq!((entries.len(), log.entries, log.unusable), (2, 3, 1), "{expect}");
        assert_eq!(log.named[0].0, 2);
        assert!(log.named[0].1.contains(expect), "{expect:?} not in {:?}", log.named);
    }
}

#[test]
fn an_entry_over_the_limit_is_refused() {
    let big = "x".repeat(300_000);
    let text = log(&[entry(&[], json!({"text": "x"})), entry(&[], json!({"text": big}))]);
    let limits = Limits { entry: 1000, ..Limits::default() };
    let error = read(text.as_bytes(), &mut Attachments::default(), limits, |_| Ok::<(), Error>(()))
        .unwrap_err();
    assert!(matches!(error, Error::TooLarge { limit: 1000, .. }), "{error}");
}

#[test]
fn the_caller_may_stop() {
    #[derive(Debug)]
    struct Enough(#[allow(dead_code)] Option<Error>);
    impl From<Error> for Enough {
        fn from(error: Error) -> Enough {
            Enough(Some(error))
        }
    }
    let text = log(&[entry(&[], json!({})), entry(&[], json!({}))]);
    let mut seen = 0;
    let outcome = read(text.as_bytes(), &mut Attachments::default(), Limits::default(), |_| {
        seen += 1;
        Err(Enough(None))
    });
    assert!(matches!(outcome, Err(Enough(None))));
    assert_eq!(seen, 1);
}

#[test]
fn bodies_beside_the_log_stay_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    std::fs::create_dir(root.join("har")).unwrap();
    std::fs::write(root.join("secret"), "secret").unwrap();
    std::fs::write(root.join("har/abc.txt"), "body").unwrap();
    std::os::unix::fs::symlink(root.join("secret"), root.join("har/link.txt")).unwrap();
    let file = |name: &str| {
        let path = root.join("har/log.har");
        std::fs::write(&path, log(&[entry(&[], json!({"_file": name}))])).unwrap();
        let mut found = None;
        read_file(&path, Limits::default(), |entry| {
            found = Some(body(&entry));
            Ok::<(), Error>(())
        })
        .map(|log| (found, log.unusable))
        .unwrap()
    };
    assert_eq!(file("abc.txt"), (Some(b"body".to_vec()), 0));
    assert_eq!(file(""), (Some(Vec::new()), 0));
    for name in ["../secret", "/etc/passwd", "link.txt", "absent", "a\\b", "."] {
        assert_eq!(file(name), (None, 1), "{name}");
    }
}

#[test]
fn a_playwright_zip() {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().join("x.zip")).unwrap();
    let zip = |names: &[(&str, &str)]| {
        let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
        for (name, text) in names {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap();
        let mut bodies = Vec::new();
        let limits = Limits { unpacked: 10_000, ..Limits::default() };
        read_file(&path, limits, |entry| {
            bodies.push(body(&entry));
            Ok::<(), Error>(())
        })
        .map(|log| (bodies, log.named))
    };
    let har = log(&[entry(&[], json!({"_file": "abc.txt"}))]);
    assert_eq!(zip(&[("har.har", &har), ("abc.txt", "body")]).unwrap().0, [b"body"]);
    let (bodies, named) = zip(&[("har.har", &har)]).unwrap();
    assert!(bodies.is_empty() && named[0].1.contains("abc.txt"), "{named:?}");
    assert!(zip(&[("x.txt", "")]).unwrap_err().to_string().contains("0 files named *.har"));
    let bomb = format!("{har}{}", " ".repeat(100_000));
    assert!(zip(&[("har.har", &bomb)]).unwrap_err().to_string().contains("more than the limit"));
    std::fs::write(&path, b"PK\x03\x04 and nothing more").unwrap();
    assert!(read_file(&path, Limits::default(), |_| Ok::<(), Error>(())).is_err());
}

fn write_all(exchanges: &[Exchange]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "0").unwrap();
    for exchange in exchanges {
        writer.entry(exchange, None, None).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn coded_bodies_are_written_decoded() {
    let mut response =
        Response { status: 200, body: Body::from(gzip(b"hello")), ..Response::default() };
    response.headers.push("Content-Encoding", "gzip");
    let started = Timestamp::parse("2026-01-02T03:04:05Z").unwrap();
    let text = write_all(&[Exchange::get("https://a.test/", started, response)]);
    let json: Value = serde_json::from_slice(&text).unwrap();
    let content = &json["log"]["entries"][0]["response"]["content"];
    assert_eq!(content["text"], "hello");
    assert_eq!(content["size"], 5);
    assert!(content.get("encoding").is_none());
}

#[test]
fn a_long_body_is_streamed() {
    let bytes: Vec<u8> = (0..(17 << 20) + 1).map(|i: u32| (i % 251) as u8).collect();
    let response = Response {
        status: 200,
        body: Body::spool(&bytes[..], 1 << 20).unwrap(),
        ..Response::default()
    };
    let started = Timestamp::parse("2026-01-02T03:04:05Z").unwrap();
    let text = write_all(&[Exchange::get("https://a.test/", started, response)]);
    let (entries, _) = read_all(&text).unwrap();
    assert_eq!(entries[0].exchange.response.body.to_vec(1 << 30).unwrap(), bytes);
}

proptest! {
    #[test]
    fn exchanges_survive_the_round_trip(
        status in 200_u16..600,
        request in proptest::collection::vec(any::<u8>(), 0..50),
        response in proptest::collection::vec(any::<u8>(), 1..200),
        value in "[ -~]{0,20}",
        charset in proptest::option::of(prop_oneof![Just("utf-8"), Just("iso-8859-1"), Just("shift_jis")]),
    ) {
        let mut headers: Headers = [("X-Test", value.trim()), ("x-test", "again")].into_iter().collect();
        if let Some(charset) = charset {
            headers.push("Content-Type", format!("text/html; charset={charset}"));
        }
        let exchange = Exchange {
            request: Request { method: "POST".into(), target: "/".into(), headers: Headers::new(), body: Body::from(request) },
            ..Exchange::get("https://a.test/", Timestamp::from_millis(1_700_000_000_123), Response {
                status, reason: "Fine".into(), headers, body: Body::from(response),
            })
        };
        let (entries, _) = read_all(&write_all(std::slice::from_ref(&exchange))).unwrap();
        let back = &entries[0].exchange;
        prop_assert_eq!(back.started, exchange.started);
        prop_assert_eq!(&back.response.headers, &exchange.response.headers);
        prop_assert_eq!(back.response.status, status);
        prop_assert_eq!(back.response.body.to_vec(1 << 20).unwrap(), exchange.response.body.to_vec(1 << 20).unwrap());
        prop_assert_eq!(back.request.body.to_vec(1 << 20).unwrap(), exchange.request.body.to_vec(1 << 20).unwrap());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_all(&bytes);
    }
}
