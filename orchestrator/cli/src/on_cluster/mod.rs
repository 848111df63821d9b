//! `sandbox run` on a cluster: what is asked and shown of a run in parts, which the crate
//! [`cluster`] submits and follows, and of the one part that a job plays.

mod arguments;
mod kubernetes;
mod lines;
mod options;
mod refusals;
mod shown;

use std::sync::Arc;

use cluster::PartOptions;
use cluster::follow::{Interrupts, JobsLeft};
use cluster::part::{HeldPart, LastWord, Part};
use cluster::slurm_run::{Ended, SlurmOptions, SlurmRun};
pub(crate) use options::ClusterOptions;
use options::Scheduler;
use results::{Summary, counted};
use tokio::sync::mpsc;

use self::shown::Shown;
use crate::commands::run::Run;
use crate::failure::{Failure, Outcome};
use crate::terminal::interrupt::{self, Signals};
use crate::terminal::out;

/// Plays one part here, or the whole run on a cluster.
pub(crate) async fn run(run: Run) -> Outcome {
    run.cluster.scheduler.map_or(Ok(()), refusals::of_scheduler)?;
    refusals::of_addresses(&run)?;
    match run.cluster.scheduler {
        None => play_part(run).await,
        Some(Scheduler::Slurm) => on_slurm(run).await,
        Some(Scheduler::Kubernetes) => kubernetes::write(run),
    }
}

async fn on_slurm(mut run: Run) -> Outcome {
    let slurm = SlurmRun::new(SlurmOptions {
        sbatch: run.cluster.sbatch.clone(),
        durations: run.cluster.durations.clone(),
        parts: part_options(&run, arguments::of_part()?),
    })?;
    let judge = run.connect()?;
    let suite = run.load()?;
    let options = run.options_with(judge, None)?;
    let shown = Arc::new(Shown::default());
    let tell = move |event: cluster::follow::Event<'_>| shown.tell(event);
    match slurm.play(&suite, &run.agent, options, interrupts, &tell).await? {
        Ended::Left { run, episodes, jobs } => {
            let come_back = arguments::to_come_back(run.as_str())?;
            let then = match jobs {
                JobsLeft::GoOn => "the jobs go on; come back",
                JobsLeft::Cancelled => "the jobs are cancelled; continue",
                JobsLeft::MayGoOn => "the jobs may go on; continue",
            };
            let episodes = counted(episodes, "episode");
            Err(Failure::Interrupted(format!(
                "interrupted after {episodes}; {then} with `{come_back}`"
            )))
        }
        Ended::Over { whole, failed } => {
            let summary = Summary::read(whole.path())?;
            let reported = run.report(&suite, &summary);
            if failed.is_empty() {
                return reported;
            }
            failed.iter().for_each(out::error);
            Err(Failure::Environment(format!(
                "failed to play {} of {} episodes; once that is mended, continue with `{}`",
                summary.planned - summary.episodes,
                summary.planned,
                arguments::to_come_back(whole.path().as_str())?
            )))
        }
    }
}

/// What parts are told, whose command lines have these words.
fn part_options(run: &Run, words: Vec<String>) -> PartOptions {
    PartOptions {
        count: run.cluster.parts,
        site_images: run.cluster.site_images.clone(),
        words,
        adds_to_a_cassette: run.adds_to_a_cassette(),
    }
}

/// Each interrupt from now on.
fn interrupts() -> Interrupts {
    let mut signals = Signals::listen();
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            signals.next().await;
            if sender.send(()).await.is_err() {
                return;
            }
        }
    });
    receiver
}

/// Plays a part, which says on the shared file system how it goes.
async fn play_part(run: Run) -> Outcome {
    let options = &run.cluster;
    let number = run.shard.map(|shard| shard.index);
    let part = Part::find(options.part_of.as_deref(), options.submission.clone(), number)?;
    let part = part.hold(interrupt::token()).await?;
    let outcome = play_held(run, &part).await;
    part.end(match &outcome {
        Ok(()) => LastWord::Ended,
        Err(Failure::Interrupted(_)) => LastWord::Interrupted,
        Err(failure) => LastWord::Failed { code: failure.code(), message: failure.to_string() },
    })
    .await?;
    outcome
}

/// Checks the node, and then plays.
async fn play_held(mut run: Run, part: &HeldPart) -> Outcome {
    part.check_node().await?;
    let suite = run.load()?;
    let lock = run.data.images_lock()?;
    part.check_images(&suite, run.cluster.site_images.as_deref(), &lock).await?;
    let progress = part.progress();
    let options = part.options(run.options(None).await?)?;
    let summary = run.play_with(&suite, &options, Some(progress)).await?;
    if summary.is_complete() {
        return Ok(());
    }
    Err(Failure::Interrupted(format!(
        "interrupted after {} of {} episodes",
        summary.episodes, summary.planned
    )))
}
