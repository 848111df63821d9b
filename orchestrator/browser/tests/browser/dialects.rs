//! Actions in the dialects of other benchmarks have the intended effect on a page.

use actions::Dialect;

use crate::bench::{Bench, LOG};

const SHOP: &str = r#"<title>Shop</title><style>body { margin: 0; overflow-anchor: none } #far { margin-top: 3000px }</style>
<form action="/found"><input id="t" aria-label="Text" value="old" name="q"></form>
<select aria-label="Sort" onchange="say(`sorted by ${this.value}`)">
  <option value="">Choose<option value="low">Price: Low to High<option value="1">Newest first<option value="3">1</select>
<div style="height: 100px; overflow: scroll"><div style="height: 900px">list</div></div>
<button id="far" onclick="say('far')">Far</button>
<script>
t.addEventListener('keydown', e => say(`down ${e.key}`));
t.addEventListener('input', e => say(`text ${t.value}`));
const place = () => say(`at ${scrollY}`);
addEventListener('scroll', place);
</script>"#;

/// A task for a crowd worker.
const FORM: &str = r#"<title>Task</title><form>
<textarea name="comment"></textarea>
<label><input type="checkbox" name="colours" value="red"> Red</label>
<label><input type="checkbox" name="colours" value="dark &quot;blue&quot;" checked> Blue</label>
<label><input type="checkbox" name="colours" value="green"> Green</label>
<label><input type="radio" name="year" value="2024"> 2024</label> <label><input type="radio" name="year" value="2025"> 2025</label>
<select name="cars"><option value="a">Audi<option value="b">BMW</select>
<input type="range" name="volume" min="0" max="50">
<p style="height: 3000px"></p><input name="last"><p style="height: 3000px"></p></form>
<script>
const form = document.forms[0];
form.addEventListener('input', e => parent.postMessage(`${e.target.name}=${e.target.value}${e.target.checked ? ' ticked' : ''}`, '*'));
addEventListener('scroll', () => parent.postMessage(`${Math.round(form.last.getBoundingClientRect().y / innerHeight * 10)} tenths`, '*'));
</script>"#;

/// Opens a page of the shop, or the task in a frame.
async fn open(dialect: Dialect, first: &str) -> Bench {
    let shop = format!("{SHOP}{LOG}");
    let framed = format!(
        "<title>Turkle</title><p>Task 1</p><iframe src=/form width=900 height=400></iframe>{LOG}\
        <script>addEventListener('message', e => say(e.data));</script>"
    );
    let mut pages = vec![
        ("bench.test/shop", shop.as_str()),
        ("bench.test/task", framed.as_str()),
        ("bench.test/form", FORM),
        ("bench.test/found", "<title>Found</title>"),
        ("search.test/", "<title>Results</title>"),
    ];
    pages.sort_by_key(|(url, _)| !url.ends_with(first));
    Bench::open(dialect, &pages).await
}

#[tokio::test]
async fn webarena_types_into_what_is_there_and_presses_enter() {
    let mut bench = open(Dialect::WebArena, "/shop").await;
    bench.act("I will add to it. ```type [{Text}] [er] [0]```").await;
    assert_eq!(bench.said().await, ["down e", "text olde", "down r", "text older"]);
    bench.act("press [Ctrl+a]").await;
    bench.act("press [backspace]").await;
    let said = bench.said().await;
    assert_eq!(said.last().map(String::as_str), Some("text "), "{said:?}");
    bench.act("type [{Text}] [a b]").await;
    assert_eq!(bench.title().await, "Found");
    assert_eq!(
        bench.web.requests().last().map(String::as_str),
        Some("GET http://bench.test/found?q=a+b")
    );
    bench.act("go_back").await;
    bench.act("scroll [down]").await;
    bench.act("click [{Far}]").await;
    bench.heard = 0;
    let said = bench.said().await;
    assert!(said.contains(&"at 720".to_owned()) && said.contains(&"far".to_owned()), "{said:?}");
}

#[tokio::test]
async fn webcanvas_searches_and_chooses_what_is_most_like_it() {
    let mut bench = open(Dialect::WebCanvas, "/shop").await;
    let say = |action: &str, input: &str, id: &str| {
        format!(
            r#"{{"thought": "so", "action": "{action}", "action_input": "{input}", "element_id": "{id}"}}"#
        )
    };
    bench.act(&say("select_option", "low to high", "{Sort}")).await;
    assert_eq!(bench.said().await, ["sorted by low"]);
    assert_eq!(bench.session.action_target().unwrap().value, "Price: Low to High");
    // Selected by label, though another option has that value.
    bench.act(&say("select_option", "1", "{Sort}")).await;
    assert_eq!(bench.said().await, ["sorted by 3"]);
    let text = bench.try_to(&say("select_option", "1", "{Text}")).await.unwrap_err();
    assert!(text.ends_with("a <input> has no options"), "{text}");
    bench.act(&say("scroll_down", "", "")).await;
    bench.act(&say("scroll_up", "", "")).await;
    assert_eq!(bench.said().await, ["at 540", "at 180"]);
    bench.act(&say("cache_data", "old", "")).await;
    bench.act(&say("fill_search", "new", "{Text}")).await;
    assert_eq!(bench.title().await, "Found");
    assert_eq!(
        bench.web.requests().last().map(String::as_str),
        Some("GET http://bench.test/found?q=new")
    );
    assert_eq!(bench.session.action_target().unwrap().value, "new");
    bench.act(&say("google_search", "tents & more", "")).await;
    assert_eq!(bench.title().await, "Results");
    assert_eq!(
        bench.web.requests().last().map(String::as_str),
        Some("GET http://search.test/?q=tents+%26+more&n=10")
    );
}

#[tokio::test]
async fn seeact_scrolls_the_page_and_presses_enter_on_an_element() {
    let mut bench = open(Dialect::SeeAct, "/shop").await;
    bench.act("ACTION: SCROLL DOWN\nVALUE: None").await;
    bench.act("ACTION: SCROLL\nVALUE: down").await;
    bench.act("ACTION: SCROLL\nVALUE: up").await;
    assert_eq!(bench.said().await, ["at 360", "at 900", "at 0"]);
    bench.act("ACTION: SAY\nVALUE: hello").await;
    bench.act("ELEMENT: {Text}\nACTION: TYPE\nVALUE: \"x\"").await;
    bench.act("ELEMENT: {Text}\nACTION: PRESS ENTER\nVALUE: None").await;
    assert_eq!(
        bench.web.requests().last().map(String::as_str),
        Some("GET http://bench.test/found?q=x")
    );
}

#[tokio::test]
async fn turkingbench_fills_in_fields_by_name_in_a_frame() {
    let mut bench = open(Dialect::TurkingBench, "/task").await;
    bench.act(r#"self.actions.modify_text("comment", "it's")"#).await;
    let said = bench.said().await;
    assert_eq!(said.last().map(String::as_str), Some("comment=it's"));
    bench.act(r#"self.actions.modify_checkbox("colours", 'red|dark "blue"')"#).await;
    assert_eq!(bench.said().await, ["colours=red ticked"], "the other one has its tick already");
    bench.act("self.actions.modify_radio('year', 2025)").await;
    assert_eq!(bench.said().await, ["year=2025 ticked"]);
    bench.act("self.actions.modify_select('cars', 'b')").await;
    assert_eq!(bench.said().await, ["cars=b"]);
    bench.act("self.actions.modify_range('volume', 20)").await;
    assert_eq!(bench.said().await, ["volume=20"]);
    bench.act("self.actions.scroll_to_element('last')").await;
    assert_eq!(bench.said().await, ["5 tenths"]);
    for (text, expected) in [
        (
            "modify_radio('year', '2026')",
            "find element css=input[type=\"radio\"][name=\"year\"][value=\"2026\"]: nothing on the page is like that",
        ),
        (
            "modify_checkbox('colours', 'green|grey')",
            "find element css=input[type=\"checkbox\"][name=\"colours\"][value=\"grey\"]: nothing on the page is like that",
        ),
        (
            "modify_range('volume', 'loud')",
            "use element css=input[type=\"range\"][name=\"volume\"]: \"loud\" is no range",
        ),
    ] {
        assert_eq!(bench.try_to(text).await.unwrap_err(), expected);
    }
    let said = bench.said().await;
    assert!(
        said.contains(&"colours=green ticked".to_owned()),
        "what came before the failure was done: {said:?}"
    );
    bench.dialect = Dialect::BrowserGym;
    let bad = bench.try_to("click('css=p[')").await.unwrap_err();
    assert_eq!(bad, "find element css=p[: it is no selector of CSS");
}
