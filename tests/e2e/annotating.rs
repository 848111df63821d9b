//! `sandbox annotate`: the test is the person. It works in the annotated browser with mouse and
//! keys, and in the panel with another browser; the oracle must then play what was written.

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use serde_json::{Value, json};

use crate::annotator::{
    Annotator, DEMO, existing, get, holds_nowhere, named, plays, selected, site, yaml,
};
use crate::chromium::{asks_only, fits, follows_preference};
use crate::devtools::{PATIENCE, Tab};
use crate::harness::{Bench, live_web, origin, text};
use crate::server::Server;

#[tokio::test(flavor = "multi_thread")]
async fn a_path_of_clicks_in_a_snapshot_becomes_a_task_that_the_oracle_plays() -> Result<()> {
    let bench = Bench::new()?;
    let suite = bench.path("clicks");
    let start = "https://www.aldria-rail.test/";
    let mut annotator = Annotator::start(
        &bench,
        &[DEMO, "--url", start, "--id", "guest", "-o", suite.as_str()],
        start,
    )
    .await?;
    annotator.person.click(&named("My trips")).await?;
    annotator.person.until("location.host === 'id.passgate.test'").await?;
    annotator.person.click(&named("Continue as guest")).await?;
    annotator.person.until("location.pathname === '/account/trips'").await?;
    annotator.person.click(&named("RE 406")).await?;
    annotator.person.until("location.pathname === '/trains/re-406'").await?;
    annotator.steps(3).await?;
    // A save that lacks something says so, and the annotation goes on.
    annotator.button("save").await?;
    annotator.panel.until("view.notice.includes('Write the goal')").await?;
    annotator.write("#goal", "Open the page of the train of booking QK7-391 as a guest.").await?;
    annotator.mark(1, "url_included_match").await?;
    annotator.mark(2, "element_path_exactly_match").await?;
    annotator.mark(3, "url_exactly_match").await?;
    ensure!(
        annotator.reached().await? == ["reached", "reached", "reached"],
        "{:?}",
        annotator.reached().await?
    );
    let pictures = "[...document.querySelectorAll('.picture img')].filter(image => image.complete && image.naturalWidth > 100).length === 3";
    annotator.panel.until(pictures).await?;
    annotator.panel.until("view.missing.length === 0").await?;
    if let Ok(folder) = std::env::var("SANDBOX_TEST_PICTURES") {
        pictures_of(&mut annotator.panel, Utf8Path::new(&folder)).await?;
    }
    fits(&mut annotator.panel).await?;
    follows_preference(&mut annotator.panel).await?;
    let own = annotator.panel_url.clone();
    annotator.save().await?;
    ensure!(!own.is_empty());
    let task = yaml(&suite.join("guest.yaml"))?;
    ensure!(
        task["oracle"][0] == json!({ "click": { "role": "link", "name": "My trips", "nth": 0 } }),
        "{task:#}"
    );
    ensure!(task["start_url"] == start && task["reference_steps"] == 3, "{task:#}");
    ensure!(suite.join("screenshots/guest/03.png").is_file() && !suite.join(".annotate").exists());
    let published: Value =
        serde_json::from_str(&std::fs::read_to_string(suite.join("mind2web-live.json"))?)?;
    ensure!(published[0]["evaluation"][1]["method"] == "selector", "{published:#}");
    let imported = bench.path("imported");
    let published = suite.join("mind2web-live.json");
    bench.succeed(&[
        "tasks",
        "import",
        "mind2web-live",
        published.as_str(),
        "--snapshot",
        DEMO,
        "-o",
        imported.as_str(),
    ])?;
    plays(&bench, &suite, 1)
}

/// Pictures of the panel, for people.
async fn pictures_of(panel: &mut Tab, folder: &Utf8Path) -> Result<()> {
    use base64::Engine as _;
    std::fs::create_dir_all(folder)?;
    for (width, scheme) in [(1400, "light"), (1400, "dark"), (390, "light"), (390, "dark")] {
        let device =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        panel.call("Emulation.setDeviceMetricsOverride", device).await?;
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        panel.call("Emulation.setEmulatedMedia", json!({ "features": features })).await?;
        panel.until(&format!("innerWidth === {width}")).await?;
        let picture = json!({ "captureBeyondViewport": false });
        for (part, scroll) in [("top", "0"), ("end", "document.body.scrollHeight")] {
            panel.evaluate(&format!("scrollTo(0, {scroll})")).await?;
            let picture = panel.call("Page.captureScreenshot", picture.clone()).await?;
            let png = picture["data"].as_str().context("a picture")?;
            let png = base64::engine::general_purpose::STANDARD.decode(png)?;
            std::fs::write(folder.join(format!("{width}-{scheme}-{part}.png")), png)?;
        }
    }
    panel.evaluate("scrollTo(0, 0)").await?;
    panel.call("Emulation.clearDeviceMetricsOverride", json!({})).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_on_the_live_web_is_recorded_and_played_offline() -> Result<()> {
    let bench = Bench::new()?;
    let web = origin().await?;
    let suite = bench.path("form");
    let start = "https://www.hearthside.test/homes/1134";
    let live = live_web(&web);
    let mut arguments = vec![start, "-o", suite.as_str()];
    arguments.extend(live.iter().map(String::as_str));
    let mut annotator = Annotator::start(&bench, &arguments, start).await?;
    let person = &mut annotator.person;
    for (label, letters) in [("Day", "Sat"), ("Time", "11:3")] {
        let list = format!(
            "[...document.querySelectorAll('select')].find(list => list.computedName === {0} || list.labels[0]?.innerText.startsWith({0}))",
            json!(label)
        );
        person.until(&format!("!!({list})")).await?;
        person.evaluate(&format!("({list}).focus()")).await?;
        person.type_text(letters).await?;
    }
    person.click(&selected("input[name=name]")).await?;
    person.type_text("Ada Marsh").await?;
    person.click(&selected("input[type=checkbox]")).await?;
    person.click(&named("Book viewing")).await?;
    person.until("location.pathname.startsWith('/viewings/')").await?;
    annotator.steps(5).await?;
    annotator.write("#goal", "Book a viewing for Ada Marsh on Saturday at 11:30.").await?;
    annotator.write("#id", "viewing").await?;
    annotator.mark(3, "element_value_exactly_match").await?;
    annotator.mark(5, "url_exactly_match").await?;
    ensure!(
        annotator.reached().await? == ["reached", "reached"],
        "{:?}",
        annotator.reached().await?
    );
    let said = annotator.save().await?;
    web.stop().await;
    ensure!(said.contains("snapshot.wacz"), "{said}");
    let task = yaml(&suite.join("viewing.yaml"))?;
    ensure!(task["oracle"][2]["fill"]["value"] == "Ada Marsh", "{task:#}");
    ensure!(
        task["oracle"][0]["select"]["options"][0]
            .as_str()
            .is_some_and(|day| day.starts_with("Sat")),
        "{task:#}"
    );
    plays(&bench, &suite, 1)
}

const HOSTILE: &str = r#"<!doctype html><meta charset="utf-8"><title>Hostile</title>
<link rel="icon" href="data:,">
<a href="/other" target="_blank">Open &lt;script&gt;document.title = "broken"&lt;/script&gt;&lt;img src=x onerror="document.title='broken'"&gt;</a>
<div data-act style="width:9em">Plain box</div><div style="width:9em">Another</div>
<iframe srcdoc="<button onclick='parent.document.body.dataset.inner = 1'>Inside</button>"></iframe>
<form action="/done"><input name="who" aria-label="Who"><input type="password" name="secret" aria-label="Secret"><button>Send</button></form>
<a href="/never" id="never">Never clicked</a>
<script>
    addEventListener('click', event => { if (event.target.closest('[data-act]')) document.body.dataset.box = 1; }, true);
    // As frameworks do: what is typed is an attribute, too.
    addEventListener('input', event => event.target.setAttribute('value', event.target.value), true);
    const forge = () => {
        const never = document.getElementById('never'), who = document.querySelector('input[name=who]');
        for (const type of ['pointerdown', 'mousedown', 'mouseup', 'click']) {
            never.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true, button: 0, detail: 1 }));
        }
        who.focus();
        document.execCommand('insertText', false, 'forged');
        who.value = 'forged';
        for (const type of ['input', 'change']) who.dispatchEvent(new Event(type, { bubbles: true }));
        who.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
        who.value = '';
        who.blur();
        for (const name of ['sandboxReport', 'flushCaptured']) {
            document.body.dataset[name] = typeof globalThis[name];
        }
        // Even what stops every event of the page is told of too late.
        for (const type of ['click', 'pointerdown', 'keydown', 'change', 'input', 'beforeinput']) {
            addEventListener(type, event => event.stopImmediatePropagation(), { capture: true });
        }
        document.body.dataset.forged = 1;
    };
    addEventListener('click', event => { if (event.target.id === 'never') event.preventDefault(); });
    setTimeout(forge);
</script>"#;

pub(crate) async fn hostile() -> Result<Server> {
    const OTHER: &str =
        "<!doctype html><title>Other</title><button onclick='this.textContent += 1'>Count</button>";
    site(&[("/", HOSTILE), ("/other", OTHER)]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_page_forges_no_step_and_breaks_no_panel() -> Result<()> {
    let bench = Bench::new()?;
    let server = hostile().await?;
    let suite = bench.path("hostile");
    let start = "http://hostile.test/";
    let live = server.as_live_web();
    let mut annotator =
        Annotator::start(&bench, &[start, "--id", "tabs", "-o", suite.as_str(), &live], start)
            .await?;
    let person = &mut annotator.person;
    person.until("document.body.dataset.forged === '1'").await?;
    let visible =
        "[document.body.dataset.sandboxReport, document.body.dataset.flushCaptured].join()";
    ensure!(person.evaluate(visible).await? == "undefined,undefined");
    // The page asks for the panel, by its address and its token.
    let panel = annotator.panel_url.clone();
    for (method, path) in [("GET", "view"), ("POST", "discard")] {
        let ask = format!(
            "fetch('{panel}{path}', {{ method: '{method}' }}).then(answer => answer.status, () => 0)"
        );
        let status = annotator.person.evaluate(&ask).await?;
        ensure!(status == 0 || status.as_u64().is_some_and(|status| status >= 400), "{status}");
    }
    let (host, _) = panel.trim_end_matches('/').rsplit_once('/').context("a token")?;
    let told = get(&format!("{host}/view")).await?;
    ensure!(
        told.starts_with("refused") && !told.contains("steps"),
        "without its token nothing is told: {told}"
    );
    let person = &mut annotator.person;
    person.click(&selected("[data-act]")).await?;
    person.until("document.body.dataset.box === '1'").await?;
    person
        .click("document.querySelector('iframe').contentDocument.querySelector('button')")
        .await?;
    person.until("document.body.dataset.inner === '1'").await?;
    person.click(&selected("input[name=secret]")).await?;
    person.type_text("hunter2").await?;
    person.click(&selected("input[name=who]")).await?;
    person.type_text("Ada").await?;
    person.click(&named("Open")).await?;
    person.switch("/other").await?;
    person.click(&named("Count")).await?;
    annotator.steps(6).await?;
    let shown = annotator
        .panel
        .evaluate(
            "document.title + document.querySelectorAll('#steps script, #steps img[src=x]').length",
        )
        .await?;
    ensure!(shown == "Annotate a task0", "{shown}");
    let name = annotator
        .panel
        .evaluate("document.querySelector('#steps > li:nth-child(5) .what').textContent")
        .await?;
    ensure!(name.as_str().is_some_and(|name| name.contains("<script>document.title")), "{name}");
    annotator
        .panel
        .until("!document.querySelector('#steps > li:nth-child(3) .password').hidden")
        .await?;
    asks_only(&annotator.panel, &[&panel])?;
    annotator.write("#goal", "Count once on the other page.").await?;
    annotator.mark(1, "element_path_exactly_match").await?;
    annotator.mark(4, "element_value_exactly_match").await?;
    annotator.mark(5, "url_included_match").await?;
    annotator.mark(6, "element_value_included_match").await?;
    ensure!(
        annotator.reached().await?.iter().all(|reached| reached == "reached"),
        "{:?}",
        annotator.reached().await?
    );
    holds_nowhere(&suite.join(".annotate"), "hunter2")?;
    // A selector that finds more than one element says so, and can be mended.
    let path = "#steps > li:nth-child(1) .reference textarea";
    annotator.write(path, "div").await?;
    annotator.panel.until("document.querySelector('#steps > li:nth-child(1) .node .problems').textContent.includes('matches 2 elements')").await?;
    annotator.button("undo").await?;
    annotator.panel.until("view.steps[0].nodes[0].problems.length === 0").await?;
    annotator.save().await?;
    let task = std::fs::read_to_string(suite.join("tabs.yaml"))?;
    ensure!(
        !task.contains("hunter2") && !task.contains("forged") && task.contains("PASSWORD"),
        "{task}"
    );
    let task = yaml(&suite.join("tabs.yaml"))?;
    ensure!(task["oracle"][0]["click"]["role"] == "css", "{task:#}");
    plays(&bench, &suite, 1)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_existing_task_is_edited_and_another_is_added_beside_it() -> Result<()> {
    let bench = Bench::new()?;
    let suite = existing(&bench)?;
    let file = suite.join("guest-booking.yaml");
    // Its steps are played first, so that the person goes on where they end.
    let mut annotator =
        Annotator::start(&bench, &["-o", file.as_str()], "aldria-rail.test").await?;
    annotator.person.switch("/trains/re-406").await?;
    annotator.steps(3).await?;
    annotator.panel.until("view.nodes.length === 3 && !view.is_playing").await?;
    annotator.person.click(&named("Lines and timetables")).await?;
    annotator.steps(4).await?;
    annotator.mark(4, "url_included_match").await?;
    annotator.write("#goal", "Sign in as a guest, open the train, and then the timetable.").await?;
    annotator.panel.click(&selected("#nodes > .node:nth-child(1) .remove")).await?;
    annotator.panel.until("view.nodes.length === 2").await?;
    annotator.save().await?;
    let said = std::fs::read_to_string(&file)?;
    ensure!(said.starts_with("# Keep me.\nid: guest-booking\n"), "{said}");
    let task = yaml(&file)?;
    ensure!(
        task["tags"][0] == "errand"
            && task["oracle"].as_array().is_some_and(|steps| steps.len() == 5),
        "{task:#}"
    );
    ensure!(
        task["scorer"]["mind2web_live"]["nodes"].as_array().is_some_and(|nodes| nodes.len() == 3),
        "{task:#}"
    );
    plays(&bench, &suite, 1)?;
    // The same snapshot is the suite's world: the new task names none of its own.
    let start = "https://www.aldria-rail.test/";
    let add = [DEMO, "--url", start, "--id", "guest-booking", "-o", suite.as_str()];
    let mut annotator = Annotator::start(&bench, &add, start).await?;
    annotator.panel.until("view.missing[0].includes('guest-booking.yaml')").await?;
    annotator.write("#id", "second").await?;
    annotator.write("#goal", "Open the timetable.").await?;
    annotator.person.click(&named("Lines and timetables")).await?;
    annotator.steps(1).await?;
    annotator.mark(1, "url_included_match").await?;
    annotator.save().await?;
    let task = yaml(&suite.join("second.yaml"))?;
    ensure!(task["snapshots"].is_null() && std::fs::read_to_string(&file)? == said, "{task:#}");
    plays(&bench, &suite, 2)
}

#[test]
fn what_cannot_be_annotated_is_said_before_anything_opens() -> Result<()> {
    let bench = Bench::new()?;
    let suite = bench.path("none");
    let known = existing(&bench)?;
    let began = Instant::now();
    for (arguments, expect) in [
        (vec!["-o", suite.as_str()], "is no suite yet"),
        (vec!["nowhere.wacz", "-o", suite.as_str()], "nowhere.wacz"),
        (vec!["example.org", "-o", suite.as_str()], "https://example.org"),
        (vec!["--resume", "-o", suite.as_str()], "no unfinished annotation"),
        (vec!["-o", known.as_str(), "--task", "guest-bokking"], "did you mean `guest-booking`"),
        (vec!["-o", "tasks/demo/clock-time-zone.yaml"], "only key nodes can be annotated"),
        (vec!["-o", "tasks/town", "https://a.test/"], "has sites that run here"),
    ] {
        let output = bench.run(&[&["annotate", "--headless"], &arguments[..]].concat())?;
        let said = text(&output.stderr);
        ensure!(
            output.status.code() == Some(2) && said.contains(expect),
            "{arguments:?}: {}: {said}",
            output.status
        );
    }
    ensure!(began.elapsed() < PATIENCE && !suite.exists());
    Ok(())
}
