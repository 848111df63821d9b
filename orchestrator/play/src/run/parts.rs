//! A run that is played in parts, each by a process of its own: how it begins, and what remains of
//! it. `results::parts` assigns episodes to parts, and makes them one run again.

use agents::AgentSpec;
use camino::Utf8PathBuf;
use jiff::Timestamp;
use results::{EpisodeId, RunFolder};
use tasks::{Suite, Task};

use crate::run::{self, HostFacts};
use crate::{Error, Options};

/// Begins a run in its folder, or resumes the one that is there, without playing anything. No other
/// process can add to it while the folder is held.
///
/// # Errors
/// As [`run()`](crate::run()), before it plays.
pub fn begin(suite: &Suite, agent: &AgentSpec, options: &Options) -> Result<RunFolder, Error> {
    let tasks = run::select(suite, options)?;
    if let Some(why) = run::nothing_to_play(agent, &tasks) {
        return Err(why);
    }
    // Chromium is that of the machines that play.
    run::open_folder(suite, &tasks, agent, options, &HostFacts::default())
}

/// Returns the episodes that are still to be played, and the number of those that are there. With
/// `retry_errors`, those that ended in an error are played again.
///
/// # Errors
/// When the run cannot be read.
pub fn remaining(run: &RunFolder, retry_errors: bool) -> Result<(Vec<EpisodeId>, usize), Error> {
    let (queue, done) = run::plan(run, retry_errors)?;
    Ok((queue.into(), done))
}

/// Returns the folder of a run that begins now: the given one, or one below `runs`.
pub fn folder_of(suite: &Suite, agent: &AgentSpec, options: &Options) -> Utf8PathBuf {
    run::out(suite, &agent.slug(), options, Timestamp::now())
}

/// Returns the tasks of a run with these options.
///
/// # Errors
/// When one of them is not in the suite.
pub fn tasks_of(suite: &Suite, options: &Options) -> Result<Vec<Task>, Error> {
    run::select(suite, options)
}
