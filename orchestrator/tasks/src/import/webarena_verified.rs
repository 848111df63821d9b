//! WebArena-Verified: a JSON list of tasks, as `webarena-verified.json` has it, scored by what is
//! answered and what passes over the network.

use std::collections::BTreeMap;

use scoring::Scorer;
use scoring::webarena_verified::VerifiedTask;
use serde::Deserialize;
use serde_json::{Value, json};

use super::webarena::{MAX_STEPS, Place, places_at};
use super::{Import, ImportError, SkippedTask, read_json, task_id};
use crate::{GoalText, Task};

/// The instruction that is added to each goal: the benchmark compares an answer of this form.
const ANSWER: &str = "Answer with one JSON object and nothing else: `task_type` is \"retrieve\", \"navigate\" or \"mutate\", as you were asked \
to find something out, to go somewhere or to change something; `status` is \"SUCCESS\", \"NOT_FOUND_ERROR\", \"ACTION_NOT_ALLOWED_ERROR\", \
\"PERMISSION_DENIED_ERROR\", \"DATA_VALIDATION_ERROR\" or \"UNKNOWN_ERROR\"; `retrieved_data` is the list of what you found out, or null; \
`error_details` says what went wrong, or is null.";

/// The sites as the benchmark's images have them baked in; what their manifests say.
pub fn published() -> Vec<Place> {
    places_at("localhost", 3030)
}

/// The keys of a task besides its rules, which check all of it.
#[derive(Deserialize)]
struct Row {
    sites: Vec<String>,
    task_id: u64,
    intent_template_id: u64,
    start_urls: Vec<String>,
    intent: String,
}

/// Reads WebArena-Verified's JSON, for sites at these places. Whoever can be logged in is.
///
/// # Errors
/// When the text is not such a list, or a task has a key or a type that is not known.
pub fn webarena_verified(json: &str, places: &[Place]) -> Result<Import, ImportError> {
    let mut import = Import::default();
    for (at, task) in read_json::<Vec<Value>>(json)?.into_iter().enumerate() {
        let wrong = |source| ImportError::Format { line: None, key: format!("[{at}]"), source };
        let row = Row::deserialize(&task).map_err(wrong)?;
        let id = task_id("webarena-verified", &row.task_id.to_string());
        let known = |name: &String| {
            places
                .iter()
                .find(|place| place.name.eq_ignore_ascii_case(name))
                .ok_or_else(|| name.clone())
        };
        match row.sites.iter().map(known).collect::<Result<Vec<_>, _>>() {
            Err(name) => {
                import
                    .skipped
                    .push(SkippedTask { id, reason: format!("its site {name} has no address") });
            }
            Ok(places) => {
                let sites: BTreeMap<String, &str> = places
                    .iter()
                    .map(|place| (place.name.to_lowercase(), place.url.as_str()))
                    .collect();
                let rule: VerifiedTask =
                    serde_json::from_value(json!({ "task": task, "sites": sites }))
                        .map_err(wrong)?;
                import.tasks.push(self::task(id, row, &places, rule));
            }
        }
    }
    Ok(import)
}

fn task(id: String, row: Row, places: &[&Place], rule: VerifiedTask) -> Task {
    let address = |url: &String| {
        places.iter().fold(url.clone(), |url, place| {
            url.replace(&format!("__{}__", place.name), place.url.trim_end_matches('/'))
        })
    };
    let mut urls = row.start_urls.iter().map(address);
    let mut sites: Vec<String> = places.iter().flat_map(|place| place.sites.clone()).collect();
    sites.sort();
    sites.dedup();
    let login = places
        .iter()
        .filter_map(|place| Some((place.sites.first()?.clone(), place.account.clone()?)));
    Task {
        start_url: urls.next(),
        tabs: urls.collect(),
        sites,
        login: login.collect(),
        max_steps: MAX_STEPS,
        tags: vec![format!("template-{}", row.intent_template_id)],
        ..Task::new(
            id,
            GoalText::Words(format!("{}\n\n{ANSWER}", row.intent)),
            Scorer::WebArenaVerified(rule),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"[{"sites": ["reddit"], "task_id": 12, "intent_template_id": 4, "start_urls": ["__REDDIT__/f/books"], "intent": "Vote",
      "intent_template": "Vote", "instantiation_dict": {}, "revision": 1, "eval": [
        {"evaluator": "AgentResponseEvaluator", "ordered": false, "results_schema": {"type": "null"},
         "expected": {"task_type": "mutate", "status": "SUCCESS", "retrieved_data": null}}]}]"#;

    #[test]
    fn tasks_have_addresses_and_load_again() {
        let import = webarena_verified(FILE, &published()).expect("the benchmark's form");
        let [task] = import.tasks.as_slice() else { panic!("{import:?}") };
        assert_eq!(task.start_url.as_deref(), Some("http://localhost:9999/f/books"));
        assert_eq!((task.login["reddit"].as_str(), task.tags[0].as_str()), ("grant", "template-4"));
        assert!(task.scorer.needs().traffic);
        let yaml = serde_yaml::to_string(task).expect("a task is YAML");
        assert_eq!(&serde_yaml::from_str::<Task>(&yaml).expect("our own YAML"), task);
        let elsewhere = webarena_verified(FILE, &[]).expect("the benchmark's form");
        assert_eq!(elsewhere.skipped[0].reason, "its site reddit has no address");
    }

    #[test]
    fn what_nobody_knows_is_refused() {
        for (known, other) in
            [("\"revision\"", "\"version\""), ("\"type\": \"null\"", "\"type\": \"nil\"")]
        {
            let error = webarena_verified(&FILE.replace(known, other), &published())
                .expect_err("not known");
            assert!(error.to_string().starts_with("[0]: "), "{error}");
        }
    }
}
