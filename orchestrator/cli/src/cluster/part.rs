//! One part of a run, on the node that plays it.

use std::sync::Arc;

use camino::Utf8PathBuf;
use cluster::decide::BEAT;
use cluster::folder::ClusterFolder;
use cluster::lock::{FREE_WITHIN, PartLock};
use cluster::plan::Plan;
use cluster::status::{PartState, PartStatus};
use cluster::submissions;
use parking_lot::Mutex;
use results::EpisodeId;
use runs::{Event, Options, Progress};
use tokio::time::{self, Instant};
use tokio_util::sync::CancellationToken;

use crate::cluster::check;
use crate::cluster::options::SubmissionId;
use crate::commands::run::Run;
use crate::failure::{Failure, OrFail as _, Outcome};
use crate::terminal::interrupt;

/// The part that a job plays.
struct Part {
    folder: ClusterFolder,
    plan: Plan,
    number: u32,
    submission: u32,
}

/// Plays a part, and says on the shared file system how it goes.
pub(super) async fn play(run: Run) -> Outcome {
    let part = Part::of(&run)?;
    let reporter = Reporter::new(&part);
    let lock = part.folder.lock(&part.name());
    // A process of an earlier submission may still end. Until then nothing is said here, so that
    // two never write the same file.
    let Some(_alone) = PartLock::wait(&lock, Instant::now() + FREE_WITHIN).await? else {
        return reporter.occupied();
    };
    if let Some(why) = part.is_over()? {
        return Err(Failure::Interrupted(why));
    }
    reporter.write()?;
    let beating =
        tokio::spawn(beat(Arc::clone(&reporter), part.folder.clone(), interrupt::token()));
    let outcome = checked(run, &part, &reporter).await;
    beating.abort();
    let _ = beating.await;
    reporter.end(&outcome)?;
    outcome
}

/// Checks the node, and then plays.
async fn checked(mut run: Run, part: &Part, reporter: &Arc<Reporter>) -> Outcome {
    let (plan, folder, number) = (part.plan.clone(), part.folder.clone(), part.number);
    let found = tokio::task::spawn_blocking(move || check::problems(&plan, &folder, number)).await;
    let mut problems = found.or_environment("check this node")?;
    let suite = if problems.is_empty() { Some(run.load()?) } else { None };
    let episodes = part.episodes()?;
    if let Some(suite) = &suite {
        let images = check::images(suite, &episodes, run.cluster.site_images.as_deref())?;
        problems.extend(check::engine_problem(&images).await);
        if problems.is_empty() {
            let lock = run.data.images_lock()?;
            problems.extend(check::image_problems(&images, &part.plan, &part.folder, &lock).await?);
        }
    }
    let Some(suite) = suite.filter(|_| problems.is_empty()) else {
        let text = format!("failed to play here: {}", problems.join("; "));
        reporter.set(PartState::Unfit { problems });
        return Err(Failure::Environment(text));
    };
    reporter.set(PartState::Playing);
    let resume = part.folder.part(&part.plan.token, part.number).join("run.json").is_file();
    let options = run.options(None).await?;
    // What ended the part before may have ended an episode's browser first.
    let retry_errors = resume && part.submission > 1;
    let options = Options { episodes: Some(episodes), resume, retry_errors, ..options };
    let summary = run.play_with(&suite, &options, Some(reporter.progress())).await?;
    if summary.is_complete() {
        return Ok(());
    }
    Err(Failure::Interrupted(format!(
        "interrupted after {} of {} episodes",
        summary.episodes, summary.planned
    )))
}

impl Part {
    fn of(run: &Run) -> Result<Part, Failure> {
        let lacks = |what: &str| {
            Failure::Input(format!(
                "failed to play a part: there is no {what}; `sandbox run --on slurm` starts parts"
            ))
        };
        let cluster = &run.cluster;
        let path = cluster.part_of.as_ref().ok_or_else(|| lacks("--part-of"))?;
        let SubmissionId { token, number: submission } =
            cluster.submission.clone().ok_or_else(|| lacks("--submission"))?;
        let number = run.shard.ok_or_else(|| lacks("--shard"))?.index;
        let folder = path
            .parent()
            .and_then(|slurm| slurm.parent())
            .ok_or_else(|| lacks("run around the plan"))?;
        let folder = ClusterFolder::of(folder);
        let plan = Plan::read(&folder)?.filter(|plan| plan.token == token);
        let plan = plan.ok_or_else(|| {
            Failure::Interrupted(format!(
                "the run in {} is played no more by this plan",
                folder.path()
            ))
        })?;
        Ok(Part { folder, plan, number, submission })
    }

    /// The name of its folder.
    fn name(&self) -> String {
        let folder = self.folder.part(&self.plan.token, self.number);
        folder.file_name().unwrap_or_default().to_owned()
    }

    fn episodes(&self) -> Result<Vec<EpisodeId>, Failure> {
        let names =
            self.plan.parts.get(self.number as usize - 1).map(Vec::as_slice).unwrap_or_default();
        let read = names.iter().map(|name| name.parse()).collect::<Result<Vec<_>, _>>();
        read.or_input(format!("read {}", self.folder.plan()))
    }

    /// Why this part shall not be played here: it was submitted again, or the run is over. Jobs
    /// that were cancelled may come back after a controller has died.
    fn is_over(&self) -> Result<Option<String>, Failure> {
        is_over(&self.folder, &self.plan.token, self.number, self.submission)
    }
}

fn is_over(
    folder: &ClusterFolder,
    token: &str,
    part: u32,
    submission: u32,
) -> Result<Option<String>, Failure> {
    if !Plan::is_played(folder, token)? {
        return Ok(Some(format!("the run in {} is played no more by this plan", folder.path())));
    }
    let all = submissions::read(folder)?;
    let last = submissions::last_of(&all, part).map_or(0, |last| last.number);
    Ok((last > submission).then(|| format!("part {part} was submitted again, as number {last}")))
}

/// Says that the part lives, until it does not; ends it if it was submitted again.
///
/// A file system may take long. Its calls have a thread of their own, so that the browser is not
/// kept waiting by them.
async fn beat(reporter: Arc<Reporter>, folder: ClusterFolder, stop: CancellationToken) {
    let mut ticks = time::interval(BEAT);
    let (mut told, mut over) = (false, false);
    loop {
        ticks.tick().await;
        reporter.status.lock().beat += 1;
        let (own, folder) = (Arc::clone(&reporter), folder.clone());
        let done = tokio::task::spawn_blocking(move || {
            (own.write(), is_over(&folder, &own.token, own.part, own.submission))
        });
        let Ok((written, ended)) = done.await else { return };
        match written {
            Err(error) if !told => {
                tracing::warn!(%error, "nobody can see how this part goes");
                told = true;
            }
            Err(_) => {}
            Ok(()) => told = false,
        }
        // What cannot be read now is no reason to end.
        if !over && let Ok(Some(why)) = ended {
            tracing::warn!("{why}; this one ends");
            stop.cancel();
            over = true;
        }
    }
}

/// Writes the status of a part.
struct Reporter {
    path: Utf8PathBuf,
    token: String,
    part: u32,
    submission: u32,
    status: Mutex<PartStatus>,
    /// Held while the file is written, so that a word never comes after a later one.
    writing: Mutex<()>,
}

impl Reporter {
    fn new(part: &Part) -> Arc<Reporter> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let status = PartStatus {
            format: cluster::status::FORMAT,
            part: part.number,
            submission: part.submission,
            node: variable("SLURMD_NODENAME").unwrap_or_default(),
            job: variable("SLURM_JOB_ID").unwrap_or_default(),
            beat: 0,
            doing: None,
            state: PartState::Checking,
        };
        let restarts =
            variable("SLURM_RESTART_COUNT").and_then(|count| count.parse().ok()).unwrap_or(0);
        let path = part.folder.status_of(part.number, part.submission, restarts, &status.node);
        let token = part.plan.token.clone();
        Arc::new(Reporter {
            path,
            token,
            part: part.number,
            submission: part.submission,
            status: Mutex::new(status),
            writing: Mutex::new(()),
        })
    }

    fn set(&self, state: PartState) {
        self.status.lock().state = state;
    }

    fn write(&self) -> Outcome {
        let _alone = self.writing.lock();
        let status = self.status.lock().clone();
        Ok(status.write(&self.path)?)
    }

    /// The last word where another process still has the part. That is not wrong with the node, and
    /// may be over at the next try.
    fn occupied(&self) -> Outcome {
        let message = format!(
            "another process has had part {} for {} s and does not end",
            self.part,
            FREE_WITHIN.as_secs()
        );
        let failure = Failure::Interrupted(message.clone());
        self.set(PartState::Failed { code: failure.code(), message });
        self.write()?;
        Err(failure)
    }

    /// The last word.
    fn end(&self, outcome: &Outcome) -> Outcome {
        {
            let mut status = self.status.lock();
            status.beat += 1;
            status.doing = None;
            status.state = match outcome {
                _ if matches!(status.state, PartState::Unfit { .. }) => status.state.clone(),
                Ok(()) => PartState::Ended,
                Err(Failure::Interrupted(_)) => PartState::Interrupted,
                Err(failure) => {
                    PartState::Failed { code: failure.code(), message: failure.to_string() }
                }
            };
        }
        self.write()
    }

    /// Notes what the part is at.
    fn progress(self: &Arc<Reporter>) -> Progress {
        let reporter = Arc::clone(self);
        Arc::new(move |event| {
            let doing = match event {
                Event::Opening => "opening the snapshots".to_owned(),
                Event::Indexing(at) => crate::terminal::progress::indexing(at),
                Event::BringingUp { .. } => "bringing up the world".to_owned(),
                Event::Started { episode, .. } => episode.to_string(),
                Event::Step { episode, step, max_steps, .. } => {
                    format!("{episode}, action {step} of {max_steps}")
                }
                _ => return,
            };
            reporter.status.lock().doing = Some(doing);
        })
    }
}
