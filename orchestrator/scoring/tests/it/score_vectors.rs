//! Vector files: what is handed on, what counts as agreement, and what is no vector.

use std::fs;

use camino::Utf8Path;
use scoring::vectors::{MetricReport, VectorsError, score_vectors};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The lines handed on, and what is said about each metric.
fn score(lines: &[Value]) -> (Vec<String>, Vec<MetricReport>) {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let (scored, report) = score_text(&lines.join("\n"));
    (scored, report.unwrap())
}

fn score_text(text: &str) -> (Vec<String>, Result<Vec<MetricReport>, String>) {
    let folder = TempDir::new().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().join("some.jsonl");
    fs::write(&path, text).unwrap();
    let mut scored = Vec::new();
    let report = score_vectors(&path, |line| scored.push(serde_json::to_string(line).unwrap()));
    let report = report.map(|report| report.metrics);
    (
        scored,
        report.map_err(|error: VectorsError| {
            error.to_string().replace(folder.path().to_str().unwrap(), "")
        }),
    )
}

fn answer(id: &str, references: Value, prediction: &str, more: Value) -> Value {
    let mut vector =
        json!({ "id": id, "metric": "webarena.string_match", "reference_answers": references });
    let keys = vector.as_object_mut().unwrap();
    keys.insert("prediction".to_owned(), prediction.into());
    keys.extend(more.as_object().unwrap().clone());
    vector
}

#[test]
fn lines_come_back_with_a_score() {
    let (scored, metrics) = score(&[
        answer("a", json!({ "exact_match": "Oak" }), "oak", json!({ "expected": 1.0 })),
        answer("b", json!({ "exact_match": "Oak" }), "elm", json!({})),
        answer(
            "c",
            json!({ "exact_match": 5 }),
            "5",
            json!({ "expected": null, "error": "TypeError", "x": 1 }),
        ),
        answer("d", json!({ "fuzzy_match": "N/A" }), "none", json!({})),
        json!({ "metric": "nobody.knows", "expected": 0.5 }),
    ]);
    insta::assert_snapshot!(scored.join("\n"));
    insta::assert_json_snapshot!(metrics);
}

#[test]
fn errors_agree_by_class_where_one_is_named() {
    let raises = |more| answer("a", json!({ "must_include": null }), "5", more);
    let (_, metrics) = score(&[
        raises(json!({ "expected": null, "error": "AssertionError" })),
        raises(json!({ "expected": null })),
        raises(json!({ "expected": null, "error": "TypeError" })),
        raises(json!({ "expected": 0.0 })),
    ]);
    assert_eq!((metrics[0].agreed, metrics[0].disagreed), (2, 2));
}

#[test]
fn other_lines_are_refused_with_their_number() {
    let refusals: Vec<String> = [
        "nonsense",
        "\n\n[1]",
        "{\"id\": \"a\"}",
        "{\"metric\": \"webarena.url_match\", \"url\": \"http://a\"}",
        "{\"metric\": \"webarena.string_match\", \"reference_answers\": {}, \"prediction\": \"\", \"expected\": \"1\"}",
    ]
    .iter()
    .map(|text| score_text(text).1.unwrap_err())
    .collect();
    insta::assert_snapshot!(refusals.join("\n"));
}
