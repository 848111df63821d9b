//! The panels of the viewer, in people's browser: requests, messages, model calls, score, pictures.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::chromium::{Browser, fits, is_silent};
use crate::devtools::Tab;
use crate::harness::Bench;
use crate::pages::{run, url};

/// The number of rows that a panel shows, and what it says of them.
async fn rows(tab: &mut Tab, panel: &str) -> Result<Value> {
    tab.evaluate(&format!(
        "(() => {{ const list = document.querySelector('.list[data-panel={panel}]');
            return [[...list.querySelectorAll('.row')].filter(row => row.offsetHeight).length, list.querySelector('output').value]; }})()"
    ))
    .await
}

/// The panels that are shown, and the address.
async fn panels(tab: &mut Tab) -> Result<Value> {
    tab.evaluate("[[...document.querySelectorAll('.panel')].filter(panel => panel.offsetHeight).map(panel => panel.dataset.panel).join(' '), location.hash]").await
}

async fn count(tab: &mut Tab, panel: &str) -> Result<Value> {
    let badge = format!("document.querySelector('[data-tab={panel}] .count')");
    tab.evaluate(&format!("[{badge}.textContent, {badge}.classList.contains('alarming')]")).await
}

/// The address of an episode's trace, and a browser.
fn trace(bench: &Bench) -> Result<(String, Browser)> {
    let run = run(bench)?;
    bench.succeed(&["trace", run.as_str()])?;
    Ok((url(&run.join("episodes/book-viewing-1/trace.html")), Browser::start(bench)?))
}

#[tokio::test(flavor = "multi_thread")]
async fn panels_are_opened_by_digits_and_tabs_and_survive_a_reload() -> Result<()> {
    let bench = Bench::new()?;
    let (page, browser) = trace(&bench)?;
    let mut tab = browser.tab().await?;
    tab.goto(&page).await?;
    for (digit, panel) in
        [("2", "model"), ("3", "network"), ("4", "console"), ("5", "score"), ("1", "page")]
    {
        tab.press(digit).await?;
        let now = panels(&mut tab).await?;
        ensure!(now == json!([panel, format!("#step=1&panel={panel}")]), "{digit}: {now}");
    }
    tab.evaluate("document.querySelector('[data-tab=network]').click()").await?;
    tab.press("End").await?;
    tab.press("e").await?;
    let address = "#step=6&panel=network&scope=episode";
    ensure!(panels(&mut tab).await? == json!(["network", address]));
    tab.call("Page.reload", json!({})).await?;
    tab.until(
        "document.readyState === 'complete' && document.querySelector('#step-6').offsetHeight > 0",
    )
    .await?;
    ensure!(panels(&mut tab).await? == json!(["network", address]));
    fits(&mut tab).await?;

    // Where there is nothing to show, a panel says so.
    tab.goto("about:blank").await?;
    tab.goto(&format!("{page}#step=1&panel=model")).await?;
    let said =
        tab.evaluate("document.querySelector('.current [data-panel=model]').innerText").await?;
    ensure!(said.as_str().is_some_and(|said| said.contains("asked no model")), "{said}");
    is_silent(&tab)
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_and_messages_are_filtered() -> Result<()> {
    let bench = Bench::new()?;
    let (page, browser) = trace(&bench)?;
    let mut tab = browser.tab().await?;
    tab.goto(&format!("{page}#step=4&panel=network")).await?;
    ensure!(rows(&mut tab, "network").await? == json!([1, "1"]));
    ensure!(count(&mut tab, "network").await? == json!(["1", true]));
    ensure!(count(&mut tab, "console").await? == json!(["1", false]));
    let row = "document.querySelector('.list[data-panel=network] .group:not([hidden]) .row')";
    let said = tab.evaluate(&format!("{row}.querySelector('summary').innerText")).await?;
    let said = said.as_str().unwrap_or_default();
    for part in ["miss", "GET", "404", "/not/recorded", "kB", "ms"] {
        ensure!(said.contains(part), "{part}: {said}");
    }
    tab.evaluate(&format!("{row}.querySelector('summary').click()")).await?;
    let said = tab.evaluate(&format!("{row}.innerText")).await?;
    ensure!(
        said.as_str().is_some_and(|said| said.contains("document") && said.contains("recorded")),
        "{said}"
    );
    let bodies = tab.evaluate("document.querySelector('.where').innerText").await?;
    ensure!(bodies.as_str().is_some_and(|bodies| bodies.contains("demo.wacz")), "{bodies}");

    // The whole episode: by words, and the misses alone.
    tab.press("e").await?;
    let all = rows(&mut tab, "network").await?;
    let all = all[0].as_u64().unwrap_or_default();
    ensure!(all > 5, "{all} requests");
    tab.press("/").await?;
    tab.call("Input.insertText", json!({ "text": "NOT/recorded get" })).await?;
    ensure!(rows(&mut tab, "network").await? == json!([1, format!("1 of {all}")]));
    tab.press("3").await?;
    ensure!(
        rows(&mut tab, "network").await? == json!([0, format!("0 of {all}")]),
        "a digit is text there"
    );
    ensure!(
        tab.evaluate("document.querySelector('[data-panel=network] .empty').offsetHeight > 0")
            .await?
            == json!(true)
    );
    tab.press("Escape").await?;
    ensure!(rows(&mut tab, "network").await?[0] == json!(all));
    tab.evaluate("document.querySelector('[data-panel=network] [type=checkbox]').click()").await?;
    ensure!(rows(&mut tab, "network").await? == json!([2, format!("2 of {all}")]));
    fits(&mut tab).await?;

    tab.press("4").await?;
    ensure!(rows(&mut tab, "console").await? == json!([2, "2"]));
    let said =
        tab.evaluate("document.querySelector('.list[data-panel=console]').innerText").await?;
    ensure!(
        said.as_str().is_some_and(|said| said.contains("status of 404") && said.contains("step 5")),
        "{said}"
    );
    fits(&mut tab).await?;
    tab.press("5").await?;
    tab.evaluate("document.querySelectorAll('.strip a')[1].click()").await?;
    let said =
        tab.evaluate("document.querySelector('.current [data-panel=score]').innerText").await?;
    ensure!(
        said.as_str().is_some_and(|said| said.contains("0.67") && said.contains("Key node 3")),
        "{said}"
    );
    is_silent(&tab)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_is_seen_before_at_and_after_its_action() -> Result<()> {
    let bench = Bench::new()?;
    let (page, browser) = trace(&bench)?;
    let mut tab = browser.tab().await?;
    tab.goto(&format!("{page}#step=2&panel=page")).await?;
    let seen = "[document.querySelector('.current .mark')?.offsetHeight > 0, [...document.querySelectorAll('.current .shot img')]
        .filter(img => img.offsetHeight).map(img => img.getAttribute('src')).join(' ')]";
    ensure!(tab.evaluate(seen).await? == json!([true, "step-02.png"]));
    for (view, marked, picture) in [
        ("after", false, "step-03.png"),
        ("before", false, "step-02.png"),
        ("action", true, "step-02.png"),
    ] {
        tab.press("v").await?;
        let now = tab.evaluate(seen).await?;
        ensure!(now == json!([marked, picture]), "{view}: {now}");
        let pressed = tab
            .evaluate("document.querySelector('.views [aria-pressed=true]').dataset.view")
            .await?;
        ensure!(pressed == json!(view), "{pressed}");
    }
    tab.evaluate("document.querySelector('.views [data-view=after]').click()").await?;
    ensure!(tab.evaluate("location.hash").await? == json!("#step=2&panel=page&view=after"));
    // Nothing comes after the last step.
    tab.press("End").await?;
    ensure!(
        tab.evaluate("document.querySelector('.views [data-view=after]').disabled").await?
            == json!(true)
    );

    // The mouse on the strip shows a picture large, and what was done.
    let place = "(() => { const box = document.querySelectorAll('.strip a')[2].getBoundingClientRect(); return [box.x + box.width / 2, box.y + 20]; })()";
    let place: [f64; 2] = serde_json::from_value(tab.evaluate(place).await?)?;
    tab.call(
        "Input.dispatchMouseEvent",
        json!({ "type": "mouseMoved", "x": place[0], "y": place[1] }),
    )
    .await?;
    tab.until("document.querySelector('.peek').offsetHeight > 0 && document.querySelector('.peek img').naturalWidth === 1280").await?;
    let said = tab.evaluate("document.querySelector('.peek').innerText").await?;
    ensure!(said.as_str().is_some_and(|said| said.contains("3 · click(\"999\")")), "{said}");
    tab.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": 5, "y": 600 })).await?;
    tab.until("document.querySelector('.peek').offsetHeight === 0").await?;

    // Errors are marked where they happened.
    let marks = tab.evaluate("[...document.querySelectorAll('.strip a')].map(link => [...link.querySelectorAll('.dots i')].map(mark => mark.className).join(' '))").await?;
    ensure!(marks == json!(["", "scored", "failed", "missed", "missed", ""]), "{marks}");
    ensure!(tab.evaluate("document.querySelectorAll('.spans a').length").await? == json!(6));
    is_silent(&tab)
}

#[test]
fn a_step_has_an_address_and_a_page_in_the_frozen_world() -> Result<()> {
    let bench = Bench::new()?;
    let run = run(&bench)?;
    let printed = bench.succeed(&["trace", run.as_str(), "book-viewing", "--step", "4"])?;
    ensure!(
        printed.starts_with("file:///")
            && printed.trim().ends_with("/book-viewing-1/trace.html#step=4"),
        "{printed}"
    );
    // Without a display it says what to do, and where the page is.
    let arguments = [
        "trace",
        run.as_str(),
        "book-viewing",
        "--step",
        "4",
        "--open-page",
        "--suite",
        "tasks/demo",
    ];
    let mut command = bench.command(&arguments);
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success() && said.contains("no display"), "{said}");
    ensure!(
        said.contains("--step 4 --open-page --suite tasks/demo")
            && said.contains("sandbox attach tasks/demo book-viewing"),
        "{said}"
    );
    ensure!(
        String::from_utf8_lossy(&output.stdout).trim() == "https://www.hearthside.test/homes/1134"
    );
    for (step, why) in [("40", "has 6 steps"), ("x", "invalid value")] {
        let output = bench.run(&[
            "trace",
            run.as_str(),
            "book-viewing",
            "--step",
            step,
            "--open-page",
            "--suite",
            "tasks/demo",
        ])?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.code() == Some(2) && said.contains(why), "{said}");
    }
    Ok(())
}

/// Chromium's platform without a screen stands for a display.
#[test]
fn the_page_of_a_step_is_opened_in_a_window_of_its_world() -> Result<()> {
    let bench = Bench::new()?;
    let run = run(&bench)?;
    let chromium = browser::Programs::find()?.chromium.context("Chromium")?;
    let window = bench.path("window.sh");
    let script =
        format!("#!/bin/sh\nexec '{}' --ozone-platform=headless \"$@\"\n", chromium.display());
    std::fs::write(&window, script)?;
    std::fs::set_permissions(&window, std::fs::Permissions::from_mode(0o755))?;
    let arguments = ["trace", run.as_str(), "book-viewing", "--step", "4", "--open-page", "-vv"];
    let mut command = bench.command(&arguments);
    command.env("SANDBOX_CHROMIUM", &window).env("DISPLAY", ":99");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(child.stderr.take().context("stderr is piped")?).lines();
    let mut said = String::new();
    while !said.ends_with("Enter or Ctrl-C closes it\n") {
        said +=
            &(lines.next().with_context(|| format!("it says that the page is open: {said}"))??
                + "\n");
    }
    let page = said.lines().find(|line| line.contains("https://www.hearthside.test/homes/1134"));
    ensure!(page.is_some_and(|page| page.contains("exact")), "{said}");
    child.stdin.take().context("stdin is piped")?.write_all(b"\n")?;
    lines.for_each(drop);
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{}: {said}", output.status);
    ensure!(
        String::from_utf8_lossy(&output.stdout).trim() == "https://www.hearthside.test/homes/1134"
    );
    Ok(())
}

/// The box on the picture: its label, and its place in pixels of the screenshot.
const SHOWN_BOX: &str = "(() => {
    const box = document.querySelector('.current .box'), shot = document.querySelector('.current .shot');
    if (!box) return null;
    const [place, around] = [box.getBoundingClientRect(), shot.querySelector('img').getBoundingClientRect()];
    const scale = shot.querySelector('img').getAttribute('width') / around.width;
    return [box.innerText, Math.round((place.left - around.left) * scale), Math.round((place.top - around.top) * scale)];
})()";

#[tokio::test(flavor = "multi_thread")]
async fn ids_are_shown_on_the_picture_under_the_mouse() -> Result<()> {
    let bench = Bench::new()?;
    let (page, browser) = trace(&bench)?;
    let mut tab = browser.tab().await?;
    tab.goto(&format!("{page}#step=2&panel=page")).await?;
    tab.evaluate("document.querySelector('.current .tree').open = true").await?;
    // An element with a line of its own: its id, its box, and where its line is on the screen.
    let target = tab
        .evaluate(
            "(() => {
                const boxes = JSON.parse(document.querySelector('.current .shot').dataset.boxes);
                const text = document.querySelector('.current .tree pre').firstChild;
                const at = text.data.search(/\\[\\d+\\] (link|button)/);
                const bid = /\\[(\\d+)\\]/.exec(text.data.slice(at))[1];
                const range = document.createRange();
                range.setStart(text, at + 1);
                range.setEnd(text, at + 3);
                range.startContainer.parentElement.scrollIntoView();
                const line = range.getBoundingClientRect();
                return { bid, box: boxes[bid], x: line.x + 2, y: line.y + line.height / 2 };
            })()",
        )
        .await?;
    let number = |value: &Value| value.as_i64().context("a number");
    let (left, top) = (number(&target["box"][0])?, number(&target["box"][1])?);
    let point = |value: &Value| value.as_f64().context("a coordinate");
    tab.call(
        "Input.dispatchMouseEvent",
        json!({ "type": "mouseMoved", "x": point(&target["x"])?, "y": point(&target["y"])? }),
    )
    .await?;
    let shown = tab.evaluate(SHOWN_BOX).await?;
    let bid = format!("[{}]", target["bid"].as_str().context("an id")?);
    ensure!(shown[0].as_str().is_some_and(|label| label.starts_with(&bid)), "{target}: {shown}");
    let near = |shown: &Value, wanted: i64| {
        shown.as_i64().is_some_and(|shown| (shown - wanted).abs() <= 2)
    };
    ensure!(near(&shown[1], left) && near(&shown[2], top), "{target}: {shown}");

    // The same from the picture.
    let place = tab
        .evaluate("(() => { scrollTo(0, 0); const { x, y } = document.querySelector('.current .box').getBoundingClientRect(); return [x, y]; })()")
        .await?;
    let (x, y) = (point(&place[0])? + 4.0, point(&place[1])? + 4.0);
    tab.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": 1, "y": 1 })).await?;
    ensure!(tab.evaluate(SHOWN_BOX).await?.is_null());
    tab.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y })).await?;
    let again = tab.evaluate(SHOWN_BOX).await?;
    ensure!(again[0].as_str().is_some_and(|label| label.starts_with('[')), "{again}");
    is_silent(&tab)
}
