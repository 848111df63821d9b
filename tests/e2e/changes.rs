//! `sandbox snapshot check` and the report of `sandbox snapshot diff`: what has become of pages
//! that were recorded.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use camino::Utf8Path;
use origin::data::Variant;
use origin::data::shops::{Obstacle, SHOPS, Shop};
use origin::{Options, Origin};
use serde_json::Value;

use crate::harness::{Bench, live_web, text};

/// A suite with a task for each page.
fn suite(bench: &Bench, pages: &[(&str, String)]) -> Result<camino::Utf8PathBuf> {
    let folder = bench.path("web");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("suite.yaml"), "name: web\nworld: {snapshots: [web.wacz]}\n")?;
    for (id, url) in pages {
        let task = format!(
            "id: {id}\ngoal: Look at <b>\"{id}\"</b>.\nstart_url: {url}\nscorer: {{equals: x}}\n"
        );
        fs::write(folder.join(format!("{id}.yaml")), task)?;
    }
    Ok(folder)
}

/// The verdicts by task.
fn verdicts(report: &Value) -> Result<Vec<(String, String)>> {
    let of = |task: &Value, key: &str| Some(task[key].as_str()?.to_owned());
    let tasks = report["tasks"].as_array().context("tasks")?;
    tasks.iter().map(|task| of(task, "id").zip(of(task, "verdict")).context("a task")).collect()
}

/// Arguments, and those that lead to the origin.
fn with<'a>(fixed: &[&'a str], live: &'a [String]) -> Vec<&'a str> {
    fixed.iter().copied().chain(live.iter().map(String::as_str)).collect()
}

/// What Python's own parser finds in a JUnit file: test cases, failures and their types.
fn junit(path: &Utf8Path) -> Result<String> {
    const READ: &str = "import sys, xml.etree.ElementTree as t
root = t.parse(sys.argv[1]).getroot()
print(root.get('tests'), root.get('failures'), *(f.get('type') for f in root.iter('failure')))";
    let read = Command::new("python3").args(["-c", READ, path.as_str()]).output()?;
    ensure!(read.status.success(), "{}", text(&read.stderr));
    Ok(text(&read.stdout).trim().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_changed_moved_or_died_are_told_by_task() -> Result<()> {
    let bench = Bench::new()?;
    let shop =
        (1..SHOPS).map(Shop).find(|shop| shop.obstacle() == Obstacle::None).context("a shop")?;
    let host = shop.host();
    let pages = [
        ("changed", "https://www.aldria-rail.test/".to_owned()),
        ("gone", format!("http://{host}/c/garden")),
        ("moved", format!("http://{host}/c/music")),
        ("same", format!("http://{host}/c/kitchen")),
        ("walled", format!("http://{host}/find?q=chest")),
    ];
    let suite = suite(&bench, &pages)?;
    let original = Origin::start(&Options::default()).await?;
    let live = live_web(&original);
    let record = ["record", "--suite", suite.as_str(), "--depth=0", "--delay=0"];
    bench.succeed(&with(&record, &live))?;
    let check = ["snapshot", "check", suite.as_str(), "--live", "--delay=0", "--json"];
    let same: Value = serde_json::from_str(&bench.succeed(&with(&check, &live))?)?;
    ensure!(verdicts(&same)?.iter().all(|(_, verdict)| verdict == "same"), "{same:#}");
    original.stop().await;

    let changed =
        Origin::start(&Options { variant: Variant::Changed, ..Options::default() }).await?;
    let (html, xml, now) =
        (bench.path("changes.html"), bench.path("changes.xml"), bench.path("now.wacz"));
    let files = ["--html", html.as_str(), "--junit", xml.as_str(), "-o", now.as_str()];
    let live = live_web(&changed);
    let output = bench.run(&with(&[&check[..], &files].concat(), &live))?;
    changed.stop().await;
    let said = text(&output.stderr);
    ensure!(
        output.status.code() == Some(1) && said.contains("4 of 5 pages are not as"),
        "{said}\n{}",
        text(&output.stdout)
    );
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let expected = ["changed", "gone", "moved", "same", "walled"]
        .map(|word| (word.to_owned(), word.to_owned()));
    ensure!(verdicts(&report)? == expected, "{report:#}");
    let why = |page: usize| {
        report["changes"]["pages"][page]["why"].as_str().unwrap_or_default().to_owned()
    };
    ensure!(
        why(1).contains("404") && why(2).contains("/c/travel") && why(4).contains("CAPTCHA"),
        "{report:#}"
    );
    ensure!(junit(&xml)? == "5 4 changed gone moved walled", "{}", fs::read_to_string(&xml)?);

    let page = fs::read_to_string(&html)?;
    ensure!(page.contains("&lt;b&gt;") && !page.contains("<b>\"changed"), "a goal is not escaped");
    let pictures: Vec<_> =
        html.with_extension("pictures").read_dir_utf8()?.collect::<Result<_, _>>()?;
    let mut names: Vec<&str> = pictures.iter().map(|entry| entry.file_name()).collect();
    names.sort_unstable();
    // The wall shows nothing that was recorded.
    let expected: Vec<String> = (1..=5)
        .flat_map(|page| [(page, "new"), (page, "old")])
        .filter(|(page, side)| *page != 4 && (*page, *side) != (5, "new"))
        .map(|(page, side)| format!("{page:04}-{side}.png"))
        .collect();
    ensure!(names == expected, "{names:?}");
    ensure!(names.iter().all(|name| page.contains(*name)), "{names:?}");

    // Both recordings are compared without the web as well.
    let before = suite.join("web.wacz");
    let diff = bench.path("diff.html");
    let output = bench.run(&[
        "snapshot",
        "diff",
        before.as_str(),
        now.as_str(),
        "--html",
        diff.as_str(),
        "--json",
    ])?;
    ensure!(output.status.code() == Some(1), "{}", text(&output.stderr));
    ensure!(
        fs::read_to_string(&diff)?.contains("www.aldria-rail.test"),
        "the page is not in the report"
    );
    let again = bench.run(&["snapshot", "check", suite.as_str(), "--against", before.as_str()])?;
    let said = text(&again.stdout);
    ensure!(again.status.success() && said.contains("tasks        5 of 5"), "{said}");
    Ok(())
}

#[test]
fn a_check_that_cannot_end_well_begins_no_visit() -> Result<()> {
    let bench = Bench::new()?;
    let suite = suite(&bench, &[("page", "https://www.aldria-rail.test/".to_owned())])?;
    let demo = fs::canonicalize("../../snapshots/demo.wacz")?;
    let demo = demo.to_str().context("a path in UTF-8")?;
    fs::copy(demo, suite.join("web.wacz"))?;
    let (own, nowhere) = (suite.join("web.wacz"), bench.path("nowhere/x.xml"));
    // Nothing may be asked of this web.
    let check = ["snapshot", "check", suite.as_str(), "--live", "--connect-to=::127.0.0.1:1"];
    for more in [&["--junit", nowhere.as_str()][..], &["-o", own.as_str(), "--force"]] {
        let refused = bench.run(&[&check[..], more].concat())?;
        ensure!(refused.status.code() == Some(2), "{}", text(&refused.stderr));
    }
    ensure!(fs::read(&own)? == fs::read(demo)?, "the recording is another one");
    // A task with a snapshot of its own, and a world that is a collection and has no clock.
    fs::write(suite.join("suite.yaml"), "name: web\nworld: {snapshots: [all.json]}\n")?;
    let all = suite.join("all.json");
    bench.succeed(&["snapshot", "collection", own.as_str(), "-o", all.as_str()])?;
    let same = bench.succeed(&["snapshot", "check", suite.as_str(), "--against", demo])?;
    ensure!(same.contains("tasks        1 of 1"), "{same}");
    Ok(())
}
