//! However fast a site answers, its responses reach a page in one order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use actions::Action;
use browser::{Determinism, Launch, Session};
use gateway::{CertificateAuthority, Config, Gateway, Routes, Site, Target};

use crate::web::Web;

const SETTLE: Duration = Duration::from_secs(30);

/// Parallel scripts, responses to simultaneous requests, and a frame; the log shows the order. As
/// many as a browser requests from a server at a time.
const RACES: &str = "<!doctype html><title>Races</title><pre id=log></pre><script>
const say = what => { log.textContent += what + ' '; };
onload = () => say('load');
for (const name of ['/b.json', '/a.json']) fetch(name).then(a => a.text()).then(say);
addEventListener('message', e => say(e.data));
</script>
<script async src=/c.js></script><script async src=/a.js></script><script async src=/b.js></script><iframe src=/frame></iframe>";

/// A request that is answered only after another one, which a third one causes; and a script with a
/// synchronous request.
const PATIENT: &str = "<!doctype html><title>Patient</title><pre id=log></pre><script>
const say = what => { log.textContent += what + ' '; };
fetch('/poll.json').then(a => a.text()).then(say);
fetch('/quick.json').then(a => a.text()).then(text => {
    say(text);
    fetch('/release.json').then(a => a.text()).then(say);
});
const asked = new XMLHttpRequest();
asked.open('GET', '/sync.json', false);
asked.send();
say(asked.responseText);
</script>";

fn world() -> Determinism {
    Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 }
}

/// A request that is answered only after another one, which a timer sends.
const POLL: &str = "<!doctype html><title>Poll</title><pre id=log></pre><script>
const say = what => { log.textContent += what + ' '; };
fetch('/poll.json').then(a => a.text()).then(say);
setTimeout(() => { say('time'); fetch('/release.json').then(a => a.text()).then(say); }, 500);
</script>";

/// Scripts that run for long and only then send more requests, beside frames whose documents come
/// meanwhile. The log shows the order, and at the end how many hundredths of a second the page's
/// clock, which scripts see in steps, had left to its next step.
const LONG: &str = "<!doctype html><title>Long</title><pre id=log></pre><script>
const say = what => { log.textContent += what + '@' + Math.round(performance.now()) + ' '; };
const work = rounds => { for (let i = 0, x = 1; i < rounds; i++) x = Math.sin(x + i); };
const ask = name => fetch('/' + name + '.json').then(a => a.text()).then(say);
const add = (tag, src) => document.body.append(Object.assign(document.createElement(tag), { src, async: true }));
onload = () => say('load');
addEventListener('message', e => say(e.data));
setTimeout(() => {
    add('iframe', '/frame');
    for (const name of ['long', 'short', 'mid']) add('script', '/' + name + '.js');
    add('iframe', '/frame');
    ask('a');
    work(1e7);
    ask('b');
}, 30);
setTimeout(() => {
    const began = performance.now();
    let ticks = 0;
    const tick = () => performance.now() === began ? setTimeout(tick, 10, ticks++) : say('ticks' + ticks);
    tick();
}, 120);
</script><body><script async src=/long.js></script><script async src=/short.js></script><iframe src=/frame></iframe>";

async fn site() -> (Web, Gateway, Session) {
    let web = Web::serve(&[
        ("shop.test/long-scripts", LONG),
        ("shop.test/long.js", "work(1e7), say('long'), ask('a')"),
        ("shop.test/mid.js", "work(3e6), say('mid'), ask('c')"),
        ("shop.test/short.js", "say('short'), ask('b')"),
        ("shop.test/c.json", "C"),
        ("shop.test/races", RACES),
        ("shop.test/frame", "<script>parent.postMessage('frame', '*')</script>"),
        ("shop.test/a.js", "say('a')"),
        ("shop.test/b.js", "say('b')"),
        ("shop.test/c.js", "say('c')"),
        ("shop.test/a.json", "A"),
        ("shop.test/b.json", "B"),
        ("shop.test/patient", PATIENT),
        ("shop.test/long", POLL),
        ("shop.test/poll.json", "poll"),
        ("shop.test/quick.json", "quick"),
        ("shop.test/sync.json", "sync"),
        ("shop.test/release.json", "release"),
    ])
    .await;
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let routes = Routes::all(Target::Site(Arc::new(Site::new("shop", web.address))));
    let gateway = Gateway::start(Config::new(ca.clone(), routes)).await.unwrap();
    let launch = Launch {
        determinism: Some(world()),
        in_flight: Some(gateway.in_flight()),
        ..Launch::new(&gateway, ca.spki_sha256_base64())
    };
    (web, gateway, Session::start(&launch).await.unwrap())
}

async fn heard(session: &mut Session, gateway: &Gateway, path: &str) -> String {
    session.act(&Action::Goto { url: format!("http://shop.test{path}") }).await.unwrap();
    session.settle(&gateway.in_flight(), SETTLE).await.unwrap();
    session.page_text().await.unwrap()
}

#[tokio::test]
async fn answers_reach_the_page_in_one_order_whichever_is_there_first() {
    let (web, gateway, mut session) = site().await;
    let mut first = None;
    for order in [
        ["/a.js", "/b.js", "/c.js", "/a.json", "/b.json", "/frame"],
        ["/frame", "/b.json", "/a.json", "/c.js", "/b.js", "/a.js"],
        ["/b.json", "/c.js", "/frame", "/a.js", "/a.json", "/b.js"],
    ] {
        web.answer_in_order(&order);
        let heard = heard(&mut session, &gateway, "/races").await;
        assert_eq!(heard.split_whitespace().count(), 7, "{heard}");
        assert_eq!(
            first.get_or_insert_with(|| heard.clone()),
            &heard,
            "answered in the order {order:?}"
        );
        let order_of_requests: Vec<&str> =
            heard.split_whitespace().filter(|word| word.len() == 1).collect();
        assert_eq!(order_of_requests, ["B", "A", "c", "a", "b"], "the page asked in this order");
        session.reset(Some(world())).await.unwrap();
    }
}

#[tokio::test]
async fn a_question_without_an_answer_holds_the_others_up_only_for_a_while() {
    let (web, gateway, mut session) = site().await;
    let mut first = None;
    for _ in 0..2 {
        web.answer_in_order(&["/release.json", "/poll.json"]);
        let began = Instant::now();
        let heard = heard(&mut session, &gateway, "/patient").await;
        assert!(began.elapsed() < SETTLE, "it took {:?}", began.elapsed());
        let mut all: Vec<&str> = heard.split_whitespace().collect();
        all.sort_unstable();
        assert_eq!(all, ["poll", "quick", "release", "sync"]);
        assert_eq!(first.get_or_insert_with(|| heard.clone()), &heard);
        session.reset(Some(world())).await.unwrap();
    }
}

#[tokio::test]
async fn the_pages_time_does_not_wait_for_ever_for_an_answer_that_waits_for_it() {
    let (web, gateway, mut session) = site().await;
    web.answer_in_order(&["/release.json", "/poll.json"]);
    let heard = heard(&mut session, &gateway, "/long").await;
    let mut all: Vec<&str> = heard.split_whitespace().collect();
    all.sort_unstable();
    assert_eq!((heard.starts_with("time "), &*all), (true, &["poll", "release", "time"][..]));
}

#[tokio::test]
async fn a_script_has_run_before_the_next_one_comes_on_a_busy_machine_too() {
    let (_web, gateway, mut session) = site().await;
    let done = Arc::new(AtomicBool::new(false));
    let threads = std::thread::available_parallelism().unwrap().get() * 2;
    let busy: Vec<_> = (0..threads)
        .map(|_| {
            let done = Arc::clone(&done);
            std::thread::spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        })
        .collect();
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(heard(&mut session, &gateway, "/long-scripts").await);
        session.reset(Some(world())).await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    busy.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(all[0].split_whitespace().count(), 17, "{}", all[0]);
    assert!(all.iter().all(|heard| *heard == all[0]), "{all:#?}");
}
