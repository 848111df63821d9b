//! WARC-Bench: JSON lists of tasks, each in a recording of its own, and a CSV for each list, which
//! says what kinds of tasks they are.
//!
//! A file is of one split, as its name says (`benchmark_dev.json`), and splits use the same ids for
//! other tasks, so ids begin with the split: `dev.online.3`. Tasks of web applications that are
//! built from sources (`static.*`) are left out.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use scoring::Scorer;
use scoring::warcbench::Check;
use serde::Deserialize;

use super::{
    Benchmark, Import, ImportError, NewSuite, SkippedTask, read_file, read_files, read_json,
};
use crate::{DeviceSpec, GoalText, Task, WorldSpec};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "warcbench",
    id_prefixes: &["dev.", "test.", "train."],
    read: read_without_recordings,
    live: None,
    scores: "WARC-Bench: score saved answers, addresses, and results of scripts, as `contents: [true]`",
    answer_alone: false,
};

/// The most actions that the benchmark allows.
const MAX_STEPS: u32 = 20;
/// The page's size in the benchmark's own browser.
const VIEWPORT: (u32, u32) = (1280, 720);
/// The prefix of a recording's path in task files.
const FOLDER: &str = "environments/web_archives/";
/// The time zone in which the benchmark's tasks for development were made: the dates that they
/// expect are of this zone.
const PACIFIC: &str = "America/Los_Angeles";

/// A recording that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    pub path: Utf8PathBuf,
    /// When it was made.
    pub began: Timestamp,
}

/// The kinds of each task of a split, by the number in its id.
pub type Kinds = BTreeMap<String, Vec<String>>;

/// A task. What is not read here is known all the same: a key that is neither is an error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    task_id: String,
    env: Env,
    goal: String,
    eval: Eval,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Env {
    data_path: String,
    start_url: String,
    timestamp: Option<Time>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Time {
    seconds: i64,
    nanos: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Eval {
    eval_type: String,
    evaluate_scripts: [Script; 1],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    script: String,
}

#[derive(Deserialize)]
struct CsvRow {
    #[serde(rename = "task id")]
    id: String,
    #[serde(rename = "task types")]
    types: String,
}

/// The split that a file is of, by its name: `dev` of `benchmark_dev.json`. `benchmark.json` holds
/// two; see [`warcbench`].
pub fn split(file: &Utf8Path) -> Option<&'static str> {
    let stem = file.file_stem().unwrap_or_default();
    ["dev", "test", "train"].into_iter().find(|split| stem.split('_').any(|part| part == *split))
}

/// Reads tasks whose pages nobody looks at, so that it makes no difference whether recordings are
/// there.
fn read_without_recordings(text: &str, file: &Utf8Path) -> Result<Import, ImportError> {
    let nowhere = Recording { path: Utf8PathBuf::new(), began: Timestamp::UNIX_EPOCH };
    warcbench(text, split(file), &BTreeMap::new(), &mut |_| Ok(nowhere.clone()))
}

/// Reads the kinds of tasks from the benchmark's CSV.
///
/// # Errors
/// When a row lacks a column, or is no CSV.
pub fn kinds(csv: &str) -> Result<Kinds, csv::Error> {
    let word = |kind: &str| kind.trim().to_lowercase().replace(' ', "-");
    let read = |row: Result<CsvRow, csv::Error>| {
        let CsvRow { id, types } = row?;
        Ok((id, types.split(',').map(word).filter(|kind| !kind.is_empty()).collect()))
    };
    csv::Reader::from_reader(csv.as_bytes()).into_deserialize().map(read).collect()
}

/// Reads a list of tasks of a split; without one, tasks are of the split `dev`, and
/// `online_train.*` of `train`. `find` is given the place of a recording below the benchmark's
/// folder of recordings, such as `svelte/svelte_toolbar.wacz`, or says why it cannot be had. Of
/// several tasks with one id the second is numbered 2.
///
/// # Errors
/// When the text is not such a list, or a task has a key that is not known.
pub fn warcbench(
    json: &str,
    split: Option<&str>,
    kinds: &BTreeMap<String, Kinds>,
    find: &mut dyn FnMut(&str) -> Result<Recording, String>,
) -> Result<Import, ImportError> {
    let rows: Vec<Row> = read_json(json)?;
    let mut import = Import::default();
    let mut ids: BTreeMap<String, u32> = BTreeMap::new();
    for row in rows {
        let (of, own) = match row.task_id.strip_prefix("online_train.") {
            Some(number) => (split.unwrap_or("train"), format!("online.{number}")),
            None => (split.unwrap_or("dev"), row.task_id.clone()),
        };
        let mut id = format!("{of}.{}", plain(&own));
        let count = ids.entry(id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            id = format!("{id}.{count}");
        }
        let number = own.rsplit('.').next().unwrap_or_default();
        let of_task = kinds.get(of).and_then(|kinds| kinds.get(number));
        match task(row, id.clone(), of, of_task.map_or(&[], Vec::as_slice), find) {
            Ok(task) => import.tasks.push(task),
            Err(reason) => import.skipped.push(SkippedTask { id, reason }),
        }
    }
    Ok(import)
}

/// Reads the kinds of tasks of several splits.
///
/// # Errors
/// When a file cannot be read, or its name does not say of which split it is.
pub fn read_kinds(files: &[Utf8PathBuf]) -> Result<BTreeMap<String, Kinds>, ImportError> {
    let mut all = BTreeMap::new();
    for file in files {
        let split = split(file).ok_or_else(|| {
            ImportError::Unusable(format!(
                "{file}: its name does not say of which split it is: dev, test or train"
            ))
        })?;
        all.insert(split.to_owned(), read_file(file, |text| Ok(kinds(text)?))?);
    }
    Ok(all)
}

/// The suite of the benchmark's files, each task in the recording that `find` gives for its place.
///
/// # Errors
/// When a file is not what it should be, or no task can be imported.
pub fn suite(
    files: &[Utf8PathBuf],
    kinds: &BTreeMap<String, Kinds>,
    find: &mut dyn FnMut(&str) -> Result<Recording, String>,
) -> Result<NewSuite, ImportError> {
    let import = read_files(files, |file, text| warcbench(text, split(file), kinds, &mut *find))?;
    let Some(clock) = import.tasks.iter().filter_map(|task| task.clock).min() else {
        let why =
            import.skipped.first().map_or("there are none".to_owned(), |one| one.reason.clone());
        return Err(ImportError::Unusable(format!("no task can be imported: {why}")));
    };
    Ok(NewSuite::new("warcbench", world(clock), import))
}

/// The world of such a suite. Each task has a recording and a clock of its own.
pub fn world(clock: Timestamp) -> WorldSpec {
    WorldSpec { viewport: VIEWPORT, ..WorldSpec::new(clock) }
}

fn task(
    row: Row,
    id: String,
    split: &str,
    kinds: &[String],
    find: &mut dyn FnMut(&str) -> Result<Recording, String>,
) -> Result<Task, String> {
    if row.task_id.starts_with("static.") {
        return Err(format!(
            "its pages are made of {}, which has to be built, and is no recording",
            row.env.data_path
        ));
    }
    let place = row.env.data_path.strip_prefix(FOLDER).unwrap_or(&row.env.data_path);
    let [Script { script }] = row.eval.evaluate_scripts;
    let check = Check::new(&row.eval.eval_type, script)?;
    let Recording { path, began } = find(place)?;
    let clock = match row.env.timestamp {
        Some(Time { seconds, nanos }) => Timestamp::new(seconds, nanos)
            .map_err(|error| format!("its timestamp is no time: {error}"))?,
        None => began,
    };
    let host = row.env.start_url.split_once("://").map_or("", |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let archive = Utf8Path::new(place).file_stem().unwrap_or_default();
    let mut tags =
        BTreeSet::from([split.to_owned(), check.eval_type().to_owned(), archive.to_owned()]);
    tags.extend(kinds.iter().cloned());
    Ok(Task {
        start_url: Some(row.env.start_url.clone()),
        sites: vec![host.to_owned()],
        snapshots: Some(vec![path]),
        clock: Some(clock),
        device: DeviceSpec {
            // Only the tasks for development expect dates of this zone.
            timezone: (split != "test").then(|| PACIFIC.to_owned()),
            ..DeviceSpec::default()
        },
        max_steps: MAX_STEPS,
        tags: tags.into_iter().collect(),
        ..Task::new(id, GoalText::Words(row.goal), Scorer::WarcBench(check))
    })
}

/// Replaces characters that an id may not have by `-`.
fn plain(id: &str) -> String {
    let keep =
        |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    id.chars().take(150).map(keep).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const FILE: &str = r#"[
      {"task_id": "online.3", "goal": "Open the menu", "env": {"data_path": "environments/web_archives/rail/rail.wacz",
        "start_url": "https://rail.test/#/a"}, "eval": {"eval_type": "js_matcher", "evaluate_scripts": [{"script": "a > 1;"}]}},
      {"task_id": "online.3", "goal": "Which?", "env": {"data_path": "environments/web_archives/rail/rail.wacz",
        "start_url": "https://rail.test/", "timestamp": {"seconds": 1741648127, "nanos": 0}},
        "eval": {"eval_type": "json_matcher", "evaluate_scripts": [{"script": "{\"a\": 1}"}]}},
      {"task_id": "static.0", "goal": "Go", "env": {"data_path": "environments/static_web_apps/crm", "start_url": "http://localhost:3000/"},
        "eval": {"eval_type": "url_matcher", "evaluate_scripts": [{"script": "http://localhost:3000/home"}]}},
      {"task_id": "online.4", "goal": "Go", "env": {"data_path": "environments/web_archives/sea/sea.wacz", "start_url": "https://sea.test/"},
        "eval": {"eval_type": "url_matcher", "evaluate_scripts": [{"script": "https://sea.test/home"}]}},
      {"task_id": "online_train.3", "goal": "Go", "env": {"data_path": "environments/web_archives/rail/rail.wacz", "start_url": "https://rail.test/"},
        "eval": {"eval_type": "json_matcher", "evaluate_scripts": [{"script": "{a}"}]}}
    ]"#;

    fn find(place: &str) -> Result<Recording, String> {
        match place {
            "rail/rail.wacz" => Ok(Recording {
                path: "/recordings/rail.wacz".into(),
                began: "2025-02-03T04:05:06Z".parse().unwrap(),
            }),
            _ => Err(format!("there is no {place}")),
        }
    }

    #[test]
    fn tasks_have_their_split_recording_clock_and_kinds() {
        let csv = "task id,website,task types,goal\n3,rail,\"menu navigation, Drag and drop\",x\n4,sea,,y\n";
        let kinds = BTreeMap::from([("test".to_owned(), kinds(csv).unwrap())]);
        let import = warcbench(FILE, Some("test"), &kinds, &mut find).unwrap();
        let [first, second] = import.tasks.as_slice() else { panic!("{import:?}") };
        assert_eq!((first.id.as_str(), second.id.as_str()), ("test.online.3", "test.online.3.2"));
        assert_eq!(first.tags, ["drag-and-drop", "js_matcher", "menu-navigation", "rail", "test"]);
        assert_eq!(first.snapshots.as_deref(), Some(&["/recordings/rail.wacz".into()][..]));
        assert_eq!(first.clock.unwrap().to_string(), "2025-02-03T04:05:06Z");
        assert_eq!(second.clock.unwrap().as_second(), 1_741_648_127);
        assert_eq!((first.max_steps, &first.device.timezone), (20, &None));
        assert_eq!(first.sites, ["rail.test"]);
        let left: Vec<String> =
            import.skipped.iter().map(|left| format!("{}: {}", left.id, left.reason)).collect();
        assert_eq!(
            left,
            [
                "test.static.0: its pages are made of environments/static_web_apps/crm, which has to be built, and is no recording",
                "test.online.4: there is no sea/sea.wacz",
                "test.online.3.3: what it wants is no JSON: `{a}`",
            ]
        );
        for task in &import.tasks {
            let yaml = serde_yaml::to_string(task).unwrap();
            assert_eq!(&serde_yaml::from_str::<Task>(&yaml).unwrap(), task);
        }
    }

    #[test]
    fn splits_are_told_by_names_of_files_and_of_tasks() {
        for (file, expect) in [
            ("a/benchmark_dev.json", Some("dev")),
            ("tasks_test_1.csv", Some("test")),
            ("benchmark.json", None),
        ] {
            assert_eq!(split(Utf8Path::new(file)), expect, "{file}");
        }
        let import = warcbench(FILE, None, &BTreeMap::new(), &mut find).unwrap();
        assert_eq!(import.tasks[0].id, "dev.online.3");
        assert_eq!(import.tasks[0].device.timezone.as_deref(), Some("America/Los_Angeles"));
        assert_eq!(import.skipped[2].id, "train.online.3");
    }

    #[test]
    fn keys_that_nobody_knows_are_named() {
        let file = FILE.replacen("\"goal\"", "\"hint\": 1, \"goal\"", 1);
        let error = warcbench(&file, None, &BTreeMap::new(), &mut find).unwrap_err().to_string();
        assert!(error.starts_with("[0].hint: unknown field `hint`"), "{error}");
    }
}
