//! The viewer of episodes and the report, opened by people's browser from a folder.

use anyhow::{Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use crate::chromium::{Browser, fits, follows_preference, is_silent};
use crate::devtools::Tab;
use crate::harness::Bench;

/// Answers one task rightly and one wrongly; of the third it does a part, and on the way all that
/// can go wrong: a page that is not recorded, a host outside of the world, an element that is not
/// there.
const AGENT: &str = r#"read -r hello; echo '{"protocol":1}'; read -r task
    act() { read -r seen; printf '%s\n' "$1"; }
    case "$task" in
    *clock-time-zone*)
        act '{"action":"mouse_click(320, 180)","reason":"<b>the middle</b>"}'
        act "{\"action\":\"send_msg_to_user('Europe/London')\"}";;
    *cancelled-train*)
        act "{\"action\":\"send_msg_to_user('none')\"}";;
    *)
        act '{"action":"goto(\"https://www.hearthside.test/homes/1134\")","reason":"the home itself"}'
        act '{"action":"fill(\"css=#viewing label:nth-of-type(3) input\", \"Ada Marsh\")","reason":"her name"}'
        act '{"action":"click(\"999\")"}'
        act '{"action":"goto(\"https://www.hearthside.test/not/recorded\")"}'
        act '{"action":"goto(\"https://outside.test/\")"}'
        act '{"action":"send_msg_to_user(\"I have\\nbooked it.\")"}';;
    esac
    read -r end"#;

/// A run of three episodes that passed, failed, and were done in part.
pub(crate) fn run(bench: &Bench) -> Result<Utf8PathBuf> {
    let out = bench.path("run");
    let agent = format!("--agent=program:{AGENT}");
    let tasks = ["--task=book-viewing", "--task=cancelled-train", "--task=clock-time-zone"];
    let mut arguments = vec!["run", "tasks/demo", &agent, "--json", "--output", out.as_str()];
    arguments.extend(tasks);
    let summary: Value = serde_json::from_str(&bench.succeed(&arguments)?)?;
    ensure!(summary["passed"] == 1 && summary["episodes"] == 3, "{summary:#}");
    let misses = &summary["sensitivity"]["by"][0];
    ensure!(misses["cause"] == "miss" && misses["episodes"] == 1, "{summary:#}");
    ensure!((misses["high"].as_f64().unwrap_or(0.0) - 2.0 / 3.0).abs() < 1e-9, "{summary:#}");
    Ok(out)
}

pub(crate) fn url(path: &Utf8Path) -> String {
    format!("file://{path}")
}

/// The steps that are shown, and the one that the address names.
async fn shown(tab: &mut Tab) -> Result<Value> {
    tab.evaluate("[[...document.querySelectorAll('.step')].filter(step => step.offsetHeight).map(step => step.id).join(' '), location.hash]").await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_episode_is_walked_through_by_keys() -> Result<()> {
    let bench = Bench::new()?;
    let run = run(&bench)?;
    let printed = bench.succeed(&["trace", run.as_str(), "book-viewing"])?;
    let page = Utf8Path::new(printed.trim());
    ensure!(page == run.join("episodes/book-viewing-1/trace.html"), "{printed}");
    let browser = Browser::start(&bench)?;
    let mut tab = browser.tab().await?;
    tab.goto(&url(page)).await?;

    // One step at a time.
    ensure!(shown(&mut tab).await? == json!(["step-1", ""]));
    for (key, step) in [
        ("ArrowRight", 2),
        ("j", 3),
        ("k", 2),
        ("ArrowLeft", 1),
        ("ArrowLeft", 1),
        ("End", 6),
        ("j", 6),
        ("Home", 1),
        ("j", 2),
    ] {
        tab.press(key).await?;
        let now = shown(&mut tab).await?;
        ensure!(
            now == json!([format!("step-{step}"), format!("#step={step}&panel=page")]),
            "{key}: {now}"
        );
    }
    ensure!(
        tab.evaluate("document.title")
            .await?
            .as_str()
            .is_some_and(|title| title.starts_with("2/6"))
    );

    // What was acted on is marked where it is in the picture.
    tab.until("[...document.querySelectorAll('.current img')].every(img => img.complete && img.naturalWidth === 1280)").await?;
    let mark = "(() => { const box = selector => document.querySelector('.current ' + selector).getBoundingClientRect();
        const [mark, img] = [box('.mark'), box('img')], scale = 1280 / img.width;
        return [mark.x - img.x, mark.y - img.y, mark.width, mark.height].map(part => part * scale); })()";
    let marked: [f64; 4] = serde_json::from_value(tab.evaluate(mark).await?)?;
    let trace = std::fs::read_to_string(run.join("episodes/book-viewing-1/trace.jsonl"))?;
    let steps = trace.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    let lay: [f64; 4] = serde_json::from_value(steps[1]["element"]["bbox"].clone())?;
    ensure!(
        marked.iter().zip(lay).all(|(marked, lay)| (marked - lay).abs() < 2.0),
        "{marked:?} {lay:?}"
    );

    // What each step says.
    for (step, said) in [
        (1, "the home itself"),
        (2, "her name"),
        (2, "Key node 1 of 3 reached"),
        (2, "Score 0.00 → 0.67"),
        (2, "Key node 2 of 3 reached"),
        (3, "failed to find element 999"),
        (6, "I have"),
    ] {
        let text =
            tab.evaluate(&format!("document.querySelector('#step-{step}').textContent")).await?;
        ensure!(
            text.as_str().is_some_and(|text| text.contains(said)),
            "step {step} lacks {said:?}: {text}"
        );
    }
    let added = tab.evaluate("document.querySelector('#step-3 .diff .added').textContent").await?;
    ensure!(added.as_str().is_some_and(|line| line.contains("Ada Marsh")), "{added}");

    // Keys that open and close.
    tab.press("t").await?;
    ensure!(
        tab.evaluate("document.querySelector('.current details.tree').open").await? == json!(true)
    );
    tab.press("?").await?;
    ensure!(tab.evaluate("document.querySelector('dialog').open").await? == json!(true));
    tab.press("j").await?;
    ensure!(
        shown(&mut tab).await? == json!(["step-2", "#step=2&panel=page"]),
        "keys are the dialog's while it is open"
    );
    tab.press("Escape").await?;
    tab.until("!document.querySelector('dialog').open").await?;

    // An address may name a step, now and at the beginning.
    tab.evaluate("document.querySelectorAll('.strip a')[3].click()").await?;
    tab.until("document.querySelector('#step-4').offsetHeight > 0").await?;
    tab.evaluate("document.querySelectorAll('.spans a')[2].click()").await?;
    tab.until("document.querySelector('#step-3').offsetHeight > 0").await?;
    tab.goto("about:blank").await?;
    tab.goto(&format!("{}#step-5", url(page))).await?;
    ensure!(shown(&mut tab).await? == json!(["step-5", "#step-5"]));

    fits(&mut tab).await?;
    follows_preference(&mut tab).await?;
    is_silent(&tab)?;

    // A place is marked as well, and what an agent says stays text.
    tab.goto(&url(&run.join("episodes/clock-time-zone-1/trace.html"))).await?;
    let point = "(() => { const [point, img] = ['.point', 'img'].map(part => document.querySelector('.current ' + part).getBoundingClientRect());
        return [point.x + point.width / 2 - img.x, point.y + point.height / 2 - img.y].map(part => Math.round(part * 1280 / img.width)); })()";
    tab.until("document.querySelector('.current img').complete").await?;
    let point: [f64; 2] = serde_json::from_value(tab.evaluate(point).await?)?;
    ensure!((point[0] - 320.0).abs() < 3.0 && (point[1] - 180.0).abs() < 3.0, "{point:?}");
    ensure!(
        tab.evaluate("document.querySelector('.reason').textContent").await?
            == json!("<b>the middle</b>")
    );
    is_silent(&tab)?;

    // A script that is not the page's own is not run; the browser complains of it, so this comes
    // last.
    tab.evaluate("document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = 1' }))").await?;
    ensure!(tab.evaluate("window.ran === undefined").await? == json!(true));
    Ok(())
}

/// The tasks or episodes that a table shows, in its order.
async fn rows(tab: &mut Tab) -> Result<Value> {
    tab.evaluate("[...document.querySelectorAll('[data-filter]')].filter(part => part.offsetHeight).map(part => part.dataset.filter).join(' ')").await
}

async fn choose(tab: &mut Tab, name: &str, value: &str) -> Result<()> {
    let choice = format!("document.querySelector('.filter [name={name}]')");
    tab.evaluate(&format!(
        "{choice}.value = '{value}', {choice}.dispatchEvent(new Event('input', {{ bubbles: true }}))"
    ))
    .await?;
    ensure!(
        tab.evaluate(&format!("{choice}.value")).await? == json!(value),
        "{name} has no {value}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_is_searched_and_filtered() -> Result<()> {
    let bench = Bench::new()?;
    let run = run(&bench)?;
    let browser = Browser::start(&bench)?;
    let mut tab = browser.tab().await?;
    let report = url(&run.join("report.html"));
    tab.goto(&report).await?;
    let all = "book-viewing cancelled-train clock-time-zone";
    ensure!(rows(&mut tab).await? == json!(all));

    // Words of the table, of answers and of sites, in any order.
    for (words, expected) in [
        ("aldria", "cancelled-train"),
        ("BOOKED", "book-viewing"),
        ("time which zone", "clock-time-zone"),
        ("nowhere", ""),
    ] {
        tab.evaluate("document.activeElement.blur()").await?;
        tab.press("/").await?;
        tab.call("Input.insertText", json!({ "text": words })).await?;
        let now = rows(&mut tab).await?;
        ensure!(now == json!(expected), "{words}: {now}");
        let none = tab.evaluate("document.querySelector('.none').offsetHeight > 0").await?;
        ensure!(none == json!(expected.is_empty()), "{words}");
        tab.press("Escape").await?;
        ensure!(rows(&mut tab).await? == json!(all), "{words} was not cleared");
    }
    for (name, value, expected) in [
        ("verdict", "fail", "cancelled-train"),
        ("verdict", "part", "book-viewing"),
        ("verdict", "pass", "clock-time-zone"),
        ("group", "site www.hearthside.test", "book-viewing"),
    ] {
        choose(&mut tab, name, value).await?;
        let now = rows(&mut tab).await?;
        ensure!(now == json!(expected), "{name} {value}: {now}");
        ensure!(
            tab.evaluate("document.querySelector('.filter output').value").await?
                == json!("1 of 3 tasks")
        );
        choose(&mut tab, name, "").await?;
    }
    let text = tab.evaluate("document.body.textContent").await?;
    let text = text.as_str().unwrap_or_default();
    ensure!(text.contains("0.33 to 0.67, had 1 episode with misses failed or passed"), "{text}");
    ensure!(tab.evaluate("document.querySelectorAll('.stack i').length").await? == json!(5));
    fits(&mut tab).await?;
    follows_preference(&mut tab).await?;

    // From there to an episode, and by the list to another.
    tab.evaluate("document.querySelector('.fold a[href$=\"/trace.html\"]').click()").await?;
    tab.until("location.pathname.endsWith('/episodes/book-viewing-1/trace.html') && document.readyState === 'complete'").await?;
    tab.evaluate("document.querySelector('.kicker a').click()").await?;
    tab.until(
        "location.pathname.endsWith('/run/trace.html') && document.readyState === 'complete'",
    )
    .await?;
    ensure!(
        tab.evaluate("document.querySelector('.filter output').value").await?
            == json!("3 episodes")
    );
    choose(&mut tab, "verdict", "fail").await?;
    ensure!(rows(&mut tab).await? == json!("cancelled-train-1"));
    fits(&mut tab).await?;
    tab.evaluate("document.querySelector('tr:not([hidden]) a').click()").await?;
    tab.until("document.querySelector('h1')?.textContent === 'cancelled-train'").await?;
    is_silent(&tab)
}

/// Who forbids scripts still reads everything; what would do nothing is not shown.
#[tokio::test(flavor = "multi_thread")]
async fn without_scripts_all_is_there() -> Result<()> {
    let bench = Bench::new()?;
    let run = run(&bench)?;
    let browser = Browser::start(&bench)?;
    let mut tab = browser.tab().await?;
    tab.call("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await?;
    for (page, shown, parts) in [
        ("report.html", "tbody[data-filter]", 3),
        ("report.html", ".fold summary", 3),
        ("trace.html", "tr[data-filter]", 3),
        ("episodes/book-viewing-1/trace.html", ".step", 6),
        ("episodes/book-viewing-1/trace.html", ".list .group", 6),
    ] {
        tab.goto(&url(&run.join(page))).await?;
        let there = format!(
            "[...document.querySelectorAll('{shown}')].filter(part => part.offsetHeight).length"
        );
        ensure!(tab.evaluate(&there).await? == json!(parts), "{page}: {shown}");
        let idle = "[...document.querySelectorAll('.filter, .moves, .tabs, .views, .bar-of, .peek, dialog, th button')].filter(part => part.offsetHeight).length";
        ensure!(tab.evaluate(idle).await? == json!(0), "{page} shows what does nothing");
    }
    is_silent(&tab)
}

/// By a click on a column's head, or by the keyboard; entries keep what is folded under them.
#[tokio::test(flavor = "multi_thread")]
async fn tables_are_sorted_by_their_columns() -> Result<()> {
    let bench = Bench::new()?;
    let run = run(&bench)?;
    let browser = Browser::start(&bench)?;
    let mut tab = browser.tab().await?;
    let suite = "book-viewing cancelled-train clock-time-zone";
    let best_last = "cancelled-train book-viewing clock-time-zone";
    let best_first = "clock-time-zone book-viewing cancelled-train";
    for (page, end) in [("report.html", ""), ("trace.html", "-1")] {
        let named = |order: &str| {
            json!(order.split(' ').map(|id| format!("{id}{end}")).collect::<Vec<_>>().join(" "))
        };
        tab.goto(&url(&run.join(page))).await?;
        ensure!(rows(&mut tab).await? == named(suite), "{page}");
        let score = "document.querySelectorAll('.figures th button')[2]";
        for (order, said) in [(best_last, "ascending"), (best_first, "descending"), (suite, "")] {
            tab.evaluate(&format!("{score}.click()")).await?;
            let now = rows(&mut tab).await?;
            ensure!(now == named(order), "{page}, {said}: {now}");
            let aria_sort = tab
                .evaluate(&format!("{score}.closest('th').getAttribute('aria-sort') ?? ''"))
                .await?;
            ensure!(aria_sort == json!(said), "{page}: {aria_sort}");
        }
        tab.evaluate(&format!("{score}.focus()")).await?;
        tab.press(" ").await?;
        ensure!(rows(&mut tab).await? == named(best_last), "{page}: the keyboard sorts nothing");
        // Times are sorted as such, and not by their digits.
        let times = "[...document.querySelectorAll('[data-filter] [data-key]')].map(cell => Number(cell.dataset.key))";
        tab.evaluate("document.querySelectorAll('.figures th button')[6].click()").await?;
        let sorted = format!("{times}.every((time, at, all) => !at || all[at - 1] <= time)");
        ensure!(
            tab.evaluate(&sorted).await? == json!(true),
            "{page}: {}",
            tab.evaluate(times).await?
        );
        fits(&mut tab).await?;
    }
    tab.goto(&format!("{}#t-clock_2dtime_2dzone", url(&run.join("report.html")))).await?;
    ensure!(
        tab.evaluate(
            "[...document.querySelectorAll('.fold > td > details')].map(fold => fold.open)"
        )
        .await?
            == json!([false, false, true])
    );
    fits(&mut tab).await?;
    is_silent(&tab)
}

/// How far the lowest thing in each card stands above the card's end.
const EMPTY: &str = "[...document.querySelectorAll('.tile, .step, article')].filter(card => card.offsetHeight).map(card =>
    card.getBoundingClientRect().bottom - Math.max(...[...card.querySelectorAll('*')].map(part => part.getBoundingClientRect().bottom)))";

#[tokio::test(flavor = "multi_thread")]
async fn no_card_of_a_report_is_taller_than_what_it_holds() -> Result<()> {
    let bench = Bench::new()?;
    let run = run(&bench)?;
    // A step without a screenshot has no place for one.
    std::fs::remove_file(run.join("episodes/book-viewing-1/step-02.png"))?;
    bench.succeed(&["report", run.as_str()])?;
    let browser = Browser::start(&bench)?;
    let mut tab = browser.tab().await?;
    tab.goto(&url(&run.join("report.html"))).await?;
    tab.evaluate("document.querySelectorAll('details').forEach(fold => (fold.open = true))")
        .await?;
    for width in [1400, 390] {
        let device =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        tab.call("Emulation.setDeviceMetricsOverride", device).await?;
        tab.until(&format!("innerWidth === {width}")).await?;
        let empty: Vec<f64> = serde_json::from_value(tab.evaluate(EMPTY).await?)?;
        ensure!(empty.len() > 10 && empty.iter().all(|empty| *empty < 64.0), "{width}: {empty:?}");
    }
    ensure!(tab.evaluate("document.querySelectorAll('.step.bare img').length").await? == json!(0));
    ensure!(tab.evaluate("document.querySelectorAll('.step.bare').length").await? == json!(1));
    is_silent(&tab)
}
