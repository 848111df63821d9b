//! Streams that begin at any time do not stop the page's time, and beside them the page sees the
//! same in every run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actions::Action;
use browser::{Determinism, Launch, Pace, Session};
use gateway::{CertificateAuthority, Config, Gateway, Routes, Site, Target};

use crate::web::Web;

const SETTLE: Duration = Duration::from_secs(30);

/// The rest of every page, beside its stream: it sends a request every 300 ms, counts, stores its
/// count, and logs the time.
const REST: &str = "<pre id=log></pre><script>
const say = what => { log.textContent += `${what} @${Math.round(performance.now())}; `; };
let polls = 0, ticks = 0;
const poll = () => fetch('/poll.json').then(a => a.text()).then(text => {
    say(`${text} ${++polls} after ${ticks}`);
    localStorage.setItem('polls', polls);
    if (polls < 12) setTimeout(poll, 300);
});
setInterval(() => ticks++, 10);
setTimeout(() => say('late'), 4500);
setTimeout(poll, 100);
</script>";

/// Pages that begin a stream, the stream's data, and how long they may take. An endless response
/// shows only by its silence, and an unanswered request by a longer one.
const PAGES: [(&str, &str, &str, u64); 12] = [
    ("timer", "<script>setTimeout(() => { new EventSource('/events.stream').onmessage = e => say(e.data); }, 150)</script>", "hello", 5),
    ("answer", "<script>fetch('/first.json').then(() => { new EventSource('/events.stream').onmessage = e => say(e.data); })</script>", "hello", 5),
    ("frame", "<iframe src=/inner></iframe><script>onmessage = e => say(e.data)</script>", "hello", 5),
    ("worker", "<script>new Worker('/worker.js').onmessage = e => say(e.data)</script>", "hello", 5),
    ("second", "<script>const listen = name => { new EventSource(name).onmessage = e => say(e.data); };
        setTimeout(() => listen('/events.stream'), 150); setTimeout(() => listen('/more.stream'), 1350)</script>", "world", 5),
    ("elsewhere", "<script>setTimeout(() => { new EventSource('http://elsewhere.test/open.stream').onerror = e => say('refused'); }, 150)</script>", "refused", 5),
    ("body", "<script>setTimeout(() => fetch('/body.endless').then(a => a.body.getReader().read()).then(piece => say(new TextDecoder().decode(piece.value))), 150)</script>", "hello", 10),
    ("xhr", "<script>setTimeout(() => { const asked = new XMLHttpRequest(); asked.open('GET', '/body.endless');
        asked.onprogress = () => say(asked.responseText); asked.send(); }, 150)</script>", "hello", 10),
    ("beacon", "<script>setTimeout(() => say(navigator.sendBeacon('/beacon.json', 'x')), 150)</script>", "true", 5),
    ("sync", "<script>setTimeout(() => { new EventSource('/events.stream'); }, 150); setTimeout(() => { const asked = new XMLHttpRequest();
        asked.open('GET', '/first.json', false); asked.send(); say(asked.responseText); }, 700)</script>", "first", 6),
    ("media", "<script>setTimeout(() => { new EventSource('/events.stream'); }, 150); setTimeout(() => {
        const sound = new Audio('/none.wav'); sound.onerror = () => say('no sound'); sound.load(); }, 700)</script>", "no sound", 10),
    ("long", "<script>setTimeout(() => fetch('/long.json').then(a => a.text()).then(say), 150)</script>", "late", 20),
];

/// Refused WebSockets, each beside a timer that is due soon after. After a refusal Chromium makes a
/// process wait before it tries again, longer each time.
const SOCKETS_PAGE: &str = "<!doctype html><pre id=log></pre><script>
const say = what => { log.textContent += `${what}; `; };
let refused = 0;
const ask = () => {
    new WebSocket('ws://shop.test/none').onclose = () => refused++;
    setTimeout(() => say(`${refused} refused`), 5);
};
[150, 350, 550, 750].forEach(at => setTimeout(ask, at));
setTimeout(() => { new Worker('/sockets.js').onmessage = e => say(e.data); }, 900);
</script>";
const SOCKETS_WORKER: &str = "setTimeout(() => {
    let refused = 'not refused';
    new WebSocket('ws://shop.test/none').onclose = () => { refused = 'refused'; };
    setTimeout(() => postMessage(`${refused} in the worker`), 5);
}, 150);";

/// A text in a font of its own, which is laid out only during an observation.
const LETTERS: &str = "<!doctype html><style>@font-face { font-family: letters; src: url(/letters.woff2) }
    div { content-visibility: auto; font-family: letters }</style><p style='height: 9000px'>Above</p><div>Below</div>";

fn world() -> Determinism {
    Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 }
}

async fn serve() -> (Web, Gateway, Arc<CertificateAuthority>) {
    let pages: Vec<(String, String)> = PAGES
        .iter()
        .map(|(name, page, ..)| {
            (format!("shop.test/{name}"), format!("<!doctype html>{REST}{page}"))
        })
        .collect();
    let inner = "<script>setTimeout(() => { new EventSource('/events.stream').onmessage = e => parent.postMessage(e.data, '*'); }, 150)</script>";
    let worker = "setTimeout(() => { new EventSource('/events.stream').onmessage = e => postMessage(e.data); }, 150)";
    let mut all: Vec<(&str, &str)> = pages.iter().map(|(at, page)| (&**at, &**page)).collect();
    all.extend([
        ("shop.test/inner", inner),
        ("shop.test/sockets", SOCKETS_PAGE),
        ("shop.test/letters", LETTERS),
        ("shop.test/letters.woff2", "letters"),
        ("shop.test/sockets.js", SOCKETS_WORKER),
        ("shop.test/worker.js", worker),
        ("shop.test/events.stream", "data: hello\n\n"),
        ("shop.test/more.stream", "data: world\n\n"),
        ("elsewhere.test/open.stream", "data: elsewhere\n\n"),
        ("shop.test/body.endless", "hello"),
        ("shop.test/first.json", "first"),
        ("shop.test/poll.json", "poll"),
        ("shop.test/beacon.json", "{}"),
        ("shop.test/long.json", "long"),
    ]);
    let web = Web::serve(&all).await;
    let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
    let routes = Routes::all(Target::Site(Arc::new(Site::new("shop", web.address))));
    let gateway = Gateway::start(Config::new(ca.clone(), routes)).await.unwrap();
    (web, gateway, ca)
}

/// A browser in a frozen world behind the gateway.
async fn begin(gateway: &Gateway, ca: &CertificateAuthority) -> Session {
    let launch = Launch {
        determinism: Some(world()),
        pace: Pace::steady(Duration::from_secs(5)),
        in_flight: Some(gateway.in_flight()),
        ..Launch::new(gateway, ca.spki_sha256_base64())
    };
    Session::start(&launch).await.unwrap()
}

#[tokio::test]
async fn a_stream_that_begins_within_a_slice_changes_neither_the_time_nor_its_pace() {
    let (web, gateway, ca) = serve().await;
    let mut session = begin(&gateway, &ca).await;
    let mut slow = Vec::new();
    for (name, _, message, seconds) in PAGES {
        let mut first: Option<String> = None;
        for _ in 0..2 {
            // Answered only after a request that nobody sends.
            web.answer_in_order(&["/never.json", "/long.json"]);
            let began = Instant::now();
            session.act(&Action::Goto { url: format!("http://shop.test/{name}") }).await.unwrap();
            let settled = session.settle(&gateway.in_flight(), SETTLE).await.unwrap();
            let (took, text) = (began.elapsed(), session.page_text().await.unwrap());
            println!("{name} {took:?} {:?} {text}", settled.page_time);
            assert!(
                text.contains(message) && text.contains("poll 12") && text.contains("late"),
                "{name}: {text}"
            );
            assert_eq!(first.get_or_insert_with(|| text.clone()), &text, "{name}");
            if took > Duration::from_secs(seconds) {
                slow.push(format!("{name} took {took:?}"));
            }
            session.reset(Some(world())).await.unwrap();
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_socket_is_refused_at_the_instant_at_which_it_was_asked_for() {
    let (_web, gateway, ca) = serve().await;
    let mut session = begin(&gateway, &ca).await;
    session.act(&Action::Goto { url: "http://shop.test/sockets".to_owned() }).await.unwrap();
    session.settle(&gateway.in_flight(), SETTLE).await.unwrap();
    let text = session.page_text().await.unwrap();
    assert_eq!(
        text.trim(),
        "1 refused; 2 refused; 3 refused; 4 refused; refused in the worker;",
        "what is not refused at once is refused later"
    );
    session.close().await.unwrap();
}

#[tokio::test]
async fn what_a_look_has_a_page_ask_for_has_come_when_it_is_over() {
    let (web, gateway, ca) = serve().await;
    let mut session = begin(&gateway, &ca).await;
    session.act(&Action::Goto { url: "http://shop.test/letters".to_owned() }).await.unwrap();
    session.settle(&gateway.in_flight(), SETTLE).await.unwrap();
    let font_requests =
        || web.requests().iter().filter(|line| line.ends_with("/letters.woff2")).count();
    assert_eq!(font_requests(), 0, "it is out of sight");
    session.observe().await.unwrap();
    assert_eq!((font_requests(), gateway.in_flight().counts().requests), (1, 0));
    session.close().await.unwrap();
}
