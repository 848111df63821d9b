//! `sandbox record --suite`: the web that the tasks of a suite need.

use browser::Device;
use camino::{Utf8Path, Utf8PathBuf};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use recorder::frontier::{Bounds, Frontier, Interest};
use recorder::plan::{BrowserProfile, Budget, Consent, Plan, TaskPlan, words};
use results::counted;
use snapshots::{Archive, Recording, is_address};
use tasks::{Suite, Task};
use url::Url;

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
        let suite = Suite::load(folder).or_input("load the suite")?;
        let tasks: Vec<&Task> = match self.tasks.as_slice() {
            [] => suite.tasks.iter().collect(),
            ids => ids
                .iter()
                .map(|id| suite.task(id))
                .collect::<Result<_, _>>()
                .or_input("make a plan")?,
        };
        let mut plan = Plan { consent, ..Plan::new(&suite, &tasks, budget) };
        if folder.as_str() == suite.path() {
            // The version that was named, and no newer one.
            plan.suite = Some(suite.path());
        }
        if plan.tasks.iter().all(|task| task.seeds.is_empty()) {
            return Err(Failure::Input(format!(
                "failed to plan: no task of {folder} names a page; write some under `seed_urls` of its tasks"
            )));
        }
        Ok(Some(plan))
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

/// Chooses the version that is recorded, where snapshots of the suite have versions: the one that
/// is named; the newest if it is added to; that of today, or one of the last days whose recording
/// goes on.
pub(super) fn choose_version(
    plan: &mut Plan,
    is_added_to: bool,
    resumes: bool,
) -> Result<(), Failure> {
    /// How many days back an unfinished recording is looked for.
    const DAYS_BACK: i32 = 30;
    let Some(folder) = &plan.suite else { return Ok(()) };
    let suite = Suite::load(folder).or_input("load the suite")?;
    if !suite.has_versions() || suite.folder != *folder || is_added_to && suite.version.is_some() {
        return Ok(());
    }
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let of = |day: Date| Utf8PathBuf::from(format!("{folder}@{day}"));
    let is_unfinished = |day: &Date| {
        Suite::load(&of(*day)).is_ok_and(|suite| {
            suite.world.snapshots.iter().any(|path| Recording::is_left_over(path))
        })
    };
    let days = (0..=DAYS_BACK).filter_map(|back| today.checked_sub(back.days()).ok());
    let unfinished = days.filter(|_| resumes).find(is_unfinished);
    plan.suite = Some(of(unfinished.unwrap_or(today)));
    Ok(())
}

/// Where the snapshot of a plan goes: where the suite's world looks for it.
pub(super) fn default_output(plan: &Plan) -> Result<Utf8PathBuf, Failure> {
    let Some(folder) = &plan.suite else {
        return Err(Failure::Input(
            "failed to record: name the snapshot to write with --output".to_owned(),
        ));
    };
    let suite = Suite::load(folder).or_input("load the suite")?;
    let folder = &suite.folder;
    match suite.world.snapshots.as_slice() {
        [] => Ok(folder.join("web.wacz")),
        [one] if one.extension() == Some("json") => Err(Failure::Input(format!(
            "failed to record {folder}: its world has a collection; name the snapshot to write with --output, and list \
             it with `sandbox snapshot collection`"
        ))),
        [one] if is_address(one) => Err(Failure::Input(format!(
            "failed to record {folder}: the snapshot of its world is at {one}; name the snapshot to write with \
             --output, and upload it with `sandbox snapshot push`"
        ))),
        [one] => Ok(one.clone()),
        _ => Err(Failure::Input(format!(
            "failed to record {folder}: its world has several snapshots; name the one to write with --output"
        ))),
    }
}

/// Says what is left to do before the suite can be run in its snapshot.
pub(super) fn print_end(plan: &Plan, output: &Utf8Path) {
    let Some(folder) = &plan.suite else { return };
    let Ok(suite) = Suite::load(folder) else { return };
    let same =
        |path: &Utf8PathBuf| path.canonicalize_utf8().ok() == output.canonicalize_utf8().ok();
    if suite.world.snapshots.iter().any(same) {
        if let Some(version) = suite.version {
            println!(
                "version {version} of {}: `sandbox run {}` plays it",
                suite.folder,
                suite.path()
            );
        }
        return;
    }
    let folder = &suite.folder;
    // Paths in a suite begin at its folder.
    let whole = |path: &Utf8Path| path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned());
    let (output, root) = (whole(output), whole(folder));
    let written = output.strip_prefix(&root).unwrap_or(&output);
    let time = Archive::open(&output).ok().and_then(|archive| archive.recorded());
    let clock = time.map_or(String::new(), |time| format!("\n  clock: {time}"));
    println!(
        "the suite does not use it yet: write under `world` of {folder}/suite.yaml\n  snapshots: [{written}]{clock}"
    );
}

/// The queue of one task.
pub(super) fn frontier(plan: &Plan, task: &TaskPlan, include: &[String]) -> Frontier {
    let urls: Vec<Url> = task.seeds.iter().filter_map(|seed| Url::parse(&seed.url).ok()).collect();
    let pages = task.pages.unwrap_or(plan.budget.pages_per_task).max(urls.len());
    let interest =
        Interest { queries: task.queries.clone(), words: words(&task.queries.join(" ")) };
    let bounds = Bounds { depth: plan.budget.depth, pages, include: include.to_vec() };
    Frontier::new(&urls, bounds, interest)
}

/// The device of a vantage.
pub(crate) fn device(vantage: &BrowserProfile) -> Device {
    Device {
        viewport: vantage.viewport,
        locale: vantage.locale.clone(),
        timezone: vantage.timezone.clone(),
        user_agent: vantage.user_agent.clone(),
        mobile: vantage.mobile,
        geolocation: None,
    }
}
