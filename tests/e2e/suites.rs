//! Suites at their edges: files as benchmarks publish them, a start page that is nowhere, agents
//! that have nothing to play.

use std::fs;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::harness::{Bench, repository, text};
use crate::messages::matches;

const TASK: &str =
    "goal: Look.\nstart_url: https://www.aldria-rail.test/\nscorer: {infeasible: {}}\n";

/// A suite in the demo's recording, with these files.
fn suite(bench: &Bench, files: &[(&str, &str)]) -> Result<String> {
    let folder = bench.path("suite");
    fs::create_dir(&folder)?;
    let demo = repository().join("snapshots/demo.wacz").canonicalize_utf8()?;
    fs::write(folder.join("suite.yaml"), format!("world:\n  snapshots: ['{demo}']\n"))?;
    for (name, body) in files {
        fs::write(folder.join(name), body)?;
    }
    Ok(folder.into_string())
}

/// What a command that must fail with exit code 2 says.
fn refused(bench: &Bench, arguments: &[&str]) -> Result<String> {
    let output = bench.run(arguments)?;
    let said = text(&output.stderr);
    ensure!(output.status.code() == Some(2), "{arguments:?}: {}\n{said}", output.status);
    Ok(said)
}

#[test]
fn an_agent_with_nothing_to_play_says_so_before_a_browser_starts() -> Result<()> {
    let bench = Bench::new()?;
    let one = format!("id: one\n{TASK}");
    let suite = suite(&bench, &[("one.yaml", &one), ("two.yml", &one.replace("one", "two"))])?;
    let out = bench.path("out");
    for agent in ["--agent=oracle", "--agent=negative"] {
        let said = refused(&bench, &["run", &suite, agent, "--output", out.as_str()])?;
        ensure!(!out.exists(), "{said}");
    }
    // Where one of them has a solution, the others are errors of their episodes.
    fs::write(
        format!("{suite}/two.yml"),
        format!("id: two\n{TASK}oracle:\n- infeasible: there is nothing to do\n"),
    )?;
    let output =
        bench.run(&["run", &suite, "--agent=oracle", "--json", "--output", out.as_str()])?;
    let summary: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(summary["passed"] == 1 && summary["errors"] == 1, "{summary:#}");
    let record = fs::read_to_string(out.join("episodes/one-1/episode.json"))?;
    let record: Value = serde_json::from_str(&record)?;
    let message = record["outcome"]["message"].as_str().unwrap_or_default();
    matches("an_episode_without_a_solution", &bench, message);
    Ok(())
}

#[test]
fn a_program_that_is_not_there_ends_the_run_at_once() -> Result<()> {
    let bench = Bench::new()?;
    let one = format!("id: one\n{TASK}");
    let suite = suite(&bench, &[("one.yaml", &one), ("two.yaml", &one.replace("one", "two"))])?;
    let out = bench.path("out");
    let said =
        refused(&bench, &["run", &suite, "--agent=program:/nope", "--output", out.as_str()])?;
    let error = said.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    // What the shell says differs from one to the next.
    let (why, rest) = error.split_once("; ").unwrap_or_default();
    ensure!(why.contains("`/nope`"), "{said}");
    matches("a_program_that_is_not_there", &bench, rest);
    ensure!(out.join("episodes/one-1/episode.json").exists(), "the first episode is kept");
    ensure!(!out.join("episodes/two-1/episode.json").exists(), "the second was not begun");
    Ok(())
}

#[test]
fn a_file_is_imported_outside_of_the_repository_with_its_oddities() -> Result<()> {
    let bench = Bench::new()?;
    let task = json!({
        "sites": ["reddit"], "task_id": 5, "start_url": null, "intent": "yes", "data_source": "hand", "extra": 1,
        "eval": { "eval_types": ["url_match"], "reference_answers": [], "reference_url": "__REDDIT__/f/12:30",
                  "program_html": [{ "url": "", "required_contents": [] }] },
    });
    let (file, suite) = (bench.path("one.json"), bench.path("suite"));
    fs::write(&file, task.to_string())?;
    let arguments = ["tasks", "import", "webarena", file.as_str(), "--output", suite.as_str()];
    let output = bench.command(&arguments).current_dir(bench.path("")).output()?;
    let (printed, said) = (text(&output.stdout), text(&output.stderr));
    ensure!(output.status.success() && printed.contains("1 task"), "{printed}{said}");
    ensure!(said.contains("`data_source`"), "{said}");
    let manifest = fs::read_to_string(suite.join("sites/reddit/site.yaml"))?;
    ensure!(
        manifest == fs::read_to_string(repository().join("sites/webarena/reddit/site.yaml"))?,
        "{manifest}"
    );
    let task = fs::read_to_string(suite.join("webarena-5.yaml"))?;
    ensure!(task.contains("goal: 'yes'\n") && !task.contains("start_url"), "{task}");
    let listed = bench.succeed(&["tasks", "list", suite.as_str()])?;
    ensure!(listed.contains("webarena-5  yes"), "{listed}");

    let chore = json!([{
        "sites": ["reddit"], "task_id": 30_000, "start_url": "__REDDIT__", "start_url_lite": "__REDDIT__", "intent": "Count",
        "required_wait": true, "eval": { "eval_types": ["string_match"], "reference_answers": { "must_include": ["7 |OR| seven"] } },
    }]);
    let (file, suite) = (bench.path("chores.json"), bench.path("chores"));
    fs::write(&file, chore.to_string())?;
    let arguments = ["tasks", "import", "webchorearena", file.as_str(), "--output", suite.as_str()];
    let output = bench.command(&arguments).current_dir(bench.path("")).output()?;
    ensure!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    let task = fs::read_to_string(suite.join("webchorearena-30000.yaml"))?;
    ensure!(task.contains("rules: webchore"), "{task}");
    fs::write(
        bench.path("tries.jsonl"),
        "{\"task\": 30000, \"answer\": \"Seven\", \"gold_answer\": \"7\"}\n",
    )?;
    let (tries, json) = (bench.path("tries.jsonl"), "--json");
    let score = ["score", "webchorearena", file.as_str(), "--attempts", tries.as_str(), json];
    let summary: Value = serde_json::from_str(&bench.succeed(&score)?)?;
    ensure!(summary["passed"] == 1, "{summary:#}");
    Ok(())
}
