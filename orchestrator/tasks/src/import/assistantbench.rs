//! AssistantBench: one JSON object a line, as its dataset is published.

use scoring::Scorer;
use scoring::assistantbench::GoldAnswer;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    Benchmark, Import, ImportError, LiveWeb, SkippedTask, live, read_lines, task_id, web_urls,
};
use crate::{GoalText, Task};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "assistantbench",
    id_prefixes: &["assistantbench-"],
    read: |text, _| assistantbench(text),
    live: Some(LiveWeb {
        about: "AssistantBench: the JSON lines of its published dataset",
        viewport: live::BROWSERGYM,
    }),
    scores: "AssistantBench: score saved answers",
    answer_alone: true,
};

/// The start page of BrowserGym's version of the benchmark.
pub(super) const START: &str = "https://google.com";

/// A task: what `AssistantBenchTask` of BrowserGym reads (`browsergym/assistantbench/task.py`).
#[derive(Deserialize)]
struct Row {
    id: String,
    task: String,
    /// Hidden in the test set.
    answer: Option<String>,
    /// The address of the page with the answer, or several, between white space.
    gold_url: Option<String>,
    set: Option<String>,
    difficulty: Option<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The other keys of its dataset.
const PUBLISHED: [&str; 2] = ["explanation", "metadata"];

/// Reads AssistantBench's JSON lines. Tasks without a gold answer are left out.
///
/// # Errors
/// When a line is not a task.
pub fn assistantbench(lines: &str) -> Result<Import, ImportError> {
    let mut import = Import::default();
    for row in read_lines::<Row>(lines)? {
        let id = task_id("assistantbench", &row.id);
        import.pass_over(&row.rest, &PUBLISHED);
        match row.answer.filter(|answer| !answer.trim().is_empty()) {
            None => import
                .skipped
                .push(SkippedTask { id, reason: "the gold answer is not in the file".to_owned() }),
            Some(gold) => import.tasks.push(Task {
                start_url: Some(START.to_owned()),
                seed_urls: web_urls(row.gold_url.as_deref().unwrap_or_default().split_whitespace()),
                tags: [row.set, row.difficulty].into_iter().flatten().collect(),
                ..Task::new(
                    id,
                    GoalText::Words(row.task),
                    Scorer::AssistantBench(GoldAnswer { gold }),
                )
            }),
        }
    }
    Ok(import)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_gold_become_tasks() {
        let lines = concat!(
            r#"{"id": "a/1", "set": "dev", "task": "Which?", "answer": "A\nB", "gold_url": "https://a.test/1\nhttps://a.test/2 (see there)", "difficulty": "Hard"}"#,
            "\n\n",
            r#"{"id": "b", "set": "test", "task": "Who?", "answer": null, "score": 0}"#,
        );
        let import = assistantbench(lines).expect("JSON lines");
        assert_eq!(import.tasks[0].id, "assistantbench-a-1");
        assert_eq!(import.tasks[0].seed_urls, ["https://a.test/1", "https://a.test/2"]);
        assert_eq!(import.tasks[0].tags, ["dev", "Hard"]);
        assert_eq!(import.skipped[0].id, "assistantbench-b");
        assert_eq!(import.warnings.values().collect::<Vec<_>>(), [&1], "{:?}", import.warnings);
        let error = assistantbench("{\"id\": 1}").expect_err("an id is text").to_string();
        assert!(error.starts_with("line 1: id: invalid type"), "{error}");
    }
}
