//! FanOutQA: a JSON list of questions, as `fanout-dev.json` has it, scored by AssistantBench's
//! rules as AssistantBench's authors do.

use scoring::Scorer;
use scoring::assistantbench::GoldAnswer;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    Benchmark, Import, ImportError, LiveWeb, SkippedTask, live, read_list, task_id, web_urls,
};
use crate::{GoalText, Task};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "fanoutqa",
    id_prefixes: &["fanoutqa-"],
    read: |text, _| fanoutqa(text),
    live: Some(LiveWeb {
        about: "FanOutQA: `fanout-dev.json`, scored by AssistantBench's rules",
        viewport: live::BROWSERGYM,
    }),
    scores: "FanOutQA: score saved answers by AssistantBench's rules",
    answer_alone: true,
};

/// A question: what AssistantBench's rules read of it.
#[derive(Deserialize)]
struct Row {
    id: String,
    question: String,
    /// Hidden in the test set.
    #[serde(default)]
    answer: Value,
    #[serde(default)]
    categories: Vec<String>,
    /// The questions that it falls into, each with the page that answers it.
    #[serde(default)]
    decomposition: Value,
    /// Those pages.
    #[serde(default)]
    necessary_evidence: Value,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Reads FanOutQA's JSON. Questions without a gold answer that can be compared are left out.
///
/// # Errors
/// When the text is not such a list.
pub fn fanoutqa(json: &str) -> Result<Import, ImportError> {
    let rows: Vec<Row> = read_list(json)?;
    let mut import = Import::default();
    for row in rows {
        import.pass_over(&row.rest, &[]);
        let id = task_id("fanoutqa", &row.id);
        match gold(&row.answer) {
            Err(reason) => import.skipped.push(SkippedTask { id, reason: reason.to_owned() }),
            Ok(gold) => import.tasks.push(Task {
                start_url: Some(super::assistantbench::START.to_owned()),
                seed_urls: seed_urls(&[row.necessary_evidence, row.decomposition]),
                tags: row.categories,
                ..Task::new(
                    id,
                    GoalText::Words(row.question),
                    Scorer::AssistantBench(GoldAnswer { gold }),
                )
            }),
        }
    }
    Ok(import)
}

/// The addresses of the pages that have the evidence.
fn seed_urls(evidence: &[Value]) -> Vec<String> {
    fn urls<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(keys) => {
                found.extend(keys.get("url").and_then(Value::as_str));
                keys.values().for_each(|value| urls(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| urls(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    evidence.iter().for_each(|value| urls(value, &mut found));
    web_urls(found.into_iter())
}

/// The answer as AssistantBench writes its own: a list is one item a line, an object is JSON.
fn gold(answer: &Value) -> Result<String, &'static str> {
    const NONE: &str = "the gold answer is not in the file";
    const DEEP: &str =
        "the gold answer has lists or objects in an object, which the rules do not compare";
    let is_plain =
        |value: &Value| !matches!(value, Value::Array(_) | Value::Object(_) | Value::Null);
    let item = |value: &Value| match value {
        Value::String(text) if !text.trim().is_empty() => Ok(text.clone()),
        Value::String(_) | Value::Null => Err(NONE),
        Value::Object(keys) if keys.is_empty() => Err(NONE),
        Value::Object(keys) if keys.values().all(is_plain) => Ok(value.to_string()),
        Value::Object(_) | Value::Array(_) => Err(DEEP),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
    };
    match answer {
        Value::Array(items) if items.is_empty() => Err(NONE),
        Value::Array(items) => {
            Ok(items.iter().map(item).collect::<Result<Vec<_>, _>>()?.join("\n"))
        }
        single => item(single),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_every_form_are_gold() {
        let file = r#"[
          {"id": "a", "question": "How far?", "answer": 12, "categories": ["rail"], "decomposition": [{"id": 1}], "necessary_evidence": []},
          {"id": "b", "question": "Which?", "answer": ["Alton", "Barrow"]},
          {"id": "c", "question": "When?", "answer": {"Alton": "06:12", "Barrow": 7.5}},
          {"id": "d", "question": "Who?", "answer": {"Alton": ["Ada"]}},
          {"id": "e", "question": "Why?"}
        ]"#;
        let import = fanoutqa(file).expect("the benchmark's form");
        let golds: Vec<&str> = import
            .tasks
            .iter()
            .filter_map(|task| match &task.scorer {
                Scorer::AssistantBench(GoldAnswer { gold }) => Some(gold.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(golds, ["12", "Alton\nBarrow", r#"{"Alton":"06:12","Barrow":7.5}"#]);
        assert_eq!(import.tasks[0].tags, ["rail"]);
        let left_out: Vec<&str> =
            import.skipped.iter().map(|skipped| skipped.id.as_str()).collect();
        assert_eq!(left_out, ["fanoutqa-d", "fanoutqa-e"]);
        let other =
            fanoutqa(&file.replace("categories", "category")).expect("the benchmark's form");
        assert_eq!(other.warnings.values().sum::<usize>(), file.matches("categories").count());
    }
}
