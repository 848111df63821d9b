//! The order of what happens in a page, a line an event.

use std::time::Duration;

use actions::Action;
use browser::{Determinism, Launch, Session};
use in_flight::InFlight;

use crate::web::Web;

const PAGE: &str = "<!doctype html><title>Order</title><p id=out>begin</p><button>more</button>
    <script src=app.js></script>";
const APP: &str = "const out = document.getElementById('out');
    setTimeout(function late() { out.textContent = 'late'; console.log('said', 7, {}); }, 120);
    requestAnimationFrame(() => out.classList.add('drawn'));
    fetch('/data').then((response) => response.text()).then((text) => out.append(text));
    document.querySelector('button').onclick = function pressed() { out.firstChild.remove(); };
    new Worker('worker.js').onmessage = function told({ data }) { out.dataset.told = data; };";

async fn orders() -> [Vec<String>; 2] {
    let web = Web::serve(&[
        ("order.test/", PAGE),
        ("order.test/app.js", APP),
        ("order.test/data", ", data"),
        ("order.test/worker.js", "setTimeout(() => postMessage('it'), 5)"),
    ])
    .await;
    let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
    let launch =
        Launch { determinism: Some(world), keeps_order: true, ..Launch::new(web.address, "") };
    let mut session = Session::start(&launch).await.unwrap();
    let mut orders = [Vec::new(), Vec::new()];
    for (action, order) in
        ["goto('http://order.test/')", "mouse_click(30, 60)"].iter().zip(&mut orders)
    {
        session.act(&action.parse::<Action>().unwrap()).await.unwrap();
        session.settle(&InFlight::default(), Duration::from_secs(60)).await.unwrap();
        session.observe().await.unwrap();
        *order = session.take_order().await.unwrap();
    }
    session.close().await.unwrap();
    orders
}

/// The number of the first line from `start` on that ends with this.
fn find(order: &[String], start: usize, end: &str) -> usize {
    let at = order[start..].iter().position(|line| line.ends_with(end));
    start + at.unwrap_or_else(|| panic!("no {end:?} from line {start} on in\n{}", order.join("\n")))
}

#[tokio::test]
async fn the_order_of_what_happens_is_told_and_repeats() {
    let [opened, clicked] = orders().await;
    let mut at = 0;
    for expected in [
        "  0.0  page       response 200 http://order.test/",
        "  0.0  page       document http://order.test/",
        "request http://order.test/app.js",
        "loaded http://order.test/app.js",
        "  page       script http://order.test/app.js:1",
        "request http://order.test/data",
        "event load",
        "  page       response 200 http://order.test/data",
        "  page       \", data\" comes into <p#out>",
        // Animation frames are timers here.
        "  page       timer 17",
        "  page       <p#out> class \"drawn\"",
        "  page       function told http://order.test/app.js:6:54",
        "  page       <p#out> data-told \"it\"",
        "  page       timer 120",
        "  page       console log said 7",
        "  page       \"late\" comes into <p#out>",
        "  worker 1   script http://order.test/worker.js:1",
        "  worker 1   message sent",
    ] {
        at = find(&opened, at, expected) + 1;
    }
    let pressed = find(
        &clicked,
        find(&clicked, 0, "event click"),
        "function pressed http://order.test/app.js:5:64",
    );
    find(&clicked, pressed, "\"late\" leaves <p#out>");
    assert!(
        ![&opened, &clicked].into_iter().flatten().any(|line| line.contains("aria-description")),
        "a look of ours is no event of the page's"
    );
    assert_eq!(orders().await, [opened, clicked]);
}
