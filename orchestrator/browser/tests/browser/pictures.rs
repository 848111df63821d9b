//! Screenshots of pages that show in their titles which events they get.

use actions::Dialect;
use browser::{Marks, ObservationOptions, ScreenshotOptions};

use crate::bench::Bench;

const PAGE: &str = r##"<!doctype html><title>quiet</title>
<style>body { margin: 0 } h1 { position: sticky; top: 0; background: #ddd } @media (min-height: 1000px) { h1 { color: red } }</style>
<h1>Top</h1><iframe src="/inner" height="60"></iframe><div id="half" style="height: 50vh; background: #eee"></div>
<div style="height: 3000px; background: linear-gradient(red, blue)"><button style="margin-top: 40px">Press</button> <a href="/x">Go</a></div>
<p id="end">End</p><div style="width: 2000px">wide</div>
<script>
const say = (text) => { if (document.readyState === 'complete') document.title += ', ' + text; };
addEventListener('resize', () => say('resized'));
visualViewport.addEventListener('resize', () => say('resized'));
addEventListener('scroll', () => say('scrolled'));
matchMedia('(min-height: 1000px)').addEventListener('change', () => say('another height'));
new IntersectionObserver((seen) => seen[0].isIntersecting && say('at its end')).observe(end);
new ResizeObserver(() => say('laid out anew')).observe(half);
onmessage = (message) => say(message.data);
</script>"##;
const INNER: &str = "<p>Inner<script>addEventListener('resize', () => parent.postMessage('inner resized', '*'))</script>";

/// Width and height, from the file's header.
fn size(png: &[u8]) -> (u32, u32) {
    assert!(png.starts_with(b"\x89PNG"));
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (side(16), side(20))
}

#[tokio::test]
async fn all_of_a_page_is_drawn_and_it_does_not_notice() {
    let mut bench =
        Bench::open(Dialect::BrowserGym, &[("long.test/", PAGE), ("long.test/inner", INNER)]).await;
    bench.act("scroll(0, 300)").await;
    let before = (bench.title().await, bench.session.screenshot().await.unwrap());
    let whole = ScreenshotOptions { full_page: true, marks: None };
    let first = bench.session.picture(&whole).await.unwrap();
    let (width, height) = size(&first);
    assert_eq!(width, 2000);
    assert!((3400..4000).contains(&height), "{height}");
    assert!(bench.session.picture(&whole).await.unwrap() == first, "the picture repeats");
    assert!(bench.session.screenshot().await.unwrap() == before.1, "the page looks as before");
    bench.act("noop()").await;
    assert_eq!(bench.title().await, before.0);
    bench.act("keyboard_press('End')").await;
    assert!(bench.title().await.contains("at its end"), "its scripts run again");
    bench.session.close().await.unwrap();
}

/// Counts the drawn frames.
const FRAMES: &str = "<!doctype html><title>0</title><h1>Frames</h1>
    <script>requestAnimationFrame(function next() { ++document.title; requestAnimationFrame(next); })</script>";

#[tokio::test]
async fn a_picture_takes_the_same_number_of_frames_each_time() {
    let mut bench = Bench::open(Dialect::BrowserGym, &[("frames.test/", FRAMES)]).await;
    let mut counts = Vec::new();
    for _ in 0..20 {
        bench.session.screenshot().await.unwrap();
        counts.push(bench.title().await.parse::<u32>().unwrap());
    }
    let taken: Vec<_> = counts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(taken.iter().all(|&frames| frames == taken[0]), "{counts:?}");
    bench.session.close().await.unwrap();
}

#[tokio::test]
async fn ids_are_drawn_on_what_can_be_used() {
    let mut bench =
        Bench::open(Dialect::BrowserGym, &[("long.test/", PAGE), ("long.test/inner", INNER)]).await;
    bench.act("scroll(0, 30)").await;
    let plain = bench.session.screenshot().await.unwrap();
    let of = |full_page: bool, marks: Marks| ScreenshotOptions { full_page, marks: Some(marks) };
    let ours = bench.session.picture(&of(false, Marks::BrowserGym)).await.unwrap();
    let theirs = bench.session.picture(&of(false, Marks::VisualWebArena)).await.unwrap();
    assert_eq!((size(&ours), size(&theirs)), (size(&plain), size(&plain)));
    assert!(ours != plain && theirs != plain && ours != theirs, "one choice has the frame in it");
    let whole = bench.session.picture(&of(true, Marks::BrowserGym)).await.unwrap();
    assert_eq!(size(&whole).0, 2000);
    assert_eq!(bench.title().await, "quiet, scrolled");
    assert!(bench.session.screenshot().await.unwrap() == plain, "nothing is drawn in the page");
    bench.session.close().await.unwrap();
}

/// The browser draws nothing for a document without contents, so it would never answer.
#[tokio::test]
async fn a_document_without_contents_is_white() {
    let waiting =
        "<title>Waiting</title><script src='/script.endless'></script><h1>Never read</h1>";
    let pages = [
        ("empty.test/", "<h1>Full</h1>"),
        ("empty.test/waiting", waiting),
        ("empty.test/script.endless", ";"),
    ];
    let mut bench = Bench::open(Dialect::BrowserGym, &pages).await;
    bench.act("goto('http://empty.test/waiting')").await;
    for full_page in [false, true] {
        let png =
            bench.session.picture(&ScreenshotOptions { full_page, marks: None }).await.unwrap();
        let image = lodepng::decode24(&png).unwrap();
        assert_eq!((image.width, image.height), (1280, 720));
        assert!(image.buffer.iter().all(|pixel| (pixel.r, pixel.g, pixel.b) == (255, 255, 255)));
    }
    let actions = "mouse_click(100, 100); mouse_move(50, 60); scroll(0, 100); keyboard_press('Tab'); \
        mouse_drag_and_drop(10, 10, 60, 60); keyboard_type('text'); mouse_down(5, 5); mouse_up(9, 9)";
    for action in actions.split("; ") {
        bench.act(action).await;
    }
    bench.act("goto('http://empty.test/')").await;
    let marks = Some(Marks::BrowserGym);
    bench.session.picture(&ScreenshotOptions { full_page: true, marks }).await.unwrap();
    bench.session.close().await.unwrap();
}

/// Also in frames, with properties and without them.
#[tokio::test]
async fn every_look_knows_where_elements_in_view_are() {
    let page = r#"<!doctype html><style>body { margin: 7px } iframe { border: 3px solid; margin-left: 40px }</style>
        <button>Go</button> <a href="/x">Where <b>to</b></a><div style="height: 90px"></div>
        <iframe src="/inner" width="300" height="200"></iframe><p style="margin-top: 5000px">Far <button>below</button></p>"#;
    let inner = r#"<button style="margin: 11px">Inner</button><iframe srcdoc="<a href=/y>Deep</a>" width="120" height="60"></iframe>
        <button style="display: block; margin-top: 900px">Out of view</button>"#;
    let mut bench =
        Bench::open(Dialect::BrowserGym, &[("boxes.test/", page), ("boxes.test/inner", inner)])
            .await;
    let options = ObservationOptions { properties: true, ..ObservationOptions::default() };
    let measured = bench.session.observe_with(&options).await.unwrap().boxes;
    let seen = bench.session.observe().await.unwrap();
    assert_eq!(seen.boxes, measured);
    // Each document has its margins, and each frame its border.
    assert_eq!(seen.boxes["a3"][..2], [47 + 3 + 8 + 11, 118 + 3 + 8 + 11 + 38]);
    let named = |name: &str| seen.elements.iter().find(|element| element.name == name).unwrap();
    for name in ["Go", "Where to", "Inner", "Deep"] {
        assert!(seen.boxes.contains_key(&named(name).bid), "{name}: {:?}", seen.boxes);
    }
    for name in ["below", "Out of view"] {
        assert!(!seen.boxes.contains_key(&named(name).bid), "{name}: {:?}", seen.boxes);
    }
    bench.session.close().await.unwrap();
}
