//! The recording of a suite: its plan, the version of its snapshots that is recorded, and where
//! that goes.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use snapshots::{Archive, Recording, is_address};
use tasks::{Suite, Task, UnknownTask};
use thiserror::Error;
use url::Url;

use crate::frontier::{Bounds, Frontier, Interest};
use crate::plan::{Budget, Consent, Plan, TaskPlan, words};

/// How many days back an unfinished recording is looked for.
const DAYS_BACK: i32 = 30;

/// Why a suite cannot be recorded as it is.
#[derive(Debug, Error)]
pub enum SuiteError {
    /// It cannot be read.
    #[error("load the suite: {source}")]
    Load {
        /// Why.
        source: tasks::Error,
    },
    /// It does not have a task that is wanted.
    #[error("make a plan: {source}")]
    Task {
        /// The unknown task.
        source: UnknownTask,
    },
    /// There is nothing to begin with.
    #[error("plan: no task of {folder} names a page; write some under `seed_urls` of its tasks")]
    NoSeeds {
        /// The suite.
        folder: Utf8PathBuf,
    },
    /// The plan is not that of a suite.
    #[error("record: name the snapshot to write with --output")]
    NoSuite,
    /// The world of the suite has no one file that could be written.
    #[error("record {folder}: {why}")]
    NoOutput {
        /// The suite.
        folder: Utf8PathBuf,
        /// The state of its world, and what to do.
        why: String,
    },
}

/// The place of a recorded snapshot in its suite.
#[derive(Debug, Clone)]
pub enum SnapshotUse {
    /// It plays in it.
    Played {
        /// The suite, of the version that the snapshot is.
        suite: Box<Suite>,
    },
    /// It does not name it.
    Unnamed {
        /// The folder of the suite.
        folder: Utf8PathBuf,
        /// The snapshot, as the suite would name it.
        snapshot: Utf8PathBuf,
        /// When it was recorded.
        recorded: Option<snapshots::Timestamp>,
    },
}

/// The plan of these tasks of a suite; of all where none is named.
///
/// # Errors
/// When the suite cannot be read, or lacks a task, or names no page.
pub fn plan(
    folder: &Utf8Path,
    ids: &[String],
    budget: Budget,
    consent: Consent,
) -> Result<Plan, SuiteError> {
    let suite = load(folder)?;
    let tasks: Vec<&Task> = match ids {
        [] => suite.tasks.iter().collect(),
        ids => ids
            .iter()
            .map(|id| suite.task(id))
            .collect::<Result<_, _>>()
            .map_err(|source| SuiteError::Task { source })?,
    };
    let mut plan = Plan { consent, ..Plan::new(&suite, &tasks, budget) };
    if folder.as_str() == suite.path() {
        // The version that was named, and no newer one.
        plan.suite = Some(suite.path());
    }
    if plan.tasks.iter().all(|task| task.seeds.is_empty()) {
        return Err(SuiteError::NoSeeds { folder: folder.to_owned() });
    }
    Ok(plan)
}

/// Chooses the version that is recorded, where snapshots of the suite have versions: the one that
/// is named; the newest if it is added to; that of today, or one of the last days whose recording
/// goes on.
///
/// # Errors
/// When the suite cannot be read.
pub fn choose_version(plan: &mut Plan, is_added_to: bool, resumes: bool) -> Result<(), SuiteError> {
    let Some(folder) = &plan.suite else { return Ok(()) };
    let suite = load(folder)?;
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

/// Returns the path for the snapshot of a plan: the one in the suite's world.
///
/// # Errors
/// When that is no one file of this machine.
pub fn default_output(plan: &Plan) -> Result<Utf8PathBuf, SuiteError> {
    let suite = load(plan.suite.as_ref().ok_or(SuiteError::NoSuite)?)?;
    let folder = &suite.folder;
    let fail = |why: String| Err(SuiteError::NoOutput { folder: folder.clone(), why });
    match suite.world.snapshots.as_slice() {
        [] => Ok(folder.join("web.wacz")),
        [one] if one.extension() == Some("json") => fail(
            "its world has a collection; name the snapshot to write with --output, and list it with \
             `sandbox snapshot collection`"
                .to_owned(),
        ),
        [one] if is_address(one) => fail(format!(
            "the snapshot of its world is at {one}; name the snapshot to write with --output, and upload it with \
             `sandbox snapshot push`"
        )),
        [one] => Ok(one.clone()),
        _ => fail(
            "its world has several snapshots; name the one to write with --output".to_owned(),
        ),
    }
}

/// Returns the place of a plan's snapshot in its suite; none where there is no suite.
pub fn snapshot_use(plan: &Plan, output: &Utf8Path) -> Option<SnapshotUse> {
    let suite = Suite::load(plan.suite.as_ref()?).ok()?;
    let same =
        |path: &Utf8PathBuf| path.canonicalize_utf8().ok() == output.canonicalize_utf8().ok();
    if suite.world.snapshots.iter().any(same) {
        return Some(SnapshotUse::Played { suite: Box::new(suite) });
    }
    // Paths in a suite begin at its folder.
    let whole = |path: &Utf8Path| path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned());
    let (output, root) = (whole(output), whole(&suite.folder));
    let snapshot = output.strip_prefix(&root).unwrap_or(&output).to_owned();
    let recorded = Archive::open(&output).ok().and_then(|archive| archive.recorded());
    Some(SnapshotUse::Unnamed { folder: suite.folder, snapshot, recorded })
}

/// The queue of one task.
pub fn frontier(plan: &Plan, task: &TaskPlan, include: &[String]) -> Frontier {
    let urls: Vec<Url> = task.seeds.iter().filter_map(|seed| Url::parse(&seed.url).ok()).collect();
    let pages = task.pages.unwrap_or(plan.budget.pages_per_task).max(urls.len());
    let interest =
        Interest { queries: task.queries.clone(), words: words(&task.queries.join(" ")) };
    let bounds = Bounds { depth: plan.budget.depth, pages, include: include.to_vec() };
    Frontier::new(&urls, bounds, interest)
}

fn load(folder: &Utf8Path) -> Result<Suite, SuiteError> {
    Suite::load(folder).map_err(|source| SuiteError::Load { source })
}
