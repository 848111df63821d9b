//! Tasks in WebArena's form: a file as the benchmark publishes it, imported for sites of ours,
//! played and scored.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::harness::{Bench, text};

/// Three tasks: one that changes something and is scored by pages, one that asks, one that is
/// impossible.
pub(crate) fn file() -> Value {
    let task = |id: u32, start: &str, eval: Value| {
        json!({
            "sites": ["reddit", "homepage"], "task_id": id, "require_login": true, "storage_state": "./.auth/reddit_state.json",
            "start_url": start, "geolocation": null, "intent_template": "{{it}}", "instantiation_dict": {"it": "x"}, "intent": "x",
            "require_reset": false, "intent_template_id": 5, "eval": eval,
        })
    };
    json!([
        task(
            1,
            "__REDDIT__/f/books |AND| __HOMEPAGE__",
            json!({
            "eval_types": ["url_match", "program_html"], "reference_answers": null,
            "reference_url": "__REDDIT__/f/books/new |OR| __REDDIT__/f/coffee/new", "url_note": "GOLD in PRED",
            "program_html": [
                {"url": "last", "locator": "document.querySelector('form.vote').className",
                 "required_contents": {"must_include": ["vote--user-upvoted"]}},
                {"url": "__REDDIT__/f/books/1/never-mind", "locator": "", "required_contents": {"must_include": ["forum |OR| nothing"]}},
                {"url": "func:reddit_get_post_url('__last_url__')", "locator": "[...document.querySelectorAll('html')].length",
                 "required_contents": {"exact_match": "1"}},
            ]})
        ),
        task(
            2,
            "__HOMEPAGE__",
            json!({
            "eval_types": ["string_match"], "reference_answers": {"must_include": ["7"], "exact_match": "7"},
            "reference_url": "", "program_html": [], "string_note": "", "reference_answer_raw_annotation": "7"})
        ),
        task(
            3,
            "__HOMEPAGE__",
            json!({
            "eval_types": ["string_match"], "reference_answers": {"fuzzy_match": "N/A"},
            "reference_url": "", "program_html": null, "string_note": "there is no such thing"})
        ),
        task(
            4,
            "__SHOPPING__",
            json!({
            "eval_types": ["program_html"], "program_html": [
                {"url": "func:shopping_get_all()", "locator": "", "required_contents": {"exact_match": "x"}}]})
        ),
    ])
}

const VOTE: &str = "
oracle:
- click: {role: DisclosureTriangle, name: \"Sort by: Hot ▾\"}
- click: {role: link, name: New}
- click: {role: button, name: Upvote}
wrong_solution:
- click: {role: DisclosureTriangle, name: \"Sort by: Hot ▾\"}
- click: {role: link, name: New}
- click: {role: button, name: Downvote}
";

fn import(bench: &Bench, file: &Value, options: &[&str]) -> Result<std::process::Output> {
    let json = bench.path("tasks.json");
    fs::write(&json, serde_json::to_string_pretty(file)?)?;
    let suite = bench.path("suite");
    let mut arguments = vec![
        "tasks",
        "import",
        "webarena",
        json.as_str(),
        "--sites=sites",
        "--site=reddit=forum,https://forum.test,grant",
        "--site=homepage=desk,https://desk.test",
        "--output",
        suite.as_str(),
    ];
    arguments.extend(options);
    bench.run(&arguments)
}

#[test]
fn tasks_are_imported_and_scored_by_their_own_rules() -> Result<()> {
    let bench = Bench::new()?;
    let suite = bench.path("suite");
    let output = import(&bench, &file(), &[])?;
    let said = text(&output.stdout);
    ensure!(output.status.success() && said.contains("3 tasks"), "{said}{}", text(&output.stderr));
    ensure!(said.contains("left out webarena-4"), "{said}");

    let add = |id: u32, steps: &str| -> Result<()> {
        let file = suite.join(format!("webarena-{id}.yaml"));
        Ok(fs::write(&file, fs::read_to_string(&file)? + steps)?)
    };
    add(1, VOTE)?;
    add(2, "oracle:\n- answer: \" '7' \"\nwrong_solution:\n- answer: seven\n")?;
    add(3, "oracle:\n- infeasible: there is no such thing\n")?;
    let said = bench.succeed(&["tasks", "check", suite.as_str()])?;
    ensure!(said.contains("3 solutions") && said.contains("2 wrong solutions"), "{said}");

    // A solution that solves nothing, a mistake that is none, and one that only a judge could tell.
    add(3, "wrong_solution:\n- answer: I could not find it\n")?;
    let file = suite.join("webarena-2.yaml");
    let task = fs::read_to_string(&file)?;
    let (rules, _) = task.split_once("oracle:").context("the steps are at the end")?;
    fs::write(&file, format!("{rules}oracle:\n- answer: '8'\nwrong_solution:\n- answer: '7'\n"))?;
    let output = bench.run(&["tasks", "check", suite.as_str(), "--json"])?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let findings: Vec<String> =
        report["findings"].as_array().into_iter().flatten().map(ToString::to_string).collect();
    ensure!(output.status.code() == Some(1) && findings.len() == 3, "{report:#}");
    for wrong in [
        "its solution earns 0.00",
        "its wrong solution earns 1.00",
        "its wrong solution waits for a judge",
    ] {
        ensure!(findings.iter().any(|finding| finding.contains(wrong)), "{report:#}");
    }
    Ok(())
}

/// Task 4 is one of WebArena-Lite's, and cannot be imported here; its own file says by which name
/// WebArena knows a task.
#[test]
fn webarena_lite_is_picked_by_id_or_read_from_its_own_file() -> Result<()> {
    let bench = Bench::new()?;
    let mut tasks = file();
    tasks[1]["task_id"] = json!(7);
    let said = text(&import(&bench, &tasks, &["--subset=lite"])?.stdout);
    ensure!(said.contains("1 task,"), "{said}");
    for missing in ["left out webarena-811", "left out webarena-4"] {
        ensure!(said.contains(missing), "{said}");
    }
    let names = || -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(bench.path("suite"))? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    };
    ensure!(names()? == ["suite.yaml", "webarena-7.yaml"], "{:?}", names()?);

    fs::remove_dir_all(bench.path("suite"))?;
    (tasks[0]["old_task_id"], tasks[0]["task_id"]) = (json!(15), json!(0));
    let said = text(&import(&bench, &json!([tasks[0]]), &[])?.stdout);
    ensure!(said.contains("1 task,") && names()? == ["suite.yaml", "webarena-15.yaml"], "{said}");
    let task = fs::read_to_string(bench.path("suite").join("webarena-15.yaml"))?;
    ensure!(task.contains("rules: lite"), "{task}");
    Ok(())
}

/// A task of the dataset, played as a suite and in attach mode: both keep the network that it is
/// scored by.
#[test]
fn webarena_verified_scores_what_passed_over_the_network() -> Result<()> {
    let bench = Bench::new()?;
    let (file, suite) = (bench.path("dataset.json"), bench.path("suite"));
    let dataset = json!([{
    "sites": ["reddit"], "task_id": 5, "intent_template_id": 1, "start_urls": ["__REDDIT__/f/books/new"], "intent": "Show the newest in coffee",
    "intent_template": "x", "instantiation_dict": {}, "revision": 1, "eval": [
        { "evaluator": "AgentResponseEvaluator", "ordered": false, "results_schema": { "type": "null" },
          "expected": { "task_type": "mutate", "status": "SUCCESS", "retrieved_data": null } },
        { "evaluator": "NetworkEventEvaluator", "expected": { "url": "__REDDIT__/f/coffee/new", "response_status": 200 } },
    ]}]);
    fs::write(&file, dataset.to_string())?;
    let place = "--site=reddit=forum,https://forum.test,grant";
    let import = [
        "tasks",
        "import",
        "webarena-verified",
        file.as_str(),
        "--sites=sites",
        place,
        "--output",
        suite.as_str(),
    ];
    bench.succeed(&import)?;
    let task = suite.join("webarena-verified-5.yaml");
    let steps = format!(
        "oracle:\n- goto: https://forum.test/f/coffee/new\n- answer: '{RESPONSE}'\nwrong_solution:\n- answer: '{RESPONSE}'\n"
    );
    fs::write(&task, fs::read_to_string(&task)? + &steps)?;
    let said = bench.succeed(&["tasks", "check", suite.as_str()])?;
    ensure!(said.contains("1 solution") && said.contains("1 wrong solution"), "{said}");

    // Here the program only answers, so the rule of the network is what fails; without the network
    // there would be no rule.
    let answer = format!("printf '%s' '{RESPONSE}' > \"$SANDBOX_ANSWER_FILE\"");
    let out = bench.path("attached");
    let attached = [
        "attach",
        suite.as_str(),
        "webarena-verified-5",
        "--output",
        out.as_str(),
        "--",
        "sh",
        "-c",
        &answer,
    ];
    let said = bench.succeed(&attached)?;
    ensure!(said.contains("No matching network event found"), "{said}");
    Ok(())
}

/// What an agent answers to WebArena-Verified.
const RESPONSE: &str = r#"{"task_type": "mutate", "status": "SUCCESS", "retrieved_data": null, "error_details": null}"#;

#[test]
fn a_run_is_exported_as_webarena_verified_takes_it() -> Result<()> {
    let bench = Bench::new()?;
    let (suite, run, out) = (bench.path("suite"), bench.path("run"), bench.path("verified"));
    fs::create_dir_all(&suite)?;
    let sites = crate::harness::repository().join("sites");
    fs::write(
        suite.join("suite.yaml"),
        format!("world:\n  sites: {sites}\n  clock: 2026-03-12T08:30:00Z\n"),
    )?;
    let task = format!(
        "id: webarena-verified-12\ngoal: Vote\nstart_url: https://forum.test/f/books/new\nsites: [forum]\nlogin: {{forum: grant}}\n\
         scorer: {{infeasible: {{}}}}\noracle:\n- click: {{role: button, name: Upvote}}\n- answer: '{RESPONSE}'\n"
    );
    fs::write(suite.join("vote.yaml"), task)?;
    let played =
        ["run", suite.as_str(), "--agent=oracle", "--keep-network", "--output", run.as_str()];
    bench.succeed(&played)?;
    bench.succeed(&["export", "webarena-verified", run.as_str(), "--output", out.as_str()])?;
    ensure!(fs::read_to_string(out.join("12/agent_response.json"))? == RESPONSE);
    let har: Value = serde_json::from_str(&fs::read_to_string(out.join("12/network.har"))?)?;
    let entries = har["log"]["entries"].as_array().context("entries")?;
    let voted =
        entries.iter().find(|entry| entry["request"]["method"] == "POST").context("a POST")?;
    ensure!(
        voted["request"]["postData"]["text"].as_str().is_some_and(|text| text.contains("choice=1")),
        "{voted:#}"
    );
    ensure!(voted["response"]["status"] == 200 || voted["response"]["status"] == 302, "{voted:#}");
    let page = entries.first().context("a page")?;
    ensure!(
        page["response"]["content"]["text"].as_str().is_some_and(|text| text.contains("<html")),
        "{page:#}"
    );

    // And the benchmark's own rules find the vote in it.
    let url = voted["request"]["url"].as_str().context("a URL")?;
    let place = url.replace("https://forum.test", "__REDDIT__");
    let dataset = json!([{
    "sites": ["reddit"], "task_id": 12, "intent_template_id": 1, "start_urls": ["__REDDIT__"], "intent": "Vote", "intent_template": "Vote",
    "instantiation_dict": {}, "revision": 1, "eval": [
        { "evaluator": "AgentResponseEvaluator", "ordered": false, "results_schema": { "type": "null" },
          "expected": { "task_type": "mutate", "status": "SUCCESS", "retrieved_data": null } },
        { "evaluator": "NetworkEventEvaluator", "expected": { "url": place, "http_method": "POST", "post_data": { "choice": "1" },
              "response_status": voted["response"]["status"] } },
        ]}]);
    let file = bench.path("dataset.json");
    fs::write(&file, dataset.to_string())?;
    let scored = bench.succeed(&[
        "score",
        "webarena-verified",
        file.as_str(),
        "--runs",
        out.as_str(),
        "--json",
    ])?;
    let scored: Value = serde_json::from_str(&scored)?;
    ensure!(scored["success"] == 1, "{scored:#}\n{voted:#}");

    let again =
        bench.run(&["export", "webarena-verified", run.as_str(), "--output", out.as_str()])?;
    ensure!(again.status.code() == Some(2), "{}", text(&again.stderr));
    Ok(())
}
