//! Observing pages and acting on them, in one browser.

use std::time::{Duration, Instant};

use actions::Action;
use browser::{ActionError, Determinism, Launch, ObservationOptions, Pace, Session, TreeText};
use in_flight::InFlight;

const SHOP: &str = r##"<!doctype html><title>Shop</title>
<h1>It's a "shop"</h1>
<nav><a href="/about">About us</a> <a href="/about" target="_blank">In a new tab</a></nav>
<form action="/found"><label>Search <input name="q" value="old"></label>
<label>Size <select name="size"><option value="s">Small</option><option value="l">Large</option></select></label>
<label><input type="checkbox" name="gift"> Gift</label> <input type="date" name="day" aria-label="Day">
<button>Find</button></form>
<button disabled>Sold out</button>
<p id="said">nothing</p>
<button id="late" onclick="setTimeout(() => said.textContent = 'three seconds later', 3000)">Later</button>
<button onclick="said.textContent = confirm('sure?')">Ask</button>
<style>.star::before { content: '*'; display: block }</style>
<button class="star" aria-label="Star" onclick="said.textContent = 'from the star'"></button>
<div style="position:relative"><button>Below</button><div id="veil" style="position:absolute;inset:0;background:#fff"></div></div>
<iframe src="http://frame.test/" title="framed"></iframe>
<div style="height:2000px"></div><button onclick="said.textContent = 'reached the end'">Far down</button>
<div id="host"></div><script>
host.attachShadow({mode: 'open'}).innerHTML = '<button onclick="said.textContent = `in the shadow`">Shadow</button>';
addEventListener('message', e => said.textContent = e.data);
addEventListener('keydown', e => { if (e.key === 'k') said.textContent = `${e.key} ${e.code} ${e.ctrlKey}`; });
</script>"##;

async fn shop() -> (crate::web::Web, Session) {
    let web = crate::web::Web::serve(&[
        ("shop.test/", SHOP),
        ("shop.test/found", "<title>Found</title><h1>Found</h1><p id=q></p><script>q.textContent = location.search</script>"),
        ("shop.test/about", "<title>About</title><h1>About us</h1>"),
        ("frame.test/", "<button onclick=\"parent.postMessage('from the frame', '*')\">Inside</button><iframe srcdoc='<b>deep</b><button>Deeper</button>'></iframe>"),
    ])
    .await;
    let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
    let launch = Launch {
        determinism: Some(world),
        pace: Pace::steady(Duration::from_secs(5)),
        ..Launch::new(web.address, "")
    };
    let mut session = Session::start(&launch).await.unwrap();
    go(&mut session, "http://shop.test/").await;
    (web, session)
}

async fn go(session: &mut Session, url: &str) {
    session.act(&Action::Goto { url: url.to_owned() }).await.unwrap();
    settle(session).await;
}

async fn settle(session: &mut Session) {
    session.settle(&InFlight::default(), Duration::from_secs(20)).await.unwrap();
}

async fn bid(session: &mut Session, role: &str, name: &str) -> String {
    let seen = session.observe().await.unwrap();
    seen.find(role, name).unwrap_or_else(|| panic!("{role} {name} in\n{}", seen.axtree)).bid.clone()
}

async fn said(session: &mut Session) -> String {
    let text = session.page_text().await.unwrap();
    text.lines()
        .find(|line| {
            ["nothing", "three", "false", "reached", "in the", "from", "k "]
                .iter()
                .any(|start| line.starts_with(start))
        })
        .unwrap_or_default()
        .to_owned()
}

#[tokio::test]
async fn a_page_is_seen_and_used_as_by_a_person() {
    let (_web, mut session) = shop().await;
    let seen = session.observe().await.unwrap();
    assert_eq!((seen.url.as_str(), seen.title.as_str()), ("http://shop.test/", "Shop"));
    insta::assert_snapshot!(seen.axtree);
    assert_eq!(seen, session.observe().await.unwrap(), "looking changes nothing");

    // A form.
    let search = bid(&mut session, "textbox", "Search").await;
    session
        .act(&Action::Fill {
            bid: search.clone(),
            value: "naïve \"tea\"".to_owned(),
            by_keys: false,
        })
        .await
        .unwrap();
    assert_eq!(session.action_target().unwrap().value, "naïve \"tea\"");
    assert_eq!(session.observe().await.unwrap().focused, Some(search));
    let size = bid(&mut session, "combobox", "Size").await;
    session
        .act(&Action::Select { bid: size.clone(), options: vec!["Large".to_owned()] })
        .await
        .unwrap();
    let none = session
        .act(&Action::Select { bid: size, options: vec!["Huge".to_owned()] })
        .await
        .unwrap_err();
    assert!(
        none.to_string().contains("there is no option \"Huge\"; there are \"Small\", \"Large\""),
        "{none}"
    );
    let day = bid(&mut session, "Date", "Day").await;
    session
        .act(&Action::Fill { bid: day.clone(), value: "2026-03-08".to_owned(), by_keys: false })
        .await
        .unwrap();
    assert!(
        session
            .act(&Action::Fill { bid: day, value: "soon".to_owned(), by_keys: false })
            .await
            .is_err()
    );
    let gift = bid(&mut session, "checkbox", "Gift").await;
    session.act(&Action::click(gift.clone())).await.unwrap();
    let action_target = session.action_target().unwrap();
    assert_eq!(action_target.page_url, "http://shop.test/");
    assert!(
        action_target.element_html.starts_with("<input type=\"checkbox\""),
        "{}",
        action_target.element_html
    );
    assert_eq!(action_target.selector, "html > body > form > label:nth-of-type(3) > input");
    let [left, top, width, height] = action_target.bbox.unwrap();
    assert!(
        left >= 0.0 && top >= 0.0 && (8.0..40.0).contains(&width) && (8.0..40.0).contains(&height)
    );
    assert!(action_target.scroll_offset[1].abs() < 0.5, "{:?}", action_target.scroll_offset);
    settle(&mut session).await;
    let find = bid(&mut session, "button", "Find").await;
    session.act(&Action::click(find)).await.unwrap();
    settle(&mut session).await;
    let seen = session.observe().await.unwrap();
    assert_eq!(
        seen.url,
        "http://shop.test/found?q=na%C3%AFve+%22tea%22&size=l&gift=on&day=2026-03-08"
    );
    assert_eq!(seen.title, "Found");

    // The element has gone.
    assert!(matches!(session.act(&Action::click(gift)).await, Err(ActionError::NotFound { .. })));
    assert!(
        session
            .observe()
            .await
            .unwrap()
            .last_action_error
            .unwrap()
            .starts_with("failed to find element ")
    );

    // Going back, and keys.
    session.act(&Action::GoBack).await.unwrap();
    settle(&mut session).await;
    assert_eq!(session.observe().await.unwrap().title, "Shop");
    assert!(matches!(
        session.act(&Action::GoBack).await,
        Err(ActionError::NoHistory { forward: false })
    ));
    let search = bid(&mut session, "textbox", "Search").await;
    session
        .act(&Action::Press { bid: search.clone(), keys: "Control+k".to_owned() })
        .await
        .unwrap();
    settle(&mut session).await;
    assert_eq!(said(&mut session).await, "k KeyK true");
    session
        .act(&Action::Fill { bid: search.clone(), value: "tea".to_owned(), by_keys: false })
        .await
        .unwrap();
    session.act(&Action::Press { bid: search, keys: "Enter".to_owned() }).await.unwrap();
    settle(&mut session).await;
    assert_eq!(
        session.url().await.unwrap(),
        "http://shop.test/found?q=tea&size=l&gift=on&day=2026-03-08",
        "the form is as it was left"
    );
    session.close().await.unwrap();
}

#[tokio::test]
async fn where_an_element_lay_is_told_as_the_picture_shows_it() {
    let (_web, mut session) = shop().await;
    let far = bid(&mut session, "button", "Far down").await;
    session.act(&Action::click(far)).await.unwrap();
    let action_target = session.action_target().unwrap();
    assert!(
        action_target.bbox.unwrap()[1] > 2000.0,
        "it lay below the picture: {:?}",
        action_target.bbox
    );
    assert!(
        action_target.scroll_offset[1].abs() < 0.5,
        "and the page was at its beginning: {:?}",
        action_target.scroll_offset
    );
    settle(&mut session).await;

    // In a frame of a page that is scrolled.
    let inside = bid(&mut session, "button", "Inside").await;
    let frame = "(() => { const at = document.querySelector('iframe').getBoundingClientRect(); return [at.x, at.y, scrollY]; })()";
    let frame: [f64; 3] = serde_json::from_value(session.evaluate(frame).await.unwrap()).unwrap();
    session.act(&Action::click(inside)).await.unwrap();
    let action_target = session.action_target().unwrap();
    let [left, top, width, height] = action_target.bbox.unwrap();
    assert!(width > 20.0 && height > 10.0);
    assert!(
        (frame[0]..frame[0] + 20.0).contains(&left) && (frame[1]..frame[1] + 20.0).contains(&top)
    );
    assert!(
        frame[2] > 100.0 && (action_target.scroll_offset[1] - frame[2]).abs() < 1.0,
        "{:?} {frame:?}",
        action_target.scroll_offset
    );

    session.act(&Action::GoBack).await.unwrap_err();
    assert!(session.action_target().is_none());
}

#[tokio::test]
async fn buttons_work_wherever_they_are_and_a_covered_one_is_refused() {
    let (_web, mut session) = shop().await;
    for (name, expected) in [
        ("Far down", "reached the end"),
        ("Shadow", "in the shadow"),
        ("Inside", "from the frame"),
        ("Ask", "false"),
        ("Star", "from the star"),
        ("Later", "three seconds later"),
    ] {
        let bid = bid(&mut session, "button", name).await;
        let started = Instant::now();
        session.act(&Action::click(bid)).await.unwrap();
        settle(&mut session).await;
        println!("{name}: clicked and settled in {:?}", started.elapsed());
        assert_eq!(said(&mut session).await, expected, "{name}");
    }
    let below = bid(&mut session, "button", "Below").await;
    let error = session.act(&Action::click(below.clone())).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("reach element {below}: <div id=\"veil\"> is in front of it")
    );
    session.act(&Action::Scroll { at: None, dx: 0.0, dy: 500.0 }).await.unwrap();
    settle(&mut session).await;
    session.act(&Action::Scroll { at: None, dx: 0.0, dy: -5000.0 }).await.unwrap();

    // A link opens a new tab, which becomes the active one.
    let link = bid(&mut session, "link", "In a new tab").await;
    session.act(&Action::click(link)).await.unwrap();
    settle(&mut session).await;
    let seen = session.observe().await.unwrap();
    assert_eq!(seen.title, "About");
    assert_eq!(
        seen.tabs.iter().map(|tab| tab.url.as_str()).collect::<Vec<_>>(),
        ["http://shop.test/", "http://shop.test/about"]
    );
    assert!(session.screenshot().await.unwrap().starts_with(b"\x89PNG"));
    session.close().await.unwrap();
}

const WATCHED: &str = r##"<!doctype html><title>Watched</title>
<p id="said">nothing</p><p aria-description="its own">described</p>
<my-switch role="switch" tabindex="0" aria-checked="false" onclick="said.textContent = 'switched'">Light</my-switch>
<div id="host"></div><div contenteditable aria-label="Note"></div>
<iframe sandbox srcdoc="<a href='#'>Scriptless</a>"></iframe>
<script>
host.attachShadow({mode: 'closed'}).innerHTML = '<button id="in" onclick="document.getElementById(`said`).textContent = `in the dark`">Closed</button>';
let heard = 0;
new MutationObserver(records => { heard += records.length; document.title = `Heard ${heard}`; })
    .observe(document.body, { subtree: true, attributes: true, childList: true });
</script>"##;

#[tokio::test]
async fn marks_come_and_go_unnoticed_and_reach_what_scripts_cannot() {
    let web = crate::web::Web::serve(&[("watched.test/", WATCHED)]).await;
    let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
    let launch = Launch {
        determinism: Some(world),
        pace: Pace::steady(Duration::from_secs(5)),
        ..Launch::new(web.address, "")
    };
    let mut session = Session::start(&launch).await.unwrap();
    go(&mut session, "http://watched.test/").await;

    let first = session.observe().await.unwrap();
    let second = session.observe().await.unwrap();
    assert_eq!(first, second, "an element keeps its bid");
    assert_eq!(first.title, "Watched", "the page's observer was told of the marks");
    // A custom element, and one in a closed shadow root: they have numbers of their own.
    for (role, name, said, bid) in
        [("switch", "Light", "switched", "01"), ("button", "Closed", "in the dark", "02")]
    {
        let element =
            first.find(role, name).unwrap_or_else(|| panic!("{name} in\n{}", first.axtree));
        assert_eq!(element.bid, bid);
        session.act(&Action::click(bid)).await.unwrap();
        let html = &session.action_target().unwrap().page_html;
        assert!(!html.contains("bid=") && html.contains("aria-description=\"its own\""), "{html}");
        settle(&mut session).await;
        let seen = session.observe().await.unwrap();
        assert!(seen.axtree.contains(said), "{}", seen.axtree);
        assert!(seen.title.starts_with("Heard"), "the page's observer hears of its own changes");
    }
    let link = first.find("link", "Scriptless").unwrap();
    assert!(link.bid.starts_with('a'), "{}", link.bid);
}

#[tokio::test]
async fn elements_are_measured_when_asked_for() {
    let (_web, mut session) = shop().await;
    let axtree = TreeText { with_visible: true, with_clickable: true, ..TreeText::default() };
    let seen = session
        .observe_with(&ObservationOptions {
            axtree: Some(axtree),
            properties: true,
            ..ObservationOptions::default()
        })
        .await
        .unwrap();
    let of = |role: &str, name: &str| {
        let bid = &seen.find(role, name).unwrap().bid;
        let (_, known) = seen.properties.iter().find(|(known, _)| known == bid).unwrap();
        (known, seen.axtree.lines().find(|line| line.contains(&format!("[{bid}]"))).unwrap())
    };
    let (later, line) = of("button", "Later");
    assert!(later.is_visible() && later.clickable && later.set_of_marks, "{later:?}");
    assert!(line.ends_with("button 'Later', clickable, visible"), "{line}");
    assert!(
        later.bbox.is_some_and(|[.., width, height]| width > 20.0 && height > 10.0),
        "{later:?}"
    );
    let (far, line) = of("button", "Far down");
    assert!(!far.is_visible() && far.bbox.is_some_and(|[_, top, ..]| top > 720.0), "{far:?}");
    assert!(line.ends_with("button 'Far down', clickable"), "{line}");
}

#[tokio::test]
async fn raw_trees_are_the_same_in_every_browser() {
    let options =
        ObservationOptions { axtree_object: true, dom: true, ..ObservationOptions::default() };
    let mut seen = Vec::new();
    for _ in 0..2 {
        let (_web, mut session) = shop().await;
        let observation = session.observe_with(&options).await.unwrap();
        seen.push((observation.dom.unwrap(), observation.axtree_object.unwrap()));
        session.close().await.unwrap();
    }
    assert_eq!(seen[0], seen[1]);
}
