//! When pages are done, and that no page makes us wait for ever.

use std::time::{Duration, Instant};

use actions::Action;
use browser::{Determinism, Error, Launch, Pace, Session};
use in_flight::InFlight;

const PATIENCE: Duration = Duration::from_secs(20);

async fn visit(session: &mut Session, url: &str) -> Result<(Duration, String), Error> {
    session.act(&Action::Goto { url: url.to_owned() }).await.unwrap();
    let settled = session.settle(&InFlight::default(), PATIENCE).await?;
    Ok((settled.real_time, session.page_text().await?))
}

#[tokio::test]
async fn every_page_comes_to_rest() {
    let web = crate::web::Web::serve(&[
        ("timer.test/", "<p id=p>waiting</p><script>setTimeout(() => p.textContent = 'done', 3000)</script>"),
        ("busy.test/", "<p id=p></p><script>const t = performance.now(); while (performance.now() - t < 50); p.textContent = 'done'</script>"),
        ("redirect.test/", "<script>setTimeout(() => location.href = 'http://timer.test/', 4000)</script>"),
        ("stream.test/", "<p id=p></p><script>new EventSource('/events.stream').onmessage = e => p.textContent = e.data;
            fetch('/endless.stream').then(r => r.body.getReader().read()).then(() => setTimeout(() => p.textContent += ' done', 3000))</script>"),
        ("stream.test/events.stream", "data: hello\n\n"),
        ("stream.test/endless.stream", "data: hello\n\n"),
        ("polling.test/", "<p id=p></p><script>let n = 0; const poll = () => fetch('/poll.json').then(() => { n++; setTimeout(poll, 500); }); poll();
            setTimeout(() => p.textContent = n, 4900)</script>"),
        ("polling.test/poll.json", "{}"),
        ("moving.test/", "<style>@keyframes a { to { margin-left: 100px } } p { animation: a 1s infinite } b { transition: opacity 2s }</style><p>moving</p><b id=b>b</b>
            <script>let n = 0; (function f() { n++; requestAnimationFrame(f) })(); b.ontransitionend = () => b.textContent = 'faded'; setTimeout(() => b.style.opacity = 0, 100);
            setTimeout(() => document.title = n, 1000)</script>"),
        ("popup.test/", "<p id=p></p><script>window.open('http://timer.test/'); window.open('http://timer.test/', '_blank', 'noopener'); alert('hello'); p.textContent = prompt('name?')</script>"),
        ("lazy.test/", "<div id=d></div><i id=i style='display:block;height:10px'></i><script>let n = 0;
            new IntersectionObserver(e => { if (e[0].isIntersecting && n < 5) fetch('/more.json').then(() => d.insertAdjacentHTML('beforeend', `<p style='height:500px'>${++n}</p>`)) }).observe(i);</script>"),
        ("lazy.test/more.json", "{}"),
        ("undated.test/", "<p id=p></p><script>const first = document.lastModified;
            setTimeout(() => p.textContent = first === document.lastModified, 2500)</script>"),
        ("hang.test/", "<script>setTimeout(() => { for (;;); }, 100)</script>"),
    ])
    .await;
    let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
    let launch = Launch {
        determinism: Some(world),
        pace: Pace::steady(Duration::from_secs(5)),
        ..Launch::new(web.address, "")
    };
    let mut session = Session::start(&launch).await.unwrap();
    for (url, expected) in [
        ("http://timer.test/", "done"),
        ("http://busy.test/", "done"),
        ("http://redirect.test/", "done"),
        ("http://stream.test/", "hello done"),
        ("http://polling.test/", "10"),
        ("http://moving.test/", "moving\n\nfaded"),
        ("http://lazy.test/", "1"),
        ("http://undated.test/", "true"),
        ("http://popup.test/", "done"),
    ] {
        let (took, text) = visit(&mut session, url).await.unwrap();
        println!("{url} {took:?} {text:?}");
        assert_eq!(text, expected, "{url}");
        let started = Instant::now();
        session.reset(Some(world)).await.unwrap();
        println!("reset in {:?}", started.elapsed());
    }

    session.act(&Action::Goto { url: "http://hang.test/".to_owned() }).await.unwrap();
    let error = session.settle(&InFlight::default(), Duration::from_secs(2)).await.unwrap_err();
    assert!(error.to_string().starts_with("wait for the page to "), "{error}");
    let started = Instant::now();
    session.reset(Some(world)).await.unwrap();
    println!("reset of a hanging page in {:?}", started.elapsed());
    assert!(started.elapsed() < PATIENCE);
    assert_eq!(visit(&mut session, "http://timer.test/").await.unwrap().1, "done");
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_live_browser_settles_by_the_network_and_scrolls_to_the_end() {
    let web = crate::web::Web::serve(&[
        ("live.test/", "<title>Live</title><a href='/a#x'>a</a><a href='/a'>again</a><a href='http://else.test/b?c'>b</a><a href='mailto:x@y'>mail</a>
            <div style='height:3000px'></div><p id=p>top</p><script>let n = 0;
            new IntersectionObserver(e => { if (e[0].isIntersecting) fetch('/more.json').then(() => p.textContent = 'end ' + (Date.now() > 1.7e12)) }).observe(p);</script>"),
        ("live.test/more.json", "{}"),
    ])
    .await;
    let mut session = Session::start(&Launch::new(web.address, "")).await.unwrap();
    let (took, text) = visit(&mut session, "http://live.test/").await.unwrap();
    println!("live {took:?}");
    assert!(text.ends_with("top"), "{text}");
    session.scroll_to_end(&InFlight::default(), PATIENCE).await.unwrap();
    assert!(session.page_text().await.unwrap().ends_with("end true"));
    let links = session.survey().await.unwrap().links;
    let links: Vec<&str> = links.iter().map(|link| link.url.as_str()).collect();
    assert_eq!(links, ["http://live.test/a", "http://else.test/b?c"]);
    assert_eq!(session.title().await.unwrap(), "Live");
    session.close().await.unwrap();
}

/// Each request moves a page's clock, and how many of them overlap depends on the machine.
#[tokio::test]
async fn the_time_after_each_step_does_not_depend_on_the_requests_before() {
    const CHAIN: &str = "<button>More</button><script>
        const chain = async n => { for (let i = 0; i < n; i++) await fetch('/next.json?' + i); };
        const together = n => { for (let i = 0; i < n; i++) fetch('/next.json?' + i); };
        document.querySelector('button').onclick = () => chain(12);</script>";
    let page = |script: &str| format!("{CHAIN}<script>{script}</script>");
    let (chain, late, together) = (
        page("chain(40)"),
        page("let n = 0; setInterval(() => ++n < 9 && chain(7), 480)"),
        page("together(40); setTimeout(() => together(40), 1500)"),
    );
    let web = crate::web::Web::serve(&[
        ("none.test/", CHAIN),
        ("chain.test/", &chain),
        ("late.test/", &late),
        ("together.test/", &together),
        ("chain.test/next.json", "{}"),
        ("late.test/next.json", "{}"),
        ("none.test/next.json", "{}"),
        ("together.test/next.json", "{}"),
    ])
    .await;
    let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
    let launch = Launch {
        determinism: Some(world),
        pace: Pace::steady(Duration::from_secs(5)),
        ..Launch::new(web.address, "")
    };
    let mut session = Session::start(&launch).await.unwrap();
    for url in
        ["http://none.test/", "http://chain.test/", "http://late.test/", "http://together.test/"]
    {
        visit(&mut session, url).await.unwrap();
        let mut times = vec![session.observe().await.unwrap().elapsed_ms];
        for _ in 0..3 {
            for key in ["Tab", "Enter"] {
                session.act(&Action::KeyPress(key.to_owned())).await.unwrap();
            }
            session.settle(&InFlight::default(), PATIENCE).await.unwrap();
            times.push(session.observe().await.unwrap().elapsed_ms);
        }
        assert_eq!(times, [5000, 10_000, 15_000, 20_000], "{url}");
        session.reset(Some(world)).await.unwrap();
    }
    session.close().await.unwrap();
}
