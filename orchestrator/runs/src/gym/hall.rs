//! What the requests to a gym share: its places, its sessions, and the run that it writes.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tasks::{Suite, Task};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::Settings;
use super::client::{Asked, Client, SPEECH, Turn};
use super::observation::Observing;
use super::session::Sessions;
use crate::environment::{Environment, EnvironmentError};
use crate::episode::{self, Attempt};
use crate::results::{EpisodeId, EpisodeRecord, RunFolder, RunRecord};
use crate::run::{Sites, close, out, record, select};
use crate::stay::Guest;
use crate::{Error, Event, Options, Progress, Summary};

/// An environment on its way.
pub(super) type Coming<E> = Pin<Box<dyn Future<Output = Result<E, EnvironmentError>> + Send>>;

pub(super) struct Hall<E> {
    sites: Sites,
    bring_up: Box<dyn Fn() -> Coming<E> + Send + Sync>,
    pub(super) suite: Suite,
    /// Those of its tasks that can be asked for.
    pub(super) tasks: Vec<Task>,
    options: Options,
    pub(super) settings: Settings,
    pub(super) interrupt: CancellationToken,
    progress: Progress,
    places: Arc<Semaphore>,
    /// Environments that nobody uses.
    idle: Mutex<Vec<E>>,
    pub(super) sessions: Sessions,
    episodes: TaskTracker,
    run: RunFolder,
    begun: Timestamp,
    /// Attempts that were begun, by task.
    attempts: Mutex<BTreeMap<String, BTreeSet<u32>>>,
}

/// Why there is no session.
pub(super) enum NoSession {
    /// All places are taken.
    Full,
    /// The attempt is there already, or under way.
    Taken(EpisodeId),
    /// The gym closes.
    Closing,
    /// Results cannot be written.
    Results(Error),
}

/// A session that has begun: its id, its episode, and what comes first.
pub(super) struct Begun {
    pub(super) session: String,
    pub(super) episode: EpisodeId,
    pub(super) first: oneshot::Receiver<Turn>,
}

impl<E: Environment> Hall<E> {
    pub(super) fn open(
        sites: Sites,
        bring_up: Box<dyn Fn() -> Coming<E> + Send + Sync>,
        suite: &Suite,
        options: &Options,
        settings: Settings,
        interrupt: CancellationToken,
        progress: Progress,
    ) -> Result<Hall<E>, Error> {
        let run = open_folder(suite, options, &sites)?;
        let begun = run.run()?.started;
        let mut attempts = BTreeMap::<String, BTreeSet<u32>>::new();
        for episode in run.episodes()? {
            attempts.entry(episode.task).or_default().insert(episode.repeat);
        }
        let hall = Hall {
            sites,
            bring_up,
            tasks: select(suite, options)?,
            suite: suite.clone(),
            options: options.clone(),
            settings,
            interrupt,
            progress,
            places: Arc::new(Semaphore::new(options.workers.max(1))),
            idle: Mutex::default(),
            sessions: Sessions::default(),
            episodes: TaskTracker::new(),
            run,
            begun,
            attempts: Mutex::new(attempts),
        };
        // What was under way when an earlier gym was killed is none of the run's.
        hall.write_run(&lock(&hall.attempts))?;
        Ok(hall)
    }

    pub(super) fn run(&self) -> &RunFolder {
        &self.run
    }

    /// Begins an episode of a task once there is a place for it.
    pub(super) async fn begin(
        self: &Arc<Self>,
        task: &Task,
        repeat: Option<u32>,
        observing: Observing,
    ) -> Result<Begun, NoSession> {
        let place = tokio::select! {
            biased;
            () = self.interrupt.cancelled() => return Err(NoSession::Closing),
            place = timeout(self.settings.place_within, self.places.clone().acquire_owned()) => place,
        };
        let place = place.map_err(|_| NoSession::Full)?.map_err(|_| NoSession::Closing)?;
        let episode = self.book(&task.id, repeat)?;
        let (answer, first) = oneshot::channel();
        let (way, asked) = mpsc::channel::<Asked>(1);
        let client = Client::new(asked, answer, observing, self.options.limits.answer);
        let session = Uuid::new_v4().to_string();
        self.sessions.open(&session, way);
        let work = self.clone().play(place, session.clone(), episode.clone(), task.clone(), client);
        self.episodes.spawn(work);
        Ok(Begun { session, episode, first })
    }

    /// Plays an episode to its end, and tells whoever waits for it.
    async fn play(
        self: Arc<Self>,
        place: OwnedSemaphorePermit,
        session: String,
        id: EpisodeId,
        task: Task,
        mut client: Client,
    ) {
        let ended = self.attempt(&id, &task, &mut client).await;
        if ended.is_err() {
            self.unbook(&id);
        }
        self.sessions.end(&session, ended.as_ref().ok().cloned());
        // Whoever hears that it has ended finds a place.
        drop(place);
        client.hear(ended);
    }

    async fn attempt(
        &self,
        id: &EpisodeId,
        task: &Task,
        client: &mut Client,
    ) -> Result<EpisodeRecord, String> {
        let failed = |error: Error| format!("failed to {error}");
        let coming = async {
            let idle = lock(&self.idle).pop();
            match idle {
                Some(environment) => Ok(environment),
                None => (self.bring_up)().await,
            }
        };
        let mut environment = tokio::select! {
            biased;
            () = self.interrupt.cancelled() => return Err(CLOSING.to_owned()),
            coming = coming => coming.map_err(|error| format!("failed to {error}"))?,
        };
        (self.progress)(Event::Started { worker: 0, episode: id });
        let folder = self.run.begin_episode(id).map_err(failed)?;
        let guest = Guest::default();
        let score_so_far = client.score_so_far();
        let on_step = |step, score| {
            *lock(&score_so_far) = score;
            (self.progress)(Event::Step { worker: 0, episode: id, step, max_steps: task.max_steps });
        };
        let attempt = Attempt {
            id,
            task,
            folder: &folder,
            limits: self.options.limits,
            guest: guest.clone(),
            keep_storage: self.options.keep_storage,
            keep_network: self.options.keep_network,
            rules: self.options.rules,
            judge: &self.options.judge,
            on_step: &on_step,
        };
        let played = tokio::select! {
            biased;
            () = self.interrupt.cancelled() => None,
            played = episode::play(&mut environment, client, &attempt) => Some(played),
        };
        guest.leave().await;
        let Some(played) = played else {
            close(environment).await;
            folder.discard().map_err(failed)?;
            return Err(CLOSING.to_owned());
        };
        let played = match played {
            Ok(played) => played,
            Err(error) => {
                close(environment).await;
                return Err(failed(error));
            }
        };
        // Others may wait for what this episode had for itself.
        if played.spent || environment.hand_back().await.is_err() {
            close(environment).await;
        } else {
            lock(&self.idle).push(environment);
        }
        self.run.keep(folder, &played.record, &played.steps, &played.requests).map_err(failed)?;
        (self.progress)(Event::Ended { worker: 0, episode: id, record: &played.record });
        Ok(played.record)
    }

    /// Notes which attempt this is: the one that was asked for, or the first that nobody has begun.
    fn book(&self, task: &str, repeat: Option<u32>) -> Result<EpisodeId, NoSession> {
        let mut attempts = lock(&self.attempts);
        let of = attempts.entry(task.to_owned()).or_default();
        let repeat = repeat.unwrap_or_else(|| (1..).find(|free| !of.contains(free)).unwrap_or(u32::MAX));
        let id = EpisodeId { task: task.to_owned(), repeat };
        if !of.insert(repeat) {
            return Err(NoSession::Taken(id));
        }
        self.write_run(&attempts).map_err(NoSession::Results)?;
        Ok(id)
    }

    /// Makes it as if an attempt had never begun.
    fn unbook(&self, id: &EpisodeId) {
        let mut attempts = lock(&self.attempts);
        if let Some(of) = attempts.get_mut(&id.task) {
            of.remove(&id.repeat);
        }
        if let Err(error) = self.write_run(&attempts) {
            tracing::warn!(%error, "the run still tells of an attempt that did not begin");
        }
    }

    /// A run of a gym is of those tasks that were asked for, so that it is whole when they are.
    fn write_run(&self, attempts: &BTreeMap<String, BTreeSet<u32>>) -> Result<(), Error> {
        let begun = |task: &&Task| attempts.get(&task.id).is_some_and(|of| !of.is_empty());
        let tasks: Vec<Task> = self.suite.tasks.iter().filter(begun).cloned().collect();
        let repeat = attempts.values().filter_map(BTreeSet::last).max().copied().unwrap_or(1);
        let written = written(&self.suite, &self.options, &tasks, repeat, &self.sites)?;
        self.run.rewrite(&RunRecord { started: self.begun, ..written })
    }

    /// Waits for all episodes to end, and closes what is left.
    pub(super) async fn empty(&self) {
        self.episodes.close();
        self.episodes.wait().await;
        let idle = std::mem::take(&mut *lock(&self.idle));
        for environment in idle {
            close(environment).await;
        }
    }

    /// What was played; nothing, and no folder, where nothing was.
    pub(super) fn conclude(&self) -> Result<Option<Summary>, Error> {
        if self.run.episodes()?.is_empty() {
            self.run.clone().discard()?;
            return Ok(None);
        }
        Summary::read(self.run.path()).map(Some)
    }
}

/// What clients are told whose episode is put down.
pub(super) const CLOSING: &str = "the gym closes, and the episode is as if it had never begun";

/// A new folder, or the one that is to be gone on with.
fn open_folder(suite: &Suite, options: &Options, sites: &Sites) -> Result<RunFolder, Error> {
    let path = out(suite, "gym", options, Timestamp::now());
    if !options.resume {
        return RunFolder::create(&path, &written(suite, options, &[], 1, sites)?);
    }
    let there = RunFolder::open(&path)?.run()?;
    let tasks: Vec<Task> = there
        .tasks
        .iter()
        .map(|task| suite.task(&task.id).cloned())
        .collect::<Result<_, tasks::UnknownTask>>()?;
    RunFolder::resume(&path, &written(suite, options, &tasks, there.repeat, sites)?)
}

fn written(
    suite: &Suite,
    options: &Options,
    tasks: &[Task],
    repeat: u32,
    sites: &Sites,
) -> Result<RunRecord, Error> {
    let (multiaction, rules) = (SPEECH.multiaction, options.rules);
    Ok(RunRecord { multiaction, rules, ..record(suite, tasks, "gym".to_owned(), repeat, sites)? })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
