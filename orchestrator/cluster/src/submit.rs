//! Submits the parts of a run: makes the plan, and submits arrays of its parts.

use std::collections::BTreeSet;
use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};
use play::{Options, parts};
use results::parts::{Durations, WeighedEpisode, assign, input_files};
use results::{EpisodeId, RunFolder};
use tasks::{Suite, Task};

use crate::folder::ClusterFolder;
use crate::follow::{Event, Listener};
use crate::plan::{Plan, agree_on_chromium, sha256};
use crate::site_images::SiteImages;
use crate::slurm::{self, JobScript, Request, SbatchOptions, write_script};
use crate::slurm_run::SlurmOptions;
use crate::{Error, submissions};

/// The number of parts for each worker that the cluster has CPUs for. Small parts end at about the
/// same time, so that a slow one delays the end less.
const PARTS_FOR_A_WORKER: usize = 4;
/// The default limit of the number of parts: Slurm's own default for the largest array is 1,001.
const MOST_PARTS: usize = 1_000;

/// The inputs that all submissions of a run share.
pub(crate) struct Submitter<'a> {
    pub(crate) told: &'a SlurmOptions,
    pub(crate) sbatch: &'a SbatchOptions,
    pub(crate) suite: &'a Suite,
    pub(crate) options: &'a Options,
    pub(crate) folder: ClusterFolder,
    pub(crate) whole: RunFolder,
}

impl Submitter<'_> {
    /// Plans the parts of these episodes, and writes all files that their jobs need.
    pub(crate) async fn plan(&self, episodes: Vec<EpisodeId>) -> Result<Plan, Error> {
        let (suite, folder) = (self.suite, &self.folder);
        let count = self.parts(episodes.len()).await?;
        let tasks = parts::tasks_of(suite, self.options)?;
        let episodes = self.weighed_episodes(&tasks, episodes)?;
        let parts = assign(episodes, count);
        let program = utf8("find this program", std::env::current_exe())?;
        let here = utf8("find the current folder", std::env::current_dir())?;
        let used: BTreeSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
        let images =
            SiteImages::of(suite, &used, self.told.parts.site_images.as_deref())?.known().await?;
        let name = |ids: Vec<EpisodeId>| ids.iter().map(ToString::to_string).collect();
        let plan = Plan {
            format: crate::status::FORMAT,
            token: format!("{:08x}", rand::random::<u32>()),
            program_digest: sha256(&program)?,
            program,
            folder: here,
            files: input_files(suite, &tasks)?,
            images,
            parts: parts.into_iter().map(name).collect(),
        };
        folder.clear()?;
        folder.create()?;
        // A login node may have no Chromium. Then the first node says which version it is.
        if let Ok(chromium) = browser::Programs::find().and_then(|programs| programs.version(false))
        {
            agree_on_chromium(folder, &chromium)?;
        }
        write_script(folder, &JobScript { plan: &plan, arguments: &self.told.parts.words })?;
        plan.write(folder)?;
        Ok(plan)
    }

    /// Returns the number of parts of the run.
    async fn parts(&self, episodes: usize) -> Result<usize, Error> {
        if let Some(parts) = self.told.parts.count {
            return Ok(parts as usize);
        }
        let cpus = slurm::cpus(self.sbatch.partition()).await?;
        let workers = cpus / self.options.workers;
        Ok((workers.max(1) * PARTS_FOR_A_WORKER).min(episodes).min(MOST_PARTS))
    }

    /// Submits parts as one array. Returns the number of the submission. A controller that does not
    /// answer may have accepted them, which its list of jobs shows later.
    pub(crate) async fn submit(
        &self,
        plan: &Plan,
        parts: &[u32],
        excluded: &[String],
    ) -> Result<u32, Error> {
        let folder = &self.folder;
        let number = submissions::begin(folder, parts)?;
        // Slurm replaces `%` and a letter in the names of logs.
        let log = folder.logs().as_str().replace('%', "%%");
        let (name, script, argument) = (plan.job_name(number), folder.script(), number.to_string());
        let request = Request {
            name: &name,
            parts,
            script: script.as_str(),
            arguments: &[&argument],
            log: &format!("{log}/%a.{number}.log"),
            folder: plan.folder.as_str(),
            cpus: self.options.workers,
            excluded,
            options: self.sbatch,
        };
        match slurm::submit(&request).await {
            Ok(job) => submissions::submitted(folder, number, &job)?,
            // It may have accepted the jobs, which are then found by their name. The first
            // submission fails instead: its user is still there, and can try again.
            Err(error @ Error::Unreachable { .. }) if number > 1 => {
                tracing::info!(%error, "submitting")
            }
            Err(error) => return Err(error),
        }
        Ok(number)
    }

    /// The partition that the user names.
    pub(crate) fn partition(&self) -> Option<&str> {
        self.sbatch.partition()
    }

    /// Lists of nodes that the user leaves out.
    pub(crate) fn excluded(&self) -> &[String] {
        self.sbatch.excluded()
    }
    /// Removes a run of which nothing was submitted, so that the same command can be tried again.
    pub(crate) fn forget(&self, is_new: bool, tell: &Listener) {
        let nobody_has_it = submissions::read(&self.folder)
            .is_ok_and(|all| all.iter().all(|one| one.job.is_none()) && all.len() < 2);
        if !is_new || !nobody_has_it {
            return;
        }
        if let Err(error) = self.forget_plan() {
            tell(Event::Warning(&error.sentence()));
        }
    }

    fn forget_plan(&self) -> Result<(), Error> {
        // What was played, and gathered now or by an earlier plan, stays.
        let is_empty = self.whole.episodes().is_ok_and(|played| played.is_empty());
        Plan::finish(&self.folder)?;
        if self.options.resume || !is_empty {
            return Ok(());
        }
        for folder in [self.folder.path(), self.folder.parts()] {
            std::fs::remove_dir_all(folder)
                .map_err(|source| Error::Machine { doing: "remove a plan".to_owned(), source })?;
        }
        Ok(self.whole.clone().discard()?)
    }

    /// Returns episodes with their expected durations.
    fn weighed_episodes(
        &self,
        tasks: &[Task],
        episodes: Vec<EpisodeId>,
    ) -> Result<Vec<WeighedEpisode>, Error> {
        let durations = match &self.told.durations {
            Some(path) => Some(Durations::read(path)?),
            None => Durations::of_earlier(&self.whole),
        };
        if let Some(durations) = &durations {
            tracing::info!(run = %durations.run, "the parts are balanced by an earlier run");
        }
        let weigh = |id: EpisodeId| {
            let task = tasks.iter().find(|task| task.id == id.task);
            // Without an earlier run, the limit of steps is the only hint at a task's duration.
            let steps = task.map_or(1.0, |task| f64::from(task.max_steps));
            let weight = durations
                .as_ref()
                .map_or(steps, |known| known.of(&id.task).unwrap_or(known.mean()));
            WeighedEpisode {
                sites: task.map(|task| task.sites.clone()).unwrap_or_default(),
                weight,
                id,
            }
        };
        Ok(episodes.into_iter().map(weigh).collect())
    }
}

/// Returns a path of this machine as UTF-8. `doing` reads after "failed to".
fn utf8(doing: &'static str, path: std::io::Result<PathBuf>) -> Result<Utf8PathBuf, Error> {
    let path = path.map_err(|source| Error::Machine { doing: doing.to_owned(), source })?;
    Utf8PathBuf::try_from(path).map_err(|source| Error::NotUtf8 { doing, source })
}

/// Cancels all jobs that may exist, including those whose numbers Slurm could not return.
///
/// # Errors
/// The failure in words, and the command that cancels them by hand.
pub(crate) async fn cancel_all(plan: &Plan, folder: &ClusterFolder) -> Result<(), String> {
    let all = submissions::read(folder).map_err(|error| {
        format!(
            "failed to {}; cancel the jobs yourself with `scancel`",
            error_text::with_causes(&error)
        )
    })?;
    let names: Vec<String> = all.iter().map(|one| plan.job_name(one.number)).collect();
    slurm::cancel_named(&names).await.map_err(|error| {
        let commands: Vec<String> =
            names.iter().map(|name| format!("`scancel --me --name={name}`")).collect();
        let error = error_text::with_causes(&error);
        format!("failed to {error}; cancel the jobs yourself with {}", commands.join(", "))
    })
}

/// The log of a part, for people.
pub(crate) fn log(folder: &ClusterFolder, part: u32, submission: u32) -> Utf8PathBuf {
    let log = folder.log(part, submission);
    let here = std::env::current_dir().ok().and_then(|here| Utf8PathBuf::try_from(here).ok());
    let short = here.and_then(|here| log.strip_prefix(here).map(Utf8Path::to_owned).ok());
    short.unwrap_or(log)
}
