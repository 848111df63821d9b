//! Which of several captures of one URL a request gets by its headers.

use super::*;

type Fields<'a> = &'a [(&'a str, &'a str)];
/// How a page and the data at its address are asked for, and what the server says with both.
type Way<'a> = (Vec<(&'a str, &'a str)>, Vec<(&'a str, &'a str)>, Fields<'a>);

impl World {
    /// Records a GET of `X` with these request headers.
    fn asked(&self, asked: Fields<'_>, status: u16, headers: Fields<'_>, body: &str) -> &World {
        self.asked_at(X, asked, status, headers, body)
    }

    pub(super) fn asked_at(
        &self,
        url: &str,
        asked: Fields<'_>,
        status: u16,
        headers: Fields<'_>,
        body: &str,
    ) -> &World {
        let (headers, body) =
            (headers.iter().copied().collect(), Body::from(body.as_bytes().to_vec()));
        let response = Response { status, reason: String::new(), headers, body };
        let mut exchange = self.exchange(("GET", url, "", ""), response);
        exchange.request.headers = asked.iter().copied().collect();
        self.recording.append(&exchange).unwrap();
        self
    }
}

/// What a browser sends for the address bar, and for a script's `fetch`.
const PAGE: [(&str, &str); 2] =
    [("sec-fetch-dest", "document"), ("accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")];
const FETCH: [(&str, &str); 2] = [("sec-fetch-dest", "empty"), ("accept", "*/*")];
const HTML: (&str, &str) = ("Content-Type", "text/html; charset=utf-8");
const JSON: (&str, &str) = ("Content-Type", "application/json");

fn with<'a>(fields: &[(&'a str, &'a str)], more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    fields.iter().chain(more).copied().collect()
}

#[test]
fn a_page_and_the_data_at_its_address_are_told_apart() {
    let json = [("sec-fetch-dest", "empty"), ("accept", "application/json")];
    let marked = |name, value| FETCH.into_iter().chain([(name, value)]).collect::<Vec<_>>();
    let ways: [Way<'_>; 9] = [
        (PAGE.to_vec(), json.to_vec(), &[("Vary", "Accept, X-Requested-With")]),
        (PAGE.to_vec(), json.to_vec(), &[]),
        (PAGE.to_vec(), marked("x-requested-with", "XMLHttpRequest"), &[]),
        (PAGE.to_vec(), marked("hx-request", "true"), &[]),
        (PAGE.to_vec(), marked("rsc", "1"), &[("Vary", "RSC, Next-Router-Prefetch")]),
        (PAGE.to_vec(), marked("turbo-frame", "list"), &[]),
        // Other recorders send no destination.
        (vec![PAGE[1]], vec![("accept", "*/*")], &[]),
        (
            vec![("accept", "text/html")],
            vec![("accept", "application/json")],
            &[("vary", "accept")],
        ),
        (marked("turbo-frame", "menu"), marked("turbo-frame", "list"), &[]),
    ];
    for (page, data, vary) in ways {
        for is_data_first in [false, true] {
            let world = World::new();
            let mut both = [(&page, HTML, "page"), (&data, JSON, "data")];
            if is_data_first {
                both.reverse();
            }
            for (asked, kind, body) in both {
                world.asked(asked, 200, &with(&[kind], vary), body);
            }
            let client = Client::of(&world);
            let said: Vec<String> = [&page, &page, &data, &data, &page]
                .map(|asked| {
                    let got = client.ask_with(asked);
                    assert_eq!(got.answer, Answer::Exact);
                    got.text().to_owned()
                })
                .to_vec();
            assert_eq!(
                said,
                ["page", "page", "data", "data", "page"],
                "{page:?} {data:?} {vary:?}"
            );
        }
    }
}

impl Client {
    fn ask_with(&self, headers: Fields<'_>) -> Got {
        let mut asked = head("GET", X, &[]);
        for (name, value) in headers {
            let name: HeaderName = name.parse().unwrap();
            asked.headers.insert(name, value.parse().unwrap());
        }
        read(self.replay.answer(&asked, &Bytes::new(), &self.episode))
    }
}

#[test]
fn turns_are_counted_among_the_captures_of_one_kind() {
    let world = World::new();
    world
        .asked(&PAGE, 200, &[HTML], "page 1")
        .asked(&FETCH, 200, &[JSON], "data 1")
        .asked(&FETCH, 200, &[JSON], "data 2")
        .asked(&PAGE, 200, &[HTML], "page 2");
    let client = Client::of(&world);
    let said: Vec<String> = [&FETCH, &PAGE, &FETCH, &PAGE, &FETCH]
        .map(|asked| client.ask_with(asked).text().to_owned())
        .to_vec();
    assert_eq!(said, ["data 1", "page 1", "data 2", "page 2", "data 2"]);
}

/// A library may load by a script what is a page: the state of the site tells those apart.
#[test]
fn where_all_is_of_one_type_and_nothing_varies_the_destination_does_not_count() {
    let world = World::new();
    world.asked(&PAGE, 200, &[HTML], "empty").asked(&FETCH, 200, &[HTML], "one thing");
    let client = Client::of(&world);
    let said: Vec<String> =
        [&PAGE, &PAGE].map(|asked| client.ask_with(asked).text().to_owned()).to_vec();
    assert_eq!(said, ["empty", "one thing"]);
}

#[test]
fn each_origin_gets_its_own_answer_and_another_one_is_told() {
    let world = World::new();
    for origin in ["https://one.test", "https://two.test"] {
        let headers = [("Access-Control-Allow-Origin", origin), ("Vary", "Origin"), JSON];
        world.asked(&with(&FETCH, &[("origin", origin)]), 200, &headers, origin);
    }
    let client = Client::of(&world);
    let ask = |origin: &'static str| client.ask_with(&with(&FETCH, &[("origin", origin)]));
    for origin in ["https://two.test", "https://one.test", "https://two.test"] {
        let got = ask(origin);
        assert_eq!((got.text(), got.header("access-control-allow-origin")), (origin, origin));
        assert_eq!(got.answer, Answer::Exact);
    }
    let got = ask("https://three.test");
    assert_eq!(got.header("access-control-allow-origin"), "https://three.test");
    let Answer::Normalised { rules } = &got.answer else { panic!("{:?}", got.answer) };
    assert_eq!(rules, &["other-origin", "origin"]);
}

#[test]
fn a_response_for_another_origin_can_be_read_unless_that_was_refused() {
    let allowed = ("Access-Control-Allow-Origin", "https://other.test");
    let vary = ("Vary", "Accept-Encoding, Origin");
    let ours = ("origin", "https://site.test");
    for (recorded, answered, expected) in [
        // Recorded from a service worker, or by a tool that keeps no requests' headers.
        (vec![], vec![allowed], "https://site.test"),
        (vec![("origin", "https://other.test")], vec![allowed, vary], "https://site.test"),
        (vec![("origin", "https://other.test")], vec![allowed], "https://other.test"),
        (vec![("origin", "https://refused.test")], vec![allowed, vary], "https://other.test"),
        (vec![], vec![("Access-Control-Allow-Origin", "*")], "*"),
        (vec![], vec![], ""),
    ] {
        let world = World::new();
        world.asked(&recorded, 200, &answered, "x");
        let client = Client::of(&world);
        let got = client.ask_with(&[ours]);
        assert_eq!(
            got.header("access-control-allow-origin"),
            expected,
            "{recorded:?} {answered:?}"
        );
        assert_eq!(got.header("access-control-allow-credentials"), "");
        let exact = Client::with(
            &world,
            ReplayOptions { level: MatchLevel::Exact, ..ReplayOptions::default() },
        );
        let (_, kept) = answered.first().copied().unwrap_or_default();
        assert_eq!(exact.ask_with(&[ours]).header("access-control-allow-origin"), kept);
    }
}

#[test]
fn a_challenge_that_the_recording_answered_is_not_repeated() {
    let world = World::new();
    let authorized = with(&PAGE, &[("authorization", "Basic YW5uOnB3")]);
    world.asked(&PAGE, 401, &[("WWW-Authenticate", "Basic realm=x")], "who?").asked(
        &authorized,
        200,
        &[HTML],
        "page",
    );
    let client = Client::of(&world);
    let got = client.ask_with(&PAGE);
    assert_eq!((got.status, got.text()), (200, "page"));
    assert_eq!(got.answer, Answer::Normalised { rules: vec!["credentials".to_owned()] });
    assert_eq!(client.ask_with(&authorized).answer, Answer::Exact);

    // A site that asks for a log-in by a form challenges nobody, nor does one whose scripts send a
    // token.
    for (challenge, asked) in
        [(&[][..], PAGE.to_vec()), (&[("WWW-Authenticate", "Bearer")][..], authorized)]
    {
        let world = World::new();
        world.asked(&PAGE, 401, challenge, "log in").asked(&asked, 200, &[HTML], "page");
        let client = Client::of(&world);
        assert_eq!([client.ask_with(&PAGE).status, client.ask_with(&asked).status], [401, 200]);
    }
}

#[test]
fn very_many_captures_keep_their_turns() {
    let world = World::new();
    let vary = [JSON, ("Vary", "X-Form")];
    world.asked(&with(&FETCH, &[("x-form", "other")]), 200, &vary, "other");
    for n in 0..300 {
        world.asked(&FETCH, 200, &vary, &n.to_string());
    }
    let client = Client::of(&world);
    let said: Vec<String> = (0..300).map(|_| client.ask_with(&FETCH).text().to_owned()).collect();
    assert_eq!(said, (0..300).map(|n| n.to_string()).collect::<Vec<_>>());
}

/// A guess has other captures than an exact request under the same key.
#[test]
fn each_list_of_captures_has_classes_of_its_own() {
    let (world, url) = (World::new(), |t: i64| format!("https://a.test/feed?t={t}"));
    let then = RECORDED + 1;
    let marked = with(&FETCH, &[("x-requested-with", "XMLHttpRequest")]);
    for (at, asked) in [(then, &marked[..]), (then, &FETCH), (then + 1, &FETCH)] {
        world.asked_at(&url(at), asked, 200, &[JSON], "x");
    }
    let client = Client::of(&world);
    for _ in 0..4 {
        for at in [LATER / 1000, then, then + 1] {
            assert_eq!(client.get(&url(at), &FETCH).status, 200);
        }
    }
}

#[test]
fn what_was_recorded_for_a_script_alone_is_a_guess_for_a_page() {
    for (name, vary, times) in
        [("hx-request", "HX-Request", 1), ("x-requested-with", "X-Requested-With", 2)]
    {
        let world = World::new();
        for _ in 0..times {
            world.asked(&with(&FETCH, &[(name, "true")]), 200, &[HTML, ("Vary", vary)], "a part");
        }
        let client = Client::of(&world);
        assert!(client.get(X, &PAGE).answer.is_guess(), "{name}");
        assert_eq!(client.get(X, &with(&FETCH, &[(name, "true")])).answer, Answer::Exact);
    }
}
