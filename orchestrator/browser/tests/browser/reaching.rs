//! Elements under fixed headers, behind bottom bars, and hidden boxes with labels.

use actions::Dialect;

use crate::bench::{Bench, LOG};

const BARS: &str = "<style>html { scroll-behavior: smooth } body { margin: 0 }
    #head { position: sticky; top: 0; height: 120px; background: tan; z-index: 1 }
    #cookies { position: fixed; bottom: 0; left: 0; right: 0; height: 200px; background: silver; z-index: 2 }
    #side { position: fixed; left: 0; top: 0; bottom: 0; width: 150px; background: gold; z-index: 2 }</style>";

async fn open(page: &str, others: &[(&str, &str)]) -> Bench {
    let page = format!("<!doctype html><title>Reaching</title>{page}{LOG}");
    let pages = [&[("reach.test/", &*page)], others].concat();
    Bench::open(Dialect::BrowserGym, &pages).await
}

/// A page with a header and a bar, which cover its parts at first, or after they were scrolled into
/// view.
fn under_bars() -> String {
    format!(
        "{BARS}<div id=head>Head</div><div id=cookies>We use cookies</div>
        <div style='height: 450px'></div><button ondblclick='say(`twice`)' onclick='say(`low`)'>Low</button>
        <label><input type=checkbox onchange='say(`tick ${{checked}}`)'>Tick</label> <input aria-label=Name oninput='say(value)'>
        <a href=# onmouseover='say(`over`)' onclick='return false'>Link</a>
        <div role=group aria-label=Card draggable=true ondragstart='event.dataTransfer.setData(`text`, `card`)'>card</div>
        <div role=group aria-label=Bin ondragover='event.preventDefault()' ondrop='event.preventDefault(); say(`dropped`)'>bin</div>
        <div style='height: 900px'></div><button onclick='say(`far`)'>Far</button><div style='height: 900px'></div>"
    )
}

#[tokio::test]
async fn what_a_bar_covers_is_scrolled_out_from_under_it() {
    let mut bench = open(&under_bars(), &[]).await;
    for (action, expected) in [
        ("click('{Low}')", vec!["low"]),
        ("click('{Far}')", vec!["far"]),
        // Scrolled up from below, it is under the header.
        ("click('{Low}')", vec!["low"]),
        ("dblclick('{Low}')", vec!["low", "low", "twice"]),
        ("click('{Far}')", vec!["far"]),
        ("check('{Tick}')", vec!["tick true"]),
        ("click('{Far}')", vec!["far"]),
        ("uncheck('{Tick}')", vec!["tick false"]),
        ("click('{Far}')", vec!["far"]),
        ("hover('{Link}')", vec!["over"]),
        ("click('{Far}')", vec!["far"]),
        ("fill('{Name}', 'Ann')", vec!["Ann"]),
        ("click('{Far}')", vec!["far"]),
        ("drag_and_drop('{Card}', '{Bin}')", vec!["dropped"]),
    ] {
        bench.act(action).await;
        assert_eq!(bench.said().await, expected, "{action}");
    }
}

#[tokio::test]
async fn bars_at_the_side_and_in_scrolled_parts_and_around_frames_are_evaded() {
    let rows = "<p>row</p>".repeat(40);
    let page = format!(
        "{BARS}<div id=side>Side</div><div style='width: 4000px; padding-left: 1050px'><button onclick='say(`side`)'>By the side</button></div>
        <div id=part style='height: 300px; width: 500px; overflow: auto; margin-left: 1200px; position: relative'>
        <div style='position: sticky; top: 0; height: 100px; background: tan'>Columns</div>{rows}<button onclick='say(`row`)'>In a row</button>
        {rows}</div><div id=cookies>We use cookies</div>
        <iframe src=http://frame.test/ width=400 height=400 style='margin-left: 1200px'></iframe><div style='height: 2000px'></div>
        <script>onmessage = e => say(e.data);
        addEventListener('load', () => {{ scrollTo(1000, 0); part.scrollTop = part.querySelector('button').offsetTop - 50; }})</script>"
    );
    let frame = "<div style='height: 220px'></div><button onclick='parent.postMessage(`frame`, `*`)'>In a frame</button>";
    let mut bench = open(&page, &[("frame.test/", frame)]).await;
    for (name, expected) in [("By the side", "side"), ("In a frame", "frame"), ("In a row", "row")]
    {
        bench.act(&format!("click('{{{name}}}')")).await;
        assert_eq!(bench.said().await, [expected], "{name}");
    }
}

#[tokio::test]
async fn a_bar_that_goes_while_the_page_is_scrolled_is_waited_for_in_the_pages_time() {
    // It covers everything, and hides 60 ms after the page was scrolled.
    let page = "<div id=over style='position: fixed; inset: 0; background: tan'>Over</div><div style='height: 400px'></div>
        <button onclick='say(`pressed`)'>Press</button><div style='height: 2000px'></div>
        <script>addEventListener('scroll', () => setTimeout(() => over.remove(), 60), { once: true })</script>";
    let mut bench = open(page, &[]).await;
    let before = bench.session.observe().await.unwrap().elapsed_ms;
    bench.act("click('{Press}')").await;
    assert_eq!(bench.said().await, ["pressed"]);
    let passed = bench.session.observe().await.unwrap().elapsed_ms - before;
    assert!((5000..6000).contains(&passed), "a settled page after a wait: {passed}");
}

#[tokio::test]
async fn what_stays_covered_is_said_so() {
    let page =
        "<div id=over style='position: fixed; inset: 0; background: tan'>Over</div><button>Press</button>
        <div style='width: 0; height: 0' role=group aria-label=Nothing></div>";
    let mut bench = open(page, &[]).await;
    for action in ["click('{Press}')", "hover('{Press}')", "drag_and_drop('{Press}', '{Press}')"] {
        let covered = bench.try_to(action).await.unwrap_err();
        assert!(covered.ends_with(r#"<div id="over"> is in front of it"#), "{action}: {covered}");
    }
    let nothing = bench.try_to("click('{Nothing}')").await.unwrap_err();
    assert!(nothing.ends_with("it is not visible"), "{nothing}");
}

#[tokio::test]
async fn hidden_boxes_are_ticked_by_their_labels() {
    let hidden = [
        ("clear", "opacity: 0; position: absolute; z-index: -1"),
        (
            "clipped",
            "position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0 0 0 0)",
        ),
        ("cut", "position: absolute; clip-path: inset(50%); width: 1px; height: 1px; margin: -1px"),
        ("away", "position: absolute; left: -9999px"),
        ("small", "appearance: none; width: 0; height: 0"),
        ("still", "pointer-events: none; opacity: 0"),
    ];
    let mut page =
        String::from("<style>label { display: inline-block; padding: 4px; margin: 10px }</style>");
    for (name, style) in hidden {
        page += &format!(
            "<p><input type=checkbox id={name} style='{style}' onchange='say(`{name} ${{checked}}`)'><label for={name}>{name} box</label>
            <label><input type=radio name=r value={name} style='{style}' onchange='say(value)'><span>{name} radio</span></label></p>"
        );
    }
    // Other elements in a label are not clicked in its place.
    page += "<label><input type=checkbox style='opacity: 0; position: absolute; pointer-events: none' onchange='say(`agreed ${checked}`)'>
        I have read <a href=/terms style='margin-left: -70px; padding: 0 70px'>the terms</a></label>";
    let mut bench = open(&page, &[("reach.test/terms", "<title>Terms</title>")]).await;
    for (name, _) in hidden {
        bench.act(&format!("check('{{{name} box}}')")).await;
        bench.act(&format!("click('{{{name} radio}}')")).await;
        bench.act(&format!("uncheck('{{{name} box}}')")).await;
        assert_eq!(
            bench.said().await,
            [format!("{name} true"), name.to_owned(), format!("{name} false")]
        );
    }
    bench.act("check('{I have read the terms}')").await;
    assert_eq!(bench.said().await, ["agreed true"]);
}
