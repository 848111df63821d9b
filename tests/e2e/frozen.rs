//! What becomes of a recorded site changes nothing: a run has the same fingerprint while its origin
//! runs, after the origin has changed everything it says, and when it is gone.

use anyhow::{Context, Result, ensure};
use origin::data::Variant;
use origin::{Options, Origin};
use serde_json::Value;

use crate::harness::{Bench, live_web};

/// The page of clocks, on which everything stands that a page can learn about time and chance; a
/// form; a chart.
const TASKS: [&str; 3] = ["clock-time-zone", "quiet-coach", "wettest-saturday"];
const PAGE: &str = "https://www.aldria-rail.test/";

/// Runs the tasks; the fingerprint.
fn run(bench: &Bench, name: &str) -> Result<String> {
    let out = bench.path(name);
    let mut arguments =
        vec!["run", "tasks/demo", "--agent=oracle", "--json", "--output", out.as_str()];
    arguments.extend(TASKS.iter().flat_map(|task| ["--task", task]));
    let summary: Value = serde_json::from_str(&bench.succeed(&arguments)?)?;
    ensure!(summary["passed"] == TASKS.len() && summary["requests"]["miss"] == 0, "{summary:#}");
    Ok(summary["fingerprints"][0]["fingerprint"].as_str().context("a fingerprint")?.to_owned())
}

/// What the live site says now.
async fn live(bench: &Bench, origin: &Origin, name: &str) -> Result<String> {
    let file = bench.path(name);
    let options = live_web(origin);
    let mut arguments = vec!["record", "--listen=127.0.0.1:0", "-o", file.as_str()];
    arguments.extend(options.iter().map(String::as_str));
    let recorder = bench.proxy(&arguments)?;
    let page = recorder.client()?.get(PAGE).await?;
    recorder.end()?;
    Ok(String::from_utf8(page.into_body().to_vec())?)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fingerprint_is_the_same_whatever_becomes_of_the_origin() -> Result<()> {
    let bench = Bench::new()?;
    let original = Origin::start(&Options::default()).await?;
    let before = live(&bench, &original, "before.wacz").await?;
    let running = run(&bench, "running")?;
    original.stop().await;

    let changed =
        Origin::start(&Options { variant: Variant::Changed, ..Options::default() }).await?;
    ensure!(
        live(&bench, &changed, "after.wacz").await? != before,
        "the changed site says the same"
    );
    ensure!(run(&bench, "changed")? == running, "a changed origin changes the fingerprint");
    changed.stop().await;

    ensure!(run(&bench, "stopped")? == running, "a stopped origin changes the fingerprint");
    Ok(())
}
