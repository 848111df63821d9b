//! Tabs in `sandbox annotate`: the oracle must find the tab in which the person went on.

use anyhow::{Result, ensure};
use camino::Utf8Path;
use serde_json::{Value, json};

use crate::annotator::{Annotator, named, plays, site, yaml};
use crate::harness::Bench;
use crate::server::Server;

const START: &str = "http://tabs.test/first";
/// The protocol's bit of the Control key.
const CONTROL: u32 = 2;
const FIRST: &str = "<!doctype html><title>First</title><link rel='icon' href='data:,'>
<p><a href='/second' target='_blank'>Open</a></p>
<p><a href='/middle'>Wheel</a></p>
<p><a href='/control'>Held</a></p>
<button onclick=\"this.textContent = 'First ' + ++window.count\">First</button><script>count = 0</script>";
const OTHER: &str = "<!doctype html><title>Other</title><link rel='icon' href='data:,'>
<button onclick=\"this.textContent = 'Second ' + ++window.count\">Second</button><script>count = 0</script>";

async fn start(bench: &Bench, suite: &Utf8Path) -> Result<(Server, Annotator)> {
    let server =
        site(&[("/first", FIRST), ("/second", OTHER), ("/middle", OTHER), ("/control", OTHER)])
            .await?;
    let live = server.as_live_web();
    let begin = [START, "--id", "tabs", "-o", suite.as_str(), &live];
    let annotator = Annotator::start(bench, &begin, START).await?;
    Ok((server, annotator))
}

/// A click, as a task has it.
fn click(role: &str, name: &str) -> Value {
    json!({ "click": { "role": role, "name": name, "nth": 0 } })
}

/// Saves the task, whose solution must be this, and plays it.
async fn saves(
    mut annotator: Annotator,
    bench: &Bench,
    suite: &Utf8Path,
    oracle: Value,
) -> Result<()> {
    annotator.write("#goal", "Count in both tabs.").await?;
    let steps = oracle.as_array().map_or(0, Vec::len);
    annotator.mark(steps, "element_path_exactly_match").await?;
    annotator.mark(steps, "element_value_exactly_match").await?;
    annotator.save().await?;
    let task = yaml(&suite.join("tabs.yaml"))?;
    ensure!(task["oracle"] == oracle, "{:#}\nand not\n{oracle:#}", task["oracle"]);
    plays(bench, suite, 1)
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_that_were_played_leave_the_tabs_of_the_solution() -> Result<()> {
    let bench = Bench::new()?;
    let suite = bench.path("played");
    let (_server, mut annotator) = start(&bench, &suite).await?;
    annotator.person.click(&named("Open")).await?;
    annotator.steps(1).await?;
    annotator.person.click(&named("First")).await?;
    annotator.steps(3).await?;
    annotator.person.evaluate("document.querySelector('button').remove()").await?;
    annotator.button("play").await?;
    annotator.person.until("document.querySelector('button')?.textContent === 'First 1'").await?;
    annotator.panel.until("!view.is_playing").await?;
    ensure!(
        annotator.person.count_tabs("tabs.test").await? == 2,
        "other tabs than those of the steps"
    );
    annotator.person.switch("/second").await?;
    annotator.person.click(&named("Second")).await?;
    annotator.person.until("document.querySelector('button').textContent === 'Second 1'").await?;
    annotator.steps(5).await?;
    let oracle = json!([
        click("link", "Open"),
        { "focus_tab": 0 },
        click("button", "First"),
        { "focus_tab": 1 },
        click("button", "Second"),
    ]);
    saves(annotator, &bench, &suite, oracle).await
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_starts_over_has_one_tab_and_no_steps() -> Result<()> {
    let bench = Bench::new()?;
    let suite = bench.path("over");
    let (_server, mut annotator) = start(&bench, &suite).await?;
    annotator.person.click(&named("First")).await?;
    annotator.person.click(&named("Open")).await?;
    annotator.person.switch("/second").await?;
    annotator.person.click(&named("Second")).await?;
    annotator.steps(3).await?;
    annotator.panel.evaluate("globalThis.confirm = () => true").await?;
    annotator.button("over").await?;
    annotator.steps(0).await?;
    annotator.person.switch(START).await?;
    annotator.person.until("document.querySelector('button')?.textContent === 'First'").await?;
    ensure!(annotator.person.count_tabs("").await? == 1, "other tabs are still open");
    annotator.person.click(&named("Open")).await?;
    annotator.person.switch("/second").await?;
    annotator.person.click(&named("Second")).await?;
    annotator.steps(2).await?;
    annotator.person.switch(START).await?;
    annotator.person.click(&named("First")).await?;
    annotator.steps(4).await?;
    let oracle = json!([
        click("link", "Open"),
        click("button", "Second"),
        { "focus_tab": 0 },
        click("button", "First"),
    ]);
    saves(annotator, &bench, &suite, oracle).await
}

#[tokio::test(flavor = "multi_thread")]
async fn links_that_the_mouse_opens_in_new_tabs_are_steps() -> Result<()> {
    let bench = Bench::new()?;
    let suite = bench.path("opened");
    let (_server, mut annotator) = start(&bench, &suite).await?;
    annotator.person.click_with(&named("Wheel"), "middle", 0).await?;
    annotator.steps(1).await?;
    // What the wheel does beside a link is no step.
    annotator.person.click_with(&named("First"), "middle", 0).await?;
    annotator.person.click_with(&named("Held"), "left", CONTROL).await?;
    annotator.steps(3).await?;
    annotator.person.switch("/middle").await?;
    annotator.person.click(&named("Second")).await?;
    annotator.steps(5).await?;
    let key = "ControlOrMeta";
    let oracle = json!([
        { "click": { "role": "link", "name": "Wheel", "nth": 0, "button": "middle" } },
        { "focus_tab": 0 },
        { "click": { "role": "link", "name": "Held", "nth": 0, "modifiers": [key] } },
        { "focus_tab": 1 },
        click("button", "Second"),
    ]);
    saves(annotator, &bench, &suite, oracle).await
}
