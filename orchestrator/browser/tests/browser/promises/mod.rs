//! Every promise of the browser's interfaces is let in by a rule, or has a reason why not.
//!
//! A version of Chromium with a new interface fails here until somebody has looked at it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use actions::Action;
use browser::{Determinism, Launch, Session};
use fancy_regex::Regex;
use in_flight::InFlight;
use serde_json::{Value, json};

use crate::web::Web;

const ENUMERATE: &str = include_str!("enumerate.js");
const REPLACED: &str = include_str!("replaced.js");
const TABLE: &str = include_str!("table.txt");
/// The scripts that let promises in.
const SCRIPTS: [&str; 5] = [
    include_str!("../../../src/inject/awaited.js"),
    include_str!("../../../src/inject/replies.js"),
    include_str!("../../../src/inject/declined.js"),
    include_str!("../../../src/inject/keys.js"),
    include_str!("../../../src/inject/stored_files.js"),
];
const WORKER_TIMEOUT: Duration = Duration::from_secs(20);

/// The promises of a page and of a worker, of a browser that nothing was changed in.
async fn promises() -> BTreeSet<String> {
    let worker = format!("postMessage({ENUMERATE})");
    let page = "<!doctype html><script>
        const worker = new Worker('worker.js');
        worker.onmessage = ({ data }) => { globalThis.ofWorker = data; };</script>";
    // A secure context has more of them.
    let web = Web::serve(&[("localhost/", page), ("localhost/worker.js", &worker)]).await;
    let mut session = Session::start(&Launch::new(web.address, "")).await.unwrap();
    session.act(&"goto('http://localhost/')".parse::<Action>().unwrap()).await.unwrap();
    session.settle(&InFlight::default(), Duration::from_secs(20)).await.unwrap();
    let end = Instant::now() + WORKER_TIMEOUT;
    let of_worker = loop {
        match session.evaluate("globalThis.ofWorker ?? null").await.unwrap() {
            Value::Null => assert!(Instant::now() < end, "the worker has not answered"),
            found => break found,
        }
    };
    let of_page = session.evaluate(ENUMERATE).await.unwrap();
    session.close().await.unwrap();
    let names = |found: Value| serde_json::from_value::<Vec<String>>(found).unwrap();
    let (of_page, of_worker) = (names(of_page), names(of_worker));
    assert!(of_page.len() > 300 && of_worker.len() > 100, "{} {}", of_page.len(), of_worker.len());
    of_page.into_iter().chain(of_worker).collect()
}

/// The names in the tables of the scripts, as `TYPE.NAME`.
fn let_in() -> BTreeSet<String> {
    let entry = Regex::new(r"(\w+): ('[\w ]+'(?:\s*\+ '[\w ]+')*)").unwrap();
    let single = Regex::new(
        r"(?:replaceWhenDefined\(|decline\((?:globalThis\.)?|replace\((?:globalThis\.)?|\[)'?(\w+)'?(?:\??\.prototype)?, '([\w ]+)'",
    )
    .unwrap();
    let mut found = BTreeSet::new();
    for script in SCRIPTS {
        for named in entry.captures_iter(script).chain(single.captures_iter(script)) {
            let named = named.unwrap();
            let names =
                named[2].split(|c: char| !c.is_alphanumeric()).filter(|name| !name.is_empty());
            found.extend(names.map(|name| format!("{}.{name}", &named[1])));
        }
    }
    found
}

/// The names of the table.
fn excepted() -> BTreeSet<String> {
    let name = Regex::new(r"(?:get |static )?\w+\.\w+").unwrap();
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines
        .flat_map(|line| name.find_iter(line).map(|found| found.unwrap().as_str().to_owned()))
        .collect()
}

/// How many calls lie behind the refusal of each of these functions, in a page of a frozen world.
/// That of a function that nobody has replaced is called `native`.
async fn depths(names: &BTreeSet<&String>) -> BTreeMap<String, u64> {
    let web = Web::serve(&[("localhost/", "<!doctype html>")]).await;
    let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
    let launch = Launch { determinism: Some(world), ..Launch::new(web.address, "") };
    let mut session = Session::start(&launch).await.unwrap();
    session.act(&"goto('http://localhost/')".parse::<Action>().unwrap()).await.unwrap();
    session.settle(&InFlight::default(), Duration::from_secs(60)).await.unwrap();
    session.evaluate(&format!("(NAMES => {{ {REPLACED} }})({})", json!(names))).await.unwrap();
    // The refusals are results, too.
    session.settle(&InFlight::default(), Duration::from_secs(60)).await.unwrap();
    let seen = session.evaluate("globalThis.seen").await.unwrap();
    session.close().await.unwrap();
    serde_json::from_value(seen).unwrap()
}

#[tokio::test]
async fn every_promise_is_let_in_or_has_a_reason() {
    let (promises, let_in, excepted) = (promises().await, let_in(), excepted());
    let is_let_in = |name: &str| {
        let name = name.trim_start_matches("static ").replace("global.", "globalThis.");
        let_in.contains(&name)
    };
    let unknown: Vec<&String> =
        promises.iter().filter(|name| !is_let_in(name) && !excepted.contains(*name)).collect();
    assert!(unknown.is_empty(), "no rule and no reason: {unknown:#?}");
    let both: Vec<&String> = excepted.iter().filter(|name| is_let_in(name)).collect();
    assert!(both.is_empty(), "a rule and a reason: {both:#?}");
    let held: BTreeSet<&String> = promises.iter().filter(|name| is_let_in(name)).collect();
    let mut depths = depths(&held).await;
    let native = depths.remove("native").unwrap();
    assert!(depths.len() > 120, "{} of {} functions were judged", depths.len(), held.len());
    let untouched: Vec<_> = depths.iter().filter(|(_, depth)| **depth <= native).collect();
    assert!(untouched.is_empty(), "in a table, and not replaced: {untouched:#?}");
}
