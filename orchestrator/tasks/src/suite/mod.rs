//! The YAML format of suites and tasks.

mod device;
mod error;
mod goal;
mod load;
mod names;
mod renamed;
mod stop;
mod task;
mod versions;
mod world;

use camino::Utf8PathBuf;
pub use device::DeviceSpec;
pub use error::Error;
pub use goal::GoalText;
use jiff::civil::Date;
pub(crate) use load::SuiteFile;
pub use renamed::read_task;
pub use stop::StopRules;
pub use task::{Task, UserMessage};
pub use versions::DATE;
pub use world::{UNDATED, WorldSpec};
pub use world_spec::{MatchLevel, Pace, SiteSearch, StatePolicy};

/// Ids named in an error before the rest is only counted.
const NAMED: usize = 20;

/// A task that a suite does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{suite} has no task `{id}`{}", instead(.id, .there))]
pub struct UnknownTask {
    pub id: String,
    /// Name of the suite.
    pub suite: String,
    /// The ids that it has.
    pub there: Vec<String>,
}

/// The task that was meant, or which there are.
fn instead(id: &str, there: &[String]) -> String {
    match suggestions::did_you_mean(id, there.iter().map(String::as_str)) {
        meant if meant.is_empty() => format!(", but {}", named(there)),
        meant => meant,
    }
}

fn named(ids: &[String]) -> String {
    let more = match ids.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} others"),
    };
    ids[..ids.len().min(NAMED)].join(", ") + &more
}

/// Tasks that share a world.
#[derive(Debug, Clone)]
pub struct Suite {
    /// The name of the suite; by default that of its folder.
    pub name: String,
    /// The folder the suite was read from.
    pub folder: Utf8PathBuf,
    /// The day of its snapshots, if they have versions and one of them is there.
    pub version: Option<Date>,
    /// The days of which every snapshot with a date is there, oldest first.
    pub versions: Vec<Date>,
    /// The world in which every episode of the suite starts.
    pub world: WorldSpec,
    /// In the order of their file names.
    pub tasks: Vec<Task>,
}

impl Suite {
    /// The task with this id.
    ///
    /// # Errors
    /// When there is none; says which there are.
    pub fn task(&self, id: &str) -> Result<&Task, UnknownTask> {
        self.tasks.iter().find(|task| task.id == id).ok_or_else(|| UnknownTask {
            id: id.to_owned(),
            suite: self.name.clone(),
            there: self.tasks.iter().map(|task| task.id.clone()).collect(),
        })
    }

    /// The tasks with these ids, in their order, or all if there are none.
    ///
    /// # Errors
    /// When there is no task with one of the ids.
    pub fn named(&self, ids: &[String]) -> Result<Vec<&Task>, UnknownTask> {
        match ids {
            [] => Ok(self.tasks.iter().collect()),
            ids => ids.iter().map(|id| self.task(id)).collect(),
        }
    }

    /// The tasks with these ids, or all if there are none, with at most so many actions each.
    ///
    /// # Errors
    /// When there is no task with one of the ids.
    pub fn select(&self, ids: &[String], max_steps: Option<u32>) -> Result<Vec<Task>, UnknownTask> {
        for id in ids {
            self.task(id)?;
        }
        let named = self.tasks.iter().filter(|task| ids.is_empty() || ids.contains(&task.id));
        let most = max_steps.unwrap_or(u32::MAX);
        let short = |task: &Task| Task { max_steps: task.max_steps.min(most), ..task.clone() };
        Ok(named.map(short).collect())
    }
}
