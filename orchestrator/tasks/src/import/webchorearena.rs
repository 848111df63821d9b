//! WebChoreArena: JSON lists of tasks in an extension of WebArena's form, on WebArena's sites, as
//! `config_files/test_*.raw.json` of its `BrowserGym` and `AgentOccam` have them;
//! `test_webchore.raw.json` is all of them.
//!
//! What is read of a task is what `GenericWebChoreArenaTask`
//! (`BrowserGym/browsergym/webchorearena/task.py`) and the evaluators
//! (`BrowserGym/evaluation_harness/evaluators.py`) read, and its rules are theirs. `required_wait`
//! says that a page may take a while to come to what the agent has begun. No published code reads
//! it; here every page has come to rest before its score is read.

use std::num::NonZeroU32;

use scoring::Scorer;
use scoring::webarena::{Edition, Evaluation};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::webarena::{About, Place, prepare, published, with_addresses};
use super::{Benchmark, Import, ImportError, SkippedTask, read_list, task_id};
use crate::{StopRules, Task};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "webchorearena",
    id_prefixes: &["webchorearena-"],
    read: |text, _| webchorearena(text, &published()),
    live: None,
    scores: "WebChoreArena: score saved answers, addresses and contents of pages by its own rules",
    answer_alone: false,
};

/// A task.
#[derive(Deserialize)]
struct Row {
    sites: Vec<String>,
    task_id: u64,
    storage_state: Option<String>,
    start_url: Option<String>,
    intent: String,
    eval: Evaluation,
    intent_template_id: Option<u64>,
    /// The observation that an agent needs: `any`, `text` or `image`.
    required_obs: Option<String>,
    /// The kind of chore, such as `massive_memory`.
    type_main: Option<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The other keys of its files: for the annotators, and for runs that begin elsewhere or put sites
/// back.
const PUBLISHED: [&str; 7] = [
    "start_url_lite",
    "intent_template",
    "instantiation_dict",
    "description",
    "type_sub",
    "affects_environment",
    "required_wait",
];

/// Reads WebChoreArena's JSON, with addresses in place of their names. Tasks that need what is not
/// here are left out.
///
/// # Errors
/// When the text is not such a list, or an `eval` has a key that is not known.
pub fn webchorearena(json: &str, places: &[Place]) -> Result<Import, ImportError> {
    let rows: Vec<Row> = read_list(&with_addresses(json, places))?;
    let mut import = Import::default();
    for row in rows {
        let id = task_id("webchorearena", &row.task_id.to_string());
        import.pass_over(&row.rest, &PUBLISHED);
        match task(&id, row, places) {
            Ok(task) => import.tasks.push(task),
            Err(reason) => import.skipped.push(SkippedTask { id, reason }),
        }
    }
    Ok(import)
}

fn task(id: &str, row: Row, places: &[Place]) -> Result<Task, String> {
    let mut eval = row.eval;
    eval.edition = Edition::WebChore;
    prepare(&mut eval, places)?;
    let about = About {
        storage_state: row.storage_state.or_else(|| logged_in(&row.sites, places)),
        sites: row.sites,
        start_url: row.start_url,
        geolocation: None,
        intent: row.intent,
        template: row.intent_template_id,
        achievable: eval.is_achievable(),
        early_stop: StopRules { repeats: NonZeroU32::new(3), unreadable: NonZeroU32::new(3) },
    };
    let mut task = about.task(id, Scorer::WebArena(eval), places)?;
    task.tags.extend(row.type_main);
    task.tags.extend(row.required_obs.map(|needed| format!("observes-{needed}")));
    Ok(task)
}

/// Returns the `storage_state` of a task that names none: `setup` logs in to its sites, as far as
/// there are accounts.
fn logged_in(sites: &[String], places: &[Place]) -> Option<String> {
    let has_account = |name: &&String| {
        places.iter().any(|place| place.name.eq_ignore_ascii_case(name) && place.account.is_some())
    };
    let names: Vec<&str> = sites.iter().filter(has_account).map(String::as_str).collect();
    (!names.is_empty()).then(|| format!("{}_state.json", names.join(".")))
}

#[cfg(test)]
mod tests {
    use scoring::Step;
    use scoring::judge::Question;
    use serde_json::json;

    use super::super::webarena::published;
    use super::*;

    fn file() -> Value {
        let task = |id: u64, eval: Value| {
            json!({
                "task_id": id, "sites": ["shopping", "wikipedia"], "start_url": "__SHOPPING__/Oak", "start_url_lite": "x",
                "intent_template": "", "intent": "Count the oaks", "required_obs": "any", "type_main": "calc",
                "description": "", "instantiation_dict": {}, "required_wait": true, "eval": eval,
            })
        };
        json!([
            task(
                7,
                json!({ "eval_types": ["string_match"], "reference_url": "", "program_html": [], "price_calculation": "1 + 1",
                        "reference_answers": { "must_include": ["1480 |OR| 1,480"] } })
            ),
            task(
                8,
                json!({ "eval_types": ["url_match", "program_html"], "reference_answers": "",
                    "reference_url": "__SHOPPING__/Elm", "or": [{ "reference_url": "__SHOPPING__/OAK |OR| __SHOPPING__/Ash" }],
                    "program_html": [{ "url": "last", "locator": "", "required_contents": { "exact_match": "elm" },
                        "or": [{ "url": "last", "locator": "document.title", "required_contents": { "must_include": ["oak", "ash"] } }] }] })
            ),
            task(
                9,
                json!({ "eval_types": ["string_match"], "reference_answers": { "fuzzy_match": "oak" } })
            ),
        ])
    }

    #[test]
    fn tasks_are_of_webarenas_form_with_rules_of_their_own() {
        let import =
            webchorearena(&file().to_string(), &published()).expect("the benchmark's form");
        let [first, ..] = import.tasks.as_slice() else { panic!("{import:?}") };
        assert_eq!((import.tasks.len(), import.warnings.len()), (3, 0), "{:?}", import.warnings);
        assert_eq!(first.id, "webchorearena-7");
        assert_eq!(first.login.get("shopping").map(String::as_str), Some("emma"));
        assert_eq!(first.tags, ["achievable", "calc", "observes-any"]);
        for task in &import.tasks {
            let yaml = serde_yaml::to_string(task).expect("a task is YAML");
            assert_eq!(&serde_yaml::from_str::<Task>(&yaml).expect("our own YAML"), task);
        }
    }

    #[test]
    fn addresses_and_contents_have_alternatives() {
        let import =
            webchorearena(&file().to_string(), &published()).expect("the benchmark's form");
        let score = |task: usize, answer: &str, url: &str, contents: [&str; 2]| {
            let scorer = &import.tasks[task].scorer;
            let mut assessment = scorer.start();
            assessment.observe(&Step { url, answer: Some(answer), ..Step::default() });
            let contents = contents.map(Value::from).to_vec();
            let found =
                scoring::PageEvidence { url: url.to_owned(), contents, ..Default::default() };
            assessment.accept_pages(&found);
            (assessment.score().map(|score| score.value), assessment.questions())
        };
        let at = "http://metis.lti.cs.cmu.edu:7770/oak";
        assert_eq!(score(0, "1,480 oaks", at, [""; 2]).0, Ok(1.0));
        assert_eq!(score(1, "", at, ["Elm", ""]).0, Ok(1.0));
        assert_eq!(score(1, "", at, ["x", "oak and ash"]).0, Ok(1.0));
        assert_eq!(score(1, "", at, ["x", "ashes"]).0, Ok(0.5));
        assert_eq!(score(1, "", "http://metis.lti.cs.cmu.edu:7770/fir", ["elm", ""]).0, Ok(0.0));
        let question =
            Question::KeyPoints { reference: "oak".to_owned(), answer: "an oak".to_owned() };
        assert_eq!(score(2, "An oak", at, [""; 2]).1, [question]);
    }
}
