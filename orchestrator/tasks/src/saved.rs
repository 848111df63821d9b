//! Attempts that were made elsewhere, with all that a rule needs to score them.

use scoring::{Assessment, PageEvidence, PictureEvidence, Scorer, Step};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::Task;
use crate::import::{BENCHMARKS, ImportError, id_characters, read_lines};

/// An attempt. Which keys matter depends on the scorer: AssistantBench wants the answer, WebArena
/// the last address and what was read of pages besides, Mind2Web-Live the steps.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an attempt, which is an object")]
pub struct SavedAttempt {
    /// The benchmark's own id of the task, or the one it has here.
    #[serde(alias = "id", alias = "task_id", alias = "index", deserialize_with = "read_id")]
    pub task: String,
    /// The final answer. What is no text counts as the JSON of it.
    #[serde(default, alias = "prediction", deserialize_with = "read_answer")]
    pub answer: Option<String>,
    /// The agent said that the goal cannot be reached.
    #[serde(default)]
    pub infeasible: bool,
    /// The address of the page that the attempt ended on.
    #[serde(default)]
    pub url: String,
    /// The result of each target of `program_html`, in their order: the value of its locator, or
    /// the page where it has none.
    #[serde(default)]
    pub contents: Vec<Value>,
    /// The result of each `page_image_query`, in their order.
    #[serde(default)]
    pub pictures: Vec<PictureEvidence>,
    /// The steps, in their order.
    #[serde(default)]
    pub steps: Vec<SavedStep>,
    /// The reference that BrowserGym notes beside an answer: no score follows from it here.
    #[serde(default, rename = "gold_answer")]
    _gold_answer: IgnoredAny,
    #[serde(default, rename = "score")]
    _score: IgnoredAny,
    #[serde(default, rename = "has_ans")]
    _has_ans: IgnoredAny,
}

/// A step of an attempt: a page, and what was done there.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedStep {
    /// The page's address.
    pub url: String,
    /// The selector of the element acted on.
    #[serde(default)]
    pub selector: Option<String>,
    /// The content of the element then.
    #[serde(default)]
    pub value: Option<String>,
    /// The page.
    #[serde(default)]
    pub html: Option<String>,
}

impl SavedAttempt {
    /// Whether it is about this task. Imported tasks have the benchmark's name before its own id.
    pub fn is_of(&self, task: &Task) -> bool {
        let own = id_characters(&self.task);
        let mut prefixes = BENCHMARKS.iter().flat_map(|benchmark| benchmark.id_prefixes);
        task.id == self.task
            || task
                .id
                .strip_suffix(&own)
                .is_some_and(|prefix| prefixes.any(|known| *known == prefix))
    }

    /// Returns the assessment by a scorer, by the published rules.
    pub fn assessment(&self, scorer: &Scorer) -> Assessment {
        let mut assessment = scorer.start();
        for SavedStep { url, selector, value, html } in &self.steps {
            // The page is seen before anything is done about it, as in an episode.
            assessment.observe(&Step { url, ..Step::default() });
            let (selector, value, html) = (selector.as_deref(), value.as_deref(), html.as_deref());
            assessment.observe(&Step { url, selector, value, html, ..Step::default() });
        }
        let (answer, infeasible) = (self.answer.as_deref(), self.infeasible);
        assessment.observe(&Step { url: &self.url, answer, infeasible, ..Step::default() });
        let (contents, pictures) = (self.contents.clone(), self.pictures.clone());
        let found = PageEvidence { url: self.url.clone(), contents, pictures, raised: None };
        assessment.accept_pages(&found);
        assessment
    }
}

/// Reads JSON lines, one attempt each.
///
/// # Errors
/// When a line is none, with its number and key.
pub fn read_saved(lines: &str) -> Result<Vec<SavedAttempt>, ImportError> {
    read_lines(lines)
}

fn read_id<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    match Value::deserialize(input)? {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(serde::de::Error::custom(format!("`{other}` is no id"))),
    }
}

fn read_answer<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(input)? {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{assistantbench, mind2web_live};

    #[test]
    fn attempts_are_scored_without_a_browser() {
        let lines = "{\"id\": \"q1\", \"answer\": [\"Alton\"], \"gold_answer\": \"Alton\", \"score\": 0, \"has_ans\": 1}\n\n\
                     {\"task\": 7}\n";
        let saved = read_saved(lines).expect("attempts");
        let [first, second] = saved.as_slice() else { panic!("{saved:?}") };
        let tasks = r#"{"id": "q1", "task": "Where?", "answer": "Alton"}"#;
        let task = &assistantbench(tasks).expect("a task").tasks[0];
        assert!(first.is_of(task) && !second.is_of(task));
        let score = |saved: &SavedAttempt| saved.assessment(&task.scorer).score().expect("a score");
        assert_eq!((score(first).value, score(second).value), (1.0, 0.0));
        assert!(
            SavedAttempt { task: "assistantbench-q1".to_owned(), ..second.clone() }.is_of(task)
        );
        assert!(!SavedAttempt { task: "1".to_owned(), ..second.clone() }.is_of(task));
        let with_a_slash = r#"{"id": "a/1", "task": "Where?", "answer": "Alton"}"#;
        let task = &assistantbench(with_a_slash).expect("a task").tasks[0];
        assert!(SavedAttempt { task: "a/1".to_owned(), ..second.clone() }.is_of(task));
    }

    #[test]
    fn steps_reach_key_nodes() {
        let tasks = r#"[{"index": 3, "task": "x", "reference_task_length": 2, "evaluation": [
          {"match_function_name": "url_included_match", "content": {"key": "", "reference_answer": "rail.test/seats"}},
          {"match_function_name": "element_value_exactly_match", "content": {"reference_answer": "2B", "netloc": "rail"}}]}]"#;
        let task = &mind2web_live(tasks).expect("a task").tasks[0];
        let line = r##"{"index": 3, "steps": [{"url": "https://rail.test/seats"}, {"url": "https://rail.test/", "selector": "#s", "value": "2B"}]}"##;
        let saved = &read_saved(line).expect("an attempt")[0];
        assert!(saved.is_of(task));
        assert_eq!(saved.assessment(&task.scorer).score().expect("a score").value, 1.0);
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        for (line, place) in [
            ("{\"task\": 1, \"steps\": [{\"url\": 5}]}", "line 1: steps[0].url: "),
            ("{\"task\": 1, \"anser\": \"x\"}", "line 1: anser: unknown field `anser`"),
            ("{\"task\": []}", "line 1: task: `[]` is no id"),
        ] {
            let error = read_saved(line).expect_err("a line that is none").to_string();
            assert!(error.starts_with(place), "{error}");
        }
    }
}
