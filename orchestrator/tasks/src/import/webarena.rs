//! WebArena: a JSON list of tasks, as `config_files/test.raw.json` has it, or one task, with places
//! such as `__SHOPPING__` instead of addresses. And WebArena-Lite, whose
//! `test_webarena_lite.raw.json` is such a list of its own.
//!
//! What is read of a task is what the published code reads: `ScriptBrowserEnv.setup`
//! (`browser_env/envs.py`), `test` (`run.py`) and the evaluators
//! (`evaluation_harness/evaluators.py`). A key beside `eval` that they never look at is passed over
//! with a warning; inside `eval` such a key is an error, as it was meant to change a score.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use scoring::Scorer;
use scoring::webarena::{Edition, Evaluation};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Benchmark, Import, ImportError, SkippedTask, read_list, task_id};
use crate::{GoalText, MatchLevel, StopRules, Task, WorldSpec};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "webarena",
    id_prefixes: &["webarena-"],
    read: |text, _| webarena(text, &published()),
    live: None,
    scores: "WebArena: score saved answers, addresses and contents of pages",
    answer_alone: false,
};

/// The separator of the addresses at which an episode begins.
const AND: &str = " |AND| ";

/// One of the sites that tasks are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The placeholder for its address, without the underscores around: `SHOPPING`.
    pub name: String,
    /// Its address.
    pub url: String,
    /// Its manifest, and those of what its pages ask for besides.
    pub sites: Vec<String>,
    /// The account that is logged in where a task asks for it, if there is one.
    pub account: Option<String>,
}

/// The sites as WebArena published them, by the names that are baked into them; what their
/// manifests say.
pub fn published() -> Vec<Place> {
    let mut places = places_at("metis.lti.cs.cmu.edu", 3000);
    let parts = ["map-tiles", "map-search", "map-car", "map-bike", "map-foot"];
    for map in places.iter_mut().filter(|place| place.name == "MAP") {
        map.sites.extend(parts.map(str::to_owned));
    }
    places
}

/// The sites of WebArena's images on one host, at their usual ports but for the map's.
pub(super) fn places_at(host: &str, map_port: u16) -> Vec<Place> {
    let place = |name: &str, port: u16, path: &str, account: Option<&str>| Place {
        name: name.to_owned(),
        url: format!("http://{host}:{port}{path}"),
        sites: vec![name.to_lowercase()],
        account: account.map(str::to_owned),
    };
    vec![
        place("SHOPPING", 7770, "", Some("emma")),
        place("SHOPPING_ADMIN", 7780, "/admin", Some("admin")),
        place("REDDIT", 9999, "", Some("grant")),
        place("GITLAB", 8023, "", Some("byteblaze")),
        place(
            "WIKIPEDIA",
            8888,
            "/wikipedia_en_all_maxi_2022-05/A/User:The_other_Kiwix_guy/Landing",
            None,
        ),
        place("MAP", map_port, "", None),
        place("HOMEPAGE", 4399, "", None),
    ]
}

/// The world of such a suite: the viewport of `run.py`, and the sites of a folder.
pub fn world(sites: Utf8PathBuf, clock: Timestamp) -> WorldSpec {
    WorldSpec {
        sites: Some(sites),
        viewport: (1280, 720),
        match_level: MatchLevel::Exact,
        ..WorldSpec::new(clock)
    }
}

/// A task.
#[derive(Deserialize)]
struct Row {
    sites: Vec<String>,
    task_id: u64,
    /// Of WebArena-Lite's tasks: what they are in WebArena, by which they go here, too.
    old_task_id: Option<u64>,
    storage_state: Option<String>,
    /// `if start_url:` null and nothing are an empty page.
    start_url: Option<String>,
    geolocation: Option<Value>,
    intent: String,
    eval: Evaluation,
    intent_template_id: Option<u64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The other keys of the published files: for the annotators, and for code that resets and logs in.
pub(super) const PUBLISHED: [&str; 5] =
    ["require_login", "require_reset", "intent_template", "instantiation_dict", "string_note"];

/// Reads the JSON of WebArena or of WebArena-Lite, with addresses in place of their names. Tasks
/// that need what is not here are left out.
///
/// # Errors
/// When the text is not such a list, or an `eval` has a key that is not known.
pub fn webarena(json: &str, places: &[Place]) -> Result<Import, ImportError> {
    let rows: Vec<Row> = read_list(&with_addresses(json, places))?;
    let mut import = Import::default();
    for row in rows {
        import.pass_over(&row.rest, &PUBLISHED);
        let id = task_id("webarena", &row.old_task_id.unwrap_or(row.task_id).to_string());
        match task(&id, row, places) {
            Ok(task) => import.tasks.push(task),
            Err(reason) => import.skipped.push(SkippedTask { id, reason }),
        }
    }
    Ok(import)
}

/// As `generate_test_data.py` does it, wherever they stand.
pub(super) fn with_addresses(json: &str, places: &[Place]) -> String {
    let mut text = json.to_owned();
    for place in places {
        let url = Value::from(place.url.trim_end_matches('/')).to_string();
        text = text.replace(&format!("__{}__", place.name), url.trim_matches('"'));
    }
    text
}

fn task(id: &str, row: Row, places: &[Place]) -> Result<Task, String> {
    let mut eval = row.eval;
    if row.old_task_id.is_some() {
        eval.edition = Edition::Lite;
    }
    prepare(&mut eval, places)?;
    let about = About {
        sites: row.sites,
        storage_state: row.storage_state,
        start_url: row.start_url,
        geolocation: row.geolocation,
        intent: row.intent,
        template: row.intent_template_id,
        achievable: eval.is_achievable(),
        early_stop: StopRules { repeats: NonZeroU32::new(3), unreadable: NonZeroU32::new(3) },
    };
    about.task(id, Scorer::WebArena(eval), places)
}

/// Adds what an `eval` needs besides, or says why its task is left out.
pub(super) fn prepare(eval: &mut Evaluation, places: &[Place]) -> Result<(), String> {
    if let Some(flaw) = eval.flaw() {
        return Err(flaw);
    }
    if let Some(call) = eval.unknown_call() {
        return Err(format!("its score depends on `{call}`, which is not known here"));
    }
    if eval.asks_the_shop() {
        eval.shopping = Some(shop(places)?);
    }
    Ok(())
}

/// The address of the shop, whose interface scores depend on.
pub(super) fn shop(places: &[Place]) -> Result<String, String> {
    let shop = places.iter().find(|place| place.name == "SHOPPING");
    let shop =
        shop.ok_or("its score depends on the interface of the shop, which has no address")?;
    Ok(shop.url.trim_end_matches('/').to_owned())
}

/// The keys that tasks of WebArena and of VisualWebArena share.
pub(super) struct About {
    pub(super) sites: Vec<String>,
    pub(super) storage_state: Option<String>,
    pub(super) start_url: Option<String>,
    pub(super) geolocation: Option<Value>,
    pub(super) intent: String,
    pub(super) template: Option<u64>,
    pub(super) achievable: bool,
    pub(super) early_stop: StopRules,
}

impl About {
    /// The task, or why it is left out.
    pub(super) fn task(self, id: &str, scorer: Scorer, places: &[Place]) -> Result<Task, String> {
        let known = |name: &String| {
            let found = places.iter().find(|place| place.name.eq_ignore_ascii_case(name));
            found.ok_or_else(|| format!("its site {name} has no address"))
        };
        let sites = self.sites.iter().map(known).collect::<Result<Vec<_>, _>>()?;
        let mut login = BTreeMap::new();
        for name in accounts(self.storage_state.as_deref()) {
            let place = known(&name)?;
            let account = place
                .account
                .clone()
                .ok_or_else(|| format!("nobody can log in to its site {name}"))?;
            login.extend(place.sites.first().map(|site| (site.clone(), account)));
        }
        if self.geolocation.is_some() {
            return Err("it says where its user is".to_owned());
        }
        let start_url = self.start_url.unwrap_or_default();
        // An empty text splits into one empty address.
        let mut urls = start_url.split(AND).map(str::to_owned).filter(|_| !start_url.is_empty());
        let mut names: Vec<String> = sites.iter().flat_map(|place| place.sites.clone()).collect();
        names.extend(login.keys().cloned());
        names.sort();
        names.dedup();
        let achievable = if self.achievable { "achievable" } else { "unachievable" };
        Ok(Task {
            start_url: urls.next(),
            tabs: urls.collect(),
            sites: names,
            login,
            max_steps: MAX_STEPS,
            early_stop: self.early_stop,
            tags: self
                .template
                .map(|template| format!("template-{template}"))
                .into_iter()
                .chain([achievable.to_owned()])
                .collect(),
            ..Task::new(id.to_owned(), GoalText::Words(self.intent), scorer)
        })
    }
}

/// `--max_steps` of `run.py`, of both.
pub(super) const MAX_STEPS: u32 = 30;

/// The sites that a file of cookies is for: `./.auth/gitlab.reddit_state.json`.
pub(super) fn accounts(storage_state: Option<&str>) -> Vec<String> {
    let file = storage_state.and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    let names = file.strip_suffix("_state.json").unwrap_or_default();
    names.split('.').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"[
      {"sites": ["shopping", "reddit"], "task_id": 7, "require_login": true, "storage_state": "./.auth/reddit.shopping_state.json",
       "start_url": "__SHOPPING__ |AND| __REDDIT__/f/books", "geolocation": null, "intent_template": "Find {{what}}",
       "instantiation_dict": {"what": "oak"}, "intent": "Find oak", "require_reset": false, "intent_template_id": 12,
       "eval": {"eval_types": ["program_html"], "reference_answers": null, "reference_url": "", "program_html": [
         {"url": "func:reddit_get_post_url('__last_url__')", "locator": "", "required_contents": {"must_include": ["__SHOPPING__/oak"]}}]}},
      {"sites": ["map"], "task_id": 8, "require_login": false, "storage_state": null, "start_url": "__MAP__", "geolocation": null,
       "intent_template": "x", "instantiation_dict": {}, "intent": "x", "require_reset": false, "intent_template_id": 13,
       "eval": {"eval_types": ["string_match"], "reference_answers": {"fuzzy_match": "N/A"}, "reference_url": "", "program_html": null,
                "string_note": "no such road"}},
      {"sites": ["shopping"], "task_id": 9, "require_login": false, "storage_state": null, "start_url": "__SHOPPING__", "geolocation": null,
       "intent_template": "x", "instantiation_dict": {}, "intent": "x", "require_reset": false, "intent_template_id": 13,
       "eval": {"eval_types": ["program_html"], "program_html": [
         {"url": "func:shopping_get_latest_order_url()", "locator": "", "required_contents": {"exact_match": "x"}}]}},
      {"sites": ["shopping"], "task_id": 10, "require_login": false, "storage_state": null, "start_url": "__SHOPPING__", "geolocation": null,
       "intent_template": "x", "instantiation_dict": {}, "intent": "x", "require_reset": false, "intent_template_id": 13,
       "eval": {"eval_types": ["program_html"], "program_html": [
         {"url": "func:shopping_get_all()", "locator": "", "required_contents": {"exact_match": "x"}}]}}
    ]"#;

    #[test]
    fn tasks_have_addresses_and_load_again() {
        let import = webarena(FILE, &published()).expect("the benchmark's form");
        let [first, second, third] = import.tasks.as_slice() else { panic!("{import:?}") };
        assert_eq!(first.start_url.as_deref(), Some("http://metis.lti.cs.cmu.edu:7770"));
        assert_eq!(first.tabs, ["http://metis.lti.cs.cmu.edu:9999/f/books"]);
        assert_eq!(
            (first.sites.as_slice(), first.login.len()),
            (["reddit".to_owned(), "shopping".to_owned()].as_slice(), 2)
        );
        assert_eq!(second.tags, ["template-13", "unachievable"]);
        assert_eq!(
            second.sites.len(),
            6,
            "the map, and what its pages ask for: {:?}",
            second.sites
        );
        let Scorer::WebArena(eval) = &third.scorer else { panic!("{third:?}") };
        assert_eq!(eval.shopping.as_deref(), Some("http://metis.lti.cs.cmu.edu:7770"));
        assert!(import.skipped[0].reason.contains("shopping_get_all"), "{:?}", import.skipped);
        for task in &import.tasks {
            let yaml = serde_yaml::to_string(task).expect("a task is YAML");
            assert!(yaml.contains("webarena:") && !yaml.contains("__SHOPPING__"), "{yaml}");
            assert_eq!(&serde_yaml::from_str::<Task>(&yaml).expect("our own YAML"), task);
        }
    }

    #[test]
    fn tasks_of_webarena_lite_go_by_their_old_ids_and_by_its_rules() {
        let file = FILE.replace("\"task_id\": 8,", "\"task_id\": 1, \"old_task_id\": 98,");
        let import = webarena(&file, &published()).expect("the benchmark's form");
        let lite = |task: &Task| matches!(&task.scorer, Scorer::WebArena(eval) if eval.edition == Edition::Lite);
        let ids: Vec<_> = import.tasks.iter().map(|task| (task.id.as_str(), lite(task))).collect();
        assert_eq!(ids, [("webarena-7", false), ("webarena-98", true), ("webarena-9", false)]);
        let yaml = serde_yaml::to_string(&import.tasks[1]).expect("a task is YAML");
        assert_eq!(serde_yaml::from_str::<Task>(&yaml).expect("our own YAML"), import.tasks[1]);
    }

    #[test]
    fn keys_that_no_score_follows_from_are_passed_over_and_others_refused() {
        let file = FILE.replace("\"intent\": \"x\"", "\"intent\": \"x\", \"data_source\": 1");
        let import = webarena(&file, &published()).expect("the benchmark's form");
        let warnings: Vec<_> = import.warnings.iter().collect();
        let warning = "the key `data_source` is passed over: no score follows from it".to_owned();
        assert_eq!((import.tasks.len(), warnings), (3, vec![(&warning, &3)]));
        let file = FILE.replacen("\"eval_types\"", "\"hint\": 1, \"eval_types\"", 1);
        let error = webarena(&file, &published()).expect_err("a key too many").to_string();
        assert!(error.contains("hint") && error.contains("line 5"), "{error}");
        let file = FILE.replacen("\"url\": \"func", "\"frame\": 1, \"url\": \"func", 1);
        assert!(webarena(&file, &published()).is_err());
    }

    #[test]
    fn what_says_nothing_is_nothing() {
        let one = |eval: &str| {
            let json = format!(
                r#"{{"sites": ["gitlab"], "task_id": 0, "start_url": null, "intent": "", "eval": {eval}}}"#
            );
            webarena(&json, &published()).map(|import| (import.tasks, import.skipped))
        };
        for eval in [
            r#"{"eval_types": ["url_match"], "reference_answers": [], "reference_url": "https://a.test/",
                "program_html": [{"url": "", "required_contents": []}]}"#,
            r#"{"eval_types": ["url_match"], "reference_answers": "", "reference_url": "https://a.test/"}"#,
        ] {
            let (tasks, skipped) = one(eval).expect("the benchmark's form");
            let [task] = tasks.as_slice() else { panic!("{skipped:?}") };
            assert_eq!((task.start_url.as_deref(), task.tabs.len()), (None, 0));
            assert_eq!(
                (task.goal.to_string(), task.tags.as_slice()),
                (String::new(), ["achievable".to_owned()].as_slice())
            );
            let yaml = serde_yaml::to_string(task).expect("a task is YAML");
            assert_eq!(&serde_yaml::from_str::<Task>(&yaml).expect("our own YAML"), task, "{yaml}");
        }
        let unlocated = r#"{"eval_types": ["program_html"], "program_html": [{"url": "last", "required_contents": {}}]}"#;
        let (tasks, skipped) = one(unlocated).expect("the benchmark's form");
        assert_eq!(
            (tasks.len(), skipped[0].reason.as_str()),
            (0, "its target at `last` has no `locator`")
        );
        let other =
            r#"{"eval_types": ["url_match"], "reference_url": "", "or": [{"reference_url": "x"}]}"#;
        assert!(one(other).expect("the benchmark's form").0.is_empty(), "`or` is WebChoreArena's");
        let listed = r#"{"eval_types": ["string_match"], "reference_answers": ["oak"]}"#;
        let (tasks, skipped) = one(listed).expect("the benchmark's form");
        assert!(tasks.is_empty() && skipped[0].reason.contains("no rules"), "{skipped:?}");
    }
}
