//! VisualWebArena: JSON lists of tasks, as `config_files/vwa/test_*.raw.json` have them, with places such as `__CLASSIFIEDS__` instead of
//! addresses.

use std::num::NonZeroU32;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::webarena::{self, About, Place, accounts, shop, with_addresses};
use super::{Import, ImportError, Skipped, read_json, task_id};
use crate::scoring::visualwebarena::Evaluation;
use crate::{DeviceSpec, Scorer, StopRules, Task, WorldSpec};

/// `--viewport_width` and `--viewport_height` of `run.py`.
const VIEWPORT: (u32, u32) = (1280, 2048);
/// Where the published repository has what its homepage serves.
const HOMEPAGE_FILES: &str = "environment_docker/webarena-homepage/";
/// Where it has pictures that scores compare with.
const COCO_FILES: &str = "coco_images/";

/// The sites as they were published: those of WebArena that it shares, and its own.
pub fn published() -> Vec<Place> {
    let shared = ["SHOPPING", "REDDIT", "WIKIPEDIA", "HOMEPAGE"];
    let mut places = webarena::published();
    places.retain(|place| shared.contains(&place.name.as_str()));
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

/// A task. What is not read here is known all the same: a key that is neither is an error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    sites: Vec<String>,
    task_id: u64,
    #[serde(rename = "require_login")]
    _require_login: bool,
    storage_state: Option<String>,
    start_url: String,
    geolocation: Option<Value>,
    viewport_size: Option<Viewport>,
    #[serde(rename = "intent_template")]
    _intent_template: String,
    #[serde(rename = "instantiation_dict")]
    _instantiation_dict: Map<String, Value>,
    intent: String,
    image: Option<Images>,
    #[serde(rename = "require_reset")]
    _require_reset: bool,
    eval: Evaluation,
    reasoning_difficulty: String,
    visual_difficulty: String,
    overall_difficulty: String,
    #[serde(rename = "comments")]
    _comments: Option<String>,
    intent_template_id: u64,
    /// The published code looks for it in `eval` alone.
    #[serde(rename = "reference_url")]
    _reference_url: Option<String>,
}

/// What is not said is as usual.
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

/// Reads one of VisualWebArena's JSON files, with addresses in place of their names. Tasks that need what is not here are left out.
///
/// # Errors
/// When the text is not such a list, or a task has a key that is not known.
pub fn visualwebarena(json: &str, places: &[Place]) -> Result<Import, ImportError> {
    let rows: Vec<Row> = read_json(&with_addresses(json, places))?;
    let mut import = Import::default();
    for row in rows {
        // The numbers of tasks begin anew in every file, and so does the account that is logged in.
        let mut name = accounts(row.storage_state.as_deref());
        name.push(row.task_id.to_string());
        let id = task_id("visualwebarena", &name.join("-"));
        match task(&id, row, places) {
            Ok(task) => import.keep(task),
            Err(reason) => import.skipped.push(Skipped { id, reason }),
        }
    }
    Ok(import)
}

fn task(id: &str, row: Row, places: &[Place]) -> Result<Task, String> {
    let mut eval = row.eval;
    if let Some(call) = eval.unknown_call() {
        return Err(format!("its score depends on `{call}`, which is not known here"));
    }
    if eval.asks_the_shop() {
        eval.shopping = Some(shop(places)?);
    }
    for query in &mut eval.page_image_query {
        if !query.eval_image_class.starts_with('.') {
            return Err(format!("its score depends on the pictures of `{}`", query.eval_image_class));
        }
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
    let said = serde_json::to_string(&(&images, &row.start_url, &eval)).unwrap_or_default();
    let about = About {
        sites: with_mentioned(row.sites, &said, places),
        storage_state: row.storage_state,
        start_url: row.start_url,
        geolocation: row.geolocation,
        intent: row.intent,
        template: row.intent_template_id,
        achievable: eval.is_achievable(),
        stop: StopRules { repeats: NonZeroU32::new(5), unreadable: NonZeroU32::new(3) },
    };
    let mut task = about.task(id, Scorer::VisualWebArena(eval), places)?;
    task.images = images;
    task.device = DeviceSpec { viewport: row.viewport_size.and_then(viewport), ..DeviceSpec::default() };
    let difficulties = [
        ("reasoning", row.reasoning_difficulty),
        ("visual", row.visual_difficulty),
        ("overall", row.overall_difficulty),
    ];
    task.tags.extend(difficulties.map(|(kind, word)| format!("{kind}-{word}")));
    Ok(task)
}

fn homepage(places: &[Place]) -> Result<&str, String> {
    let homepage = places.iter().find(|place| place.name == "HOMEPAGE");
    let homepage = homepage.ok_or("its pictures are those of the homepage, which has no address")?;
    Ok(homepage.url.trim_end_matches('/'))
}

/// The sites of a task, and those whose addresses are in what it says: not all that is open or compared with is listed.
fn with_mentioned(mut sites: Vec<String>, said: &str, places: &[Place]) -> Vec<String> {
    let listed =
        |sites: &[String], place: &Place| sites.iter().any(|site| site.eq_ignore_ascii_case(&place.name));
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
       "comments": "", "reasoning_difficulty": "easy", "visual_difficulty": "easy", "overall_difficulty": "easy", "intent_template_id": 5,
       "eval": {"eval_types": ["page_image_query"], "page_image_query": [{"eval_image_url": "last", "eval_image_class": ""}]}}
    ]"##;

    #[test]
    fn tasks_have_pictures_and_every_site_that_they_mention() {
        let import = visualwebarena(FILE, &published()).expect("the benchmark's form");
        let [task] = import.tasks.as_slice() else { panic!("{import:?}") };
        assert_eq!(task.id, "visualwebarena-classifieds-3");
        assert_eq!(task.images, ["http://metis.lti.cs.cmu.edu:4399/static/input_images/oak.png"]);
        assert_eq!(task.sites, ["classifieds", "homepage", "reddit", "shopping"]);
        assert_eq!(task.login.get("classifieds").map(String::as_str), Some("blake"));
        assert_eq!(task.device.viewport, Some((430, 932)));
        assert_eq!(task.tags[2..], ["reasoning-easy", "visual-hard", "overall-medium"]);
        let yaml = serde_yaml::to_string(task).expect("a task is YAML");
        assert!(yaml.contains("coco_images/7.jpg") && yaml.contains("repeats: 5"), "{yaml}");
        assert_eq!(&serde_yaml::from_str::<Task>(&yaml).expect("our own YAML"), task);
        assert_eq!(import.skipped[0].id, "visualwebarena-shopping-4");
        assert_eq!(viewport(Viewport { width: Some(1280), height: None }), None);
    }

    #[test]
    fn keys_that_nobody_knows_are_refused() {
        for (known, unknown) in
            [("\"comments\"", "\"hints\""), ("\"eval_image_class\"", "\"eval_image_tag\"")]
        {
            let error =
                visualwebarena(&FILE.replacen(known, unknown, 1), &published()).expect_err("a key too many");
            assert!(error.to_string().contains(unknown.trim_matches('"')), "{error}");
        }
    }
}
