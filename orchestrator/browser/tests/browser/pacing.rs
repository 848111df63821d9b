//! How much of its own time a page gets in a step, and what is due meanwhile.

use std::time::Duration;

use actions::Action;
use browser::{Determinism, Launch, Observation, Pace, Session};
use in_flight::InFlight;

use crate::web::Web;

/// Prints what happens, with the page's time.
const PUT: &str = "<pre id=out></pre><script>const begin = Date.now(), all = [];
    const put = what => { all.push(`${what}@${Date.now() - begin}`); out.textContent = all.join(' '); };</script>";

struct Player {
    _web: Web,
    session: Session,
}

impl Player {
    async fn open(pace: Pace, page: &str, others: &[(&str, &str)]) -> Player {
        let page = format!("<!doctype html>{PUT}{page}");
        let web = Web::serve(&[&[("pace.test/", &*page)], others].concat()).await;
        let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
        let launch = Launch { determinism: Some(world), pace, ..Launch::new(web.address, "") };
        let mut player = Player { session: Session::start(&launch).await.unwrap(), _web: web };
        player.act("goto('http://pace.test/')").await;
        player
    }

    /// Carries out an action, and looks at the page when it is done.
    async fn act(&mut self, action: &str) -> Observation {
        self.session.act(&action.parse::<Action>().unwrap()).await.unwrap();
        self.session.settle(&InFlight::default(), Duration::from_secs(60)).await.unwrap();
        self.session.observe().await.unwrap()
    }

    async fn text(&mut self) -> String {
        self.session.page_text().await.unwrap()
    }
}

#[tokio::test]
async fn a_page_is_looked_at_when_it_is_done() {
    for (page, expected) in [
        // Timers are not waited for.
        ("<script>setTimeout(() => put('late'), 3000)</script>", 500),
        ("<script>setTimeout(() => put('soon'), 400)</script>", 1000),
        // Nor is what never ends.
        ("<style>@keyframes a { to { opacity: 0 } } pre { animation: a 1s infinite }</style>", 500),
        ("<style>@keyframes a { to { opacity: 0 } } pre { animation: a 1.7s }</style>", 2000),
        ("<script>setInterval(() => put('again'), 200)</script>", 5000),
        (
            "<script>(function next(n) { if (n) setTimeout(() => { put(n); next(n - 1) }, 150) })(8)</script>",
            3000,
        ),
    ] {
        let mut player = Player::open(Pace::default(), page, &[]).await;
        let seen = player.session.observe().await.unwrap();
        assert_eq!(seen.elapsed_ms, expected, "{page}");
        assert_eq!(player.act("noop(1500)").await.elapsed_ms % 500, 0, "{page}");
        player.session.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_suite_has_the_pace_that_it_wants() {
    let page = "<script>setTimeout(() => put('late'), 3000)</script>";
    for (least, expected) in [(200, 200), (2000, 2000), (5000, 5000)] {
        let pace = Pace::steady(Duration::from_millis(least));
        let mut player = Player::open(pace, page, &[]).await;
        assert_eq!(player.session.observe().await.unwrap().elapsed_ms, expected);
        assert_eq!(player.text().await, if least == 5000 { "late@3000" } else { "" });
        player.session.close().await.unwrap();
    }
}

#[tokio::test]
async fn what_comes_and_goes_within_a_step_is_noticed() {
    let page = "<div id=live aria-live=polite></div><ul id=list><li>one</li></ul>
        <button id=toast onclick=\"const d = document.createElement('div'); d.setAttribute('role', 'alert'); d.textContent = 'Out of stock';
            document.body.append(d); setTimeout(() => d.remove(), 300)\">Toast</button>
        <button id=stays onclick=\"const d = document.createElement('div'); d.setAttribute('role', 'status'); d.textContent = 'Saved';
            document.body.append(d); setTimeout(() => d.remove(), 3000)\">Stays</button>
        <button id=says onclick=\"live.textContent = 'Three  results'; setTimeout(() => live.textContent = '', 100)\">Says</button>
        <button id=again onclick=\"list.innerHTML = '<li>one</li>'; setTimeout(() => list.innerHTML = '<li>one</li>', 50)\">Again</button>";
    let mut player = Player::open(Pace::default(), page, &[]).await;
    let none: [&str; 0] = [];
    assert_eq!(player.act("noop()").await.notices, none);
    assert_eq!(player.act("click('css=#toast')").await.notices, ["alert: Out of stock"]);
    assert_eq!(
        player.session.observe().await.unwrap().notices,
        ["alert: Out of stock"],
        "looking is no step"
    );
    let seen = player.act("click('css=#stays')").await;
    assert!(seen.notices.is_empty() && seen.axtree.contains("Saved"), "{seen:?}");
    assert_eq!(player.act("noop(4000)").await.notices, none, "it was seen");
    assert_eq!(player.act("click('css=#says')").await.notices, ["status: Three results"]);
    assert_eq!(player.act("click('css=#again')").await.notices, none, "it is there again");
    player.session.close().await.unwrap();
}

#[tokio::test]
async fn what_happens_in_a_frame_counts_as_in_its_page() {
    let inner = "<p>Inside</p><script>onclick = () => {
            const toast = document.createElement('p');
            toast.innerHTML = '<b role=alert>Saved inside</b>';
            setTimeout(() => document.body.append(toast), 300);
            setTimeout(() => toast.remove(), 900);
        };</script>";
    let page = "<iframe src=/inner></iframe>
        <button id=press onclick='frames[0].frames[0].document.body.click()'>Press</button>";
    let others =
        [("pace.test/inner", "<iframe src=/innermost></iframe>"), ("pace.test/innermost", inner)];
    let mut player = Player::open(Pace::default(), page, &others).await;
    let before = player.act("noop()").await.elapsed_ms;
    let seen = player.act("click('css=#press')").await;
    assert_eq!(
        seen.notices,
        ["alert: Saved inside"],
        "{} {}",
        seen.axtree,
        seen.elapsed_ms - before
    );
    assert_eq!(seen.elapsed_ms - before, 2000, "as long as it changes");
    player.session.close().await.unwrap();
}

/// A page may not look into such a frame, so that each of them is asked.
#[tokio::test]
async fn what_happens_in_a_frame_of_another_site_counts_as_in_its_page() {
    let inner = "<p>Inside</p><script>onmessage = () => {
            const toast = document.createElement('p');
            toast.innerHTML = '<b role=alert>Saved elsewhere</b>';
            setTimeout(() => document.body.append(toast), 300);
            setTimeout(() => toast.remove(), 900);
        };</script>";
    let page = "<iframe src=http://other.test/frame></iframe>
        <button id=press onclick='frames[0].frames[0].postMessage(1, `*`)'>Press</button>";
    let others =
        [("other.test/frame", "<iframe src=/inner></iframe>"), ("other.test/inner", inner)];
    let mut player = Player::open(Pace::default(), page, &others).await;
    let before = player.act("noop()").await.elapsed_ms;
    let seen = player.act("click('css=#press')").await;
    assert_eq!(seen.notices, ["alert: Saved elsewhere"]);
    assert_eq!(seen.elapsed_ms - before, 2000, "as long as it changes");
    player.session.close().await.unwrap();
}

/// Each request moves the page's clock by 10 ms, and overlapping ones together.
#[tokio::test]
async fn requests_at_the_end_of_a_step_do_not_move_it_off_the_schedule() {
    let page = "<script>
        const ask = async (left) => { while (left--) await fetch('/answer'); put('asked'); };
        setTimeout(() => ask(25), 480);</script>";
    for pace in [Pace::default(), Pace::steady(Duration::from_millis(500))] {
        let mut player = Player::open(pace, page, &[("pace.test/answer", "yes")]).await;
        let first = player.session.observe().await.unwrap().elapsed_ms;
        assert_eq!(first % 500, 0, "{}", player.text().await);
        assert_eq!(player.act("noop()").await.elapsed_ms % 500, 0);
        player.session.close().await.unwrap();
    }
}

/// Timers of workers, and answers to what the page asks in the midst of a slice, come before the
/// page's later timers. So does what an animation does.
#[tokio::test]
async fn workers_and_animations_have_the_pages_time() {
    let worker = "onmessage = ({ data }) => { const now = Date.now(); setTimeout(() => postMessage([data, now]), 200); };
        setTimeout(() => postMessage(['begin', Date.now()]), 700)";
    let page = "<script>const worker = new Worker('/worker.js');
        worker.onmessage = ({ data: [what, now] }) => put(`${what}/${now - begin}`);
        for (const time of [1250, 2500]) setTimeout(() => { put(`ask${time}`); worker.postMessage(`answer${time}`) }, time);
        setTimeout(() => put('timer'), 1600);
        out.animate([{ opacity: 1 }, { opacity: 0 }], { duration: 700, iterations: 2, delay: 50 }).onfinish = () => put('end');
        for (const time of [1400, 1550]) setTimeout(() => put('tick'), time);</script>";
    for pace in [Pace::default(), Pace::steady(Duration::from_secs(5))] {
        let mut player = Player::open(pace, page, &[("pace.test/worker.js", worker)]).await;
        player.act("noop(3000)").await;
        let text = player.text().await;
        let expected = "begin/700@700 ask1250@1200 tick@1400 answer1250/1200@1400 end@1500 tick@1500 timer@1600 ask2500@2500 answer2500/2500@2700";
        assert_eq!(text, expected);
        player.session.close().await.unwrap();
    }
}
