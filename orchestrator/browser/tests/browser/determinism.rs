//! A frozen world is the same in every episode, however busy the machine is.

use std::sync::Arc;
use std::time::Duration;

use actions::{Action, Press};
use browser::{Determinism, Launch, Pace, Session};
use gateway::{CertificateAuthority, Config, Gateway, Routes, Site, Target};
use in_flight::InFlight;

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
    let web = crate::web::Web::serve(&[
        ("clock.test/", CLOCK),
        ("clock.test/worker.js", WORKER),
        ("clock.test/shared.js", SHARED),
        ("clock.test/data.json", "{}"),
        ("elsewhere.test/", FRAME),
    ])
    .await;
    let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
    // Workers and the page race for their scripts, which the gateway puts in order.
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let routes = Routes::all(Target::Site(Arc::new(Site::new("clock", web.address))));
    let gateway = Gateway::start(Config::new(ca.clone(), routes)).await.unwrap();
    let launch = Launch {
        determinism: Some(world),
        pace: Pace::steady(Duration::from_secs(5)),
        in_flight: Some(gateway.in_flight()),
        ..Launch::new(&gateway, ca.spki_sha256_base64())
    };
    let mut first: Option<(String, String)> = None;
    for _ in 0..2 {
        let mut session = Session::start(&launch).await.unwrap();
        for _ in 0..5 {
            let seen = episode(&mut session, &gateway).await;
            let first = first.get_or_insert_with(|| seen.clone());
            assert_eq!(*first, seen);
            session.reset(Some(world)).await.unwrap();
        }
        // Another seed gives another world.
        session.reset(Some(Determinism { seed: 8, ..world })).await.unwrap();
        assert_ne!(first.as_ref(), Some(&episode(&mut session, &gateway).await));
        session.close().await.unwrap();
    }
    let (text, _) = first.unwrap();
    for expected in [
        "2026-03-01T09:00:00.000Z",
        "3 s",
        "worker late",
        "shared 500 ms",
        "frame 1 s",
        "[native code]",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

async fn episode(session: &mut Session, gateway: &Gateway) -> (String, String) {
    session.act(&Action::Goto { url: "http://clock.test/".to_owned() }).await.unwrap();
    session.settle(&gateway.in_flight(), Duration::from_secs(20)).await.unwrap();
    (session.page_text().await.unwrap(), session.dom_digest().await.unwrap())
}

/// Reports when entries reach their observers, in text that is too small to count. The loops take
/// as long as a busy machine needs: their time passes for the process that shows the frames, not
/// for the page.
const PAINTED: &str = "<!doctype html><pre id=log style='position: fixed; top: 300px; font-size: 3px'></pre><script>
    const say = what => { log.textContent += `${what} @${performance.now()}; `; };
    const types = ['paint', 'largest-contentful-paint', 'layout-shift', 'element', 'event', 'first-input', 'longtask',
        'long-animation-frame'];
    for (const type of types)
        new PerformanceObserver(list => { for (const entry of list.getEntries()) say(`${type} ${entry.name || entry.id}`); })
            .observe({ type, buffered: true, durationThreshold: 16 });
    const work = () => { for (let i = 0, x = 1; i < LOOPS; i++) x = (x * 16807) % 2147483647; };
    work();
    setTimeout(() => { work(); second.textContent = 'larger '.repeat(20); }, 1500);
    addEventListener('click', () => { work(); third.textContent = 'clicked'; });
    </script><p elementtiming=first id=first style='font-size: 40px'>large</p>
    <p elementtiming=second id=second style='font-size: 60px'></p><p id=third></p>";

#[tokio::test]
async fn performance_entries_reach_observers_at_the_time_of_the_frame() {
    let mut shown = Vec::new();
    for loops in ["1", "1e8"] {
        let web =
            crate::web::Web::serve(&[("paint.test/", &PAINTED.replace("LOOPS", loops))]).await;
        let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
        let launch = Launch {
            determinism: Some(world),
            pace: Pace::steady(Duration::from_secs(5)),
            ..Launch::new(web.address, "")
        };
        let mut session = Session::start(&launch).await.unwrap();
        let click = Action::Click { bid: "css=#first".to_owned(), press: Press::default() };
        for action in [Action::Goto { url: "http://paint.test/".to_owned() }, click] {
            session.act(&action).await.unwrap();
            session.settle(&InFlight::default(), Duration::from_secs(30)).await.unwrap();
        }
        let text = session.page_text().await.unwrap();
        let mut entries: Vec<String> = text.split("; ").map(str::to_owned).collect();
        entries.sort();
        shown.push(entries.join("; "));
        session.close().await.unwrap();
    }
    assert_eq!(shown[0], shown[1]);
    for expected in [
        "paint first-contentful-paint @0;",
        "largest-contentful-paint first @0;",
        "first-input pointerdown @5000;",
    ] {
        assert!(shown[0].contains(expected), "{expected} in {}", shown[0]);
    }
}

#[tokio::test]
async fn a_worklet_has_the_worlds_time_and_randomness() {
    let worklet = "
        const values = () => [Date.now(), new Date().getFullYear(), Math.random()].join(' ');
        const start = values();
        registerProcessor('told', class extends AudioWorkletProcessor {
            constructor() { super(); this.port.postMessage([start, values()].join(' ')); }
            process() { return false; }
        });";
    let page = "<!doctype html><pre id=log></pre><script type=module>
        const sound = new OfflineAudioContext(1, 1024, 44100);
        await sound.audioWorklet.addModule('/worklet.js');
        const node = new AudioWorkletNode(sound, 'told');
        node.port.onmessage = event => { log.textContent = event.data; };
        </script>";
    let web =
        crate::web::Web::serve(&[("localhost/", page), ("localhost/worklet.js", worklet)]).await;
    let launch =
        Launch { determinism: Some(crate::bench::world()), ..Launch::new(web.address, "") };
    let mut all = Vec::new();
    for _ in 0..2 {
        let mut session = Session::start(&launch).await.unwrap();
        session.act(&"goto('http://localhost/')".parse::<Action>().unwrap()).await.unwrap();
        session.settle(&InFlight::default(), Duration::from_secs(20)).await.unwrap();
        all.push(session.page_text().await.unwrap());
        session.close().await.unwrap();
    }
    let start = crate::bench::world().clock_start.as_millisecond().to_string();
    assert_eq!(all[0], all[1]);
    let values: Vec<&str> = all[0].split(' ').collect();
    assert_eq!(
        (values[0].get(..9), values[1], values[4]),
        (start.get(..9), "2026", "2026"),
        "{all:?}"
    );
    assert_ne!(values[2], values[5], "{all:?}");
}
