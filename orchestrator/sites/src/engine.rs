//! The container engine of a group: whether it answers, and what it tells of containers.
//!
//! ```text
//! answers -- a ping fails, or has no answer in time --> gone -- a ping is answered --> answers
//! ```
//!
//! A healthy engine answers a ping within milliseconds. While it is gone no request is left waiting
//! for it: what is asked of it fails at once and says so, and what can wait waits until it is back.
//! What ends meanwhile does not speak against a site.

use std::sync::Arc;
use std::time::Duration;

use bollard::Docker;
use bollard::errors::Error as Api;
use bollard::models::EventMessage;
use bollard::query_parameters::EventsOptionsBuilder;
use futures_util::StreamExt;
use images::Engine;
use tokio::sync::{broadcast, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::{Error, Event, Events};

/// How often the engine is asked whether it is there.
const PING: Duration = Duration::from_secs(1);
/// How long it may take to say so. On a machine that is busy, much longer than usual.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
/// For how long after it was gone what fails may have failed because of that.
const AFTERMATH: Duration = Duration::from_secs(60);
/// Containers whose events nobody has looked at yet.
const BACKLOG: usize = 1024;
/// What is told of may be far apart.
const UNHURRIED: Duration = Duration::from_secs(365 * 24 * 3600);

/// Stands for all containers.
const ALL: &str = "";

/// How the engine is doing.
#[derive(Debug, Clone, Default)]
struct Health {
    /// Why it does not answer.
    gone: Option<String>,
    /// When it was last seen not to answer.
    missed: Option<Instant>,
}

/// Watches over an engine as long as it lives.
pub(crate) struct Monitor {
    engine: Engine,
    health: watch::Receiver<Health>,
    told: broadcast::Sender<String>,
    task: AbortHandle,
}

impl Monitor {
    pub(crate) fn start(engine: Engine, events: Events) -> Arc<Monitor> {
        let (health, seen) = watch::channel(Health::default());
        let told = broadcast::Sender::new(BACKLOG);
        let task = tokio::spawn(watch_over(engine.clone(), health, told.clone(), events)).abort_handle();
        Arc::new(Monitor { engine, health: seen, told, task })
    }

    /// What is to be said of an engine that does not answer.
    pub(crate) fn problem(&self) -> Option<Error> {
        self.health.borrow().gone.clone().map(|why| self.gone(why))
    }

    /// Where it listens.
    pub(crate) fn host(&self) -> &str {
        self.engine.host()
    }

    /// Whether what fails now may have failed because the engine did.
    pub(crate) fn was_gone(&self) -> bool {
        self.health.borrow().missed.is_some_and(|missed| missed.elapsed() < AFTERMATH)
    }

    /// Waits until the engine answers.
    pub(crate) async fn answers(&self) {
        let mut health = self.health.clone();
        if health.wait_for(|health| health.gone.is_none()).await.is_err() {
            // Nobody watches any more: what is asked of the engine will tell.
        }
    }

    /// Waits until it has been gone for so long.
    pub(crate) async fn is_gone_for(&self, long: Duration) -> Error {
        let mut health = self.health.clone();
        loop {
            let Ok(gone) = health.wait_for(|health| health.gone.is_some()).await.map(|health| health.clone())
            else {
                return std::future::pending().await;
            };
            if timeout(long, health.wait_for(|health| health.gone.is_none())).await.is_err() {
                return self.gone(gone.gone.unwrap_or_default());
            }
        }
    }

    /// Waits for an answer of the engine, as long as there is one to wait for.
    pub(crate) async fn attend<T>(
        &self,
        doing: impl Into<String>,
        asked: impl Future<Output = Result<T, Api>>,
    ) -> Result<T, Error> {
        self.attend_raw(asked).await?.map_err(Error::of_engine(doing))
    }

    /// The same; what the engine itself says is for the caller to judge.
    pub(crate) async fn attend_raw<T>(
        &self,
        asked: impl Future<Output = Result<T, Api>>,
    ) -> Result<Result<T, Api>, Error> {
        tokio::select! {
            biased;
            answer = asked => match answer {
                Err(error) if is_silence(&error) => Err(self.gone(error_text::with_causes(&error))),
                answer => Ok(answer),
            },
            gone = self.is_gone_for(Duration::ZERO) => Err(gone),
        }
    }

    /// Hears of containers to which something has been done.
    pub(crate) fn listen(&self) -> Listener {
        Listener(self.told.subscribe())
    }

    /// Whether it is Podman.
    pub(crate) async fn is_podman(&self) -> Result<bool, Error> {
        self.attend("ask the engine for its version", self.engine.is_podman()).await
    }

    /// The connection to it.
    pub(crate) fn docker(&self) -> &Docker {
        self.engine.docker()
    }

    fn gone(&self, why: String) -> Error {
        Error::EngineGone { host: self.host().to_owned(), why }
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What an engine tells of containers.
pub(crate) struct Listener(broadcast::Receiver<String>);

impl Listener {
    /// Waits until something may have been done to a container.
    pub(crate) async fn hears_of(&mut self, id: &str) {
        loop {
            match self.0.recv().await {
                Ok(told) if told != id && told != ALL => {}
                // It has missed some: perhaps those.
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => return,
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

/// Whether an error is none of the engine's own words.
fn is_silence(error: &Api) -> bool {
    matches!(
        error,
        Api::HyperResponseError { .. }
            | Api::HyperLegacyError { .. }
            | Api::IOError { .. }
            | Api::RequestTimeoutError
            | Api::SocketNotFoundError(_)
    )
}

async fn watch_over(
    engine: Engine,
    health: watch::Sender<Health>,
    told: broadcast::Sender<String>,
    events: Events,
) {
    let listening = listen(engine.docker(), &health, &told);
    let pinging = async {
        let mut every = interval(PING);
        every.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            every.tick().await;
            let why = match timeout(ANSWERS_WITHIN, engine.docker().ping()).await {
                Ok(Ok(_)) => None,
                Ok(Err(error)) => Some(error_text::with_causes(&error)),
                Err(_) => Some(format!("no answer within {} s", ANSWERS_WITHIN.as_secs())),
            };
            let host = engine.host().to_owned();
            let was_gone = health.borrow().gone.is_some();
            match (was_gone, &why) {
                (false, Some(why)) => {
                    tracing::warn!(host, why, "the container engine does not answer; what needs it waits");
                    events(&Event::EngineGone { host, why: why.clone() });
                }
                (true, None) => {
                    tracing::warn!(host, "the container engine answers again");
                    events(&Event::EngineBack { host });
                }
                _ => {}
            }
            health.send_if_modified(|health| {
                if why.is_some() || was_gone {
                    health.missed = Some(Instant::now());
                }
                std::mem::replace(&mut health.gone, why.clone()) != why
            });
        }
    };
    tokio::join!(listening, pinging);
}

/// Passes on of which containers the engine tells something, and after each silence of all, as
/// anything may have been missed.
async fn listen(docker: &Docker, health: &watch::Sender<Health>, told: &broadcast::Sender<String>) {
    let of = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let filters = [
        ("type".to_owned(), of(&["container", "network"])),
        ("event".to_owned(), of(&["die", "pause", "disconnect"])),
    ];
    let options = EventsOptionsBuilder::default().filters(&filters.into()).build();
    let unhurried = docker.clone().with_timeout(UNHURRIED);
    let mut every = interval(PING);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut health = health.subscribe();
    loop {
        every.tick().await;
        if health.wait_for(|health| health.gone.is_none()).await.is_err() {
            return;
        }
        let mut stream = Box::pin(unhurried.events(Some(options.clone())));
        // Nobody may be listening.
        let _ = told.send(ALL.to_owned());
        while let Some(Ok(event)) = stream.next().await {
            let _ = container_of(event).map(|id| told.send(id));
        }
    }
}

/// The id of the container that an event is about.
fn container_of(event: EventMessage) -> Option<String> {
    let actor = event.actor?;
    // An event of a network names the container among its attributes.
    actor.attributes.and_then(|mut attributes| attributes.remove("container")).or(actor.id)
}
