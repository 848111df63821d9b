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
    assert_eq!((got.status, &got.answer), (200, &Answer::Search { found: 1 }));
    assert_eq!(
        (got.header("content-type"), got.header("sandbox-answer")),
        ("text/html; charset=utf-8", "search")
    );
    assert!(got.text().contains("trees.test"), "{}", got.text());
    let length = got.header("content-length").to_owned();
    let got = client.ask("HEAD", "https://www.google.com/search?q=elm", &[], "");
    assert_eq!((got.header("content-length"), got.body.len()), (&*length, 0));
    assert_eq!(client.get("https://duckduckgo.com/", &[]).answer, Answer::Search { found: 0 });
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
    let fuzzy = ReplayOptions { level: MatchLevel::Fuzzy { threshold: 0.1 }, ..ReplayOptions::default() };
    let url = "https://www.google.com/search?q=elm&hl=en";
    assert!(matches!(Client::with(&world, fuzzy).get(url, &[]).answer, Answer::Fuzzy { .. }));
    assert_eq!(client(&world, fuzzy).get(url, &[]).answer, Answer::Search { found: 1 });
}
