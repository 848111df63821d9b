//! Search engine requests, with and without a search over the recorded pages.

use super::*;

const HTML: &[(&str, &str)] = &[("Content-Type", "text/html")];
const GOOGLE: &str = "https://www.google.com/search?q=oak&hl=en";

fn world() -> World {
    let world = World::new();
    world.get(GOOGLE, 200, HTML, b"as recorded");
    world.get("https://trees.test/elm", 200, HTML, b"<title>Elm</title>An elm, an oak");
    world
}

fn client(world: &World, options: ReplayOptions) -> Client {
    Client { replay: world.replay(options).with_search(None), episode: Episode::new() }
}

#[test]
fn what_was_not_recorded_is_searched_for_in_what_was() {
    let world = world();
    let client = client(&world, ReplayOptions { announce: true, ..ReplayOptions::default() });
    let got = client.get(GOOGLE, &[]);
    assert_eq!((got.text(), &got.answer), ("as recorded", &Answer::Exact));
    let got = client.get("https://www.google.com/search?q=elm", &[]);
    assert_eq!((got.status, &got.answer), (200, &Answer::Search { found: 1, of_site: false }));
    assert_eq!(
        (got.header("content-type"), got.header("sandbox-answer")),
        ("text/html; charset=utf-8", "search")
    );
    assert!(got.text().contains("trees.test"), "{}", got.text());
    let length = got.header("content-length").to_owned();
    let got = client.ask("HEAD", "https://www.google.com/search?q=elm", &[], "");
    assert_eq!((got.header("content-length"), got.body.len()), (&*length, 0));
    assert_eq!(
        client.get("https://duckduckgo.com/", &[]).answer,
        Answer::Search { found: 0, of_site: false }
    );
}

#[test]
fn nothing_else_is_searched_for() {
    let world = world();
    let client = client(&world, ReplayOptions::default());
    for (method, url) in [
        ("POST", "https://www.google.com/search?q=elm"),
        ("GET", "https://www.google.com/maps?q=elm"),
        ("GET", "https://trees.test/search?q=elm"),
    ] {
        let got = client.ask(method, url, &[], "");
        assert!(matches!(got.answer, Answer::Miss { .. }), "{method} {url}: {got:?}");
    }
    let without = Client::of(&world).get("https://www.google.com/search?q=elm", &[]);
    assert!(matches!(without.answer, Answer::Miss { .. }), "{without:?}");
}

#[test]
fn a_similar_query_is_no_answer_to_another() {
    let world = world();
    let fuzzy =
        ReplayOptions { level: MatchLevel::Fuzzy { threshold: 0.1 }, ..ReplayOptions::default() };
    let url = "https://www.google.com/search?q=elm&hl=en";
    assert!(matches!(Client::with(&world, fuzzy).get(url, &[]).answer, Answer::Fuzzy { .. }));
    assert_eq!(
        client(&world, fuzzy).get(url, &[]).answer,
        Answer::Search { found: 1, of_site: false }
    );
}

/// A shop with a search form, of whose results one was recorded.
fn shop() -> World {
    let world = World::new();
    let form = b"<title>Shop</title><form action=/find><input type=search name=w></form>";
    world.get("https://www.shop.test/", 200, HTML, form);
    world.get(
        "https://www.shop.test/oak-table",
        200,
        HTML,
        b"<title>Oak table</title>A table of oak",
    );
    world.get("https://www.shop.test/find?w=oak&lang=en", 200, HTML, b"as recorded");
    world.get("https://other.test/oak", 200, HTML, b"<title>Oak</title>An oak elsewhere");
    world
}

fn visitor(world: &World, options: ReplayOptions, site_search: SiteSearch) -> Client {
    let replay = world.replay(options).with_search(None).with_site_search(site_search);
    Client { replay, episode: Episode::new() }
}

const SHOP: &str = "https://www.shop.test/find?w=table&sort=price";
const PAGE: &[(&str, &str)] = &[("Accept", "text/html")];

#[test]
fn a_sites_own_search_is_answered_only_where_it_is_wanted_and_says_so() {
    let world = shop();
    let options = ReplayOptions { announce: true, ..ReplayOptions::default() };
    let off = visitor(&world, options, SiteSearch::Off).get(SHOP, PAGE);
    assert!(matches!(off.answer, Answer::Miss { .. }), "{off:?}");
    let template = "https://www.shop.test/find?w={}".to_owned();
    for wanted in [SiteSearch::Forms, SiteSearch::At(vec![template])] {
        let client = visitor(&world, options, wanted);
        let got = client.get(SHOP, PAGE);
        assert_eq!((got.status, &got.answer), (200, &Answer::Search { found: 1, of_site: true }));
        assert_eq!(got.header("sandbox-answer"), "search");
        let text = got.text();
        let label =
            "These results are made by sandbox from the recorded pages, not by www.shop.test.";
        assert!(text.contains(label) && text.contains("www.shop.test&#x2f;oak-table"), "{text}");
        assert_eq!(client.get(SHOP, PAGE).text(), text, "byte for byte");
        // What was recorded is the answer to its own request, and to no other.
        let got = client.get("https://www.shop.test/find?w=oak&lang=en", PAGE);
        assert_eq!((got.text(), &got.answer), ("as recorded", &Answer::Exact));
        let got = client.get("https://www.shop.test/find?w=oak+nothing&page=2", PAGE);
        assert!(
            got.text().contains("No more results") && !got.text().contains("as recorded"),
            "{got:?}"
        );
    }
}

#[test]
fn other_requests_of_a_site_are_no_searches_of_it() {
    let world = shop();
    let client = visitor(&world, ReplayOptions::default(), SiteSearch::Forms);
    for (method, url, headers) in [
        ("POST", SHOP, PAGE),
        ("GET", SHOP, &[("Sec-Fetch-Dest", "script")][..]),
        ("GET", SHOP, &[("Accept", "application/json")][..]),
        ("GET", "https://www.shop.test/find?q=table", PAGE),
        ("GET", "https://www.shop.test/find?w=", PAGE),
        ("GET", "https://www.shop.test/search?w=table", PAGE),
        ("GET", "https://other.test/find?w=table", PAGE),
    ] {
        let got = client.ask(method, url, headers, "");
        assert!(matches!(got.answer, Answer::Miss { .. }), "{method} {url}: {got:?}");
    }
    // Nor is the most similar recorded search.
    let fuzzy =
        ReplayOptions { level: MatchLevel::Fuzzy { threshold: 0.1 }, ..ReplayOptions::default() };
    let similar = "https://www.shop.test/find?w=table&lang=en";
    let of = |wanted: SiteSearch| visitor(&world, fuzzy, wanted).get(similar, PAGE).answer;
    assert_eq!(of(SiteSearch::Forms), Answer::Search { found: 1, of_site: true });
    assert!(matches!(of(SiteSearch::Off), Answer::Fuzzy { .. }));
}

#[test]
fn programs_get_json() {
    let world = world();
    let client = client(&world, ReplayOptions::default());
    let json = |url: &str| -> serde_json::Value {
        let got = client.get(url, &[("Accept", "application/json")]);
        assert_eq!(got.header("content-type"), "application/json; charset=utf-8", "{url}");
        assert_eq!(got.answer, Answer::Search { found: 1, of_site: false });
        assert_eq!(client.get(url, &[]).text(), got.text(), "byte for byte");
        serde_json::from_str(got.text()).unwrap()
    };
    let elm = "https://trees.test/elm";
    let found = json("https://www.google.com/search?q=elm&format=json");
    assert_eq!(
        (&found["results"][0]["url"], &found["number_of_results"]),
        (&elm.into(), &1.into())
    );
    let found = json("https://www.googleapis.com/customsearch/v1?key=k&cx=c&q=elm");
    assert_eq!(
        (&found["items"][0]["link"], &found["queries"]["request"][0]["totalResults"]),
        (&elm.into(), &"1".into())
    );
    let found = json("https://api.search.brave.com/res/v1/web/search?q=elm");
    assert_eq!(found["web"]["results"][0]["description"], "An <strong>elm</strong>, an oak");
}
