//! Every action has the effect of the same input by a person.

use actions::Dialect;

use crate::bench::{Bench, LOG};

/// Each part of the page writes to its log what happened to it.
const PAGE: &str = r##"<!doctype html><title>Workbench</title>
<style>body { margin: 0; width: 500px } #pad { position: absolute; left: 600px; top: 0; width: 200px; height: 200px; background: #eee }
#slider { position: absolute; left: 600px; top: 300px; width: 40px; height: 40px; background: #36c }</style>
<button id="b">Press me</button>
<label><input type="checkbox" id="c"> Tick me</label>
<div role="switch" aria-checked="false" aria-label="Stuck" tabindex="0">stuck</div>
<input id="t" aria-label="Text" value="old">
<div draggable="true" id="card" role="group" aria-label="Card">card</div>
<div id="bin" role="group" aria-label="Bin" style="width: 100px; height: 50px; background: #fcc">bin</div>
<div id="pad" role="group" aria-label="Pad"></div>
<div id="slider" role="group" aria-label="Slider"></div>
<div role="group" aria-label="Nowhere" style="width: 0; height: 0"></div>
<a href="/next">Next</a> <a href="/other" target="_blank">Other tab</a>
<script>
const keys = e => ['ctrlKey', 'shiftKey', 'altKey', 'metaKey'].filter(k => e[k]).map(k => k[0]).join('');
for (const type of ['click', 'dblclick', 'contextmenu', 'auxclick'])
  b.addEventListener(type, e => { e.preventDefault(); say(`${type} ${e.button} ${e.detail} ${keys(e)}`.trim()); });
b.addEventListener('mouseenter', () => say('over'));
c.addEventListener('change', () => say(`ticked ${c.checked}`));
t.addEventListener('input', () => say(`text ${JSON.stringify(t.value)}`));
t.addEventListener('focus', () => say('focus'));
t.addEventListener('keydown', e => say(`down ${e.key} ${keys(e)}`.trim()));
t.addEventListener('keyup', e => { if (e.key === 'Shift') say('up Shift'); });
card.addEventListener('dragstart', e => e.dataTransfer.setData('text/plain', 'the card'));
bin.addEventListener('dragover', e => e.preventDefault());
bin.addEventListener('drop', e => { e.preventDefault(); say(`dropped ${e.dataTransfer.getData('text/plain')}`); });
for (const type of ['mousedown', 'mouseup', 'dblclick', 'wheel'])
  pad.addEventListener(type, e => say(`pad ${type} ${e.offsetX},${e.offsetY} ${e.button}${e.deltaY ? ' ' + e.deltaY : ''}`));
pad.addEventListener('mousemove', e => say(`pad move ${e.offsetX},${e.offsetY} ${e.buttons}`));
slider.addEventListener('mousedown', e => {
  const from = e.clientX;
  const move = e => { slider.style.left = 600 + e.clientX - from + 'px'; };
  addEventListener('mousemove', move);
  addEventListener('mouseup', () => { removeEventListener('mousemove', move); say(`slid to ${slider.style.left}`); }, { once: true });
});
</script>"##;

async fn open() -> Bench {
    let workbench = format!("{PAGE}{LOG}");
    let page = |title: &str| format!("<title>{title}</title><h1>{title}</h1>");
    let (next, other) = (page("Next"), page("Other"));
    let pages =
        [("bench.test/", &*workbench), ("bench.test/next", &*next), ("bench.test/other", &*other)];
    Bench::open(Dialect::BrowserGym, &pages).await
}

#[tokio::test]
async fn buttons_and_modifiers_reach_the_page() {
    let mut bench = open().await;
    bench.act("click('{Press me}')").await;
    assert_eq!(bench.said().await, ["over", "click 0 1"]);
    bench.act("click('{Press me}', button='right', modifiers=['Control', 'Shift'])").await;
    assert_eq!(bench.said().await, ["contextmenu 2 0 cs", "auxclick 2 1 cs"]);
    bench.act("dblclick('{Press me}')").await;
    assert_eq!(bench.said().await, ["click 0 1", "click 0 2", "dblclick 0 2"]);
    bench.act("mouse_move(1000, 600)").await;
    bench.act("hover('{Press me}')").await;
    assert_eq!(bench.said().await, ["over"]);
}

#[tokio::test]
async fn ticks_come_and_go_once() {
    let mut bench = open().await;
    for (action, expected) in [
        ("check('{Tick me}')", vec!["ticked true"]),
        ("check('{Tick me}')", vec![]),
        ("uncheck('{Tick me}')", vec!["ticked false"]),
    ] {
        bench.act(action).await;
        assert_eq!(bench.said().await, expected);
    }
    let stuck = bench.try_to("check('{Stuck}')").await.unwrap_err();
    assert!(stuck.ends_with("a click did not change its tick"), "{stuck}");
    let button = bench.try_to("check('{Press me}')").await.unwrap_err();
    assert!(button.ends_with("it is no checkbox and no radio button"), "{button}");
}

#[tokio::test]
async fn what_is_typed_arrives_key_by_key_and_what_is_inserted_at_once() {
    let mut bench = open().await;
    bench.act("focus('{Text}')").await;
    assert_eq!(bench.said().await, ["focus"]);
    bench.act("clear('{Text}')").await;
    assert!(bench.said().await.contains(&"text \"\"".to_owned()));
    bench.act("keyboard_type('aé')").await;
    assert_eq!(bench.said().await, ["down a", "text \"a\"", "text \"aé\""]);
    bench.act("fill('{Text}', 'xy', enable_autocomplete_menu=True)").await;
    assert_eq!(bench.said().await, ["down x", "text \"x\"", "down y", "text \"xy\""]);
    bench.act("fill('{Text}', 'aé')").await;
    assert_eq!(bench.said().await, ["text \"aé\""]);
    bench.act("keyboard_insert_text('bc')").await;
    assert_eq!(bench.said().await, ["text \"aébc\""]);
    bench.act("keyboard_down('Shift')").await;
    bench.act("keyboard_press('Home')").await;
    bench.act("keyboard_up('Shift')").await;
    assert_eq!(bench.said().await, ["down Shift s", "down Home s", "up Shift"]);
    bench.act("keyboard_press('Delete')").await;
    assert_eq!(
        bench.said().await,
        ["down Delete", "text \"\""],
        "all was selected by Shift and Home"
    );
}

#[tokio::test]
async fn things_are_dragged_by_the_browser_or_by_the_page() {
    let mut bench = open().await;
    bench.act("drag_and_drop('{Card}', '{Bin}')").await;
    assert_eq!(bench.said().await, ["dropped the card"]);
    bench.act("mouse_drag_and_drop(620, 320, 700, 320)").await;
    assert_eq!(bench.said().await, ["slid to 680px"]);
    // The target does not exist. So the slider is released where it was grabbed, at the start of
    // its own count.
    let nowhere = bench.try_to("drag_and_drop('{Slider}', '{Nowhere}')").await.unwrap_err();
    assert!(nowhere.ends_with("it is not visible"), "{nowhere}");
    assert_eq!(bench.said().await, ["slid to 600px"]);
    // The mouse button is up again.
    bench.act("click('{Press me}')").await;
    assert_eq!(bench.said().await, ["over", "click 0 1"]);
}

#[tokio::test]
async fn the_mouse_works_by_coordinates() {
    let mut bench = open().await;
    bench.act("mouse_down(610, 20)").await;
    bench.act("mouse_move(650, 60)").await;
    bench.act("mouse_up(650, 60)").await;
    assert_eq!(
        bench.said().await,
        [
            "pad move 10,20 0",
            "pad mousedown 10,20 0",
            "pad move 50,60 1",
            "pad move 50,60 1",
            "pad mouseup 50,60 0"
        ]
    );
    bench.act("mouse_dblclick(650, 60)").await;
    assert!(bench.said().await.contains(&"pad dblclick 50,60 0".to_owned()));
    bench.act("scroll_at(700, 100, 0, 120)").await;
    let said = bench.said().await;
    assert!(said.contains(&"pad wheel 100,100 0 120".to_owned()), "{said:?}");
    bench.act("mouse_move(690, 90)").await;
    bench.act("scroll(0, 120)").await;
    let said = bench.said().await;
    assert!(said.contains(&"pad wheel 90,90 0 120".to_owned()), "where the mouse is: {said:?}");
}

#[tokio::test]
async fn tabs_open_close_and_change_places() {
    let mut bench = open().await;
    let tabs = |seen: &browser::Observation| (seen.tabs.len(), seen.active_tab);
    bench.act("click('{Other tab}')").await;
    let seen = bench.session.observe().await.unwrap();
    assert_eq!((seen.title.as_str(), tabs(&seen)), ("Other", (2, 1)));
    bench.act("tab_focus(0)").await;
    let seen = bench.session.observe().await.unwrap();
    assert_eq!((seen.title.as_str(), tabs(&seen)), ("Workbench", (2, 0)));
    bench.act("click('{Press me}')").await;
    assert_eq!(bench.said().await, ["over", "click 0 1"]);
    bench.act("new_tab()").await;
    let seen = bench.session.observe().await.unwrap();
    assert_eq!((seen.url.as_str(), tabs(&seen)), ("about:blank", (3, 2)));
    bench.act("goto('http://bench.test/next')").await;
    assert_eq!(bench.title().await, "Next");
    bench.act("tab_close()").await;
    assert_eq!(bench.title().await, "Other");
    let none = bench.try_to("tab_focus(5)").await.unwrap_err();
    assert_eq!(none, "go to tab 5: there are 2, counted from 0");
    bench.act("tab_close()").await;
    bench.act("tab_close()").await;
    let seen = bench.session.observe().await.unwrap();
    assert_eq!((seen.url.as_str(), tabs(&seen)), ("about:blank", (1, 0)), "there is always a tab");
}

#[tokio::test]
async fn history_goes_both_ways() {
    let mut bench = open().await;
    bench.act("click('{Next}')").await;
    assert_eq!(bench.title().await, "Next");
    bench.act("go_back()").await;
    assert_eq!(bench.title().await, "Workbench");
    bench.act("go_forward()").await;
    assert_eq!(bench.title().await, "Next");
    let last = bench.try_to("go_forward()").await.unwrap_err();
    assert_eq!(last, "go forward: this is the last page of the tab");
}

#[tokio::test]
async fn a_script_among_the_pages_own_sees_its_variables_and_is_told_what_it_throws() {
    let page =
        "<title>Counter</title><script>let count = 1; const add = by => { count += by; };</script>";
    let bench = Bench::open(Dialect::BrowserGym, &[("counter.test/", page)]).await;
    assert_eq!(bench.session.evaluate("add(2); count").await.unwrap(), 3);
    assert_eq!(bench.session.evaluate("undefined").await.unwrap(), serde_json::Value::Null);
    let thrown = bench.session.evaluate("window.nothing.at.all").await.unwrap_err();
    let browser::Error::Script { message } = thrown else { panic!("{thrown}") };
    assert!(message.starts_with("TypeError: Cannot read properties of undefined"), "{message}");
}

/// The browser is done with the tab of the first click before the second one.
#[tokio::test]
async fn both_clicks_of_a_double_click_open_a_tab() {
    let page = format!(
        "<!doctype html><title>Twice</title><button>Go</button>{LOG}<script>
        let n = 0;
        document.querySelector('button').onclick = () => say(`opened ${{open(`/other?${{++n}}`) !== null}}`);
        </script>"
    );
    let other = "<title>Other</title>";
    let pages =
        [("localhost/", &*page), ("localhost/other?1", other), ("localhost/other?2", other)];
    for _ in 0..5 {
        let mut bench = Bench::open(Dialect::BrowserGym, &pages).await;
        bench.act("dblclick('{Go}')").await;
        assert_eq!(bench.session.observe().await.unwrap().tabs.len(), 3);
        bench.act("tab_focus(0)").await;
        assert_eq!(bench.said().await, ["opened true", "opened true"]);
    }
}
