//! A frozen world is the same in every episode, however busy the machine is.

#![allow(clippy::unwrap_used)]

mod web;

use std::time::Duration;

use browser::{Action, Determinism, Launch, Session};
use gateway::InFlight;

const CLOCK: &str = include_str!("web/clock.html");
const WORKER: &str = "
    const values = () => [Math.random(), crypto.getRandomValues(new Uint32Array(2)), performance.now(), Date.now()].join(' ');
    postMessage('start ' + values());
    onmessage = e => postMessage(e.data + ' ' + values());
    let ticks = 0;
    setInterval(() => ticks++, 100);
    setTimeout(() => postMessage('1 s ' + ticks + ' ' + values()), 1000);";
const SHARED: &str = "
    const values = () => [Math.random(), performance.now(), Date.now()].join(' ');
    onconnect = e => {
        e.ports[0].postMessage('start ' + values());
        setTimeout(() => e.ports[0].postMessage('500 ms ' + values()), 500);
    };";
const FRAME: &str = "<script>
    const tell = what => parent.postMessage([what, Math.random(), crypto.getRandomValues(new Uint32Array(2)),
        performance.now(), Date.now()].join(' '), '*');
    tell('start'); setTimeout(() => tell('1 s'), 1000); requestAnimationFrame(t => tell('frame ' + t));
    </script>";

#[tokio::test]
async fn ten_episodes_in_two_browsers_see_the_same_times_and_random_numbers() {
    let web = web::Web::serve(&[
        ("clock.test/", CLOCK),
        ("clock.test/worker.js", WORKER),
        ("clock.test/shared.js", SHARED),
        ("clock.test/data.json", "{}"),
        ("elsewhere.test/", FRAME),
    ])
    .await;
    let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
    let launch = Launch { determinism: Some(world), ..Launch::new(web.address, "") };
    let mut first: Option<(String, String)> = None;
    for _ in 0..2 {
        let mut session = Session::start(&launch).await.unwrap();
        for _ in 0..5 {
            let seen = episode(&mut session).await;
            let first = first.get_or_insert_with(|| seen.clone());
            assert_eq!(*first, seen);
            session.reset(Some(world)).await.unwrap();
        }
        // Another seed gives another world.
        session.reset(Some(Determinism { seed: 8, ..world })).await.unwrap();
        assert_ne!(first.as_ref(), Some(&episode(&mut session).await));
        session.close().await.unwrap();
    }
    let (text, _) = first.unwrap();
    for expected in
        ["2026-03-01T09:00:00.000Z", "3 s", "worker late", "shared 500 ms", "frame 1 s", "[native code]"]
    {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

async fn episode(session: &mut Session) -> (String, String) {
    session.act(&Action::Goto { url: "http://clock.test/".to_owned() }).await.unwrap();
    session.settle(&InFlight::default(), Duration::from_secs(20)).await.unwrap();
    (session.page_text().await.unwrap(), session.dom_digest().await.unwrap())
}
