//! A run that is played in parts, each by a process of its own: how it begins, and what remains of
//! it. `results::parts` assigns episodes to parts, and makes them one run again.

use agents::AgentSpec;
use camino::Utf8PathBuf;
use jiff::Timestamp;
use results::{EpisodeId, RunFolder};
use tasks::{Suite, Task};

use crate::run::{self, HostFacts};
use crate::{Error, Options};

/// Begins a run in its folder, or goes on with the one that is there, without playing anything.
/// Others cannot add to it as long as the folder is held.
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

/// The episodes that are still to be played; with `retry_errors` also those that ended in an error.
/// And how many are there already.
///
/// # Errors
/// When the run cannot be read.
pub fn remaining(run: &RunFolder, retry_errors: bool) -> Result<(Vec<EpisodeId>, usize), Error> {
    let (queue, done) = run::plan(run, retry_errors)?;
    Ok((queue.into(), done))
}

/// The folder of a run that begins now: the one that is named, or one below `runs`.
pub fn folder_of(suite: &Suite, agent: &AgentSpec, options: &Options) -> Utf8PathBuf {
    run::out(suite, &agent.slug(), options, Timestamp::now())
}

/// The tasks that a run with these options is about.
///
/// # Errors
/// When one of them is not in the suite.
pub fn tasks_of(suite: &Suite, options: &Options) -> Result<Vec<Task>, Error> {
    run::select(suite, options)
}
