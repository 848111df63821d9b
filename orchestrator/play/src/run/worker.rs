//! A worker of a run: takes episodes from the queue and plays them in an environment of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agents::{AgentSpec, EpisodeContext};
use parking_lot::Mutex;
use results::{EarlierAttempt, EpisodeFolder, EpisodeId, EpisodeRecord, RunFolder};
use tasks::Task;
use tokio_util::sync::CancellationToken;

use crate::blocking::blocking;
use crate::confinement::Programs;
use crate::environment::{Environment, EnvironmentError};
use crate::episode::{self, EpisodeResult, EpisodeSpec};
use crate::evidence::workarena_session::WorkArenaSession;
use crate::run::close;
use crate::run::scheduler::{Job, Queue};
use crate::{Error, Event, Options, Progress};

/// The number of failures in a row to bring up an environment that ends the run: the machine is at
/// fault and not an episode.
const WORLD_FAILURES: u32 = 3;

/// The state that the workers of a run share.
pub(super) struct RunState {
    pub(super) tasks: Vec<Task>,
    pub(super) agent: AgentSpec,
    /// Starts the programs of the agent.
    pub(super) programs: Option<Programs>,
    pub(super) options: Options,
    pub(super) folder: RunFolder,
    pub(super) seed: u64,
    pub(super) queue: Queue,
    /// The number of episodes of this process that ended in an error.
    pub(super) errors: AtomicUsize,
    /// The cost of models and judges so far, in US dollars.
    pub(super) cost: Mutex<f64>,
    pub(super) interrupt: CancellationToken,
    pub(super) progress: Progress,
}

impl RunState {
    /// Returns the next episode; none if no episode is left, or a limit of the run was reached.
    async fn next(&self) -> Option<Job<'_>> {
        let sites =
            |id: &EpisodeId| self.task(id).map_or(&[] as &[String], |task| task.sites.as_slice());
        let next = tokio::select! {
            biased;
            () = self.interrupt.cancelled() => None,
            next = self.queue.next(sites) => next,
        };
        // Asked now: others may have failed while this one waited.
        let errors = self.errors.load(Ordering::Relaxed);
        let cost = *self.cost.lock();
        let may_fail = self.options.max_errors.is_none_or(|most| errors < most);
        next.filter(|_| may_fail && self.options.max_cost.is_none_or(|most| cost < most))
    }

    fn task(&self, id: &EpisodeId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id.task)
    }
}

pub(super) async fn work<E, B, F>(
    worker: usize,
    shared: Arc<RunState>,
    bring_up: B,
) -> Result<(), Error>
where
    E: Environment,
    B: Fn(usize) -> F + Send + Sync + 'static,
    F: Future<Output = Result<E, EnvironmentError>> + Send + 'static,
{
    let mut environment: Option<E> = None;
    let mut failures = 0;
    let mut played_any = false;
    while let Some(job) = shared.next().await {
        let id = &job.id;
        let Some(task) = shared.task(id) else { continue };
        if let Some(error) = shared.agent.missing_for(task) {
            let folder = shared.folder.begin_episode(id)?;
            keep(worker, &shared, id, folder, episode::never_began(id, task, &error).await?)
                .await?;
            continue;
        }
        if environment.is_none() {
            (shared.progress)(Event::BringingUp { worker });
            let coming = tokio::select! {
                biased;
                () = shared.interrupt.cancelled() => break,
                coming = bring_up(worker) => coming,
            };
            match coming {
                Ok(new) => {
                    environment = Some(new);
                    failures = 0;
                }
                Err(source) => {
                    failures += 1;
                    // A world that has never started fails for every episode.
                    if !played_any || failures == WORLD_FAILURES {
                        return Err(Error::World { source });
                    }
                    let folder = shared.folder.begin_episode(id)?;
                    keep(
                        worker,
                        &shared,
                        id,
                        folder,
                        episode::never_began(id, task, &source).await?,
                    )
                    .await?;
                    continue;
                }
            }
        }
        let Some(current) = &mut environment else { continue };
        let folder = shared.folder.begin_episode(id)?;
        let session = WorkArenaSession::default();
        let played = tokio::select! {
            biased;
            () = shared.interrupt.cancelled() => None,
            played = attempt(worker, &shared, current, id, task, &folder, &session) => Some(played),
        };
        // Also after an interrupt: what the session made on its server would stay there.
        session.teardown().await;
        let played = played.transpose()?;
        let Some(played) = played else {
            folder.discard()?;
            break;
        };
        let mut spent = played.spent;
        let unstartable = played.unstartable.clone();
        keep(worker, &shared, id, folder, played).await?;
        played_any = true;
        if let Some(message) = unstartable {
            // It would not start for the next one either.
            if let Some(environment) = environment {
                close(environment).await;
            }
            return Err(Error::Unstartable { message, folder: shared.folder.path().to_owned() });
        }
        if !spent && job.is_waited_for() {
            spent = current.hand_back().await.is_err();
        }
        if spent && let Some(old) = environment.take() {
            close(old).await;
        }
    }
    if let Some(environment) = environment {
        close(environment).await;
    }
    Ok(())
}

async fn attempt<E: Environment>(
    worker: usize,
    shared: &RunState,
    environment: &mut E,
    id: &EpisodeId,
    task: &Task,
    folder: &EpisodeFolder,
    session: &WorkArenaSession,
) -> Result<EpisodeResult, Error> {
    (shared.progress)(Event::Started { worker, episode: id });
    let limits = shared.options.limits;
    let stderr = folder.path().join("agent.stderr.txt");
    let lines = shared.agent.programs().join(" ");
    let of_run = shared.folder.path().as_std_path();
    let confined =
        shared.programs.as_ref().map(|programs| programs.in_episode(&lines, of_run, folder, None));
    let mut agent = shared.agent.agent(&EpisodeContext {
        task,
        repeat: id.repeat,
        seed: shared.seed,
        stderr: stderr.into(),
        answer_within: limits.answer,
        speech: shared.options.action_format(),
        variables: &shared.options.agent_variables,
        confined: confined.as_ref(),
    });
    let on_step = |step, _: Option<f64>| {
        (shared.progress)(Event::Step { worker, episode: id, step, max_steps: task.max_steps });
    };
    let attempt = EpisodeSpec {
        id,
        task,
        folder,
        limits,
        session: session.clone(),
        screenshots: shared.options.screenshots,
        keep_storage: shared.options.keep_storage,
        keep_network: shared.options.keep_network,
        scoring_mode: shared.options.scoring_mode,
        judge: &shared.options.judge,
        on_step: &on_step,
    };
    episode::play(environment, agent.as_mut(), &attempt).await
}

async fn keep(
    worker: usize,
    shared: &RunState,
    id: &EpisodeId,
    folder: EpisodeFolder,
    played: EpisodeResult,
) -> Result<(), Error> {
    let run = shared.folder.clone();
    let kept = blocking(move || {
        let mut played = played;
        let before = run.episode(&played.record.id());
        if before.is_whole() {
            played.record.earlier = EarlierAttempt::up_to(&before.record()?);
        }
        run.keep(folder, &played.record, &played.steps, &played.requests).map(|_| played.record)
    });
    let record = kept.await?;
    // An agent that always fails ends a run as soon as a machine that does.
    if record.outcome.failure().is_some() {
        shared.errors.fetch_add(1, Ordering::Relaxed);
    }
    *shared.cost.lock() += cost(&record);
    (shared.progress)(Event::Ended { worker, episode: id, record: &record });
    Ok(())
}

/// Returns the cost of an episode, in US dollars, as far as prices are known.
pub(super) fn cost(record: &EpisodeRecord) -> f64 {
    let spent = [&record.models, &record.judging];
    spent.into_iter().flatten().filter_map(|spent| spent.cost).sum()
}
