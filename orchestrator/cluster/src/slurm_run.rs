//! A run whose parts are jobs of Slurm, from its beginning until nobody plays any more.
//!
//! Whoever has it played may end at any time: the jobs go on, and the same run that is resumed
//! finds them by its plan.

use agents::AgentSpec;
use camino::{Utf8Path, Utf8PathBuf};
use play::{Options, parts};
use results::RunFolder;
use tasks::Suite;

use crate::folder::ClusterFolder;
use crate::follow::{Event, Followed, Follower, Interrupts, JobsLeft, Listener};
use crate::gather::gather;
use crate::plan::Plan;
use crate::slurm::{self, SbatchOptions};
use crate::submit::Submitter;
use crate::{Error, PartOptions};

/// The options of a run as jobs of Slurm, besides those of any run.
#[derive(Debug, Clone)]
pub struct SlurmOptions {
    /// Options for `sbatch`.
    pub sbatch: Vec<String>,
    /// The run whose durations balance the parts. Default: one beside it.
    pub durations: Option<Utf8PathBuf>,
    /// The options of its parts.
    pub parts: PartOptions,
}

/// A run whose options are valid for Slurm.
#[derive(Debug)]
pub struct SlurmRun {
    told: SlurmOptions,
    sbatch: SbatchOptions,
}

/// The way in which this process ended.
#[derive(Debug)]
pub enum Ended {
    /// No part plays any more, and all episodes are in the run.
    Over {
        /// The run, held.
        whole: RunFolder,
        /// The reasons of parts that were given up.
        failed: Vec<String>,
    },
    /// The user has interrupted it.
    Left {
        /// The folder of the run.
        run: Utf8PathBuf,
        /// The number of episodes that were reported.
        episodes: usize,
        /// The state of the jobs.
        jobs: JobsLeft,
    },
}

/// Fails if a run that is to be resumed here is played by jobs.
///
/// # Errors
/// Then, and when its plan cannot be read.
pub fn refuse_jobs(run: &Utf8Path) -> Result<(), Error> {
    let folder = ClusterFolder::of(run);
    // Parts without a plan are left of a command that was killed: what they have would be played
    // twice.
    let has_parts = folder.parts().read_dir_utf8().is_ok_and(|mut parts| parts.next().is_some());
    if has_parts || Plan::read(&folder)?.is_some() {
        return Err(Error::PlayedByJobs { run: run.to_owned() });
    }
    Ok(())
}

impl SlurmRun {
    /// Looks for Slurm's programs, and checks the options for them and for parts on other machines.
    ///
    /// # Errors
    /// When Slurm is not here, or something cannot be told.
    pub fn new(told: SlurmOptions) -> Result<SlurmRun, Error> {
        slurm::find()?;
        let sbatch = SbatchOptions::new(&told.sbatch)?;
        told.parts.check("the job script", "set the variable in this environment")?;
        Ok(SlurmRun { told, sbatch })
    }

    /// Submits the run's parts, or finds those that were submitted before, follows them, and makes
    /// one run of them. `listen` is called when following begins, and returns the user's
    /// interrupts.
    ///
    /// # Errors
    /// When the run cannot begin, Slurm takes no job, or results cannot be read or written.
    pub async fn play(
        &self,
        suite: &Suite,
        agent: &AgentSpec,
        options: Options,
        listen: impl Fn() -> Interrupts,
        tell: &Listener,
    ) -> Result<Ended, Error> {
        let options = with_whole_path(suite, agent, options)?;
        let whole = parts::begin(suite, agent, &options)?;
        let folder = ClusterFolder::of(whole.path());
        folder.create()?;
        let (told, sbatch) = (&self.told, &self.sbatch);
        let submitter = Submitter { told, sbatch, suite, options: &options, folder, whole };
        let failed = match play_parts(&submitter, listen, tell).await? {
            Followed::Left { episodes, jobs } => {
                let run = submitter.whole.path().to_owned();
                return Ok(Ended::Left { run, episodes, jobs });
            }
            Followed::Ended { failed, .. } => failed,
        };
        // Empty: its parts are gone.
        let _ = std::fs::remove_dir(submitter.folder.parts());
        Ok(Ended::Over { whole: submitter.whole, failed })
    }
}

async fn play_parts(
    submitter: &Submitter<'_>,
    listen: impl Fn() -> Interrupts,
    tell: &Listener,
) -> Result<Followed, Error> {
    let Submitter { folder, whole, .. } = submitter;
    let mut retry_errors = submitter.options.retry_errors;
    let mut last = Followed::Ended { failed: Vec::new(), is_whole: true };
    if Plan::read(folder)?.is_none() {
        // What a command that was killed has left, or parts that did not end in time.
        Plan::finish(folder)?;
        gather(whole, folder).await?;
    }
    loop {
        let there = Plan::read(folder)?;
        let is_new = there.is_none();
        let plan = match there {
            Some(plan) => plan,
            None => {
                let (episodes, _) = parts::remaining(whole, retry_errors)?;
                if episodes.is_empty() {
                    return Ok(last);
                }
                retry_errors = false;
                let planned = submitter.plan(episodes).await;
                planned.inspect_err(|_| submitter.forget(true, tell))?
            }
        };
        let mut follower = Follower::new(submitter, &plan, tell)?;
        let followed = follower.follow(listen()).await;
        tell(Event::Over);
        let followed = followed.inspect_err(|_| submitter.forget(is_new, tell))?;
        let Followed::Ended { is_whole, .. } = followed else { return Ok(followed) };
        // First: what still plays ends itself then. Whatever ends this in the middle, the rest is
        // gathered the next time.
        Plan::finish(folder)?;
        gather(whole, folder).await?;
        last = followed;
        if !is_whole {
            return Ok(last);
        }
    }
}

/// Returns the options of the whole run, with an absolute path of its folder, because nodes start
/// in another one.
fn with_whole_path(suite: &Suite, agent: &AgentSpec, options: Options) -> Result<Options, Error> {
    let out = parts::folder_of(suite, agent, &options);
    let out = camino::absolute_utf8(&out)
        .map_err(|source| Error::Machine { doing: format!("find {out}"), source })?;
    if out.as_str().contains('\n') {
        return Err(Error::FolderName { folder: out });
    }
    Ok(Options { out: Some(out), ..options })
}
