//! Mind2Web-Live: a JSON list of tasks with their key nodes, as WebCanvas publishes it.

use scoring::mind2web_live::{KeyNodes, PublishedNode};
use scoring::{KeyNode, Scorer};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    Benchmark, Import, ImportError, LiveWeb, SkippedTask, live, read_list, task_id, web_urls,
};
use crate::{GoalText, Task};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "mind2web-live",
    id_prefixes: &["mind2web-live-"],
    read: |text, _| mind2web_live(text),
    live: Some(LiveWeb {
        about: "Mind2Web-Live: the JSON file that WebCanvas publishes",
        viewport: live::WEBCANVAS,
    }),
    scores: "Mind2Web-Live: score saved steps by its key nodes",
    answer_alone: false,
};

/// A task. What the nodes of `evaluation` have is read strictly: scores follow from it.
#[derive(Deserialize)]
struct Row {
    index: Index,
    task: String,
    reference_task_length: u32,
    evaluation: Vec<PublishedNode>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The other keys of its files.
const PUBLISHED: [&str; 1] = ["time"];

/// A number in the later files, a text in the earlier ones.
#[derive(Deserialize)]
#[serde(untagged)]
enum Index {
    Number(u64),
    Text(String),
}

/// Reads Mind2Web-Live's JSON. Tasks with a key node that cannot be scored here are left out.
///
/// # Errors
/// When the text is not such a list, or a key node has a key that is not known.
pub fn mind2web_live(json: &str) -> Result<Import, ImportError> {
    let rows: Vec<Row> = read_list(json)?;
    let mut import = Import::default();
    for row in rows {
        import.pass_over(&row.rest, &PUBLISHED);
        let id = match &row.index {
            Index::Number(number) => task_id("mind2web-live", &number.to_string()),
            Index::Text(text) => task_id("mind2web-live", text),
        };
        let sites = sites(&row.evaluation);
        let urls = row.evaluation.iter().filter_map(|node| node.content.url.as_deref());
        let seed_urls = web_urls(urls.map(str::trim));
        let nodes: Result<Vec<KeyNode>, String> =
            row.evaluation.into_iter().map(PublishedNode::key_node).collect();
        match nodes {
            Err(reason) => import.skipped.push(SkippedTask { id, reason }),
            Ok(nodes) if nodes.is_empty() => {
                import.skipped.push(SkippedTask { id, reason: "it has no key nodes".to_owned() });
            }
            Ok(nodes) => import.tasks.push(Task {
                sites,
                seed_urls,
                max_steps: max_steps(row.reference_task_length),
                reference_steps: Some(row.reference_task_length),
                ..Task::new(id, GoalText::Words(row.task), Scorer::Mind2WebLive(KeyNodes { nodes }))
            }),
        }
    }
    Ok(import)
}

/// WebCanvas allows half as many steps again as the reference took, ten at least.
pub fn max_steps(reference: u32) -> u32 {
    reference.saturating_add(reference / 2).max(10)
}

fn sites(evaluation: &[PublishedNode]) -> Vec<String> {
    let host =
        |url: &str| url.split_once("://")?.1.split(['/', '?', '#']).next().map(str::to_owned);
    let mut sites: Vec<String> =
        evaluation.iter().filter_map(|node| node.content.url.as_deref().and_then(host)).collect();
    sites.sort();
    sites.dedup();
    sites
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r##"[
      {"index": 3, "task": "Find the seat map", "reference_task_length": 8, "evaluation": [
        {"match_function_name": "url_included_match",
         "content": {"key": "", "reference_answer": "rail.", "url": "https://www.rail.test/"}},
        {"match_function_name": "element_value_exactly_match",
         "content": {"reference_answer": "2", "netloc": "rail", "url": "https://www.rail.test/seats?x"}}]},
      {"index": "x_Y-z", "task": "Open it", "reference_task_length": 2, "time": "now", "evaluation": [
        {"match_function_name": "element_path_exactly_match", "method": "selector",
         "content": {"reference_answer": "a", "netloc": "rail", "url": "https://rail.test/"}},
        {"match_function_name": "element_value_included_match",
         "content": {"reference_answer": "2", "netloc": "rail", "path": "#seat", "url": "https://rail.test/"}}]},
      {"index": 4, "task": "Judge it", "reference_task_length": 2, "evaluation": [
        {"match_function_name": "url_semantic_match",
         "content": {"key": "q", "reference_answer": "is it a seat", "url": "https://rail.test/"}}]},
      {"index": 5, "task": "Remember it", "reference_task_length": 2, "evaluation": [
        {"match_function_name": "cache_data_exact_match", "content": {"reference_answer": "2"}}]}
    ]"##;

    #[test]
    fn tasks_that_can_be_scored_are_kept_and_load_again() {
        let import = mind2web_live(FILE).expect("the benchmark's form");
        let [seats, open, judged] = import.tasks.as_slice() else { panic!("{import:?}") };
        assert_eq!(
            (seats.id.as_str(), seats.max_steps, seats.sites.len()),
            ("mind2web-live-3", 12, 1)
        );
        assert_eq!(seats.reference_steps, Some(8));
        assert_eq!(seats.seed_urls, ["https://www.rail.test/", "https://www.rail.test/seats?x"]);
        assert_eq!(open.id, "mind2web-live-x_Y-z");
        assert!(open.scorer.needs().html && !seats.scorer.needs().html);
        assert!(
            matches!(&judged.scorer, Scorer::Mind2WebLive(KeyNodes { nodes }) if matches!(&nodes[..], [KeyNode::UrlSemanticMatch(_)]))
        );
        assert_eq!(import.skipped[0].id, "mind2web-live-5");
        assert_eq!(import.skipped[0].reason, "cache_data_exact_match cannot be scored yet");
        for task in &import.tasks {
            let yaml = serde_yaml::to_string(task).expect("a task is YAML");
            assert_eq!(&serde_yaml::from_str::<Task>(&yaml).expect("our own YAML"), task);
        }
    }

    #[test]
    fn keys_that_no_score_follows_from_are_passed_over_and_others_refused() {
        let with = |known: &str, more: &str| {
            mind2web_live(&FILE.replacen(known, &format!("{known}, {more}"), 1))
        };
        let import = with("\"index\": 3", "\"hint\": 1").expect("the benchmark's form");
        let warnings: Vec<&String> = import.warnings.keys().collect();
        assert_eq!(warnings, ["the key `hint` is passed over: no score follows from it"]);
        let error =
            with("\"netloc\": \"rail\"", "\"frame\": 1").expect_err("a key too many").to_string();
        assert!(error.contains("frame"), "{error}");
    }
}
