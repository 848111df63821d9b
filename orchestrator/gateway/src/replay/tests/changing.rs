//! Requests with volatile parts: by the recording's rules, or by their format.

use super::*;

/// The time of the recording, in milliseconds.
const THEN: i64 = RECORDED * 1000 + 15;

fn by(rules: &[&str]) -> Answer {
    Answer::Normalised { rules: rules.iter().map(ToString::to_string).collect() }
}

#[test]
fn a_time_stamp_is_passed_over_and_its_answers_come_in_order() {
    let world = World::new();
    world.get(&format!("https://a.test/x.json?t={THEN}&q=a"), 200, &[], b"one");
    world.get(&format!("https://a.test/x.json?t={}&q=a", THEN + 9), 200, &[], b"two");
    world.get(&format!("https://a.test/x.json?t={THEN}&q=b"), 200, &[], b"other");
    let client = Client::of(&world);
    let url = |q| format!("https://a.test/x.json?t={LATER}&q={q}");
    let got = client.get(&url("a"), &[]);
    assert_eq!((got.text(), &got.answer), ("one", &by(&["time-stamp"])));
    assert_eq!(client.get(&url("a"), &[]).text(), "two");
    assert_eq!(client.get(&url("b"), &[]).text(), "other");
    assert_eq!(client.get(&url("c"), &[]).answer.level(), "miss");
    let navigation = [("sec-fetch-dest", "document")];
    assert_eq!(
        client.get(&url("a"), &navigation).answer.level(),
        "miss",
        "a page is what was asked for"
    );
    let strict = Client::with(
        &world,
        ReplayOptions { level: MatchLevel::Exact, ..ReplayOptions::default() },
    );
    assert_eq!(strict.get(&url("a"), &[]).answer.level(), "miss");
}

#[test]
fn a_token_that_two_captures_of_a_page_issue_is_passed_over_whatever_its_name() {
    let world = World::new();
    let [one, other] = ["1b55234edda2c006d178", "f3a7eb9e158718ad58dd"];
    let (page, form) = ("https://a.test/enter", "application/x-www-form-urlencoded");
    let html = |token: &str| {
        let text = format!(
            "<form method=post><input type=hidden name=next value={token}><input name=user></form>"
        );
        world.get(page, 200, &[("Content-Type", "text/html")], text.as_bytes());
    };
    html(one);
    html(other);
    let response = Response {
        status: 200,
        reason: String::new(),
        headers: Headers::new(),
        body: Body::from(b"welcome".to_vec()),
    };
    let body = format!("user=emma&next={other}");
    let mut exchange = world.exchange(("POST", page, form, &body), response);
    exchange.request.headers.push("Referer", page);
    world.recording.append(&exchange).unwrap();
    let client = Client::of(&world);
    assert!(
        client
            .get(page, &[("sec-fetch-dest", "document"), ("sec-fetch-site", "none")])
            .text()
            .contains(one)
    );
    let ask = |token: &str, user: &str| {
        let body = format!("user={user}&next={token}");
        client.ask("POST", page, &[("content-type", form), ("referer", page)], &body)
    };
    let got = ask(one, "emma");
    assert_eq!((got.text(), &got.answer), ("welcome", &by(&["issued-token"])));
    assert_eq!(ask("0000234edda2c006d178", "emma").answer.level(), "miss", "no page has issued it");
    assert_eq!(ask(one, "otto").answer.level(), "miss");
}

#[test]
fn a_random_token_is_passed_over_where_nothing_else_differs() {
    let world = World::new();
    let json = |nonce: &str, op: &str| format!("{{\"nonce\":\"{nonce}\",\"op\":\"{op}\"}}");
    for (nonce, op) in [("a1b2c3d4e5", "get"), ("b1b2c3d4e5", "put"), ("c1b2c3d4e5", "put")] {
        let body = json(nonce, op);
        world.record(
            ("POST", "https://a.test/rpc", "application/json", &body),
            200,
            &[],
            op.as_bytes(),
        );
    }
    let client = Client::of(&world);
    let ask = |op| {
        client.ask(
            "POST",
            "https://a.test/rpc",
            &[("content-type", "application/json")],
            &json("z9y8x7w6v5", op),
        )
    };
    let got = ask("get");
    assert_eq!((got.text(), &got.answer), ("get", &by(&["random-token"])));
    // Two that differ in their tokens alone: the recording shows that these are chance.
    assert!(ask("put").answer.is_guess());
    assert_eq!(ask("post").answer.level(), "miss");
}
