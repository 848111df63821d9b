//! Resources recorded under another scheme, with or without a slash or `www.`.

use super::*;

const NAVIGATION: [(&str, &str); 1] = [("sec-fetch-dest", "document")];
const HTML: [(&str, &str); 1] = [("Content-Type", "text/html")];

fn by(rules: &[&str]) -> Answer {
    Answer::Normalised { rules: rules.iter().map(ToString::to_string).collect() }
}

#[test]
fn what_was_recorded_over_http_is_found_over_https() {
    let world = World::new();
    world.get("http://en.wiki.test/Frog", 200, &HTML, b"frog");
    world.get("http://code.test/j.js?b=1&a=2", 200, &[], b"script");
    world.record(("POST", "http://api.test/x", "application/json", "{}"), 200, &[], b"posted");
    let client = Client::of(&world);
    let got = client.get("https://en.wiki.test/Frog", &NAVIGATION);
    assert_eq!((got.status, got.text(), &got.answer), (200, "frog", &by(&["scheme"])));
    assert_eq!(got.header("content-security-policy"), "upgrade-insecure-requests");
    let got = client.get("https://code.test/j.js?a=2&b=1", &[]);
    assert_eq!((got.text(), &got.answer), ("script", &by(&["query-order", "scheme"])));
    assert_eq!(got.header("content-security-policy"), "");
    let got =
        client.ask("POST", "https://api.test/x", &[("content-type", "application/json")], "{}");
    assert_eq!((got.text(), &got.answer), ("posted", &by(&["scheme"])));
    let got = client.ask("HEAD", "https://en.wiki.test/Frog", &[], "");
    assert_eq!(got.answer, by(&["scheme"]).derived("head"));
    let strict = Client::with(
        &world,
        ReplayOptions { level: MatchLevel::Exact, ..ReplayOptions::default() },
    );
    assert_eq!(strict.get("https://en.wiki.test/Frog", &NAVIGATION).status, 404);
}

#[test]
fn a_page_that_was_recorded_over_https_is_redirected_to() {
    let world = World::new();
    world.get("https://a.test/p", 200, &HTML, b"secure");
    world.get("https://a.test:8443/q", 200, &HTML, b"port");
    let client = Client::of(&world);
    let got = client.get("http://a.test/p", &NAVIGATION);
    assert_eq!((got.status, got.header("location")), (307, "https://a.test/p"));
    assert_eq!(got.answer, by(&["scheme"]));
    assert_eq!(client.get("http://a.test/p", &[]).text(), "secure");
    assert_eq!(client.get("http://a.test:8443/q", &[]).status, 404, "a port speaks one scheme");
}

#[test]
fn the_own_scheme_goes_before_the_other() {
    let world = World::new();
    world.get("http://a.test/", 301, &[("Location", "https://a.test/")], b"");
    world.get("https://a.test/", 200, &HTML, b"own");
    let client = Client::of(&world);
    assert_eq!(client.get("https://a.test/", &NAVIGATION).text(), "own");
    assert_eq!(client.get("http://a.test/", &NAVIGATION).answer, Answer::Exact);
}

#[test]
fn no_variant_redirects_to_what_was_asked_for() {
    let world = World::new();
    for (from, to) in [
        ("http://up.test/", "https://up.test/"),
        ("https://down.test/", "http://down.test/"),
        ("http://relative.test/x", "/x"),
        ("https://slash.test/a", "https://slash.test/a/"),
        ("http://both.test/a", "https://both.test/a/"),
        ("https://www.name.test/", "https://name.test/"),
    ] {
        world.get(from, 301, &[("Location", to)], b"");
    }
    let client = Client::of(&world);
    for url in [
        "https://up.test/",
        "http://down.test/",
        "https://relative.test/x",
        "https://slash.test/a/",
        "https://both.test/a/",
        "https://name.test/",
    ] {
        let got = client.get(url, &NAVIGATION);
        assert_eq!((got.status, got.answer.level()), (404, "miss"), "{url}");
    }
}

#[test]
fn a_slash_more_or_less_is_a_redirect_to_what_was_recorded() {
    let world = World::new();
    world.get("https://a.test/docs/?v=1", 200, &HTML, b"docs");
    world.get("http://a.test/old", 200, &HTML, b"old");
    world.get("https://a.test/gone/", 404, &HTML, b"gone");
    let client = Client::of(&world);
    let got = client.get("https://a.test/docs?v=1", &NAVIGATION);
    assert_eq!((got.status, got.header("location")), (307, "https://a.test/docs/?v=1"));
    assert_eq!(got.answer, by(&["slash"]));
    let got = client.get("https://a.test/old/", &NAVIGATION);
    assert_eq!((got.status, got.header("location")), (307, "https://a.test/old"));
    assert_eq!(client.get("https://a.test/gone", &NAVIGATION).answer.level(), "miss");
    let post = client.ask("POST", "https://a.test/docs?v=1", &[], "x");
    assert_eq!(post.answer.level(), "miss");
}

#[test]
fn www_is_added_only_where_the_recording_redirects_so() {
    let world = World::new();
    world.get("http://shop.test/", 301, &[("Location", "https://www.shop.test/")], b"");
    world.get("https://www.shop.test/list", 200, &HTML, b"list");
    world.get("https://www.shop.test/help/", 200, &HTML, b"help");
    world.get("https://www.other.test/list", 200, &HTML, b"list");
    let client = Client::of(&world);
    let got = client.get("https://shop.test/list", &NAVIGATION);
    assert_eq!((got.status, got.header("location")), (307, "https://www.shop.test/list"));
    assert_eq!(got.answer, by(&["www"]));
    let got = client.get("https://shop.test/help", &NAVIGATION);
    assert_eq!(
        (got.header("location"), &got.answer),
        ("https://www.shop.test/help/", &by(&["www", "slash"]))
    );
    assert_eq!(client.get("https://other.test/list", &NAVIGATION).answer.level(), "miss");
}

#[test]
fn a_page_under_another_scheme_may_read_what_it_could_read() {
    let world = World::new();
    let granted = |origin| [("Access-Control-Allow-Origin", origin)];
    world.get("https://api.test/own", 200, &granted("http://page.test"), b"");
    let asked = [("Origin", "http://page.test")];
    world.asked_at("https://api.test/foreign", &asked, 200, &granted("http://else.test"), "");
    let client = Client::of(&world);
    let origin = [("origin", "https://page.test")];
    let allowed = |url| client.get(url, &origin).header("access-control-allow-origin").to_owned();
    assert_eq!(allowed("https://api.test/own"), "https://page.test");
    assert_eq!(allowed("https://api.test/foreign"), "http://else.test");
}
