//! Plans for benchmarks whose tasks are a question and a site: WebVoyager's JSON lines (`id`,
//! `ques`, `web`) and Online-Mind2Web's JSON list (`task_id`, `confirmed_task`, `website`).

use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::{Reason, Seed, TaskPlan, queries};

/// A question, by either benchmark's names.
#[derive(Deserialize)]
struct Question {
    #[serde(alias = "task_id")]
    id: Value,
    #[serde(alias = "confirmed_task")]
    ques: String,
    #[serde(alias = "website")]
    web: String,
}

/// The plans of the questions of a file: a JSON list, or one JSON object a line.
///
/// # Errors
/// Says which question is none.
pub(super) fn read(text: &str) -> Result<Vec<TaskPlan>, String> {
    if text.trim_start().starts_with('[') {
        let list: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let numbered = list.into_iter().enumerate();
        return numbered
            .map(|(at, question)| plan(question).map_err(|why| format!("[{at}]: {why}")))
            .collect();
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let plan_of = |line: &str| plan(serde_json::from_str(line).map_err(|error| error.to_string())?);
    lines.map(|(at, line)| plan_of(line).map_err(|why| format!("line {}: {why}", at + 1))).collect()
}

fn plan(question: Value) -> Result<TaskPlan, String> {
    let Question { id, ques, web } =
        serde_json::from_value(question).map_err(|error| error.to_string())?;
    // Online-Mind2Web names some sites without a scheme.
    let address = if web.contains("://") { web } else { format!("https://{web}") };
    let url = Url::parse(&address).map_err(|error| format!("{address}: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("{address} is no address of a page"));
    }
    Ok(TaskPlan {
        id: id.as_str().map_or_else(|| id.to_string(), str::to_owned),
        seeds: vec![Seed { url: url.into(), from: Reason::Start }],
        queries: queries::of_goal(&ques),
        pages: None,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let voyager = concat!(
            r#"{"web_name": "Rail", "id": "Rail--0", "ques": "Which train goes to \"Marsh End\"?", "web": "https://rail.test/"}"#,
            "\n\n",
        );
        let online = r#"[{"task_id": 7, "confirmed_task": "Find the seat map", "website": "rail.test", "level": "easy"}]"#;
        let (voyager, online) = (read(voyager).unwrap(), read(online).unwrap());
        assert_eq!(
            (voyager[0].id.as_str(), voyager[0].seeds[0].url.as_str()),
            ("Rail--0", "https://rail.test/")
        );
        assert_eq!(voyager[0].queries[0], "Marsh End");
        assert_eq!(
            (online[0].id.as_str(), online[0].seeds[0].url.as_str()),
            ("7", "https://rail.test/")
        );
        for (bad, says) in [
            ("{\"id\": 1}", "line 1: missing field `ques`"),
            (
                "[{\"id\": 1, \"ques\": \"x\", \"web\": \"ftp://a.test\"}]",
                "[0]: ftp://a.test is no address",
            ),
        ] {
            let error = read(bad).unwrap_err();
            assert!(error.starts_with(says), "{error}");
        }
    }
}
