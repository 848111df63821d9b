#![allow(clippy::unwrap_used)]

use std::io::Write;

use camino::Utf8Path;
use flate2::{Compression, write::GzEncoder};
use http::{HeaderMap, StatusCode, Version};
use http_body_util::BodyExt;
use snapshots::{
    Body, Exchange, Frame, FrameSide, Headers, Recording, RecordingOptions, Request, Response, Timestamp,
};
use tempfile::TempDir;

use super::*;
use crate::Scheme;

/// Thu, 01 Jan 2026 00:00:00 GMT
const RECORDED: i64 = 1_767_225_600;

/// A recording under way, and then what answers from it.
pub(crate) struct World {
    folder: TempDir,
    recording: Recording,
    millis: std::cell::Cell<i64>,
}

impl World {
    pub(crate) fn new() -> World {
        let folder = TempDir::new().unwrap();
        let out = Utf8Path::from_path(folder.path()).unwrap().join("world.wacz");
        let recording = Recording::create(&out, RecordingOptions::default()).unwrap();
        World { folder, recording, millis: std::cell::Cell::new(RECORDED * 1000) }
    }

    pub(crate) fn exchange(&self, request: (&str, &str, &str, &str), response: Response) -> Exchange {
        let (method, url, kind, body) = request;
        self.millis.set(self.millis.get() + 10);
        let mut exchange = Exchange::get(url, Timestamp::from_millis(self.millis.get()), response);
        let headers =
            if kind.is_empty() { Headers::new() } else { [("Content-Type", kind)].into_iter().collect() };
        let target = exchange.request.target.clone();
        exchange.request =
            Request { method: method.into(), target, headers, body: Body::from(body.as_bytes().to_vec()) };
        exchange
    }

    pub(crate) fn get(&self, url: &str, status: u16, headers: &[(&str, &str)], body: &[u8]) -> &World {
        self.asked(("GET", url, "", ""), status, headers, body)
    }

    pub(crate) fn asked(
        &self,
        request: (&str, &str, &str, &str),
        status: u16,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> &World {
        let headers: Headers = headers.iter().copied().collect();
        let response = Response { status, reason: String::new(), headers, body: Body::from(body.to_vec()) };
        self.recording.append(&self.exchange(request, response)).unwrap();
        self
    }

    pub(crate) fn replay(&self, options: ReplayOptions) -> Replay {
        let data = Recording::folder_of(self.recording.path()).join("data.warc");
        let cache = Utf8Path::from_path(self.folder.path()).unwrap().join("cache");
        Replay::new(ReplaySet::open(&[data], Some(&cache), &mut |_, _| {}).unwrap(), options)
    }
}

pub(crate) fn head(method: &str, url: &str, headers: &[(&'static str, &str)]) -> RequestHead {
    let parsed = url::Url::parse(url).unwrap();
    let scheme = if parsed.scheme().ends_with('s') { Scheme::Https } else { Scheme::Http };
    RequestHead {
        method: method.parse().unwrap(),
        url: url.to_owned(),
        scheme,
        host: parsed.host_str().unwrap().to_owned(),
        port: parsed.port_or_known_default().unwrap(),
        version: Version::HTTP_11,
        headers: headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect(),
    }
}

/// A reply with its body read.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) answer: Answer,
}

impl Got {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

pub(crate) fn read(reply: Reply) -> Got {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let body = runtime.block_on(reply.body.collect()).unwrap().to_bytes().to_vec();
    Got { status: reply.status.as_u16(), headers: reply.headers, body, answer: reply.answer }
}

struct Client {
    replay: Replay,
    episode: Episode,
}

impl Client {
    fn of(world: &World) -> Client {
        Client { replay: world.replay(ReplayOptions::default()), episode: Episode::new() }
    }

    fn with(world: &World, options: ReplayOptions) -> Client {
        Client { replay: world.replay(options), episode: Episode::new() }
    }

    fn get(&self, url: &str, headers: &[(&'static str, &str)]) -> Got {
        self.ask("GET", url, headers, "")
    }

    fn ask(&self, method: &str, url: &str, headers: &[(&'static str, &str)], body: &str) -> Got {
        let body = Bytes::copy_from_slice(body.as_bytes());
        read(self.replay.answer(&head(method, url, headers), &body, &self.episode))
    }
}

fn synthesised(what: &str) -> Answer {
    Answer::Exact.derived(what)
}

const X: &str = "https://a.test/x";

#[test]
fn the_nth_request_of_an_episode_gets_the_nth_answer_and_the_last_one_sticks() {
    let world = World::new();
    for n in 0..3 {
        world.get(X, 200, &[], format!("answer {n}").as_bytes());
    }
    let client = Client::of(&world);
    let told: Vec<String> = (0..5).map(|_| client.get(X, &[]).text().to_owned()).collect();
    assert_eq!(told, ["answer 0", "answer 1", "answer 2", "answer 2", "answer 2"]);
    assert_eq!(client.ask("HEAD", X, &[], "").header("content-length"), "8");
    let other = Client { episode: Episode::new(), ..client };
    assert_eq!(
        other.get(X, &[("range", "bytes=0-")]).text(),
        "answer 0",
        "a range looks, and does not advance"
    );
    assert_eq!(other.get(X, &[]).text(), "answer 0");
}

#[test]
fn answers_are_exact_or_say_by_which_rules_they_are_not() {
    let world = World::new();
    world.get("https://a.test/list?page=1&q=x", 200, &[], b"one");
    world.asked(("POST", "https://a.test/api", "application/json", "{\"user\": 1}"), 200, &[], b"user 1");
    let client = Client::of(&world);
    assert_eq!(client.get("https://a.test/list?page=1&q=x", &[]).answer, Answer::Exact);
    let got = client.get("https://a.test/list?q=x&page=1&utm_source=mail", &[]);
    let rules = vec!["query-order".to_owned(), "tracking-parameters".to_owned()];
    assert_eq!((got.text(), got.answer.clone()), ("one", Answer::Normalised { rules }));
    let json = [("content-type", "application/json")];
    assert_eq!(client.ask("POST", "https://a.test/api", &json, "{\"user\": 1}").answer, Answer::Exact);
    let got = client.ask("POST", "https://a.test/api", &json, "{\"user\":1}");
    assert_eq!(
        (got.text(), got.answer.clone()),
        ("user 1", Answer::Normalised { rules: vec!["json-spelling".to_owned()] })
    );

    let strict = Client::with(&world, ReplayOptions { level: MatchLevel::Exact, ..ReplayOptions::default() });
    assert!(matches!(strict.get("https://a.test/list?q=x&page=1", &[]).answer, Answer::Miss { .. }));
}

#[test]
fn a_fuzzy_answer_needs_to_be_asked_for_and_tells_its_score() {
    let world = World::new();
    world.get("https://a.test/list?page=1&q=x&sort=up", 200, &[], b"one");
    world.asked(
        ("POST", "https://a.test/api", "application/json", "{\"a\":1,\"b\":2,\"c\":3}"),
        200,
        &[],
        b"posted",
    );
    let fuzzy = |threshold| {
        Client::with(
            &world,
            ReplayOptions { level: MatchLevel::Fuzzy { threshold }, ..ReplayOptions::default() },
        )
    };
    let url = "https://a.test/list?page=2&q=x&sort=up";
    let got = fuzzy(0.6).get(url, &[]);
    assert_eq!(got.text(), "one");
    let Answer::Fuzzy { score, url: of } = got.answer else { panic!("{:?}", got.answer.clone()) };
    assert!((score - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(of, "https://a.test/list?page=1&q=x&sort=up");
    assert!(matches!(fuzzy(0.7).get(url, &[]).answer, Answer::Miss { .. }));
    assert!(matches!(Client::of(&world).get(url, &[]).answer, Answer::Miss { .. }));
    let json = [("content-type", "application/json")];
    let got = fuzzy(0.6).ask("POST", "https://a.test/api", &json, "{\"a\":1,\"b\":2,\"c\":4}");
    assert_eq!(got.text(), "posted");
    assert!(matches!(fuzzy(0.0).ask("PUT", "https://a.test/api", &json, "{}").answer, Answer::Miss { .. }));
    assert!(matches!(
        fuzzy(0.0).get("https://a.test/other?page=1&q=x&sort=up", &[]).answer,
        Answer::Miss { .. }
    ));
}

#[test]
fn ranges_are_cut_from_a_whole_answer() {
    let world = World::new();
    world.get(X, 200, &[("ETag", "\"v1\""), ("Content-Type", "video/mp4")], b"0123456789");
    world.get("https://a.test/gone", 404, &[], b"nothing here");
    let client = Client::of(&world);
    for (range, status, body, content_range) in [
        ("bytes=0-3", 206, "0123", "bytes 0-3/10"),
        ("bytes=8-", 206, "89", "bytes 8-9/10"),
        ("bytes=-3", 206, "789", "bytes 7-9/10"),
        ("bytes=5-99", 206, "56789", "bytes 5-9/10"),
        ("bytes=10-", 416, "", "bytes */10"),
        ("bytes=0-1,4-5", 200, "0123456789", ""),
        ("lines=1-2", 200, "0123456789", ""),
    ] {
        let got = client.get(X, &[("range", range)]);
        assert_eq!(
            (got.status, got.text(), got.header("content-range")),
            (status, body, content_range),
            "{range}"
        );
        assert_eq!(got.header("content-length"), body.len().to_string(), "{range}");
    }
    assert_eq!(client.get(X, &[("range", "bytes=0-3")]).answer, synthesised("range"));
    assert_eq!(client.get(X, &[("range", "bytes=0-3"), ("if-range", "\"v1\"")]).status, 206);
    assert_eq!(client.get(X, &[("range", "bytes=0-3"), ("if-range", "\"v0\"")]).status, 200);
    assert_eq!(client.get("https://a.test/gone", &[("range", "bytes=0-3")]).status, 404);
    let head = client.ask("HEAD", X, &[("range", "bytes=0-3")], "");
    assert_eq!((head.status, head.header("content-length"), head.text()), (206, "4", ""));
}

#[test]
fn ranges_are_put_together_from_recorded_ones() {
    let world = World::new();
    for (first, bytes) in [(0, &b"0123"[..]), (4, b"4567"), (8, b"89")] {
        let range = format!("bytes {first}-{}/12", first + bytes.len() - 1);
        world.get(X, 206, &[("Content-Range", &range), ("Content-Type", "video/mp4")], bytes);
    }
    let client = Client::of(&world);
    for (range, body, content_range, what) in [
        ("bytes=4-7", "4567", "bytes 4-7/12", None),
        ("bytes=1-2", "12", "bytes 1-2/12", Some("range")),
        ("bytes=2-9", "23456789", "bytes 2-9/12", Some("range")),
        ("bytes=5-", "56789", "bytes 5-9/12", Some("range")),
    ] {
        let got = client.get(X, &[("range", range)]);
        assert_eq!(
            (got.status, got.text(), got.header("content-range")),
            (206, body, content_range),
            "{range}"
        );
        assert_eq!(got.answer, what.map_or(Answer::Exact, synthesised), "{range}");
    }
    for range in ["bytes=9-10", "bytes=10-", "bytes=-1", "bytes=12-"] {
        assert!(matches!(client.get(X, &[("range", range)]).answer, Answer::Miss { .. }), "{range}");
    }
    assert!(matches!(client.get(X, &[]).answer, Answer::Miss { .. }), "the whole was not recorded");

    let whole = World::new();
    whole.get(X, 206, &[("Content-Range", "bytes 0-3/6")], b"0123");
    whole.get(X, 206, &[("Content-Range", "bytes 2-5/6")], b"2345");
    let got = Client::of(&whole).get(X, &[]);
    assert_eq!((got.status, got.text(), got.header("content-range")), (200, "012345", ""));
    assert_eq!(got.answer, synthesised("whole from ranges"));
}

#[test]
fn head_is_answered_from_get_and_from_itself() {
    let world = World::new();
    world.get(X, 200, &[("X-Own", "1")], b"hello");
    world.asked(("HEAD", "https://a.test/h", "", ""), 200, &[("Content-Length", "123")], b"");
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
    assert_eq!((got.status, got.text(), got.answer.clone()), (304, "", synthesised("not modified")));
    assert_eq!(
        (got.header("etag"), got.header("cache-control"), got.header("content-type")),
        ("W/\"v1\"", "max-age=60", "")
    );
    assert!(!got.headers.contains_key("content-length"));
    assert_eq!(client.get(X, &[("if-none-match", "\"v2\"")]).status, 200);
    assert_eq!(client.get(X, &[("if-modified-since", "Thu, 01 Jan 2026 00:00:00 GMT")]).status, 304);
    assert_eq!(client.get(X, &[("if-modified-since", "Tue, 30 Dec 2025 00:00:00 GMT")]).status, 200);

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
    world.asked(json, 200, &[("Access-Control-Allow-Origin", "https://a.test")], b"ok");
    let recorded = [("Access-Control-Allow-Origin", "*"), ("X-Recorded", "1")];
    world.asked(("OPTIONS", "https://api.test/v2", "", ""), 204, &recorded, b"");
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
    assert_eq!((got.status, got.answer.level()), (204, "miss"), "so that the page sees the 404 that follows");
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
    assert_eq!(names, ["x-kept", "content-security-policy", "set-cookie", "date", "content-length"]);
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
    let client =
        Client::with(&world, ReplayOptions { dates: DatePolicy::ShiftedToNow, ..ReplayOptions::default() });
    let got = client.get(X, &[]);
    let at = |name: &str| dates::parse(&got.headers[name]).unwrap();
    let now = dates::seconds(SystemTime::now());
    assert!((now - at("date")).abs() <= 2);
    assert_eq!(at("expires") - at("date"), 60);
    let modified = got.header("last-modified").to_owned();
    assert_eq!(client.get(X, &[("if-modified-since", &modified)]).status, 304, "it stays a validator");
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

#[test]
fn big_bodies_are_streamed_and_cut() {
    let big: Vec<u8> = (0..6_000_000_u32).map(|n| (n / 7) as u8).collect();
    let world = World::new();
    world.get(X, 200, &[("Content-Type", "video/mp4")], &big);
    let client = Client::of(&world);
    let stored = client.replay.stored(client.replay.set.exact(&exact_key(X)).unwrap()[0]).unwrap();
    assert!(matches!(stored.content, stored::Content::Streamed(_)));
    let got = client.get(X, &[]);
    assert_eq!((got.header("content-length"), got.body == big), ("6000000", true));
    let got = client.get(X, &[("range", "bytes=5000000-5000999")]);
    assert_eq!((got.status, got.body == big[5_000_000..5_001_000]), (206, true));
}

fn exact_key(url: &str) -> snapshots::matching::Key {
    snapshots::matching::exact(&Asked::bare("GET", url))
}

#[test]
fn an_event_stream_is_not_told_twice_to_the_same_listener() {
    let world = World::new();
    world.get(X, 200, &[("Content-Type", "text/event-stream")], b"id: 1\ndata: a\n\n");
    let client = Client::of(&world);
    assert_eq!(client.get(X, &[]).status, 200);
    let got = client.get(X, &[("last-event-id", "1")]);
    assert_eq!((got.status, got.answer.clone()), (204, synthesised("end of event stream")));
}

#[test]
fn answers_are_announced_only_when_asked() {
    let world = World::new();
    world.get(X, 200, &[], b"x");
    assert_eq!(Client::of(&world).get(X, &[]).header("x-sandbox-answer"), "");
    let client = Client::with(&world, ReplayOptions { announce: true, ..ReplayOptions::default() });
    assert_eq!(client.get(X, &[]).header("x-sandbox-answer"), "exact");
}

#[test]
fn a_web_socket_is_played_with_all_its_records() {
    let world = World::new();
    let frame = |n: u64| Frame {
        at_ms: n,
        from: FrameSide::Server,
        text: (n < 3).then(|| format!("tick {n}")),
        base64: None,
        close: (n == 3).then_some(1000),
        reason: None,
    };
    let headers: Headers =
        [("Upgrade", "websocket"), ("Sec-WebSocket-Protocol", "v1"), ("Sec-WebSocket-Accept", "x")]
            .into_iter()
            .collect();
    let response = Response { status: 101, reason: String::new(), headers, body: Body::empty() };
    for _ in 0..2 {
        let opening = world.exchange(("GET", "https://a.test/live", "", ""), response.clone());
        let id = world.recording.append_websocket(&opening, &[frame(1)]).unwrap();
        world.recording.append_frames(&opening, &id, &[frame(2), frame(3)]).unwrap();
    }
    let client = Client::of(&world);
    for _ in 0..3 {
        let (script, answer) =
            client.replay.socket(&head("GET", "wss://a.test/live", &[]), &client.episode).unwrap();
        assert_eq!((script.frames.len(), answer), (3, Answer::Exact));
        assert_eq!(script.headers.len(), 1);
        assert_eq!(script.headers["sec-websocket-protocol"], "v1");
    }
    assert!(client.replay.socket(&head("GET", "wss://a.test/other", &[]), &client.episode).is_err());
    assert_eq!(client.get("https://a.test/live", &[]).status, 404, "a handshake is no page");
}

#[test]
fn match_levels_are_read() {
    for (text, level) in [
        ("exact", MatchLevel::Exact),
        ("normalised", MatchLevel::Normalised),
        ("fuzzy", MatchLevel::Fuzzy { threshold: 0.5 }),
        ("fuzzy:0.8", MatchLevel::Fuzzy { threshold: 0.8 }),
    ] {
        assert_eq!(text.parse(), Ok(level));
    }
    for text in ["", "Exact", "fuzzy:2", "fuzzy:x", "exact:1", "fuzzy:NaN"] {
        assert!(text.parse::<MatchLevel>().is_err(), "{text}");
    }
}

/// Every never-recorded request is a miss: nothing of what was recorded is ever shown for it.
#[test]
fn ten_thousand_requests_that_were_never_recorded_get_no_recorded_body() {
    const SECRET: &str = "a recorded body";
    let world = World::new();
    let form = "application/x-www-form-urlencoded";
    for n in 0..200 {
        let page = format!("https://shop.test/Items/list?page={n}&q=lamp");
        world.get(&page, 200, &[], SECRET.as_bytes());
        let json = format!("{{\"user\": {n}, \"fields\": [\"name\", \"age\"], \"deep\": {{\"n\": {n}}}}}");
        world.asked(
            ("POST", "https://shop.test/api", "application/json", &json),
            200,
            &[],
            SECRET.as_bytes(),
        );
        world.asked(
            ("POST", "https://shop.test/form", form, &format!("id={n}&op=get")),
            200,
            &[],
            SECRET.as_bytes(),
        );
    }
    let client = Client::of(&world);
    let mut misses = 0_u32;
    let mut check = |method: &str, url: String, kind: &str, body: String| {
        let kind = if kind.is_empty() { vec![] } else { vec![("content-type", kind)] };
        let (head, body) = (head(method, &url, &kind), Bytes::from(body));
        let found = client.replay.recorded(&head, &asked(&head, &body), &client.episode).unwrap();
        assert!(found.is_none(), "{method} {url}");
        // Looking for what is near takes its time: not for each of them.
        if misses.is_multiple_of(10) {
            let reply = client.replay.answer(&head, &body, &client.episode);
            assert_eq!(
                (reply.status, reply.answer.level()),
                (StatusCode::NOT_FOUND, "miss"),
                "{method} {url}"
            );
            assert!(!read(reply).text().contains(SECRET), "{method} {url}");
        }
        misses += 1;
    };
    for n in 0..1_250 {
        let known = n % 200;
        let nothing = String::new;
        check("GET", format!("https://shop.test/Items/list?page={}&q=lamp", n + 200), "", nothing());
        check("GET", format!("https://shop.test/items/list?page={known}&q=lamp"), "", nothing());
        check("GET", format!("https://shop.test/Items/{n}/list?page={known}&q=lamp"), "", nothing());
        check("POST", format!("https://shop.test/Items/list?page={known}&q=lamp"), "", nothing());
        let other = format!(
            "{{\"user\": {known}, \"fields\": [\"name\", \"age\"], \"deep\": {{\"n\": {}}}}}",
            n + 200
        );
        check("POST", "https://shop.test/api".into(), "application/json", other);
        let order =
            format!("{{\"user\": {known}, \"fields\": [\"age\", \"name\"], \"deep\": {{\"n\": {known}}}}}");
        check("POST", "https://shop.test/api".into(), "application/json", order);
        check("POST", "https://shop.test/form".into(), form, format!("id={known}&op=set{n}"));
        check("GET", format!("https://shop.test/api?user={n}"), "", nothing());
    }
    assert_eq!(misses, 10_000);
}
