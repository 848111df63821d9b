//! Every interface of the browser gives the same values in every visit, in every realm.
//!
//! `SANDBOX_VISITS` sets the number of visits (2), `SANDBOX_LOAD` the number of threads that keep
//! the machine busy meanwhile (1). `SANDBOX_REALM` tests one realm only, and `SANDBOX_SHOW` prints
//! the values.

use std::collections::BTreeMap;
use std::env;
use std::sync::Arc;
use std::time::Duration;

use actions::Action;
use browser::{Determinism, Launch, Pace, Session};
use gateway::{CertificateAuthority, Config, Gateway, Routes, Site, Target};

use crate::load::Load;
use crate::web::Web;

const SETTLE: Duration = Duration::from_secs(60);
const PROBES: &str = include_str!("probes.js");
/// How many times a page may settle before its last values have come.
const SETTLINGS: usize = 40;

const HEAD: &str = "<!doctype html><title>Interfaces</title><pre id=out></pre><script>const tell = line => { out.textContent += line + '\\n'; };</script>";
const REALMS: [(&str, &str); 5] = [
    ("page", "<script src=/probes.js></script><script>probes('page', tell)</script>"),
    ("frame", "<iframe src=/inner></iframe><script>onmessage = e => tell(e.data)</script>"),
    ("worker", "<script>new Worker('/worker.js').onmessage = e => tell(e.data)</script>"),
    ("shared", "<script>new SharedWorker('/shared.js').port.onmessage = e => tell(e.data)</script>"),
    (
        "service",
        "<script>navigator.serviceWorker.onmessage = e => tell(e.data); navigator.serviceWorker.startMessages();
        navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready).then(r => r.active.postMessage('go'))</script>",
    ),
];

/// The types that do not repeat, as the crate's docs say: the keys of WebRTC.
const DIFFERENT: [&str; 2] = ["RTCPeerConnection", "RTCCertificate"];

fn number(variable: &str, usual: usize) -> usize {
    env::var(variable).map_or(usual, |text| text.parse().unwrap())
}

async fn serve() -> (Web, Gateway, Arc<CertificateAuthority>) {
    let pages: Vec<(String, String)> = REALMS
        .iter()
        .map(|(realm, page)| (format!("localhost/{realm}"), format!("{HEAD}{page}")))
        .collect();
    let worker = format!("{PROBES}\nprobes('worker', line => postMessage(line));");
    let shared = format!(
        "{PROBES}\nonconnect = e => probes('shared', line => e.ports[0].postMessage(line));"
    );
    let service = format!(
        "{PROBES}\naddEventListener('message', e => e.waitUntil(probes('service', line => e.source.postMessage(line))));"
    );
    let mut all: Vec<(&str, &str)> = pages.iter().map(|(at, page)| (&**at, &**page)).collect();
    all.extend([
        ("localhost/probes.js", PROBES),
        ("localhost/worker.js", &*worker),
        ("localhost/shared.js", &*shared),
        ("localhost/service.js", &*service),
        (
            "localhost/inner",
            "<!doctype html><body><script src=/probes.js></script><script>probes('frame', line => parent.postMessage(line, '*'))</script>",
        ),
        ("localhost/data.json", "{}"),
        ("localhost/a.json", "{}"),
        ("localhost/b.json", "{}"),
        ("localhost/a.mjs.js", "export default 'a'"),
        ("localhost/b.mjs.js", "export default 'b'"),
    ]);
    let web = Web::serve(&all).await;
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let routes = Routes::all(Target::Site(Arc::new(Site::new("localhost", web.address))));
    let gateway = Gateway::start(Config::new(ca.clone(), routes)).await.unwrap();
    (web, gateway, ca)
}

/// The output of a realm's probes, a line each.
async fn visit(session: &mut Session, gateway: &Gateway, realm: &str) -> Vec<String> {
    session.act(&Action::Goto { url: format!("http://localhost/{realm}") }).await.unwrap();
    let end = format!("{realm} is done");
    let mut text = String::new();
    for _ in 0..SETTLINGS {
        session.settle(&gateway.in_flight(), SETTLE).await.unwrap();
        text = session.page_text().await.unwrap();
        if text.contains(&end) {
            return text.lines().map(str::to_owned).collect();
        }
    }
    panic!("the probes do not come to their end in {realm}: {text}");
}

#[tokio::test]
async fn every_interface_says_the_same_in_every_visit() {
    let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
    let _load = Load::begin(number("SANDBOX_LOAD", 1));
    let mut browsers = Vec::new();
    for _ in 0..2 {
        let (web, gateway, ca) = serve().await;
        let launch = Launch {
            determinism: Some(world),
            pace: Pace::steady(Duration::from_secs(5)),
            in_flight: Some(gateway.in_flight()),
            ..Launch::new(&gateway, ca.spki_sha256_base64())
        };
        browsers.push((web, gateway, Session::start(&launch).await.unwrap()));
    }
    let only = env::var("SANDBOX_REALM").ok();
    let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (realm, _) in
        REALMS.into_iter().filter(|(realm, _)| only.as_deref().is_none_or(|only| only == *realm))
    {
        for n in 0..number("SANDBOX_VISITS", 2) {
            let (_, gateway, session) = &mut browsers[n % 2];
            session.reset(Some(world)).await.unwrap();
            for line in visit(session, gateway, realm).await {
                let (name, said) = line.split_once(": ").unwrap_or((&line, ""));
                let all = seen.entry(name.to_owned()).or_default();
                if !all.contains(&said.to_owned()) {
                    all.push(said.to_owned());
                }
            }
        }
    }
    if env::var_os("SANDBOX_SHOW").is_some() {
        seen.iter().for_each(|(name, said)| println!("{name} = {}", said[0]));
    }
    let differ: Vec<String> = seen
        .into_iter()
        .filter(|(name, said)| {
            said.len() > 1 && !DIFFERENT.iter().any(|known| name.ends_with(known))
        })
        .map(|(name, said)| format!("{name}\n    {}", said.join("\n    ")))
        .collect();
    assert!(
        differ.is_empty(),
        "{} interfaces tell visits apart:\n{}",
        differ.len(),
        differ.join("\n")
    );
}
