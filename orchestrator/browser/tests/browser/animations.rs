//! Animations have the page's time, also where the page's time and real time have moved apart.
//! Every test runs in the headless shell and, through the last one, in Chromium.

use actions::Dialect;
use browser::CHROMIUM_VARIABLE;

use crate::bench::{Bench, LOG};

/// Logs everything that can be tested of animations, a line each. The page before it has let its
/// time run for a minute, which takes less than that.
const ANIMATED: &str = "<div id=box>box</div><div id=scroller style='height: 50px; overflow: scroll'><p style='height: 500px'>long</p></div>
<script>
const fade = [{ opacity: 0 }, { opacity: 1 }];
const at = () => Math.round(performance.now());
addEventListener('load', async () => {
    const playing = box.animate(fade, 1000);
    await playing.ready;
    say(`begins ${playing.startTime} at ${at()}, timeline ${document.timeline.currentTime}`);
    playing.onfinish = e => say(`ends ${e.currentTime} at ${e.timelineTime}, timeline ${document.timeline.currentTime}`);
    await playing.finished;
    await new Promise(done => setTimeout(done, 500));
    const joined = box.animate(fade, 1000);
    joined.startTime = document.timeline.currentTime - 300;
    say(`joined at ${joined.currentTime}: ${joined.playState}, begins ${document.timeline.currentTime - joined.startTime} ago`);
    joined.cancel();
    const later = new DocumentTimeline({ originTime: 250 });
    say(`later timeline ${document.timeline.currentTime - later.currentTime}`);
    say(`scroll timeline ${new ScrollTimeline({ source: scroller }).currentTime}`);
    say(`made ${new AnimationPlaybackEvent('finish', { timelineTime: 7, currentTime: 3.5 }).timelineTime}`);
    joined.startTime = null;
    say(`none ${joined.startTime}`);
});
</script>";

#[tokio::test]
async fn animations_begin_and_end_at_the_pages_time() {
    let page = format!("<!doctype html><title>Animated</title>{LOG}{ANIMATED}");
    let idle = "<!doctype html><title>Idle</title>";
    let mut bench =
        Bench::open(Dialect::BrowserGym, &[("idle.test/", idle), ("moving.test/", &*page)]).await;
    bench.act("noop(60000)").await;
    bench.act("goto('http://moving.test/')").await;
    let mut said = bench.said().await;
    // Chromium itself gives frames real time, which a page's time is far ahead of. There animations
    // end with their first frame.
    let begin_and_end: Vec<String> = said.drain(..2).collect();
    if std::env::var_os(CHROMIUM_VARIABLE).is_none() {
        assert_eq!(
            begin_and_end,
            ["begins 0 at 0, timeline 0", "ends 1000 at 1000, timeline 1000"]
        );
    }
    assert_eq!(
        said,
        [
            "joined at 300: running, begins 300 ago",
            "later timeline 250",
            "scroll timeline 0%",
            "made 7",
            "none null",
        ]
    );
}

/// The document begins within a step of the page's time: each request before it has moved the time
/// of the browser.
#[tokio::test]
async fn a_document_that_begins_within_a_step_shows_no_part_of_it() {
    let page = format!("<!doctype html><title>Animated</title>{LOG}{ANIMATED}");
    for requests in 0..3 {
        let first = format!(
            "<!doctype html><title>First</title><button onclick=\"(async () => {{
            for (let n = 0; n < {requests}; n++) await fetch('/data.json');
            location = '/moving'; }})()\">Go</button>"
        );
        let pages =
            [("localhost/", &*first), ("localhost/data.json", "{}"), ("localhost/moving", &*page)];
        let mut bench = Bench::open(Dialect::BrowserGym, &pages).await;
        bench.act("click('{Go}')").await;
        let said = bench.said().await;
        if std::env::var_os(CHROMIUM_VARIABLE).is_none() {
            let whole = ["begins 0 at 0, timeline 0", "ends 1000 at 1000, timeline 1000"];
            assert_eq!(said[..2], whole, "after {requests} requests");
        }
        assert_eq!(said[2], "joined at 300: running, begins 300 ago", "after {requests} requests");
    }
}

#[test]
fn all_that_is_so_in_chromium_too() {
    crate::bench::again_in_chromium("animations", &["all_that_is_so_in_chromium_too"]);
}
