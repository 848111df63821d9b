//! The plan of a suite's recording: a YAML file with the pages to visit, which people can read and
//! edit first.
//!
//! Each task has seeds, which are the pages that the suite itself names, and queries, which are
//! made of the words of its goal. The crawl visits the seeds, and around them a halo: the results
//! of the site's own search, the next pages of lists, filters, and other links, as far as the
//! budgets go.

mod queries;
mod questions;
mod seeds;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use browser::Device;
use camino::{Utf8Path, Utf8PathBuf};
use file_version::Version;
pub use queries::words;
pub use seeds::{Reason, Seed, seeds};
use serde::{Deserialize, Serialize};
use tasks::{GoalText, Suite, Task};
use thiserror::Error;
use url::Url;

/// The version of plans that is read and written.
const FORMAT: Version = Version::FIRST;
/// The maximum size of a plan or a file of questions.
const MAX_SIZE: u64 = 64 << 20;
/// Bytes that a page brings with it, compressed, where nothing is known of it: the median of the
/// web's pages, by the HTTP Archive.
const BYTES_PER_PAGE: u64 = 2_500_000;

/// The plan of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version of the file.
    #[serde(default, skip_serializing_if = "Version::is_first")]
    pub format: Version,
    /// The folder of the suite; in the file relative to the folder of the file. Absent for a list
    /// of questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<Utf8PathBuf>,
    /// How far the recording goes.
    #[serde(default)]
    pub budget: Budget,
    /// How banners that ask for consent are answered.
    #[serde(default)]
    pub consent: Consent,
    /// The browsers that visit, one after the other; the suite's own first.
    pub vantages: Vec<Device>,
    /// The tasks, in the order of the suite.
    pub tasks: Vec<TaskPlan>,
}

/// Limits of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Pages that are visited for one task, its seeds included. Seeds beyond it are visited all the
    /// same.
    pub pages_per_task: usize,
    /// Pages that are visited on one host for all tasks.
    pub pages_per_host: usize,
    /// How many links lead from a seed to a page.
    pub depth: u32,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { pages_per_task: 25, pages_per_host: 500, depth: 2 }
    }
}

/// The answer to banners that ask for consent to cookies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// Agree to all.
    #[default]
    Accept,
    /// Refuse what can be refused.
    Reject,
    /// Leave the banner where it is.
    Leave,
}

/// The pages to visit for one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskPlan {
    pub id: String,
    /// Pages that are visited in any case.
    #[serde(default)]
    pub seeds: Vec<Seed>,
    /// The queries for sites' own searches.
    #[serde(default)]
    pub queries: Vec<String>,
    /// Its own limit in place of the budget's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<usize>,
}

/// The extent of a plan on one host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HostPlan {
    /// Tasks with a seed there.
    pub tasks: usize,
    /// Seeds, each counted once.
    pub seeds: usize,
}

/// Why a plan cannot be used.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The file cannot be read or written.
    #[error("{action} {path}: {source}")]
    File {
        /// The operation.
        action: &'static str,
        /// The file.
        path: Utf8PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Its content is no plan.
    #[error("read {path}: {reason}")]
    Content {
        /// The file.
        path: Utf8PathBuf,
        reason: String,
    },
}

impl Plan {
    /// The plan for tasks of a suite.
    pub fn new(suite: &Suite, tasks: &[&Task], budget: Budget) -> Plan {
        let world = &suite.world;
        let tasks = tasks.iter().map(|task| TaskPlan {
            id: task.id.clone(),
            seeds: seeds(task, world),
            queries: match &task.goal {
                GoalText::Words(goal) => queries::of_goal(goal),
                GoalText::Page(_) => Vec::new(),
            },
            pages: None,
        });
        Plan {
            format: FORMAT,
            suite: Some(suite.folder.clone()),
            budget,
            consent: Consent::default(),
            vantages: vec![world.device()],
            tasks: tasks.collect(),
        }
    }

    /// The plan for a file of questions: WebVoyager's JSON lines or Online-Mind2Web's JSON.
    ///
    /// # Errors
    /// When the file cannot be read, or is not of this form.
    pub fn of_questions(path: &Utf8Path, budget: Budget) -> Result<Plan, PlanError> {
        let failed = |source| PlanError::File { action: "read", path: path.to_owned(), source };
        let text = files::read_text(path, MAX_SIZE).map_err(failed)?;
        let bad = |reason| PlanError::Content { path: path.to_owned(), reason };
        let tasks = questions::read(&text).map_err(bad)?;
        let consent = Consent::default();
        let vantages = vec![Device::default()];
        Ok(Plan { format: FORMAT, suite: None, budget, consent, vantages, tasks })
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// When the file cannot be read, is no plan, or is of a newer version.
    pub fn read(path: &Utf8Path) -> Result<Plan, PlanError> {
        let bad = |reason: String| PlanError::Content { path: path.to_owned(), reason };
        let text = files::read_text(path, MAX_SIZE).map_err(|source| PlanError::File {
            action: "read",
            path: path.to_owned(),
            source,
        })?;
        let mut plan: Plan = serde_yaml::from_str(&text).map_err(|error| bad(error.to_string()))?;
        plan.format.check(FORMAT).map_err(|newer| bad(newer.to_string()))?;
        if plan.vantages.is_empty() {
            return Err(bad("vantages: none given".to_owned()));
        }
        for task in &plan.tasks {
            for seed in &task.seeds {
                let is_page =
                    Url::parse(&seed.url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
                if !is_page {
                    return Err(bad(format!(
                        "task {}: {} is no address of a page",
                        task.id, seed.url
                    )));
                }
            }
        }
        plan.suite = plan.suite.map(|suite| as_seen_here(path, &suite));
        Ok(plan)
    }

    /// Writes the plan; `replace` says whether an existing file is replaced.
    ///
    /// # Errors
    /// When it cannot be written, or is there already.
    pub fn write(&self, path: &Utf8Path, replace: bool) -> Result<(), PlanError> {
        let failed = |source| PlanError::File { action: "write", path: path.to_owned(), source };
        let suite = self.suite.as_deref().map(|suite| as_seen_from(path, suite));
        let text = serde_yaml::to_string(&Plan { suite, ..self.clone() }).map_err(|error| {
            PlanError::Content { path: path.to_owned(), reason: error.to_string() }
        })?;
        let mut options = fs::OpenOptions::new();
        options.write(true).create(replace).create_new(!replace).truncate(replace);
        let mut file = options.open(path).map_err(failed)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)
    }

    /// Returns its extent on each host, by the seeds.
    pub fn hosts(&self) -> BTreeMap<String, HostPlan> {
        let mut hosts: BTreeMap<String, HostPlan> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for task in &self.tasks {
            let mut of_task = BTreeSet::new();
            for (host, seed) in
                task.seeds.iter().filter_map(|seed| Some((host_of(&seed.url)?, seed)))
            {
                let plan = hosts.entry(host.clone()).or_default();
                plan.tasks += usize::from(of_task.insert(host));
                plan.seeds += usize::from(seen.insert(&seed.url));
            }
        }
        hosts
    }

    /// The most pages that may be visited for a task, in all vantages.
    pub fn most_pages(&self, task: &TaskPlan) -> usize {
        let limit = task.pages.unwrap_or(self.budget.pages_per_task);
        // Without a seed there is no way to anywhere.
        if task.seeds.is_empty() { 0 } else { limit.max(task.seeds.len()) * self.vantages.len() }
    }

    /// About how many bytes the snapshot may have for a task.
    pub fn expected_bytes(&self, task: &TaskPlan) -> u64 {
        self.most_pages(task) as u64 * BYTES_PER_PAGE
    }
}

fn host_of(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}

/// The path that a file writes relative to its folder.
fn as_seen_here(file: &Utf8Path, written: &Utf8Path) -> Utf8PathBuf {
    match file.parent() {
        Some(folder) if written == "." => folder.to_owned(),
        Some(folder) => folder.join(written),
        None => written.to_owned(),
    }
}

/// A path as it is written in a file. What cannot be found stays as it is.
fn as_seen_from(file: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    let whole = |path: &Utf8Path| {
        let parent = path.parent().filter(|parent| !parent.as_str().is_empty());
        let parent = parent.unwrap_or(Utf8Path::new(".")).canonicalize_utf8().ok()?;
        Some(path.file_name().map_or_else(|| parent.clone(), |name| parent.join(name)))
    };
    let (Some(file), Some(whole)) =
        (whole(file), path.canonicalize_utf8().ok().or_else(|| whole(path)))
    else {
        return path.to_owned();
    };
    let folder = file.parent().unwrap_or(&file);
    let shared = folder.components().zip(whole.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| "..");
    let down = whole.components().skip(shared).map(|part| part.as_str());
    let seen: Utf8PathBuf = up.chain(down).collect();
    if seen.as_str().is_empty() { ".".into() } else { seen }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const SUITE: &str = "
name: trip
world: {snapshots: [trip.wacz], viewport: [1280, 720]}
";
    const TASK: &str = "
id: fares
goal: Which fare class of the Salt Road line is cheapest on Saturday?
start_url: https://rail.test/
tabs: [https://rail.test/map#north]
seed_urls: [https://rail.test/fares, https://rail.test/, https://news.test/salt]
scorer: {equals: first}
oracle: [{goto: 'https://rail.test/lines'}, {answer: first}]
";

    fn plan() -> (tempfile::TempDir, Plan) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("suite.yaml"), SUITE).unwrap();
        fs::write(folder.path().join("fares.yaml"), TASK).unwrap();
        let suite = Suite::load(Utf8Path::from_path(folder.path()).unwrap()).unwrap();
        let tasks: Vec<&Task> = suite.tasks.iter().collect();
        let plan = Plan::new(&suite, &tasks, Budget::default());
        (folder, plan)
    }

    #[test]
    fn a_plan_has_what_the_suite_names_and_is_read_as_it_was_written() {
        let (folder, plan) = plan();
        let seeds: Vec<&str> = plan.tasks[0].seeds.iter().map(|seed| seed.url.as_str()).collect();
        assert_eq!(
            seeds,
            [
                "https://rail.test/",
                "https://rail.test/map",
                "https://rail.test/fares",
                "https://news.test/salt",
                "https://rail.test/lines"
            ]
        );
        assert_eq!(plan.hosts()["rail.test"], HostPlan { tasks: 1, seeds: 4 });
        assert_eq!(plan.most_pages(&plan.tasks[0]), 25);
        let path = Utf8Path::from_path(folder.path()).unwrap().join("plan.yaml");
        plan.write(&path, false).unwrap();
        assert_eq!(Plan::read(&path).unwrap(), plan);
        assert!(plan.write(&path, false).is_err(), "it is there already");
        plan.write(&path, true).unwrap();
    }

    #[test]
    fn a_suite_is_written_as_seen_from_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        fs::create_dir_all(folder.join("tasks/live")).unwrap();
        fs::create_dir_all(folder.join("plans")).unwrap();
        for (file, suite, written) in [
            ("plan.yaml", "tasks/live", "tasks/live"),
            ("plans/plan.yaml", "tasks/live", "../tasks/live"),
            ("plans/plan.yaml", "tasks/live@2026-11-26", "../tasks/live@2026-11-26"),
            ("tasks/live/plan", "tasks/live", "."),
        ] {
            let (file, suite) = (folder.join(file), folder.join(suite));
            let seen = as_seen_from(&file, &suite);
            assert_eq!(seen, written);
            assert_eq!(as_seen_from(&file, &as_seen_here(&file, &seen)), written);
        }
        assert_eq!(as_seen_here("plan.yaml".into(), "live".into()), "live");
    }

    #[test]
    fn what_is_no_plan_is_refused_in_words() {
        let (folder, plan) = plan();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("plan.yaml");
        let text = serde_yaml::to_string(&plan).unwrap();
        for (from, to, expected) in [
            (
                "https://rail.test/map",
                "rail.test/map",
                "task fares: rail.test/map is no address of a page",
            ),
            ("suite:", "format: 9\nsuite:", "format 9.0"),
            ("depth:", "deep:", "deep"),
            (
                "timezone: UTC",
                "timezone: UTC\n  geolocation: {latitude: 91, longitude: 0}",
                "91 is not in the range of -90 to 90",
            ),
        ] {
            fs::write(&path, text.replacen(from, to, 1)).unwrap();
            let error = Plan::read(&path).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
