//! Which recorded response a request gets, and that most requests get none.

use http::StatusCode;

use super::*;

#[test]
fn answers_are_exact_or_say_by_which_rules_they_are_not() {
    let world = World::new();
    world.get("https://a.test/list?page=1&q=x", 200, &[], b"one");
    world.record(
        ("POST", "https://a.test/api", "application/json", "{\"user\": 1}"),
        200,
        &[],
        b"user 1",
    );
    let client = Client::of(&world);
    assert_eq!(client.get("https://a.test/list?page=1&q=x", &[]).answer, Answer::Exact);
    let got = client.get("https://a.test/list?q=x&page=1&utm_source=mail", &[]);
    let rules = vec!["query-order".to_owned(), "tracking-parameters".to_owned()];
    assert_eq!((got.text(), got.answer.clone()), ("one", Answer::Normalised { rules }));
    let json = [("content-type", "application/json")];
    assert_eq!(
        client.ask("POST", "https://a.test/api", &json, "{\"user\": 1}").answer,
        Answer::Exact
    );
    let got = Client::of(&world).ask("POST", "https://a.test/api", &json, "{\"user\":1}");
    assert_eq!(
        (got.text(), got.answer.clone()),
        ("user 1", Answer::Normalised { rules: vec!["json-spelling".to_owned()] })
    );

    let strict = Client::with(
        &world,
        ReplayOptions { level: MatchLevel::Exact, ..ReplayOptions::default() },
    );
    assert!(matches!(
        strict.get("https://a.test/list?q=x&page=1", &[]).answer,
        Answer::Miss { .. }
    ));
}

#[test]
fn a_fuzzy_answer_needs_to_be_asked_for_and_tells_its_score() {
    let world = World::new();
    world.get("https://a.test/list?page=1&q=x&sort=up", 200, &[], b"one");
    world.record(
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
    assert!(matches!(
        fuzzy(0.0).ask("PUT", "https://a.test/api", &json, "{}").answer,
        Answer::Miss { .. }
    ));
    assert!(matches!(
        fuzzy(0.0).get("https://a.test/other?page=1&q=x&sort=up", &[]).answer,
        Answer::Miss { .. }
    ));
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

/// Every unrecorded request is a miss and never shows recorded content.
#[test]
fn ten_thousand_requests_that_were_never_recorded_get_no_recorded_body() {
    const SECRET: &str = "a recorded body";
    let world = World::new();
    let form = "application/x-www-form-urlencoded";
    for n in 0..200 {
        let page = format!("https://shop.test/Items/list?page={n}&q=lamp");
        world.get(&page, 200, &[], SECRET.as_bytes());
        let json =
            format!("{{\"user\": {n}, \"fields\": [\"name\", \"age\"], \"deep\": {{\"n\": {n}}}}}");
        world.record(
            ("POST", "https://shop.test/api", "application/json", &json),
            200,
            &[],
            SECRET.as_bytes(),
        );
        world.record(
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
        let found = client
            .replay
            .recorded(&head, &replay_request(&head, &body), MatchLevel::Normalised, &client.episode)
            .unwrap();
        assert!(found.is_none(), "{method} {url}");
        // Searching for similar requests is slow, so not every miss does it.
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
        check(
            "GET",
            format!("https://shop.test/Items/list?page={}&q=lamp", n + 200),
            "",
            nothing(),
        );
        check("GET", format!("https://shop.test/items/list?page={known}&q=lamp"), "", nothing());
        check(
            "GET",
            format!("https://shop.test/Items/{n}/list?page={known}&q=lamp"),
            "",
            nothing(),
        );
        check("POST", format!("https://shop.test/Items/list?page={known}&q=lamp"), "", nothing());
        let other = format!(
            "{{\"user\": {known}, \"fields\": [\"name\", \"age\"], \"deep\": {{\"n\": {}}}}}",
            n + 200
        );
        check("POST", "https://shop.test/api".into(), "application/json", other);
        let order = format!(
            "{{\"user\": {known}, \"fields\": [\"age\", \"name\"], \"deep\": {{\"n\": {known}}}}}"
        );
        check("POST", "https://shop.test/api".into(), "application/json", order);
        check("POST", "https://shop.test/form".into(), form, format!("id={known}&op=set{n}"));
        check("GET", format!("https://shop.test/api?user={n}"), "", nothing());
    }
    assert_eq!(misses, 10_000);
}
