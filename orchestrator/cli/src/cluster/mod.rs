//! A run on a cluster: `sandbox run --on slurm`, and the parts that its jobs play.
//!
//! The command that submits follows the parts, makes one run of them, and reports it as if it had
//! played it itself. It may end at any time: the jobs go on, and the same command with `--resume`
//! finds them. For Kubernetes it writes a manifest, and the user does the rest.

mod arguments;
mod check;
mod collect;
mod follow;
mod kubernetes;
mod lines;
mod new_episodes;
mod options;
mod part;
mod refusals;
mod submit;
mod tracks;

use camino::Utf8Path;
use cluster::folder::ClusterFolder;
use cluster::plan::Plan;
use cluster::slurm;
pub(crate) use options::ClusterOptions;
use options::Scheduler;
use results::Summary;
use runs::parts;

use self::follow::{Followed, Follower};
use crate::commands::run::Run;
use crate::failure::{Failure, Outcome};
use crate::terminal::board::Board;
use crate::terminal::out;

/// Plays one part here, or the whole run on a cluster.
pub(crate) async fn run(run: Run) -> Outcome {
    run.cluster.on.map_or(Ok(()), refusals::of_scheduler)?;
    refusals::of_addresses(&run)?;
    match run.cluster.on {
        None => part::play(run).await,
        Some(Scheduler::Slurm) => on_slurm(run).await,
        Some(Scheduler::Kubernetes) => kubernetes::write(run),
    }
}

/// Fails where a run that is to go on here is played by jobs.
pub(crate) fn refuse_jobs(run: Option<&Utf8Path>) -> Outcome {
    let Some(run) = run else { return Ok(()) };
    let folder = ClusterFolder::of(run);
    // Parts without a plan are left of a command that was killed: what they have would be played
    // twice.
    let has_parts = folder.parts().read_dir_utf8().is_ok_and(|mut parts| parts.next().is_some());
    if has_parts || Plan::read(&folder)?.is_some() {
        return Err(Failure::Input(format!(
            "failed to continue the run in {run}: its parts are jobs of Slurm; continue with --on slurm --resume"
        )));
    }
    Ok(())
}

async fn on_slurm(mut run: Run) -> Outcome {
    slurm::find()?;
    let submitter = submit::Submitter::new(&mut run)?;
    let suite = run.load()?;
    let options = submitter.options(&run, &suite)?;
    let whole = parts::begin(&suite, &run.agent, &options)?;
    let folder = ClusterFolder::of(whole.path());
    folder.create()?;
    let come_back = arguments::to_come_back(whole.path().as_str())?;
    let mut retry_errors = run.retry_errors;
    let mut failures = Vec::new();
    if Plan::read(&folder)?.is_none() {
        // What a command that was killed has left, or parts that did not end in time.
        Plan::finish(&folder)?;
        collect::gather(&whole, &folder).await?;
    }
    loop {
        let there = Plan::read(&folder)?;
        let is_new = there.is_none();
        let plan = match there {
            Some(plan) => plan,
            None => {
                let (episodes, _) = parts::remaining(&whole, retry_errors)?;
                if episodes.is_empty() {
                    break;
                }
                retry_errors = false;
                let planned =
                    submitter.plan(&run, &suite, &options, &whole, &folder, episodes).await;
                planned.inspect_err(|_| submit::forget(&run, true, &folder, &whole))?
            }
        };
        let board = Board::new();
        let mut follower = Follower::new(&run, &submitter, &plan, &folder, &whole, &board)?;
        let followed = follower.follow(&come_back).await;
        board.clear();
        let followed = followed.inspect_err(|_| submit::forget(&run, is_new, &folder, &whole))?;
        match followed {
            Followed::Left(text) => return Err(Failure::Interrupted(text)),
            Followed::Ended { failed, is_whole } => {
                // First: what still plays ends itself then. Whatever ends this in the middle, the
                // rest is gathered the next time.
                Plan::finish(&folder)?;
                collect::gather(&whole, &folder).await?;
                failures = failed;
                if !is_whole {
                    break;
                }
            }
        }
    }
    // Empty: its parts are gone.
    let _ = std::fs::remove_dir(folder.parts());
    let summary = Summary::read(whole.path())?;
    let reported = run.report(&suite, &summary);
    if failures.is_empty() {
        return reported;
    }
    failures.iter().for_each(out::error);
    Err(Failure::Environment(format!(
        "failed to play {} of {} episodes; once that is mended, continue with `{come_back}`",
        summary.planned - summary.episodes,
        summary.planned
    )))
}
