//! One page in every observation format.

use actions::Dialect;
use browser::{Observation, ObservationOptions, PrunedHtml, WebArena};
use serde_json::Value;

use crate::bench::Bench;

const PAGE: &str = r##"<!doctype html>
<html lang="en"><head><title>It's a form</title><style>.hidden { display: none } h2::before { content: "#" }</style></head>
<body><!-- the head of it -->
<h1 class="big  bold">Answer</h1>
<nav><a href="/next"><span>Next page</span></a> <a href="/image"><img src="data:," alt=""></a></nav>
<div><div><p>Some <b>bold</b> text<br>and more</p></div></div>
<form><span>Your name <input name="who" placeholder="Name" value="old" title=" "></span>
<div><label><input type="checkbox" name="terms" value="yes"> Agreed</label></div>
<p><select name="size" aria-label="Size"><option value="s">Small<option value="l" selected>Large</select></p>
<textarea name="why" aria-label="Why">
two
lines</textarea><input type="hidden" name="csrfmiddlewaretoken" value="x"><input name="off" disabled="disabled" aria-label="Off">
<button type="button" title='Says "go" & stops' onclick="1">Go</button></form>
<ul><li><span role="menuitem">Item</span></li><li aria-hidden="true">Unspoken</li><li style="display: none">Unseen</li></ul>
<p class="hidden">Hidden by a style</p><pre>  kept
  as it is</pre>
<iframe src="/inner" title="Inside"></iframe>
<my-box>Box</my-box><div id="host"></div><template><p>Template</p></template>
<div tabindex="0" style="margin-top: 2000px">Far down</div>
<script>host.attachShadow({mode: 'open'}).innerHTML = 'Bare <button>Shadow</button>'</script>
</body></html>"##;
const INNER: &str =
    "<!doctype html><title>Inner</title><body><p>Inner text</p><input name=who><input name=inner>";

async fn open() -> Bench {
    Bench::open(
        Dialect::BrowserGym,
        &[
            ("form.test/", PAGE),
            ("form.test/inner", INNER),
            ("form.test/next", "<title>Next</title>"),
        ],
    )
    .await
}

async fn observe(bench: &mut Bench, options: &ObservationOptions) -> Observation {
    bench.session.observe_with(options).await.unwrap()
}

#[tokio::test]
async fn a_page_is_written_in_the_forms_that_were_asked_for() {
    let mut bench = open().await;
    let name = bench.session.observe().await.unwrap().find("textbox", "Name").unwrap().bid.clone();
    bench.act(&format!("fill('{name}', 'new')")).await;
    let all = ObservationOptions {
        webarena: Some(WebArena { viewport_only: true, ..WebArena::default() }),
        visualwebarena: true,
        webcanvas: true,
        turkingbench: true,
        html: true,
        pruned_html: Some(PrunedHtml::default()),
        dom: true,
        axtree_object: true,
        ..ObservationOptions::default()
    };
    let seen = observe(&mut bench, &all).await;
    insta::assert_snapshot!("webarena", seen.webarena.as_ref().unwrap());
    insta::assert_snapshot!("visualwebarena", seen.visualwebarena.as_ref().unwrap());
    insta::assert_snapshot!("webcanvas", seen.webcanvas.as_ref().unwrap());
    insta::assert_snapshot!("pruned_html", seen.pruned_html.as_ref().unwrap());
    insta::assert_json_snapshot!("turkingbench", seen.turkingbench.as_ref().unwrap());
    insta::assert_json_snapshot!("html", seen.html.as_ref().unwrap());
    assert_eq!(seen, observe(&mut bench, &all).await, "looking changes nothing");

    let whole = WebArena { viewport_only: false, frames: true, max_tokens: None };
    let measured = PrunedHtml {
        with_visible: true,
        with_center_coords: true,
        filter_som_only: true,
        ..Default::default()
    };
    let other = ObservationOptions {
        webarena: Some(whole),
        pruned_html: Some(measured),
        ..ObservationOptions::default()
    };
    let seen = observe(&mut bench, &other).await;
    insta::assert_snapshot!("webarena_whole", seen.webarena.as_ref().unwrap());
    insta::assert_snapshot!("pruned_html_measured", seen.pruned_html.as_ref().unwrap());

    let plain = bench.session.observe().await.unwrap();
    let forms = [plain.webarena, plain.visualwebarena, plain.webcanvas, plain.pruned_html];
    assert_eq!(forms, [None, None, None, None]);
    assert!(plain.turkingbench.is_none() && plain.html.is_none() && plain.dom.is_none());
    assert!(plain.axtree_object.is_none());
    bench.session.close().await.unwrap();
}

/// The elements of a tree in the order of BrowserGym's `flatten_axtree_to_str`; generic ones depend
/// on their attributes.
fn elements(nodes: &[Value], number: &str, lines: &mut Vec<String>) {
    let Some(node) = nodes.iter().find(|node| node["nodeId"] == number) else { return };
    let role = node["role"]["value"].as_str().unwrap();
    if let (Some(bid), Some(name)) =
        (node["browsergym_id"].as_str(), node["name"]["value"].as_str())
        && !["generic", "LineBreak"].contains(&role)
    {
        lines.push(format!("[{bid}] {role} '{name}'"));
    }
    for child in node["childIds"].as_array().unwrap() {
        elements(nodes, child.as_str().unwrap(), lines);
    }
}

#[tokio::test]
async fn the_tree_as_it_came_has_the_elements_of_our_own_text() {
    let mut bench = open().await;
    let seen = observe(
        &mut bench,
        &ObservationOptions { axtree_object: true, ..ObservationOptions::default() },
    )
    .await;
    let tree = seen.axtree_object.unwrap();
    let nodes = tree["nodes"].as_array().unwrap();
    assert!(!nodes.iter().any(|node| node["role"]["value"] == "InlineTextBox"));
    let mut lines = Vec::new();
    elements(nodes, nodes[0]["nodeId"].as_str().unwrap(), &mut lines);
    let ours = seen.elements.iter().filter(|element| element.role != "generic");
    let ours: Vec<String> = ours
        .map(|element| format!("[{}] {} '{}'", element.bid, element.role, element.name))
        .collect();
    assert_eq!(lines, ours);
    assert!(
        lines.len() > 20 && lines.iter().any(|line| line.starts_with("[a")),
        "with those in the frame: {lines:#?}"
    );
    assert!(!tree.to_string().contains("bid="), "no mark is left");
    bench.session.close().await.unwrap();
}

#[tokio::test]
async fn a_snapshot_of_the_page_has_bids_that_actions_know() {
    let mut bench = open().await;
    let seen =
        observe(&mut bench, &ObservationOptions { dom: true, ..ObservationOptions::default() })
            .await;
    let dom = seen.dom.unwrap();
    let strings: Vec<&str> =
        dom["strings"].as_array().unwrap().iter().filter_map(|text| text.as_str()).collect();
    let attributes = dom["documents"][0]["nodes"]["attributes"].as_array().unwrap();
    let of = |name: &str| {
        let mut elements = attributes.iter().map(|numbers| {
            let numbers =
                numbers.as_array().into_iter().flatten().filter_map(|number| number.as_u64());
            numbers.map(|number| strings[number as usize]).collect::<Vec<_>>()
        });
        elements.find(|texts| texts.chunks(2).any(|pair| pair == ["name", name])).unwrap()
    };
    let terms = of("terms");
    let bid = terms.chunks(2).find(|pair| pair[0] == "bid").unwrap()[1];
    assert_eq!(seen.elements.iter().find(|element| element.bid == bid).unwrap().role, "checkbox");
    assert!(!terms.iter().any(|text| text.starts_with("aria-")), "{terms:?}");
    assert!(dom["documents"][0]["layout"]["paintOrders"].is_array());
    bench.session.close().await.unwrap();
}

#[tokio::test]
async fn tabs_time_and_the_last_action_are_told() {
    let mut bench = open().await;
    let seen = bench.session.observe().await.unwrap();
    assert_eq!(seen.last_action.as_deref(), Some("goto('http://form.test/')"));
    let begun = seen.elapsed_ms;
    assert_eq!(begun % 100, 0);
    bench.act("new_tab()").await;
    bench.act("goto('http://form.test/next')").await;
    let seen = bench.session.observe().await.unwrap();
    assert!(seen.elapsed_ms > begun, "{} after {begun}", seen.elapsed_ms);
    let tabs: Vec<(&str, &str)> = seen.tabs.iter().map(|tab| (&*tab.url, &*tab.title)).collect();
    assert_eq!(tabs, [("http://form.test/", "It's a form"), ("http://form.test/next", "Next")]);
    assert_eq!(
        (seen.active_tab, seen.last_action.as_deref()),
        (1, Some("goto('http://form.test/next')"))
    );
    bench.session.close().await.unwrap();
}
