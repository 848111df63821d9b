//! Responses derived from recorded ones: method, conditions, headers, dates, encodings.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

#[test]
fn head_is_answered_from_get_and_from_itself() {
    let world = World::new();
    world.get(X, 200, &[("X-Own", "1")], b"hello");
    world.record(("HEAD", "https://a.test/h", "", ""), 200, &[("Content-Length", "123")], b"");
    let client = Client::of(&world);
    let got = client.ask("HEAD", X, &[], "");
    assert_eq!(
        (got.status, got.text(), got.header("content-length"), got.header("x-own")),
        (200, "", "5", "1")
    );
    assert_eq!(got.answer, synthesised("head"));
    let got = client.ask("HEAD", "https://a.test/h", &[], "");
    assert_eq!((got.header("content-length"), got.answer.clone()), ("123", Answer::Exact));
    assert!(matches!(client.get("https://a.test/h", &[]).answer, Answer::Miss { .. }));
}

#[test]
fn conditional_requests_get_304() {
    let world = World::new();
    let headers = [
        ("ETag", "W/\"v1\""),
        ("Last-Modified", "Wed, 31 Dec 2025 00:00:00 GMT"),
        ("Content-Type", "text/css"),
        ("Cache-Control", "max-age=60"),
    ];
    world.get(X, 200, &headers, b"body");
    let client = Client::of(&world);
    let got = client.get(X, &[("if-none-match", "\"v1\"")]);
    assert_eq!(
        (got.status, got.text(), got.answer.clone()),
        (304, "", synthesised("not modified"))
    );
    assert_eq!(
        (got.header("etag"), got.header("cache-control"), got.header("content-type")),
        ("W/\"v1\"", "max-age=60", "")
    );
    assert!(!got.headers.contains_key("content-length"));
    assert_eq!(client.get(X, &[("if-none-match", "\"v2\"")]).status, 200);
    assert_eq!(
        client.get(X, &[("if-modified-since", "Thu, 01 Jan 2026 00:00:00 GMT")]).status,
        304
    );
    assert_eq!(
        client.get(X, &[("if-modified-since", "Tue, 30 Dec 2025 00:00:00 GMT")]).status,
        200
    );

    let unmodified = World::new();
    unmodified.get(X, 304, &[("ETag", "\"v1\"")], b"");
    let client = Client::of(&unmodified);
    assert_eq!(client.get(X, &[("if-none-match", "\"v1\"")]).status, 304);
    let Answer::Miss { near } = client.get(X, &[]).answer else { panic!() };
    assert!(near[0].differs.contains("304"), "{near:?}");
}

#[test]
fn preflights_let_the_recorded_request_pass() {
    let world = World::new();
    let json = ("POST", "https://api.test/v1", "application/json", "{}");
    world.record(json, 200, &[("Access-Control-Allow-Origin", "https://a.test")], b"ok");
    let recorded = [("Access-Control-Allow-Origin", "*"), ("X-Recorded", "1")];
    world.record(("OPTIONS", "https://api.test/v2", "", ""), 204, &recorded, b"");
    let client = Client::of(&world);
    let asks = [
        ("origin", "https://a.test"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type, x-token"),
    ];
    let got = client.ask("OPTIONS", "https://api.test/v1", &asks, "");
    assert_eq!((got.status, got.answer.level()), (204, "synthesised"));
    assert_eq!(got.header("access-control-allow-origin"), "https://a.test");
    assert_eq!(got.header("access-control-allow-headers"), "content-type, x-token");
    assert_eq!(got.header("access-control-allow-methods"), "POST");
    assert_eq!(got.header("access-control-allow-credentials"), "true");
    let got = client.ask("OPTIONS", "https://api.test/v2", &asks, "");
    assert_eq!((got.header("x-recorded"), got.answer.clone()), ("1", Answer::Exact));
    let got = client.ask("OPTIONS", "https://api.test/never", &asks, "");
    assert_eq!(
        (got.status, got.answer.level()),
        (204, "miss"),
        "so that the page sees the 404 that follows"
    );
    assert_eq!(client.ask("OPTIONS", "https://api.test/v1", &[], "").status, 404);
}

#[test]
fn headers_that_lead_out_of_the_world_are_dropped() {
    let world = World::new();
    let headers = [
        ("Strict-Transport-Security", "max-age=1"),
        ("Alt-Svc", "h3=\":443\""),
        ("Report-To", "{}"),
        ("NEL", "{}"),
        ("Connection", "close, X-Hop"),
        ("X-Hop", "1"),
        ("Keep-Alive", "5"),
        ("X-Kept", "1"),
        ("Content-Security-Policy", "default-src 'self'"),
        ("Set-Cookie", "a=1; Expires=Thu, 01 Jan 2026 01:00:00 GMT; Path=/"),
        ("Set-Cookie", "b=2"),
        ("Date", "Thu, 01 Jan 2026 00:00:00 GMT"),
    ];
    world.get(X, 302, &headers, b"");
    let got = Client::of(&world).get(X, &[]);
    let names: Vec<&str> = got.headers.keys().map(|name| name.as_str()).collect();
    assert_eq!(
        names,
        ["x-kept", "content-security-policy", "set-cookie", "date", "content-length"]
    );
    let cookies: Vec<_> = got.headers.get_all("set-cookie").iter().collect();
    assert_eq!(cookies, ["a=1; Path=/; Max-Age=3600", "b=2"]);
    assert_eq!((got.status, got.header("date")), (302, "Thu, 01 Jan 2026 00:00:00 GMT"));
}

#[test]
fn dates_can_be_those_of_today() {
    let world = World::new();
    let headers = [
        ("Date", "Thu, 01 Jan 2026 00:00:00 GMT"),
        ("Expires", "Thu, 01 Jan 2026 00:01:00 GMT"),
        ("Last-Modified", "Wed, 31 Dec 2025 00:00:00 GMT"),
    ];
    world.get(X, 200, &headers, b"x");
    let client = Client::with(
        &world,
        ReplayOptions { dates: DatePolicy::ShiftedToNow, ..ReplayOptions::default() },
    );
    let got = client.get(X, &[]);
    let at = |name: &str| dates::parse(&got.headers[name]).unwrap();
    let now = dates::seconds(SystemTime::now());
    assert!((now - at("date")).abs() <= 2);
    assert_eq!(at("expires") - at("date"), 60);
    let modified = got.header("last-modified").to_owned();
    assert_eq!(
        client.get(X, &[("if-modified-since", &modified)]).status,
        304,
        "it stays a validator"
    );
}

#[test]
fn encodings_are_kept_for_those_who_take_them_and_decoded_for_the_rest() {
    let text = "the same words ".repeat(1000);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let world = World::new();
    world.get(X, 200, &[("Content-Encoding", "gzip")], &gzip);
    world.get("https://a.test/false", 200, &[("Content-Encoding", "gzip")], b"plain");
    world.get("https://a.test/broken", 200, &[("Content-Encoding", "gzip")], b"\x1f\x8b\x08broken");
    let client = Client::of(&world);
    let got = client.get(X, &[("accept-encoding", "gzip, br")]);
    assert_eq!((got.header("content-encoding"), &got.body), ("gzip", &gzip));
    assert_eq!(got.header("content-length"), gzip.len().to_string());
    let got = client.get(X, &[("accept-encoding", "br")]);
    assert_eq!((got.header("content-encoding"), got.text()), ("", text.as_str()));
    assert_eq!((got.header("vary"), got.header("content-length")), ("Accept-Encoding", "15000"));
    let got = client.get(X, &[("accept-encoding", "identity;q=1, *;q=0"), ("range", "bytes=0-7")]);
    assert_eq!((got.text(), got.header("content-range")), ("the same", "bytes 0-7/15000"));
    let got = client.get("https://a.test/false", &[("accept-encoding", "gzip")]);
    assert_eq!((got.text(), got.header("content-encoding")), ("plain", ""));
    assert_eq!(client.get("https://a.test/broken", &[]).status, 502);
}
