//! Tasks that live in a page: a folder with the shape of MiniWoB++'s, imported and played.

use std::fs;

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::harness::{Bench, text};

/// As much of the benchmark's shared script as a page needs to begin, and to end with a reward.
const CORE: &str = "
var WOB_RAW_REWARD_GLOBAL = 0, WOB_DONE_GLOBAL = false, seed = 0;
Math.seedrandom = given => { seed = given; };
const core = {
  canvasDrawClick() {}, clearTimer() {},
  startEpisodeReal() { genProblem(); },
  endEpisode(reward) { WOB_RAW_REWARD_GLOBAL = reward; WOB_DONE_GLOBAL = true; },
  getUtterance() { return document.getElementById('query').textContent; },
};";

/// A page whose goal follows from the seed, and whose button is a mistake.
const PAGE: &str = "<!doctype html><title>Press</title><script src='../core/core.js'></script>
<div id=query></div><div id=reward-display>Last reward: 0.75</div>
<a href='#' onclick='core.endEpisode(0.5)'>This</a> <button onclick='core.endEpisode(-1)'>That</button>
<script>const genProblem = () => { document.getElementById('query').textContent = `Press This, says ${seed}.`; };</script>";

/// The folder, with a task of each name.
pub(crate) fn folder(bench: &Bench, tasks: &[&str]) -> Result<String> {
    let html = bench.path("html");
    fs::create_dir_all(html.join("core"))?;
    fs::create_dir_all(html.join("miniwob"))?;
    fs::write(html.join("core/core.js"), CORE)?;
    for name in tasks {
        fs::write(html.join(format!("miniwob/{name}.html")), PAGE)?;
    }
    Ok(html.into_string())
}

#[test]
fn pages_that_score_themselves_are_imported_and_played() -> Result<()> {
    let bench = Bench::new()?;
    let (html, suite, out) =
        (folder(&bench, &["right", "wrong"])?, bench.path("suite"), bench.path("out"));
    let import = ["tasks", "import", "miniwob", &html, "--seed=41", "--output", suite.as_str()];
    let said = bench.succeed(&import)?;
    ensure!(said.contains("2 tasks, served from"), "{said}");
    let again = bench.run(&import)?;
    ensure!(again.status.code() == Some(2), "{again:?}");
    for (name, role, label) in [("right", "link", "This"), ("wrong", "button", "That")] {
        let file = suite.join(format!("miniwob-{name}.yaml"));
        let oracle = format!("oracle:\n- click: {{role: {role}, name: {label}}}\n- answer: done\n");
        fs::write(&file, fs::read_to_string(&file)? + &oracle)?;
    }

    let run = [
        "run",
        suite.as_str(),
        "--agent=oracle",
        "--repeat=2",
        "--check",
        "--json",
        "--output",
        out.as_str(),
    ];
    let summary: Value = serde_json::from_str(&bench.succeed(&run)?)?;
    ensure!(summary["passed"] == 1 && summary["score"] == 0.5, "{summary:#}");
    ensure!(summary["deterministic"] == true && summary["errors"] == 0, "{summary:#}");
    let read = |name: &str| fs::read_to_string(out.join("episodes/miniwob-right-1").join(name));
    let record: Value = serde_json::from_str(&read("episode.json")?)?;
    ensure!(record["outcome"]["kind"] == "done" && record["steps"] == 1, "{record:#}");
    ensure!(record["goal"] == "Press This, says 41.", "{record:#}");
    let trace = read("trace.jsonl")?;
    ensure!(trace.contains("This") && !trace.contains("Last reward"), "{trace}");
    Ok(())
}

#[test]
fn a_folder_that_is_not_the_benchmarks_is_bad_input() -> Result<()> {
    let bench = Bench::new()?;
    let output = bench.run(&[
        "tasks",
        "import",
        "miniwob",
        "tasks",
        "--output",
        bench.path("suite").as_str(),
    ])?;
    let said = text(&output.stderr);
    ensure!(output.status.code() == Some(2) && said.contains("`html`"), "{said}");
    ensure!(fs::symlink_metadata(bench.path("suite")).is_err(), "nothing is made");
    Ok(())
}
