#![allow(clippy::unwrap_used)]

use tempfile::TempDir;

use super::super::ReplaySet;
use super::super::tests::{Writer, get, open};
use crate::matching::ChangingParts;
use crate::ops::ImportOptions;

const CART: &str = "https://shop.test/cart";
const HOME: &str = "https://www.shop.test/";

/// Writes captures: `cart=TEXT` and `home=TEXT` are pages, `post PATH` is a write.
fn recording(steps: &[&str]) -> Writer {
    let mut writer = Writer::new(false);
    for step in steps {
        match step.split_once(['=', ' ']).unwrap() {
            ("cart", text) => drop(writer.response(CART, &[], text)),
            ("home", text) => drop(writer.response(HOME, &[], text)),
            (_, path) => {
                let url = format!("https://shop.test{path}");
                let id = writer.response(&url, &[], "done");
                writer.request(
                    &url,
                    &id,
                    "POST",
                    "application/x-www-form-urlencoded",
                    "n=1&csrf=abcdefgh",
                );
            }
        }
    }
    writer
}

fn set(steps: &[&str]) -> (TempDir, ReplaySet) {
    let folder = TempDir::new().unwrap();
    let path = recording(steps).save(&folder, "a.warc");
    let set = open(&[path]);
    (folder, set)
}

#[test]
fn a_capture_is_of_the_state_after_the_writes_before_it() {
    let (_folder, set) =
        set(&["cart=empty", "post /add", "cart=1", "post /add", "cart=2", "post /clear", "home=x"]);
    let history = set.history("shop.test").unwrap();
    let writes: Vec<&str> = history.writes().iter().map(|write| write.url.as_str()).collect();
    assert_eq!(writes, ["https://shop.test/add", "https://shop.test/clear"]);
    let before: Vec<&[u32]> =
        get(&set, CART).into_iter().map(|hit| history.before(hit, 0)).collect();
    assert_eq!(before, [&[] as &[u32], &[0], &[0, 0]]);
    assert_eq!(
        history.before(get(&set, HOME)[0], 0),
        [0, 0, 1],
        "hosts that share cookies are one site"
    );
    assert_eq!(history.write_of(get(&set, CART)[0]), None);
    assert!(set.history("other.test").unwrap().is_empty());
}

#[test]
fn states_are_equal_where_what_changed_is_again_as_it_was() {
    let (_folder, both) =
        set(&["home=x", "cart=empty", "post /add", "cart=1", "post /remove", "cart=empty"]);
    let history = both.history("shop.test").unwrap();
    assert_eq!(history.visits()[0].equal(), [(0, 2)]);
    assert_eq!(history.after(&[], &[0, 1, 0], &[]), [0], "adds, removes, adds");
    assert_eq!(history.equal_to(&[0, 1], &[]), [[0, 1].as_slice(), &[]]);
    assert_eq!(history.after(&[], &[1], &[]), [1], "what was not recorded from here");
    // What did not change shows nothing, and what is another page in both shows the opposite.
    let (_folder, same) = set(&["home=x", "post /add", "home=x", "post /remove", "home=x"]);
    assert!(same.history("shop.test").unwrap().visits()[0].equal().is_empty());
    let other = [
        "home=a",
        "cart=empty",
        "post /add",
        "cart=1",
        "home=b",
        "post /remove",
        "cart=empty",
        "home=c",
    ];
    let (_folder, differs) = set(&other);
    assert!(differs.history("shop.test").unwrap().visits()[0].equal().is_empty());
}

#[test]
fn each_archive_is_a_visit_of_its_own() {
    let folder = TempDir::new().unwrap();
    let first = recording(&["cart=empty", "post /add", "cart=1"]).save(&folder, "a.warc");
    let mut second = recording(&["cart=2", "post /other", "cart=3"]);
    second.clock += 1_000_000;
    let set = open(&[first, second.save(&folder, "b.warc")]);
    let history = set.history("shop.test").unwrap();
    let before: Vec<&[u32]> =
        get(&set, CART).into_iter().map(|hit| history.before(hit, 0)).collect();
    assert_eq!(before.iter().filter(|state| state.is_empty()).count(), 2);
    assert_eq!(history.writes().len(), 2);
}

#[test]
fn rules_say_what_is_a_write() {
    let folder = TempDir::new().unwrap();
    let mut writer = recording(&["cart=empty", "post /add", "cart=1", "post /note", "cart=1"]);
    let id = writer.response("https://shop.test/clear", &[], "done");
    writer.request("https://shop.test/clear", &id, "GET", "", "");
    writer.response(CART, &[], "empty");
    let plain = writer.save(&folder, "a.warc");
    let wacz = plain.with_extension("wacz");
    crate::ops::import(&[plain], &wacz, &ImportOptions::default(), &mut |_| {}).unwrap();
    let yaml =
        "writes: [{url: 'https://shop.test/clear'}]\nnot_writes: [{url: 'https://shop.test/note'}]";
    let ruled = wacz.with_extension("ruled.wacz");
    crate::ops::set_rules(&wacz, &ChangingParts::from_yaml(yaml).unwrap(), &ruled, &mut |_| {})
        .unwrap();
    for (path, expected) in [(wacz, ["/add", "/note"]), (ruled, ["/add", "/clear"])] {
        let history = open(&[path]).history("shop.test").unwrap();
        let writes: Vec<&str> =
            history.writes().iter().map(|write| &write.url["https://shop.test".len()..]).collect();
        assert_eq!(writes, expected);
    }
}

#[test]
fn what_acts_by_its_address_is_a_write_where_something_changed() {
    let page = |text: &str, time: usize| format!("<p>{text}<p>made in {time}.5s");
    let history = |after_take: &str| {
        let mut writer = Writer::new(false);
        writer.cookie = Some("guest=7".to_owned());
        for (time, (path, text)) in [
            ("/", "mine: none"),
            ("/start", "how to start"),
            ("/", "mine: none"),
            ("/export?all=1", "none"),
            ("/", "mine: none"),
            ("/?Action=Take&id=7", "taken"),
            ("/", after_take),
        ]
        .into_iter()
        .enumerate()
        {
            let url = format!("https://shop.test{path}");
            let id = writer.of_type("text/html", &url, &page(text, time));
            writer.request(&url, &id, "GET", "", "");
        }
        let folder = TempDir::new().unwrap();
        open(&[writer.save(&folder, "a.warc")]).history("shop.test").unwrap()
    };
    let took = history("mine: one");
    let urls: Vec<&str> = took.writes().iter().map(|write| write.url.as_str()).collect();
    assert_eq!(urls, ["https://shop.test/?Action=Take&id=7"]);
    assert!(took.acts("https://shop.test/?Action=Take&id=8"));
    assert!(!took.acts("https://shop.test/start") && !took.acts("https://shop.test/"));
    assert!(history("mine: none").is_empty());
}

#[test]
fn visits_that_have_names_are_kept_apart_even_at_the_same_time() {
    let folder = TempDir::new().unwrap();
    let mut writer = Writer::new(false);
    for (visit, step) in
        [("a", "cart=0"), ("b", "cart=0"), ("a", "post /add"), ("b", "cart=0"), ("a", "cart=1")]
    {
        writer.visit = Some(visit.to_owned());
        let (url, method) = match step.strip_prefix("post ") {
            Some(path) => (format!("https://shop.test{path}"), "POST"),
            None => (CART.to_owned(), "GET"),
        };
        let id = writer.response(&url, &[], step);
        writer.request(&url, &id, method, "application/x-www-form-urlencoded", "");
    }
    let set = open(&[writer.save(&folder, "a.warc")]);
    let history = set.history("shop.test").unwrap();
    let before = get(&set, CART).into_iter().map(|hit| set.writes_before(&history, hit).unwrap());
    assert_eq!(before.collect::<Vec<_>>(), [&[] as &[u32], &[], &[], &[0]]);
}

#[test]
fn tokens_and_fields_in_another_order_are_the_same_write() {
    let mut writer = Writer::new(true);
    for body in ["n=1&csrf=a1b2c3d4e5f6", "csrf=f6e5d4c3b2a1&n=1", "n=2&csrf=a1b2c3d4e5f6"] {
        let url = "https://shop.test/add";
        let id = writer.response(url, &[], "done");
        writer.request(url, &id, "POST", "application/x-www-form-urlencoded", body);
    }
    let folder = TempDir::new().unwrap();
    let set = open(&[writer.save(&folder, "a.warc.gz")]);
    assert_eq!(set.history("shop.test").unwrap().visits()[0].writes(), [0, 0, 1]);
}

#[test]
fn what_is_shown_to_ask_only_is_no_write() {
    let url = "https://shop.test/api/trains";
    let json = "application/json";
    let answer = |from: &str| format!("[{}]", format!("\"{from} 7:40\",").repeat(40));
    let post = |writer: &mut Writer, from: &str, answer: &str| {
        let id = writer.json(url, answer);
        writer.request(url, &id, "POST", json, &format!("{{\"from\":\"{from}\"}}"));
    };
    let queries = |second: &str, home: &str| -> Vec<String> {
        let mut writer = Writer::new(false);
        writer.response(HOME, &[], "home");
        post(&mut writer, "a", &answer("a"));
        writer.response(HOME, &[], home);
        post(&mut writer, "b", &answer("b"));
        post(&mut writer, "a", second);
        let folder = TempDir::new().unwrap();
        let set = open(&[writer.save(&folder, "a.warc")]);
        set.history("shop.test").unwrap().queries().to_vec()
    };
    assert_eq!(queries(&answer("a"), "home"), [format!("POST {url}")]);
    assert!(queries(&answer("c"), "home").is_empty(), "another answer");
    assert!(queries(&answer("a"), "home, 1 train").is_empty(), "a page that changed");
    assert!(queries("[]", "home").is_empty(), "a confirmation");
}
