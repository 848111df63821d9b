//! WebArena-Verified on whole runs, and on any input.

use proptest::prelude::*;
use scoring::webarena_verified::{Config, Run, Status, Task, TaskResult, evaluate, read};
use serde_json::{Value, json};

fn tasks(format: &str, expected: Value, events: Value) -> Vec<Task> {
    let mut eval = vec![json!({
        "evaluator": "AgentResponseEvaluator",
        "results_schema": {"type": "array", "items": {"format": format}},
        "expected": {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": expected},
    })];
    eval.extend(events.as_array().unwrap().clone());
    let task = json!({
        "sites": ["gitlab"], "task_id": 7, "intent_template_id": 1, "start_urls": ["__GITLAB__"], "intent": "Find it.",
        "intent_template": "Find it.", "instantiation_dict": {}, "revision": 1, "eval": eval,
    });
    read(&json!([task]).to_string()).unwrap()
}

fn config() -> Config {
    Config::read(
        &json!({"environments": {"__GITLAB__": {"urls": ["http://forge.test"]}}}).to_string(),
    )
    .unwrap()
}

fn har(url: &str, body: &str) -> String {
    let request = json!({
        "url": url, "method": "POST", "headers": [],
        "postData": {"mimeType": "application/json", "text": body},
    });
    json!({"log": {"entries": [{"request": request, "response": {"status": 200}}]}}).to_string()
}

fn score(tasks: &[Task], answer: &str, network: &str) -> TaskResult {
    let run = Run { agent_response: answer.as_bytes(), network: network.as_bytes() };
    evaluate(&tasks[0], &config(), &run)
}

fn answer(data: &Value) -> String {
    json!({"task_type": "RETRIEVE", "status": "success", "retrieved_data": data}).to_string()
}

#[test]
fn an_answer_and_a_request_make_a_score() {
    let posted = json!([{
        "evaluator": "NetworkEventEvaluator",
        "expected": {"url": "^__GITLAB__/notes/\\d+$", "http_method": "POST", "post_data": {"$.note.text": ["fine", "good"]}},
    }]);
    let tasks = tasks("currency", json!([12.5]), posted);
    let good = har("http://forge.test/notes/5/", r#"{"note": {"text": "Good!"}}"#);
    let fenced = format!("```json\n{}\n```", answer(&json!("$12.50")));
    assert_eq!(score(&tasks, &fenced, &good).status, Status::Success);

    let bad = score(
        &tasks,
        &answer(&json!([13])),
        &har("http://forge.test/notes/5", r#"{"note": {"text": "bad"}}"#),
    );
    let wrong: Vec<&str> = bad.wrong().collect();
    assert_eq!(
        wrong,
        [
            "Array value mismatch (unordered). Matched (0/1), Missing: 1, Extra: 1",
            "Expected: [12.5], Got: [13.0]",
            "No matching network event found. Checked 1 event(s) but none matched all expected criteria.",
        ]
    );
    assert_eq!(score(&tasks, "", "").status, Status::Failure);
    assert_eq!(score(&tasks, "", "no HAR").status, Status::Error);
}

#[test]
fn what_is_not_known_is_named() {
    for (from, to, expect) in [
        ("\"revision\"", "\"reversion\"", "reversion"),
        ("\"gitlab\"", "\"elsewhere\"", "elsewhere"),
        ("\"currency\"", "\"full_address\"", "full_address"),
        ("\"currency\"", "\"colour\"", "colour"),
        ("\"SUCCESS\"", "\"FINE\"", "FINE"),
    ] {
        let text = json!([{
            "sites": ["gitlab"], "task_id": 7, "intent_template_id": 1, "start_urls": ["x"], "intent": "x",
            "intent_template": "x", "instantiation_dict": {}, "revision": 1,
            "eval": [{
                "evaluator": "AgentResponseEvaluator",
                "results_schema": {"type": "array", "items": {"format": "currency"}},
                "expected": {"task_type": "retrieve", "status": "SUCCESS"},
            }],
        }]);
        let text = text.to_string();
        assert!(read(&text).is_ok());
        let error = read(&text.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }
}

const FORMATS: [&str; 16] = [
    "currency",
    "date",
    "duration",
    "distance",
    "coordinates",
    "url",
    "boolean",
    "string",
    "string_list",
    "number",
    "month",
    "null",
    "json",
    "markdown",
    "base64",
    "location-name",
];

/// Texts that come close to what the types take apart.
fn text() -> impl Strategy<Value = String> {
    let pieces = [
        "1",
        "23",
        "2022",
        ".",
        ",",
        ":",
        "-",
        "/",
        " ",
        "$",
        "^",
        "(",
        ")",
        "[",
        "km",
        "mile",
        "h",
        "min",
        "may",
        "3rd",
        "am",
        "z",
        "N",
        "é",
        "\u{200b}",
        "http://",
        "forge.test",
        "git@",
        "?a=b",
        "#",
        "%",
        "\n",
        "```",
        "\"",
        "'",
        "one",
        "million",
    ];
    let pieces = prop::sample::select(pieces.to_vec());
    prop_oneof![
        any::<String>(),
        prop::collection::vec(pieces, 0..10).prop_map(|pieces| pieces.concat())
    ]
}

proptest! {
    #[test]
    fn any_value_has_a_score(format in prop::sample::select(FORMATS.to_vec()), expected in text(), actual in text()) {
        let tasks = tasks(format, json!([expected]), json!([]));
        let result = score(&tasks, &answer(&json!([actual])), &har("http://forge.test/", "{}"));
        prop_assert!(result.score == 0.0 || result.score == 1.0);
        let same = score(&tasks, &answer(&json!([expected])), &har("http://forge.test/", "{}"));
        prop_assert!(result.score <= 1.0 && same.score <= 1.0);
    }

    #[test]
    fn any_files_have_a_score(answer in text(), network in any::<String>(), url in text(), body in text()) {
        let seen = json!([{"evaluator": "NetworkEventEvaluator", "decode_base64_query": true,
            "expected": {"url": "__GITLAB__/a", "http_method": "POST", "post_data": {"a": url}}}]);
        let tasks = tasks("string", json!([body]), seen);
        for network in [&network, &har(&url, &body), &har(&format!("http://forge.test/{url}"), &body)] {
            let result = score(&tasks, &answer, network);
            prop_assert!(result.score == 0.0 || result.score == 1.0);
        }
    }
}
