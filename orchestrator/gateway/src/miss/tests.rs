#![allow(clippy::unwrap_used)]

use hyper::body::Bytes;

use crate::replay::tests::{Got, World, head, read};
use crate::{Answer, Episode, ReplayOptions};

fn ask(
    world: &World,
    method: &str,
    url: &str,
    headers: &[(&'static str, &str)],
    body: &'static str,
) -> Got {
    let replay = world.replay(ReplayOptions::default());
    read(replay.answer(
        &head(method, url, headers),
        &Bytes::from_static(body.as_bytes()),
        &Episode::new(),
    ))
}

const NAVIGATION: [(&str, &str); 1] = [("sec-fetch-dest", "document")];

fn near(got: &Got) -> Vec<String> {
    let Answer::Miss { near } = &got.answer else { panic!("{got:?}") };
    near.iter().map(|near| format!("{} {} | {}", near.method, near.url, near.differs)).collect()
}

#[test]
fn a_missed_page_names_what_is_near_and_what_differs() {
    let world = World::new();
    for n in 1..4 {
        world.get(&format!("https://a.test/list?page={n}&q=x"), 200, &[], b"");
    }
    world.get("https://a.test/about", 200, &[], b"");
    world.record(("POST", "https://a.test/api", "application/json", "{\"user\":7}"), 200, &[], b"");
    let got = ask(&world, "GET", "https://a.test/list?page=9&q=x", &NAVIGATION, "");
    assert_eq!((got.status, &got.headers["sandbox-answer"]), (404, &"miss".parse().unwrap()));
    assert_eq!(got.headers["content-type"], "text/html; charset=utf-8");
    assert_eq!(
        near(&got)[0],
        "GET https://a.test/list?page=1&q=x | parameter page: 9 (recorded: 1)"
    );
    assert!(
        got.text().contains("href=\"https:&#x2f;&#x2f;a.test&#x2f;list?page=1&amp;q=x\""),
        "{}",
        got.text()
    );
    assert!(got.text().contains("parameter page"));

    let nearest = |method: &str, url: &str, headers: &[(&'static str, &str)], body| {
        near(&ask(&world, method, url, headers, body)).into_iter().next().unwrap_or_default()
    };
    assert_eq!(
        nearest("GET", "http://a.test:81/about", &[], ""),
        "GET https://a.test/about | scheme: http (recorded: https); port: 81 (recorded: none)"
    );
    assert_eq!(
        nearest("POST", "https://a.test/about", &[], ""),
        "GET https://a.test/about | method: POST (recorded: GET)"
    );
    assert_eq!(
        nearest("GET", "https://a.test/About", &[], ""),
        "GET https://a.test/about | path: /About (recorded: /about)"
    );
    let json = [("content-type", "application/json")];
    assert_eq!(
        nearest("POST", "https://a.test/api", &json, "{\"user\":8}"),
        "POST https://a.test/api | body field user: 8 (recorded: 7)"
    );
    assert_eq!(
        nearest("GET", "https://www.a.test/about", &[], ""),
        "GET https://a.test/about | host: www.a.test (recorded: a.test)"
    );
    assert_eq!(nearest("GET", "https://b.test/about", &[], ""), "");
}

#[test]
fn pages_come_before_what_pages_consist_of() {
    let world = World::new();
    for n in 0..40 {
        world.get(&format!("https://a.test/news/fonts/{n}.woff2"), 200, &[], b"");
    }
    world.get("https://a.test/about", 200, &[], b"");
    world.get("https://a.test/zoo/animals", 200, &[], b"");
    let urls = |headers: &[(&'static str, &str)]| {
        near(&ask(&world, "GET", "https://a.test/news/today", headers, ""))
    };
    let nearest = urls(&NAVIGATION);
    assert!(
        nearest[0].starts_with("GET https://a.test/about")
            || nearest[0].starts_with("GET https://a.test/zoo")
    );
    assert!(!nearest[1].contains("woff2") && nearest[2].contains("woff2"), "{nearest:#?}");
    assert!(urls(&[])[0].contains("woff2"), "what a script misses may be anything");
}

#[test]
fn the_page_escapes_what_it_shows() {
    let world = World::new();
    let got =
        ask(&world, "GET", "https://a.test/?q=<script>alert(1)</script>&r=\"'", &NAVIGATION, "");
    assert!(!got.text().contains("<script>"), "{}", got.text());
    assert!(got.text().contains("Nothing was recorded under this host"));
}

#[test]
fn a_page_that_withholds_what_is_near_does_not_tell_whether_there_is_any() {
    let world = World::new();
    world.get("https://a.test/about", 200, &[], b"");
    let withheld = |url: &str| {
        let replay =
            world.replay(ReplayOptions { list_nearest: false, ..ReplayOptions::default() });
        let got =
            read(replay.answer(&head("GET", url, &NAVIGATION), &Bytes::new(), &Episode::new()));
        assert_eq!(near(&got).is_empty(), url.contains("b.test"));
        got.text().replace(&url.replace('/', "&#x2f;"), "URL")
    };
    assert_eq!(withheld("https://a.test/x"), withheld("https://b.test/x"));
    assert!(!withheld("https://b.test/x").contains("Nothing was recorded"));
}

#[test]
fn a_missed_subresource_is_bare_and_visible_to_scripts() {
    let world = World::new();
    let got = ask(
        &world,
        "GET",
        "https://api.test/x",
        &[("origin", "https://a.test"), ("sec-fetch-dest", "empty")],
        "",
    );
    assert_eq!((got.status, got.body.len()), (404, 0));
    assert_eq!(got.headers["access-control-allow-origin"], "https://a.test");
    assert_eq!(got.headers["access-control-allow-credentials"], "true");
    assert_eq!(got.headers["cross-origin-resource-policy"], "cross-origin");
    let html = ask(&world, "GET", "https://api.test/x", &[("accept", "text/html,*/*")], "");
    assert!(html.text().starts_with("<!doctype html>"));
    let image = ask(
        &world,
        "GET",
        "https://api.test/x",
        &[("accept", "text/html"), ("sec-fetch-dest", "image")],
        "",
    );
    assert!(image.body.is_empty());
    let plain = ask(&world, "GET", "https://api.test/x", &[], "");
    assert!(plain.text().starts_with("miss: GET https://api.test/x\n"));
}

#[test]
fn a_host_outside_the_world_is_refused_by_name() {
    let head = head("GET", "https://evil.test/x", &NAVIGATION);
    let got = read(super::refused(&head));
    assert_eq!(
        (got.status, got.answer),
        (403, Answer::Refused { reason: "no route to evil.test".into() })
    );
    assert!(String::from_utf8(got.body).unwrap().contains("evil.test is not in this world"));
}
