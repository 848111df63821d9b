//! A run: workers take episodes from one queue, each with an environment of its own.

mod inputs;
pub mod parts;
mod scheduler;
mod worker;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use agents::{ActionFormat, AgentSpec};
use camino::Utf8PathBuf;
use jiff::Timestamp;
use parking_lot::Mutex;
use processes::confine::Confinement;
use results::Summary;
use results::suite_digest::Digests;
use results::{Conditions, EpisodeId, Outcome, RunFolder, RunRecord, TaskRecord, WorldRecord};
use tasks::{Suite, Task};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::blocking::blocking;
use crate::confinement::{self, FoundHelper, Programs};
use crate::environment::{Environment, EnvironmentError};
use crate::run::scheduler::Queue;
use crate::run::worker::{RunState, cost, work};
use crate::world::World;
use crate::world::running_sites::{self, RunningSites};
use crate::world::start_pages;
use crate::{Error, Event, Options, Progress};

/// The time limit for an environment to end.
const CLOSE_WITHIN: Duration = Duration::from_secs(20);

/// Runs a suite in Chromium, in the world that the suite describes. If `interrupt` is cancelled,
/// the episodes under way count as never begun; the summary is then not complete, and the run can
/// be resumed.
///
/// # Errors
/// When the world cannot be brought up at all, or results cannot be written. What goes wrong within
/// an episode is that episode's outcome.
pub async fn run(
    suite: &Suite,
    agent: &AgentSpec,
    options: &Options,
    interrupt: CancellationToken,
    progress: Progress,
) -> Result<Summary, Error> {
    let tasks = select(suite, options)?;
    if let Some(why) = nothing_to_play(agent, &tasks) {
        return Err(why);
    }
    let own = own_tasks(tasks, options);
    let running = running_sites::open(suite, &own, options, &interrupt, &progress).await?;
    let outcome = run_with(running.as_ref(), suite, agent, options, interrupt, progress).await;
    // Also after an error: containers outlive this process.
    if let Some(running) = running {
        running_sites::stop(&running.town).await;
    }
    outcome
}

/// Returns an error if the agent replays what tasks have written down, and none of them has it.
pub(crate) fn nothing_to_play(agent: &AgentSpec, tasks: &[Task]) -> Option<Error> {
    let lacking = tasks.iter().map(|task| agent.missing_for(task)).collect::<Option<Vec<_>>>()?;
    let source = lacking.into_iter().next()?;
    Some(Error::NothingToPlay { source, tasks: tasks.len() })
}

async fn run_with(
    running: Option<&RunningSites>,
    suite: &Suite,
    agent: &AgentSpec,
    options: &Options,
    interrupt: CancellationToken,
    progress: Progress,
) -> Result<Summary, Error> {
    let machine = HostFacts::of(running, options.headed).await?;
    let tasks = own_tasks(select(suite, options)?, options);
    let town = running.map(|running| running.town.clone());
    progress(Event::Opening);
    let world = start_pages::open(suite, &tasks, town, options, &progress).await?;
    let (spec, settle) = (suite.world.clone(), options.limits.settle);
    let bring_up = move |_worker| {
        let (spec, world) = (spec.clone(), world.clone());
        async move { World::bring_up(&spec, world, settle).await }
    };
    run_in(machine, bring_up, suite, agent, options, interrupt, progress).await
}

/// The facts about the machine that plays a run.
#[derive(Debug, Clone, Default)]
pub struct HostFacts {
    /// The version of Chromium, for the record.
    pub chromium: Option<String>,
    /// The confinement of programs, for the record; absent if there are no programs.
    pub confinement: Option<Confinement>,
    /// The ids of the images of sites, for the record.
    pub images: BTreeMap<String, String>,
    /// The number of episodes that may use each site at once. Sites without a number are not
    /// limited.
    pub instances: BTreeMap<String, usize>,
}

impl HostFacts {
    /// Returns the facts about this machine. In a window, another browser shows the pages.
    ///
    /// # Errors
    /// When the engine does not tell the images of sites.
    pub async fn of(running: Option<&RunningSites>, headed: bool) -> Result<HostFacts, Error> {
        let chromium = blocking(move || chromium_version(headed)).await?;
        let Some(RunningSites { town, instances }) = running else {
            return Ok(HostFacts { chromium, ..HostFacts::default() });
        };
        let images = town.images().await.map_err(|source| Error::Sites { source })?;
        Ok(HostFacts { chromium, images, instances: instances.clone(), confinement: None })
    }
}

/// Returns the version of Chromium. A missing browser is reported later, when a worker starts it.
fn chromium_version(headed: bool) -> Result<Option<String>, Error> {
    Ok(browser::Programs::find().ok().and_then(|programs| programs.version(headed).ok()))
}

/// Runs a suite in environments of any kind. `bring_up` makes one for the worker of that number.
///
/// # Errors
/// As [`run`].
pub async fn run_in<E, B, F>(
    machine: HostFacts,
    bring_up: B,
    suite: &Suite,
    agent: &AgentSpec,
    options: &Options,
    interrupt: CancellationToken,
    progress: Progress,
) -> Result<Summary, Error>
where
    E: Environment,
    B: Fn(usize) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<E, EnvironmentError>> + Send + 'static,
{
    let tasks = select(suite, options)?;
    let programs = Programs::of_run(suite, agent, options).await;
    let mut machine = machine;
    machine.confinement = match &programs {
        Some(programs) => Some(programs.confinement()),
        None if confinement::have_programs(&tasks) => Some(
            FoundHelper::default()
                .get(options, options.confinement.level.of_scorers())
                .await
                .confinement(),
        ),
        None => None,
    };
    let folder = open_folder(suite, &tasks, agent, options, &machine)?;
    let (queue, done) = plan(&folder, options.retry_errors)?;
    progress(Event::Planned { episodes: queue.len() + done, done });
    let workers = options.workers.clamp(1, queue.len().max(1));
    let shared = Arc::new(RunState {
        tasks,
        agent: agent.clone(),
        programs,
        options: options.clone(),
        folder: folder.clone(),
        seed: suite.world.seed,
        queue: Queue::new(queue, machine.instances, workers),
        errors: AtomicUsize::new(0),
        cost: Mutex::new(folder.episodes()?.iter().map(cost).sum()),
        interrupt,
        progress,
    });
    let mut running = JoinSet::new();
    for number in 0..workers {
        running.spawn(work(number, shared.clone(), bring_up.clone()));
    }
    while let Some(ended) = running.join_next().await {
        match ended {
            Ok(Ok(())) => {}
            // The other workers stop where they are; what they have kept stays.
            Ok(Err(error)) => return Err(error),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => continue,
            },
        }
    }
    Ok(Summary::read(folder.path())?)
}

/// Ends an environment. One that does not end in time is dropped.
pub async fn close<E: Environment>(environment: E) {
    if tokio::time::timeout(CLOSE_WITHIN, environment.close()).await.is_err() {
        tracing::warn!(within = ?CLOSE_WITHIN, "the environment did not close and was dropped");
    }
}

/// Returns the selected tasks of a suite, with their limits of actions.
///
/// # Errors
/// When a task that is asked for is not in the suite.
pub fn select(suite: &Suite, options: &Options) -> Result<Vec<Task>, Error> {
    let mut tasks = suite.select(&options.tasks, options.max_steps)?;
    tasks.truncate(options.limit.unwrap_or(usize::MAX));
    Ok(tasks)
}

pub(crate) fn open_folder(
    suite: &Suite,
    tasks: &[Task],
    agent: &AgentSpec,
    options: &Options,
    machine: &HostFacts,
) -> Result<RunFolder, Error> {
    // Agents of papers have a notation of their own, whatever the options say.
    let ActionFormat { dialect, multiaction } = agent.action_format(options.action_format());
    let mut digests = Digests::default();
    let record =
        record(suite, tasks, agent.to_string(), options.repeat.max(1), machine, &mut digests)?;
    let record = RunRecord {
        settings: agent.settings(),
        dialect,
        multiaction,
        no_screenshots: !options.screenshots,
        conditions: Some(Conditions::of_agent(agent, machine.confinement.into())),
        shard: options.shard,
        episodes: options.episodes.clone(),
        scoring_mode: options.scoring_mode,
        confinement: machine.confinement,
        ..record
    };
    let path = out(suite, &agent.slug(), options, record.started);
    let folder = if options.resume {
        RunFolder::resume(&path, &record)
    } else {
        RunFolder::create(&path, &record)
    }?;
    folder.write_inputs(&inputs::of(suite, agent, options))?;
    Ok(folder)
}

/// Returns the record of a run, which is written before it begins.
///
/// # Errors
/// When a file of the world cannot be read for its digest.
pub fn record(
    suite: &Suite,
    tasks: &[Task],
    agent: String,
    repeat: u32,
    machine: &HostFacts,
    digests: &mut Digests,
) -> Result<RunRecord, Error> {
    let digest = digests.of_suite(&suite.world, tasks)?;
    let world = WorldRecord {
        chromium: machine.chromium.clone(),
        images: machine.images.clone(),
        version: suite.version,
        ..digests.of_world(&suite.world, tasks)?
    };
    Ok(RunRecord {
        world,
        ..RunRecord::new(&suite.name, digest, agent, repeat, task_records(tasks))
    })
}

/// Returns the selected tasks that are played here: all, or those of a part.
fn own_tasks(tasks: Vec<Task>, options: &Options) -> Vec<Task> {
    let ids: BTreeSet<&str> =
        options.episodes.iter().flatten().map(|id| id.task.as_str()).collect();
    let is_own = |place: usize, task: &Task| match (&options.episodes, options.shard) {
        (Some(_), _) => ids.contains(task.id.as_str()),
        (None, Some(shard)) => shard.has(place),
        (None, None) => true,
    };
    tasks
        .into_iter()
        .enumerate()
        .filter(|(place, task)| is_own(*place, task))
        .map(|(_, task)| task)
        .collect()
}

/// Returns the records of tasks for the results.
pub(crate) fn task_records(tasks: &[Task]) -> Vec<TaskRecord> {
    let record = |task: &Task| TaskRecord {
        id: task.id.clone(),
        goal: task.goal.to_string(),
        sites: task.sites.clone(),
        tags: task.tags.clone(),
        reference_steps: task.reference_steps,
    };
    tasks.iter().map(record).collect()
}

/// Returns the folder of the results: the given one, or `runs/<suite>-<agent>-<UTC time>`.
pub fn out(suite: &Suite, agent: &str, options: &Options, now: Timestamp) -> Utf8PathBuf {
    if let Some(path) = &options.out {
        return path.clone();
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let suite: String = suite.name.chars().map(plain).collect();
    Utf8PathBuf::from(format!("runs/{suite}-{agent}-{}", now.strftime("%Y%m%dT%H%M%SZ")))
}

/// Returns the episodes that are still to be played, repeat after repeat, and the number of those
/// that are there already.
pub(crate) fn plan(
    folder: &RunFolder,
    retry_errors: bool,
) -> Result<(VecDeque<EpisodeId>, usize), Error> {
    let run = folder.run()?;
    let mut queue = VecDeque::new();
    let mut done = 0;
    for id in run.planned() {
        let episode = folder.episode(&id);
        let whole = episode.is_whole();
        if whole && !(retry_errors && matches!(episode.record()?.outcome, Outcome::Error { .. })) {
            done += 1;
        } else {
            queue.push_back(id);
        }
    }
    Ok((queue, done))
}
