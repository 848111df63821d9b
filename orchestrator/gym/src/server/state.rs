//! The shared state of a gym: its slots, sessions and episodes.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use play::environment::EnvironmentError;
use play::episode::{self, EpisodeSpec};
use play::run::{close, select};
use play::{Environment, Error, Event, Options, Progress, WorkArenaSession, blocking};
use results::{EpisodeId, EpisodeRecord};
use tasks::{Suite, Task};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::Settings;
use super::attempts::Attempts;
use super::client::{Client, StepOutcome, StepRequest};
use super::metrics::{Load, Metrics};
use super::observation::ObservationSettings;
use super::session::Sessions;

/// A future environment.
pub(super) type Coming<E> = Pin<Box<dyn Future<Output = Result<E, EnvironmentError>> + Send>>;

pub(super) struct GymServer<E> {
    bring_up: Box<dyn Fn() -> Coming<E> + Send + Sync>,
    pub(super) suite: Suite,
    /// The tasks that clients may request.
    pub(super) tasks: Vec<Task>,
    pub(super) options: Options,
    pub(super) settings: Settings,
    pub(super) interrupt: CancellationToken,
    progress: Progress,
    places: Arc<Semaphore>,
    /// Idle environments.
    idle: Mutex<Vec<E>>,
    pub(super) sessions: Sessions,
    episodes: TaskTracker,
    pub(super) attempts: Attempts,
    pub(super) metrics: Metrics,
}

/// The reason why there is no session.
pub(super) enum NoSession {
    /// All slots were in use for this long.
    Full(Duration),
    /// The attempt exists already, or is in progress.
    Taken(EpisodeId),
    /// The gym is closing.
    Closing,
    /// Results cannot be written.
    Results(Error),
}

/// A new session: its id, its episode, and the first answer.
pub(super) struct StartedSession {
    pub(super) session: String,
    pub(super) episode: EpisodeId,
    pub(super) first: oneshot::Receiver<StepOutcome>,
}

impl<E: Environment> GymServer<E> {
    pub(super) fn open(
        attempts: Attempts,
        bring_up: Box<dyn Fn() -> Coming<E> + Send + Sync>,
        suite: &Suite,
        options: &Options,
        settings: Settings,
        interrupt: CancellationToken,
        progress: Progress,
    ) -> Result<GymServer<E>, Error> {
        Ok(GymServer {
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
            attempts,
            metrics: Metrics::new(),
        })
    }

    /// Begins an episode of a task as soon as there is a free slot, for at most `within`.
    pub(super) async fn begin(
        self: &Arc<Self>,
        task: &Task,
        repeat: Option<u32>,
        observing: ObservationSettings,
        within: Duration,
    ) -> Result<StartedSession, NoSession> {
        let place = tokio::select! {
            biased;
            () = self.interrupt.cancelled() => return Err(NoSession::Closing),
            place = timeout(within, self.places.clone().acquire_owned()) => place,
        };
        let place = place.map_err(|_| NoSession::Full(within))?.map_err(|_| NoSession::Closing)?;
        let (say, begun) = oneshot::channel();
        // In a task of its own, because a request ends with its connection.
        self.episodes.spawn(self.clone().host(place, task.clone(), repeat, observing, say));
        begun.await.unwrap_or(Err(NoSession::Closing))
    }

    /// Books an attempt and plays its episode in a separate task. If the client disconnects before
    /// it has a session, the attempt is removed.
    async fn host(
        self: Arc<Self>,
        place: OwnedSemaphorePermit,
        task: Task,
        repeat: Option<u32>,
        observing: ObservationSettings,
        say: oneshot::Sender<Result<StartedSession, NoSession>>,
    ) {
        let episode = match self.attempts.book(&task.id, repeat).await {
            Ok(episode) => episode,
            Err(why) => {
                // Free the slot first, so that a client that gets the error can use it.
                drop(place);
                let _ = say.send(Err(why));
                return;
            }
        };
        let (answer, first) = oneshot::channel();
        let (way, steps) = mpsc::channel::<StepRequest>(1);
        let client = Client::new(steps, answer, observing, self.options.limits.answer);
        let session = Uuid::new_v4().to_string();
        let begun = StartedSession { session: session.clone(), episode: episode.clone(), first };
        if say.send(Ok(begun)).is_err() {
            return self.attempts.unbook(&episode).await;
        }
        self.sessions.open(&session, way);
        self.play(place, session, episode, task, client).await;
    }

    /// Plays an episode to its end and sends the result to the client.
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
            self.attempts.unbook(&id).await;
        }
        self.sessions.end(&session, ended.as_ref().ok().cloned());
        // Free the slot first, so that a client that gets the end can use it.
        drop(place);
        client.hear(ended);
    }

    async fn attempt(
        &self,
        id: &EpisodeId,
        task: &Task,
        client: &mut Client,
    ) -> Result<EpisodeRecord, String> {
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
            coming = coming => coming.map_err(|error| format!("failed to {}", error_text::with_causes(&error)))?,
        };
        (self.progress)(Event::Started { worker: 0, episode: id });
        let folder = self.attempts.run().begin_episode(id).map_err(failed)?;
        let session = WorkArenaSession::default();
        let score_so_far = client.score_so_far();
        let on_step = |step, score| {
            *lock(&score_so_far) = score;
            (self.progress)(Event::Step {
                worker: 0,
                episode: id,
                step,
                max_steps: task.max_steps,
            });
        };
        let attempt = EpisodeSpec {
            id,
            task,
            folder: &folder,
            limits: self.options.limits,
            session: session.clone(),
            screenshots: self.options.screenshots,
            keep_storage: self.options.keep_storage,
            keep_network: self.options.keep_network,
            scoring_mode: self.options.scoring_mode,
            judge: &self.options.judge,
            on_step: &on_step,
        };
        let played = tokio::select! {
            biased;
            () = self.interrupt.cancelled() => None,
            played = episode::play(&mut environment, client, &attempt) => Some(played),
        };
        session.teardown().await;
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
        // Others may wait for the instances that only this episode used.
        if played.spent || environment.hand_back().await.is_err() {
            close(environment).await;
        } else {
            lock(&self.idle).push(environment);
        }
        let run = self.attempts.run().clone();
        let kept = blocking(move || {
            run.keep(folder, &played.record, &played.steps, &played.requests).map(|_| played.record)
        });
        let record = kept.await.map_err(failed)?;
        (self.progress)(Event::Ended { worker: 0, episode: id, record: &record });
        Ok(record)
    }

    /// The current load.
    pub(super) fn load(&self) -> Load {
        let free = self.places.available_permits();
        let taken = self.options.workers.max(1).saturating_sub(free);
        Load { free, taken, sessions: self.sessions.count_open() }
    }

    /// Waits for all episodes to end, and closes idle environments.
    pub(super) async fn empty(&self) {
        self.episodes.close();
        self.episodes.wait().await;
        let idle = std::mem::take(&mut *lock(&self.idle));
        for environment in idle {
            close(environment).await;
        }
    }
}

/// The error for clients whose episode is aborted.
pub(super) const CLOSING: &str = "the gym is closing, and the episode is discarded";

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

/// An error as clients read it.
fn failed(error: impl std::error::Error) -> String {
    format!("failed to {}", error_text::with_causes(&error))
}
