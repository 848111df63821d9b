//! VisualWebArena: JSON lists of tasks, as `config_files/vwa/test_*.raw.json` have them, or one
//! task, with places such as `__CLASSIFIEDS__` instead of addresses.
//!
//! As with [WebArena](super::webarena), what is read is what `ScriptBrowserEnv.setup`
//! (`browser_env/envs.py`), `test` (`run.py`) and the evaluators
//! (`evaluation_harness/evaluators.py`) read.

use std::num::NonZeroU32;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use scoring::Scorer;
use scoring::visualwebarena::Evaluation;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::webarena::{self, About, Place, accounts, shop, with_addresses};
use super::{Benchmark, Import, ImportError, SkippedTask, read_list, task_id};
use crate::{DeviceSpec, StopRules, Task, WorldSpec};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "visualwebarena",
    id_prefixes: &["visualwebarena-"],
    read: |text, _| visualwebarena(text, &published()),
    live: None,
    scores: "VisualWebArena: score saved answers, addresses, contents of pages, and facts about pictures",
    answer_alone: false,
};

/// `--viewport_width` and `--viewport_height` of `run.py`.
const VIEWPORT: (u32, u32) = (1280, 2048);
/// The folder of the published repository with the files that its homepage serves.
const HOMEPAGE_FILES: &str = "environment_docker/webarena-homepage/";
/// The folder with the pictures that scores compare with.
const COCO_FILES: &str = "coco_images/";

/// The sites as they were published: those of WebArena, of which its tests have more than its
/// tasks, and its own.
pub fn published() -> Vec<Place> {
    let mut places = webarena::published();
    // Its tasks say the rest of the address themselves.
    for place in places.iter_mut().filter(|place| place.name == "WIKIPEDIA") {
        place.url = "http://metis.lti.cs.cmu.edu:8888".to_owned();
    }
    places.push(Place {
        name: "CLASSIFIEDS".to_owned(),
        url: "http://metis.lti.cs.cmu.edu:9980".to_owned(),
        sites: vec!["classifieds".to_owned()],
        account: Some("blake".to_owned()),
    });
    places
}

/// The world of such a suite: the viewport of `run.py`, and the sites of a folder.
pub fn world(sites: Utf8PathBuf, clock: Timestamp) -> WorldSpec {
    WorldSpec { viewport: VIEWPORT, ..webarena::world(sites, clock) }
}

/// A task.
#[derive(Deserialize)]
struct Row {
    sites: Vec<String>,
    task_id: u64,
    storage_state: Option<String>,
    /// `if start_url:` null and nothing are an empty page.
    start_url: Option<String>,
    geolocation: Option<Value>,
    viewport_size: Option<Viewport>,
    intent: String,
    image: Option<Images>,
    eval: Evaluation,
    reasoning_difficulty: Option<String>,
    visual_difficulty: Option<String>,
    overall_difficulty: Option<String>,
    intent_template_id: Option<u64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The keys of its files besides WebArena's. The published code looks for an address to compare
/// with in `eval` alone.
const PUBLISHED: [&str; 2] = ["comments", "reference_url"];

/// A missing key has its usual value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Viewport {
    width: Option<u32>,
    height: Option<u32>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Images {
    One(String),
    Several(Vec<String>),
}

/// Reads one of VisualWebArena's JSON files, with addresses in place of their names. Tasks that
/// need what is not here are left out.
///
/// # Errors
/// When the text is not such a list, or an `eval` has a key that is not known.
pub fn visualwebarena(json: &str, places: &[Place]) -> Result<Import, ImportError> {
    let rows: Vec<Row> = read_list(&with_addresses(json, places))?;
    let known: Vec<&str> = webarena::PUBLISHED.into_iter().chain(PUBLISHED).collect();
    let mut import = Import::default();
    for row in rows {
        import.pass_over(&row.rest, &known);
        for query in row.eval.page_image_query.iter().filter(|query| !query.has_known_class()) {
            import.warn(format!(
                "`eval_image_class` is `{}`: at what does not begin with a dot the published code raises an \
                 exception, and so there is no score",
                query.eval_image_class
            ));
        }
        // The numbers of tasks begin anew in every file, and so does the account that is logged in.
        let mut name = accounts(row.storage_state.as_deref());
        name.push(row.task_id.to_string());
        let id = task_id("visualwebarena", &name.join("-"));
        match task(&id, row, places) {
            Ok(task) => import.tasks.push(task),
            Err(reason) => import.skipped.push(SkippedTask { id, reason }),
        }
    }
    Ok(import)
}

fn task(id: &str, row: Row, places: &[Place]) -> Result<Task, String> {
    let mut eval = row.eval;
    // Where the published code raises an exception, whatever was played has no score.
    if let Some(flaw) = eval.flaw() {
        return Err(flaw);
    }
    if let Some(call) = eval.unknown_call() {
        return Err(format!("its score depends on `{call}`, which is not known here"));
    }
    if eval.asks_the_shop() {
        eval.shopping = Some(shop(places)?);
    }
    for query in &mut eval.page_image_query {
        if let Some(wanted) =
            query.eval_fuzzy_image_match.as_mut().filter(|file| file.starts_with(COCO_FILES))
        {
            *wanted = format!("{}/{wanted}", homepage(places)?);
        }
    }
    let images = match row.image {
        Some(Images::One(image)) => vec![image],
        Some(Images::Several(images)) => images,
        None => Vec::new(),
    };
    let images = images.into_iter().map(|image| match image.strip_prefix(HOMEPAGE_FILES) {
        Some(file) => Ok(format!("{}/{file}", homepage(places)?)),
        None => Ok(image),
    });
    let images = images.collect::<Result<Vec<_>, String>>()?;
    // Pictures and scores name sites that the task's own list lacks.
    let said = serde_json::to_string(&(&images, &row.start_url, &eval)).unwrap_or_default();
    let about = About {
        sites: with_mentioned(row.sites, &said, places),
        storage_state: row.storage_state,
        start_url: row.start_url,
        geolocation: row.geolocation,
        intent: row.intent,
        template: row.intent_template_id,
        achievable: eval.is_achievable(),
        // `repeating_action_failure_th` and `parsing_failure_th` of the published `run.py`.
        early_stop: StopRules { repeats: NonZeroU32::new(5), unreadable: NonZeroU32::new(3) },
    };
    let mut task = about.task(id, Scorer::VisualWebArena(eval), places)?;
    task.goal_images = images;
    task.device =
        DeviceSpec { viewport: row.viewport_size.and_then(viewport), ..DeviceSpec::default() };
    let difficulties = [
        ("reasoning", row.reasoning_difficulty),
        ("visual", row.visual_difficulty),
        ("overall", row.overall_difficulty),
    ];
    let labelled =
        difficulties.into_iter().filter_map(|(kind, word)| Some(format!("{kind}-{}", word?)));
    task.tags.extend(labelled);
    Ok(task)
}

fn homepage(places: &[Place]) -> Result<&str, String> {
    let homepage = places.iter().find(|place| place.name == "HOMEPAGE");
    let homepage =
        homepage.ok_or("its pictures are those of the homepage, which has no address")?;
    Ok(homepage.url.trim_end_matches('/'))
}

/// The sites of a task, and those whose addresses are in what it says: not all that is open or
/// compared with is listed.
fn with_mentioned(mut sites: Vec<String>, said: &str, places: &[Place]) -> Vec<String> {
    let listed = |sites: &[String], place: &Place| {
        sites.iter().any(|site| site.eq_ignore_ascii_case(&place.name))
    };
    for place in places {
        if said.contains(place.url.trim_end_matches('/')) && !listed(&sites, place) {
            sites.push(place.name.clone());
        }
    }
    sites
}

/// The window, where it is another than usual.
fn viewport(size: Viewport) -> Option<(u32, u32)> {
    let size = (size.width.unwrap_or(VIEWPORT.0), size.height.unwrap_or(VIEWPORT.1));
    (size != VIEWPORT).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r##"[
      {"sites": ["classifieds"], "task_id": 3, "require_login": true, "storage_state": "./.auth/classifieds_state.json",
       "start_url": "__CLASSIFIEDS__ |AND| __REDDIT__", "geolocation": null, "intent_template": "x", "instantiation_dict": {},
       "intent": "Find this oak", "image": "environment_docker/webarena-homepage/static/input_images/oak.png", "require_reset": true,
       "viewport_size": {"width": 430, "height": 932}, "comments": "", "reasoning_difficulty": "easy", "visual_difficulty": "hard",
       "overall_difficulty": "medium", "intent_template_id": 4, "reference_url": "",
       "eval": {"eval_types": ["program_html", "page_image_query"], "reference_answers": null, "reference_url": "", "program_html": [
         {"url": "func:shopping_get_latest_order_url()", "locator": "func:get_query_text(__page__, \".order\")",
          "required_contents": {"must_exclude": ["elm"]}}],
        "page_image_query": [{"eval_image_url": "last", "eval_image_class": ".photo", "eval_fuzzy_image_match": "coco_images/7.jpg"}]}},
      {"sites": ["shopping"], "task_id": 4, "require_login": true, "storage_state": "./.auth/shopping_state.json",
       "start_url": "__SHOPPING__/", "geolocation": null, "viewport_size": {"width": 1280}, "intent_template": "x",
       "instantiation_dict": {}, "intent": "x", "image": ["http://pictures.test/1.png"], "require_reset": false,
       "comments": "", "visual_difficulty": "easy", "intent_template_id": 5,
       "eval": {"eval_types": ["page_image_query"], "page_image_query": [{"eval_image_url": "last", "eval_image_class": ""}]}}
    ]"##;

    #[test]
    fn tasks_have_pictures_and_every_site_that_they_mention() {
        let import = visualwebarena(FILE, &published()).expect("the benchmark's form");
        let [task, bare] = import.tasks.as_slice() else { panic!("{import:?}") };
        assert_eq!(
            (task.id.as_str(), bare.id.as_str()),
            ("visualwebarena-classifieds-3", "visualwebarena-shopping-4")
        );
        assert_eq!(
            task.goal_images,
            ["http://metis.lti.cs.cmu.edu:4399/static/input_images/oak.png"]
        );
        assert_eq!(task.sites, ["classifieds", "homepage", "reddit", "shopping"]);
        assert_eq!(task.login.get("classifieds").map(String::as_str), Some("blake"));
        assert_eq!(task.device.viewport, Some((430, 932)));
        assert_eq!(task.tags[2..], ["reasoning-easy", "visual-hard", "overall-medium"]);
        let yaml = serde_yaml::to_string(task).expect("a task is YAML");
        assert!(yaml.contains("coco_images/7.jpg") && yaml.contains("repeats: 5"), "{yaml}");
        assert_eq!(&serde_yaml::from_str::<Task>(&yaml).expect("our own YAML"), task);
        assert_eq!(bare.tags, ["template-5", "achievable", "visual-easy"]);
        assert_eq!(viewport(Viewport { width: Some(1280), height: None }), None);
    }

    #[test]
    fn what_no_score_follows_from_is_passed_over_and_other_keys_refused() {
        let read = |known: &str, other: &str| {
            visualwebarena(&FILE.replacen(known, other, 1), &published())
        };
        let warnings = |known: &str, other: &str| {
            let import = read(known, other).expect("the benchmark's form");
            (import.tasks.len(), import.warnings.into_keys().collect::<Vec<_>>().join("; "))
        };
        assert_eq!(warnings("\"comments\"", "\"comments\""), (2, String::new()));
        let (tasks, said) = warnings("\"comments\"", "\"hints\"");
        assert!(tasks == 2 && said.starts_with("the key `hints` is passed over"), "{said}");
        let (tasks, said) = warnings("\".photo\"", "\"img.photo\"");
        assert!(tasks == 2 && said.starts_with("`eval_image_class` is `img.photo`"), "{said}");
        let error = read("\"eval_image_class\"", "\"eval_image_tag\"").expect_err("a key too many");
        assert!(error.to_string().contains("eval_image_tag"), "{error}");
    }
}
