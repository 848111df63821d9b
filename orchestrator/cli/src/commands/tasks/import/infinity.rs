//! WebArena-Infinity: a site and the tasks of each application, which stay where they are.

use camino::Utf8Path;
use results::counted;
use tasks::import::infinity::{InfinitySuite, List, suite};

use super::{say_rest, write};
use crate::failure::{OrFail, Outcome};

/// Which tasks
#[derive(clap::Args)]
pub(in crate::commands::tasks) struct Choice {
    /// Import only this application, by the name of its folder; can be repeated
    #[arg(long = "app", value_name = "NAME")]
    apps: Vec<String>,
    /// List of tasks: real-tasks.json, or function-tasks.json with one task for each function
    #[arg(long, value_name = "LIST", value_enum, default_value_t = Tasks::Real)]
    tasks: Tasks,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Tasks {
    Real,
    Function,
}

impl Choice {
    fn list(&self) -> List {
        match self.tasks {
            Tasks::Real => List::Real,
            Tasks::Function => List::Function,
        }
    }
}

/// Writes the suite, and says what is in it.
pub(super) fn import(folder: &Utf8Path, choice: &Choice, output: &Utf8Path) -> Outcome {
    let made = suite(folder, &choice.apps, choice.list()).or_input("import WebArena-Infinity")?;
    let InfinitySuite { suite, folder, apps } = made;
    write(&suite, output)?;
    let (tasks, sites) =
        (counted(suite.import.tasks.len(), "task"), counted(apps.len(), "application"));
    println!("{output}: {tasks} of {sites}, served from {folder}");
    println!("Its verifiers are run by python3, which needs the package `requests`.");
    say_rest(&suite.import, output);
    Ok(())
}
