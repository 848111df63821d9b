//! `sandbox record --suite`: the web that the tasks of a suite need.

use camino::{Utf8Path, Utf8PathBuf};
use recorder::plan::{Budget, Consent, Plan};
use recorder::suite::SnapshotUse;
use results::counted;

use crate::failure::{Failure, OrFail};

/// The suite that is recorded, and its plan.
#[derive(clap::Args)]
pub(super) struct SuiteOptions {
    /// Record what the tasks of this suite need: the pages that it names, and around them the
    /// results of sites' searches, next pages, filters and links
    #[arg(long, value_name = "DIR", conflicts_with_all = ["urls", "plan"])]
    suite: Option<Utf8PathBuf>,
    /// Record only this task of the suite; can be repeated
    #[arg(long = "task", value_name = "ID", requires = "suite")]
    tasks: Vec<String>,
    /// Record what the questions of this file need: WebVoyager's JSON lines or Online-Mind2Web's
    /// JSON
    #[arg(long, value_name = "FILE", conflicts_with_all = ["urls", "plan", "suite"])]
    questions: Option<Utf8PathBuf>,
    /// Write the plan to this file and record nothing. It can be read and edited
    #[arg(long, value_name = "FILE.yaml", conflicts_with_all = ["urls", "plan", "output"])]
    write_plan: Option<Utf8PathBuf>,
    /// Record by this plan
    #[arg(long, value_name = "FILE.yaml", conflicts_with = "urls")]
    plan: Option<Utf8PathBuf>,
}

impl SuiteOptions {
    /// Whether a whole suite is recorded.
    pub(super) fn is_wanted(&self) -> bool {
        self.suite.is_some() || self.questions.is_some() || self.plan.is_some()
    }

    /// The plan that was named, or one for the suite that was; `None` where none was.
    pub(super) fn plan(&self, budget: Budget, consent: Consent) -> Result<Option<Plan>, Failure> {
        if let Some(path) = &self.plan {
            return Ok(Some(Plan::read(path).or_input("use the plan")?));
        }
        if let Some(path) = &self.questions {
            let plan = Plan::of_questions(path, budget).or_input("make a plan")?;
            return Ok(Some(Plan { consent, ..plan }));
        }
        let Some(folder) = &self.suite else { return Ok(None) };
        let plan = recorder::suite::plan(folder, &self.tasks, budget, consent);
        Ok(Some(plan.map_err(Failure::input)?))
    }

    /// Writes the plan if only that is wanted, and says what is in it.
    pub(super) fn only_writes(&self, plan: &Plan, force: bool) -> Result<bool, Failure> {
        let Some(path) = &self.write_plan else { return Ok(false) };
        let folder = path
            .parent()
            .filter(|folder| !folder.as_str().is_empty())
            .unwrap_or(Utf8Path::new("."));
        let is_whole =
            |a: &Utf8Path, b: &Utf8Path| a.canonicalize_utf8().ok() == b.canonicalize_utf8().ok();
        if plan.suite.as_deref().is_some_and(|suite| is_whole(suite, folder)) {
            return Err(Failure::Input(format!(
                "failed to write {path}: each YAML file beside suite.yaml is a task; name a file in another folder"
            )));
        }
        plan.write(path, force).or_input("keep the plan")?;
        print_plan(plan);
        println!("{path}: read it, change it, and record with\n  sandbox record --plan {path}");
        Ok(true)
    }
}

/// Prints what a plan comes to: hosts with most tasks first, then the whole.
fn print_plan(plan: &Plan) {
    const MOST: usize = 20;
    let hosts = plan.hosts();
    let mut by_tasks: Vec<_> = hosts.iter().collect();
    by_tasks.sort_by_key(|(host, of)| (std::cmp::Reverse((of.tasks, of.seeds)), *host));
    let wide = by_tasks.iter().take(MOST).map(|(host, _)| host.len()).max().unwrap_or(0).max(4);
    println!("{:wide$}  tasks  seeds", "host");
    for (host, of) in by_tasks.iter().take(MOST) {
        println!("{host:wide$}  {:>5}  {:>5}", of.tasks, of.seeds);
    }
    if hosts.len() > MOST {
        println!("and {}", counted(hosts.len() - MOST, "more host"));
    }
    let without: Vec<&str> = plan
        .tasks
        .iter()
        .filter(|task| task.seeds.is_empty())
        .map(|task| task.id.as_str())
        .collect();
    if let Some(first) = without.first() {
        println!(
            "{} without any page to begin with, such as {first}",
            counted(without.len(), "task")
        );
    }
    let pages: usize = plan.tasks.iter().map(|task| plan.most_pages(task)).sum();
    let bytes: u64 = plan.tasks.iter().map(|task| plan.expected_bytes(task)).sum();
    println!(
        "{}, {}: at most {}, about {:.1} GB; {} and {:.0} MB for a task",
        counted(plan.tasks.len(), "task"),
        counted(hosts.len(), "host"),
        counted(pages, "page"),
        bytes as f64 / 1e9,
        counted(pages / plan.tasks.len().max(1), "page"),
        bytes as f64 / 1e6 / plan.tasks.len().max(1) as f64,
    );
}

/// Says what is left to do before the suite can be run in its snapshot.
pub(super) fn print_end(plan: &Plan, output: &Utf8Path) {
    match recorder::suite::snapshot_use(plan, output) {
        Some(SnapshotUse::Played { suite }) => {
            if let Some(version) = suite.version {
                println!(
                    "version {version} of {}: `sandbox run {}` plays it",
                    suite.folder,
                    suite.path()
                );
            }
        }
        Some(SnapshotUse::Unnamed { folder, snapshot, recorded }) => {
            let clock = recorded.map_or(String::new(), |time| format!("\n  clock: {time}"));
            println!(
                "the suite does not use it yet: write under `world` of {folder}/suite.yaml\n  snapshots: [{snapshot}]{clock}"
            );
        }
        None => {}
    }
}
