//! What is submitted: the plan of a run, and arrays of its parts.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use cluster::folder::ClusterFolder;
use cluster::plan::{Plan, agree_on_chromium, sha256};
use cluster::slurm::{self, JobScript, Request, SbatchOptions, write_script};
use cluster::{Error, submissions};
use llm_client::Model;
use results::parts::{Durations, WeighedEpisode, assign, input_files};
use results::{EpisodeId, RunFolder};
use runs::Options;
use runs::parts;
use tasks::Suite;

use crate::cluster::{arguments, refusals};
use crate::commands::run::Run;
use crate::failure::{Failure, OrFail as _, Outcome};
use crate::site_images::SiteImages;
use crate::terminal::out;

/// Parts for each worker that the cluster has CPUs for: many small ones, so that a slow one does
/// not hold up the end.
const PARTS_FOR_A_WORKER: usize = 4;
/// As many parts at most by default: Slurm's own default for the largest array is 1,001.
const MOST_PARTS: usize = 1_000;

/// What all submissions of a run share.
pub(super) struct Submitter {
    sbatch: SbatchOptions,
    judge: Model,
}

impl Submitter {
    /// Checks what parts on other machines cannot be told.
    pub(super) fn new(run: &mut Run) -> Result<Submitter, Failure> {
        let sbatch = SbatchOptions::new(&run.cluster.sbatch)?;
        refusals::of_parts(run, "the job script", "set the variable in this environment")?;
        Ok(Submitter { sbatch, judge: run.connect()? })
    }

    /// The options of the whole run. Its folder is named from the root, for nodes that start
    /// elsewhere.
    pub(super) fn options(&self, run: &Run, suite: &Suite) -> Result<Options, Failure> {
        let options = run.options_with(self.judge.clone(), None)?;
        let out = parts::folder_of(suite, &run.agent, &options);
        let out = camino::absolute_utf8(&out).or_environment(format!("find {out}"))?;
        if out.as_str().contains('\n') {
            return Err(Failure::Input(format!(
                "failed to use {out:?} for a run: its name has a line feed"
            )));
        }
        Ok(Options { out: Some(out), ..options })
    }

    /// Plans the parts of these episodes, and writes down all that their jobs need.
    pub(super) async fn plan(
        &self,
        run: &Run,
        suite: &Suite,
        options: &Options,
        whole: &RunFolder,
        folder: &ClusterFolder,
        episodes: Vec<EpisodeId>,
    ) -> Result<Plan, Failure> {
        let count = self.parts(run, episodes.len()).await?;
        let tasks = parts::tasks_of(suite, options)?;
        let episodes = weighed_episodes(run, &tasks, whole, episodes)?;
        let parts = assign(episodes, count);
        let program = std::env::current_exe().or_environment("find this program")?;
        let program = Utf8PathBuf::try_from(program).or_environment("find this program")?;
        let here = std::env::current_dir().or_environment("find the current folder")?;
        let used: BTreeSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
        let images =
            SiteImages::of(suite, &used, run.cluster.site_images.as_deref())?.known().await?;
        let name = |ids: Vec<EpisodeId>| ids.iter().map(ToString::to_string).collect();
        let plan = Plan {
            format: cluster::status::FORMAT,
            token: format!("{:08x}", rand::random::<u32>()),
            program_digest: sha256(&program)?,
            program,
            folder: Utf8PathBuf::try_from(here).or_environment("find the current folder")?,
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
        write_script(folder, &JobScript { plan: &plan, arguments: &arguments::of_part()? })?;
        plan.write(folder)?;
        Ok(plan)
    }

    /// How many parts the run has.
    async fn parts(&self, run: &Run, episodes: usize) -> Result<usize, Failure> {
        if let Some(parts) = run.cluster.parts {
            return Ok(parts as usize);
        }
        let cpus = slurm::cpus(self.sbatch.partition()).await?;
        let workers = cpus / run.workers.get();
        Ok((workers.max(1) * PARTS_FOR_A_WORKER).min(episodes).min(MOST_PARTS))
    }

    /// Submits parts as one array, and gives the number of the submission. A controller that does
    /// not answer may have taken them, which its list of jobs says later.
    pub(super) async fn submit(
        &self,
        run: &Run,
        plan: &Plan,
        folder: &ClusterFolder,
        parts: &[u32],
        excluded: &[String],
    ) -> Result<u32, Failure> {
        let number = submissions::begin(folder, parts)?;
        let log = folder.logs().as_str().replace('%', "%%");
        let (name, script, argument) = (plan.job_name(number), folder.script(), number.to_string());
        let request = Request {
            name: &name,
            parts,
            script: script.as_str(),
            arguments: &[&argument],
            log: &format!("{log}/%a.{number}.log"),
            folder: plan.folder.as_str(),
            cpus: run.workers.get(),
            excluded,
            options: &self.sbatch,
        };
        match slurm::submit(&request).await {
            Ok(job) => submissions::submitted(folder, number, &job)?,
            Err(error @ Error::Unreachable { .. }) if number > 1 => {
                tracing::info!(%error, "submitting")
            }
            Err(error) => return Err(error.into()),
        }
        Ok(number)
    }

    /// The partition that the user names.
    pub(super) fn partition(&self) -> Option<&str> {
        self.sbatch.partition()
    }

    /// Lists of nodes that the user leaves out.
    pub(super) fn excluded(&self) -> &[String] {
        self.sbatch.excluded()
    }
}

/// Cancels all jobs that may be there, those included whose numbers Slurm could not tell.
///
/// # Errors
/// What went wrong, and how to cancel them by hand.
pub(super) async fn cancel_all(plan: &Plan, folder: &ClusterFolder) -> Result<(), String> {
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

/// Takes back a run of which nothing was submitted, so that the same command can be tried again.
pub(super) fn forget(run: &Run, is_new: bool, folder: &ClusterFolder, whole: &RunFolder) {
    let nobody_has_it = submissions::read(folder)
        .is_ok_and(|all| all.iter().all(|one| one.job.is_none()) && all.len() < 2);
    // What was played, and gathered now or by an earlier plan, stays.
    let is_empty = whole.episodes().is_ok_and(|played| played.is_empty());
    if !is_new || !nobody_has_it {
        return;
    }
    let forgotten = || -> Outcome {
        Plan::finish(folder)?;
        if !run.resume && is_empty {
            std::fs::remove_dir_all(folder.path()).or_environment("remove a plan")?;
            std::fs::remove_dir_all(folder.parts()).or_environment("remove a plan")?;
            whole.clone().discard()?;
        }
        Ok(())
    };
    if let Err(failure) = forgotten() {
        out::warn(&failure);
    }
}

/// Episodes with what they are expected to take.
fn weighed_episodes(
    run: &Run,
    tasks: &[tasks::Task],
    whole: &RunFolder,
    episodes: Vec<EpisodeId>,
) -> Result<Vec<WeighedEpisode>, Failure> {
    let named = |path: &Utf8PathBuf| Durations::read(path);
    let durations = match &run.cluster.durations {
        Some(path) => Some(named(path)?),
        None => Durations::of_earlier(whole),
    };
    if let Some(durations) = &durations {
        tracing::info!(run = %durations.run, "the parts are balanced by an earlier run");
    }
    let weigh = |id: EpisodeId| {
        let task = tasks.iter().find(|task| task.id == id.task);
        let steps = task.map_or(1.0, |task| f64::from(task.max_steps));
        let weight =
            durations.as_ref().map_or(steps, |known| known.of(&id.task).unwrap_or(known.mean()));
        WeighedEpisode {
            sites: task.map(|task| task.sites.clone()).unwrap_or_default(),
            weight,
            id,
        }
    };
    Ok(episodes.into_iter().map(weigh).collect())
}

/// The log of a part, for people.
pub(super) fn log(folder: &ClusterFolder, part: u32, submission: u32) -> Utf8PathBuf {
    let log = folder.log(part, submission);
    let here = std::env::current_dir().ok().and_then(|here| Utf8PathBuf::try_from(here).ok());
    let short = here.and_then(|here| log.strip_prefix(here).map(Utf8Path::to_owned).ok());
    short.unwrap_or(log)
}
