//! One part of a run, on the node that plays it.
//!
//! ```text
//! found -> held (no other process has it) -> node and images checked -> played -> last word
//! ```

use std::str::FromStr;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use parking_lot::Mutex;
use play::{Event, Options, Progress};
use results::EpisodeId;
use tasks::Suite;
use tokio::task::JoinHandle;
use tokio::time::{self, Instant};
use tokio_util::sync::CancellationToken;

use crate::decide::BEAT;
use crate::folder::ClusterFolder;
use crate::lock::{FREE_WITHIN, PartLock};
use crate::plan::Plan;
use crate::status::{INTERRUPTED, PartState, PartStatus};
use crate::{Error, node, submissions};

/// A submission of a plan, as the job script names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmissionId {
    token: String,
    number: u32,
}

impl FromStr for SubmissionId {
    type Err = String;

    fn from_str(text: &str) -> Result<SubmissionId, String> {
        let read = || {
            let (token, number) = text.split_once('.')?;
            Some(SubmissionId { token: token.to_owned(), number: number.parse().ok()? })
        };
        read().ok_or_else(|| "write the plan's token, a dot and a number".to_owned())
    }
}

/// The part that a job plays.
#[derive(Debug)]
pub struct Part {
    folder: ClusterFolder,
    plan: Plan,
    number: u32,
    submission: u32,
}

impl Part {
    /// Finds the part of this number, from 1, in the plan that is in a file.
    ///
    /// # Errors
    /// When something is not told, or the plan is played no more.
    pub fn find(
        plan: Option<&Utf8Path>,
        submission: Option<SubmissionId>,
        number: Option<u32>,
    ) -> Result<Part, Error> {
        let lacks = |lacks: &'static str| Error::NoPart { lacks };
        let path = plan.ok_or_else(|| lacks("--part-of"))?;
        let SubmissionId { token, number: submission } =
            submission.ok_or_else(|| lacks("--submission"))?;
        let number = number.ok_or_else(|| lacks("--shard"))?;
        let folder = path
            .parent()
            .and_then(|slurm| slurm.parent())
            .ok_or_else(|| lacks("run around the plan"))?;
        let folder = ClusterFolder::of(folder);
        let plan = Plan::read(&folder)?.filter(|plan| plan.token == token);
        let plan = plan.ok_or_else(|| {
            Error::Over(format!("the run in {} is played no more by this plan", folder.path()))
        })?;
        Ok(Part { folder, plan, number, submission })
    }

    /// Waits until no other process has the part. From then on, its status is written to the shared
    /// file system. `stop` is cancelled if the part is submitted again.
    ///
    /// # Errors
    /// When another process does not end, the part is not to be played here, or nothing can be
    /// written.
    pub async fn hold(self, stop: CancellationToken) -> Result<HeldPart, Error> {
        let reporter = Reporter::new(&self);
        let lock = self.folder.lock(&self.name());
        // A process of an earlier submission may still end. Until then nothing is said here, so
        // that two never write the same file.
        let alone = tokio::select! {
            biased;
            () = stop.cancelled() => {
                return Err(Error::Over("the part was interrupted before it was free".to_owned()));
            }
            alone = PartLock::wait(&lock, Instant::now() + FREE_WITHIN) => alone?,
        };
        let Some(alone) = alone else { return Err(reporter.occupied()?) };
        if let Some(why) = self.is_over()? {
            return Err(Error::Over(why));
        }
        reporter.write()?;
        let beating = tokio::spawn(beat(Arc::clone(&reporter), self.folder.clone(), stop));
        Ok(HeldPart { part: self, reporter, beating, _alone: alone })
    }

    /// The name of its folder.
    fn name(&self) -> String {
        let folder = self.folder.part(&self.plan.token, self.number);
        folder.file_name().unwrap_or_default().to_owned()
    }

    fn episodes(&self) -> Result<Vec<EpisodeId>, Error> {
        let names =
            self.plan.parts.get(self.number as usize - 1).map(Vec::as_slice).unwrap_or_default();
        let read = names.iter().map(|name| name.parse()).collect::<Result<Vec<_>, _>>();
        read.map_err(|source| Error::EpisodeName { path: self.folder.plan(), source })
    }

    /// Returns why this part must not be played here: it was submitted again, or the run is over.
    /// Jobs that were cancelled may come back after a controller has died.
    fn is_over(&self) -> Result<Option<String>, Error> {
        is_over(&self.folder, &self.plan.token, self.number, self.submission)
    }
}

/// The end of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LastWord {
    /// Its episodes are played.
    Ended,
    /// It got a signal to end.
    Interrupted,
    /// It ended before its episodes were played.
    Failed {
        /// The exit code.
        code: u8,
        /// The reason.
        message: String,
    },
}

/// A part that this process alone holds, and whose status it writes.
#[derive(Debug)]
pub struct HeldPart {
    part: Part,
    reporter: Arc<Reporter>,
    beating: JoinHandle<()>,
    _alone: PartLock,
}

impl HeldPart {
    /// Checks that the node has what every part needs.
    ///
    /// # Errors
    /// When it does not.
    pub async fn check_node(&self) -> Result<(), Error> {
        let (plan, folder) = (self.part.plan.clone(), self.part.folder.clone());
        let number = self.part.number;
        let found = tokio::task::spawn_blocking(move || node::problems(&plan, &folder, number));
        let doing = "check this node";
        self.fit(found.await.map_err(|source| Error::BrokeDown { doing, source })?)
    }

    /// Checks that the node has the images of the part's sites, and loads those that the file has.
    /// `lock` is a file of this machine that one process holds while it loads.
    ///
    /// # Errors
    /// When one is missing or another than the run's.
    pub async fn check_images(
        &self,
        suite: &Suite,
        archive: Option<&Utf8Path>,
        lock: &Utf8Path,
    ) -> Result<(), Error> {
        let Part { plan, folder, .. } = &self.part;
        let images = node::images(suite, &self.part.episodes()?, archive)?;
        let mut problems: Vec<String> = node::engine_problem(&images).await.into_iter().collect();
        if problems.is_empty() {
            problems = node::image_problems(&images, plan, folder, lock).await?;
        }
        self.fit(problems)
    }

    /// Returns the options of the part, made from those of its command line. It resumes its own
    /// run.
    ///
    /// # Errors
    /// When the plan has no such episodes.
    pub fn options(&self, options: Options) -> Result<Options, Error> {
        let Part { folder, plan, number, submission } = &self.part;
        let resume = folder.part(&plan.token, *number).join("run.json").is_file();
        // What ended the part before may have ended an episode's browser first.
        let retry_errors = resume && *submission > 1;
        Ok(Options { episodes: Some(self.part.episodes()?), resume, retry_errors, ..options })
    }

    /// Notes that the part plays. Returns a listener that notes its activity.
    pub fn progress(&self) -> Progress {
        self.reporter.set(PartState::Playing);
        self.reporter.progress()
    }

    /// Writes the last status, and lets the part go.
    ///
    /// # Errors
    /// When it cannot be written.
    pub async fn end(self, word: LastWord) -> Result<(), Error> {
        self.beating.abort();
        let _ = self.beating.await;
        self.reporter.end(word)
    }

    fn fit(&self, problems: Vec<String>) -> Result<(), Error> {
        if problems.is_empty() {
            return Ok(());
        }
        self.reporter.set(PartState::Unfit { problems: problems.clone() });
        Err(Error::UnfitNode { problems })
    }
}

fn is_over(
    folder: &ClusterFolder,
    token: &str,
    part: u32,
    submission: u32,
) -> Result<Option<String>, Error> {
    if !Plan::is_played(folder, token)? {
        return Ok(Some(format!("the run in {} is played no more by this plan", folder.path())));
    }
    let all = submissions::read(folder)?;
    let last = submissions::last_of(&all, part).map_or(0, |last| last.number);
    Ok((last > submission).then(|| format!("part {part} was submitted again, as number {last}")))
}

/// Writes the status at intervals until the part ends. Cancels `stop` if it was submitted again.
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
#[derive(Debug)]
struct Reporter {
    path: Utf8PathBuf,
    token: String,
    part: u32,
    submission: u32,
    status: Mutex<PartStatus>,
    /// Held while the file is written, so that an older status never replaces a newer one.
    writing: Mutex<()>,
}

impl Reporter {
    fn new(part: &Part) -> Arc<Reporter> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let status = PartStatus {
            format: crate::status::FORMAT,
            part: part.number,
            submission: part.submission,
            node: variable("SLURMD_NODENAME").unwrap_or_default(),
            job: variable("SLURM_JOB_ID").unwrap_or_default(),
            beat: 0,
            doing: None,
            state: PartState::Checking,
        };
        // A job that Slurm starts again keeps its number. Only this count tells the two processes
        // apart.
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

    fn write(&self) -> Result<(), Error> {
        let _alone = self.writing.lock();
        let status = self.status.lock().clone();
        status.write(&self.path)
    }

    /// Writes the last status of a part that another process still holds. The node is not at fault,
    /// and the next try may succeed.
    fn occupied(&self) -> Result<Error, Error> {
        let message = format!(
            "another process has had part {} for {} s and does not end",
            self.part,
            FREE_WITHIN.as_secs()
        );
        self.set(PartState::Failed { code: INTERRUPTED, message: message.clone() });
        self.write()?;
        Ok(Error::Over(message))
    }

    /// Writes the last status.
    fn end(&self, word: LastWord) -> Result<(), Error> {
        {
            let mut status = self.status.lock();
            status.beat += 1;
            status.doing = None;
            status.state = match word {
                // What the node lacks says more than the failure that follows from it.
                _ if matches!(status.state, PartState::Unfit { .. }) => status.state.clone(),
                LastWord::Ended => PartState::Ended,
                LastWord::Interrupted => PartState::Interrupted,
                LastWord::Failed { code, message } => PartState::Failed { code, message },
            };
        }
        self.write()
    }

    /// Returns a listener that notes the activity of the part.
    fn progress(self: &Arc<Reporter>) -> Progress {
        let reporter = Arc::clone(self);
        Arc::new(move |event| {
            let doing = match event {
                Event::Opening => "opening the snapshots".to_owned(),
                Event::Indexing(at) => at.to_string(),
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
