//! The YAML format of suites and tasks.

mod device;
mod error;
mod goal;
mod load;
mod oracle;
mod stop;
mod task;
mod world;

use camino::Utf8PathBuf;

pub use device::{DeviceSpec, Place};
pub use error::Error;
pub use goal::GoalText;
pub(crate) use load::SuiteFile;
pub use oracle::{Element, Fill, FormField, OracleStep, Press, Scroll, Select};
pub use stop::StopRules;
pub(crate) use task::read_text;
pub use task::{Interjection, Task};
pub use world::{MatchLevel, WorldSpec};

/// Tasks that share a world.
#[derive(Debug, Clone)]
pub struct Suite {
    /// What the suite calls itself; by default the name of its folder.
    pub name: String,
    /// The folder the suite was read from.
    pub folder: Utf8PathBuf,
    /// What every episode of the suite starts from.
    pub world: WorldSpec,
    /// In the order of their file names.
    pub tasks: Vec<Task>,
}

impl Suite {
    /// The task with this id.
    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }
}
