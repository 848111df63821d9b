//! `sandbox score`: attempts that were saved elsewhere, by each benchmark's rules.

use std::fs;
use std::process::Output;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::harness::{Bench, text};

fn score(
    bench: &Bench,
    benchmark: &str,
    tasks: &str,
    attempts: &str,
    options: &[&str],
) -> Result<Output> {
    let (given, made) = (bench.path("tasks.json"), bench.path("attempts.jsonl"));
    fs::write(&given, tasks)?;
    fs::write(&made, attempts)?;
    let mut arguments = vec!["score", benchmark, given.as_str(), "--attempts", made.as_str()];
    arguments.extend(options);
    bench.run(&arguments)
}

pub(crate) const QUESTIONS: &str = r#"{"id": "a", "set": "dev", "task": "Where?", "answer": "Alton", "difficulty": "Hard"}
{"id": "b", "set": "dev", "task": "How many?", "answer": "10", "difficulty": "Medium"}
{"id": "c", "set": "dev", "task": "Who?", "answer": "Ada\nMarsh", "difficulty": "Hard"}
"#;

#[test]
fn answers_are_scored_with_what_papers_count() -> Result<()> {
    let bench = Bench::new()?;
    let attempts =
        "{\"id\": \"a\", \"answer\": \"alton\"}\n{\"id\": \"c\", \"answer\": [\"Ada\"]}\n";
    let output = score(&bench, "assistantbench", QUESTIONS, attempts, &["--all", "--json"])?;
    ensure!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(report["score"] == 0.5 && report["passed"] == 1, "{report:#}");
    let answers = &report["measures"]["answers"];
    let rate = answers["rate"].as_f64().unwrap_or_default();
    ensure!(answers["precision"] == 0.75 && (rate - 2.0 / 3.0).abs() < 1e-9, "{report:#}");
    let hard =
        report["groups"].as_array().into_iter().flatten().find(|group| group["name"] == "Hard");
    ensure!(hard.is_some_and(|hard| hard["score"] == 0.75 && hard["tasks"] == 2), "{report:#}");

    let output = score(&bench, "assistantbench", QUESTIONS, attempts, &[])?;
    let said = text(&output.stdout);
    ensure!(said.contains("0.75, 1/2 tasks passed") && said.contains("precision 0.75"), "{said}");
    Ok(())
}

/// An agent that answers one of three questions, and models that are asked where it does not.
#[test]
fn answers_that_are_missing_come_from_another_system() -> Result<()> {
    let bench = Bench::new()?;
    let (closed_book, guesses) = (bench.path("closed-book.jsonl"), bench.path("guesses.jsonl"));
    fs::write(
        &closed_book,
        "{\"id\": \"a\", \"answer\": \"Oak\"}\n{\"id\": \"b\", \"answer\": 10}\n",
    )?;
    fs::write(&guesses, "{\"id\": \"b\", \"answer\": 5}\n{\"id\": \"c\", \"answer\": \"\"}\n")?;
    let agent = "{\"id\": \"a\", \"answer\": \"Alton\"}\n{\"id\": \"b\", \"answer\": \"\"}\n";
    let options = ["--fallback", closed_book.as_str(), "--fallback", guesses.as_str()];
    let json = [options.as_slice(), &["--json"]].concat();
    let report: Value =
        serde_json::from_slice(&score(&bench, "assistantbench", QUESTIONS, agent, &json)?.stdout)?;
    let from: Vec<_> = report["answers_from"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|source| &source["answers"])
        .collect();
    ensure!(
        from == [1, 1, 0]
            && report["unanswered"] == 1
            && report["answers_from"][1]["file"] == closed_book.as_str(),
        "{report:#}"
    );
    ensure!(
        report["passed"] == 2 && report["tasks"].as_array().is_some_and(|tasks| tasks.len() == 3),
        "{report:#}"
    );

    let said = text(&score(&bench, "assistantbench", QUESTIONS, agent, &options)?.stdout);
    ensure!(said.contains(&format!("answers from        1  {closed_book}\n")), "{said}");
    ensure!(
        said.contains(&format!("answers from        0  {guesses}\nno answer           1\n")),
        "{said}"
    );

    let questions = json!([{ "id": "q", "question": "Who?", "answer": "Ada", "necessary_evidence": [], "categories": [], "decomposition": [] }]);
    let answer = "{\"id\": \"q\", \"answer\": \"Ada\"}";
    fs::write(&closed_book, answer)?;
    let output = score(
        &bench,
        "fanoutqa",
        &questions.to_string(),
        "{\"id\": \"q\"}",
        &["--json", options[0], options[1]],
    )?;
    ensure!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(report["score"] == 1.0 && report["answers_from"][1]["answers"] == 1, "{report:#}");
    Ok(())
}

#[test]
fn steps_pages_and_addresses_are_scored() -> Result<()> {
    let bench = Bench::new()?;
    let nodes = json!([{ "index": 3, "task": "x", "reference_task_length": 2, "evaluation": [
        { "match_function_name": "url_included_match", "content": { "key": "", "reference_answer": "rail.test/seats" } },
        { "match_function_name": "element_path_exactly_match", "method": "selector",
          "content": { "reference_answer": "#two", "netloc": "rail" } },
    ]}]);
    let steps = json!({ "task": 3, "steps": [
        { "url": "https://rail.test/", "selector": "a", "html": "<a href=/><span id=two>2</span></a>" },
    ]});
    let output =
        score(&bench, "mind2web-live", &nodes.to_string(), &steps.to_string(), &["--json"])?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(
        report["score"] == 0.5 && report["measures"]["key_nodes"]["near_success"] == 1.0,
        "{report:#}"
    );

    let task = |id: u32, eval: Value| {
        json!({ "sites": ["reddit"], "task_id": id, "require_login": false, "storage_state": null, "start_url": "__REDDIT__",
            "geolocation": null, "intent_template": "x", "instantiation_dict": {}, "intent": "x", "require_reset": false,
            "intent_template_id": 5, "eval": eval })
    };
    let tasks = json!([
        task(
            0,
            json!({ "eval_types": ["url_match", "program_html"], "reference_url": "__REDDIT__/f/books", "url_note": "GOLD in PRED",
            "program_html": [{ "url": "last", "locator": "document.title", "required_contents": { "exact_match": "Books" } }] })
        ),
        task(
            1,
            json!({ "eval_types": ["string_match"], "reference_answers": { "fuzzy_match": ["oak"] } })
        ),
    ]);
    let attempts = "{\"task_id\": 0, \"url\": \"http://metis.lti.cs.cmu.edu:9999/f/books/1\", \"contents\": [\"books\"]}\n\
                    {\"task_id\": 1, \"answer\": \"elm\"}\n";
    let output = score(&bench, "webarena", &tasks.to_string(), attempts, &["--json"])?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(
        report["score"] == 1.0 && report["unjudged"] == 1 && report["bounds"] == json!([0.5, 1.0]),
        "{report:#}"
    );
    Ok(())
}

#[test]
fn fixed_rules_are_named_beside_their_score() -> Result<()> {
    let bench = Bench::new()?;
    let (question, attempt) = (
        r#"{"id": "n", "task": "How many?", "answer": "1000"}"#,
        r#"{"id": "n", "answer": "1,000"}"#,
    );
    for (rules, score_is, named) in
        [("faithful", "score          0.00", false), ("fixed", "score          1.00", true)]
    {
        let output =
            score(&bench, "assistantbench", question, attempt, &["--scoring-mode", rules])?;
        let said = text(&output.stdout);
        ensure!(
            said.contains(score_is) && said.contains("assistantbench-comma") == named,
            "{rules}: {said}"
        );
    }
    Ok(())
}
