//! Monitors the container engine of a site group: whether it responds, and its container events.
//!
//! ```text
//! answers -- a ping fails, or has no answer in time --> gone -- a ping is answered --> answers
//! ```
//!
//! A healthy engine responds to a ping within milliseconds. While it is gone, no request waits for
//! it: engine calls fail at once with this reason, and work that can wait is resumed when the
//! engine is back. Failures in this time do not count against a site.

use std::sync::Arc;
use std::time::Duration;

use bollard::Docker;
use bollard::errors::Error as Api;
use bollard::models::{ContainerState, EventMessage};
use bollard::query_parameters::EventsOptionsBuilder;
use container_images::{Engine, Podman};
use futures_util::StreamExt;
use tokio::sync::{broadcast, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::{Error, Event, Events};

/// The ping interval.
const PING: Duration = Duration::from_secs(1);
/// The ping timeout. A busy machine responds much more slowly than usual.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
/// For how long after an outage a failure may be attributed to it.
const AFTERMATH: Duration = Duration::from_secs(60);
/// The capacity of the queue of container events.
const BACKLOG: usize = 1024;
/// The timeout of the event stream: events may be far apart.
const UNHURRIED: Duration = Duration::from_secs(365 * 24 * 3600);

/// Stands for all containers.
const ALL: &str = "";

/// The health of the engine.
#[derive(Debug, Clone, Default)]
struct Health {
    /// The reason why it does not respond.
    gone: Option<String>,
    /// When a ping last failed.
    missed: Option<Instant>,
}

/// Monitors an engine as long as this value exists.
pub(crate) struct Monitor {
    engine: Engine,
    health: watch::Receiver<Health>,
    container_events: broadcast::Sender<String>,
    task: AbortHandle,
}

impl Monitor {
    pub(crate) fn start(engine: Engine, events: Events) -> Arc<Monitor> {
        let (health, seen) = watch::channel(Health::default());
        let container_events = broadcast::Sender::new(BACKLOG);
        let task =
            tokio::spawn(watch_over(engine.clone(), health, container_events.clone(), events))
                .abort_handle();
        Arc::new(Monitor { engine, health: seen, container_events, task })
    }

    /// The error to report if the engine does not respond.
    pub(crate) fn problem(&self) -> Option<Error> {
        self.health.borrow().gone.clone().map(|why| self.gone(why))
    }

    /// The endpoint that it listens on.
    pub(crate) fn host(&self) -> &str {
        self.engine.host()
    }

    /// Whether a current failure may be caused by an outage of the engine.
    pub(crate) fn was_gone(&self) -> bool {
        self.health.borrow().missed.is_some_and(|missed| missed.elapsed() < AFTERMATH)
    }

    /// Waits until the engine responds.
    pub(crate) async fn answers(&self) {
        let mut health = self.health.clone();
        if health.wait_for(|health| health.gone.is_none()).await.is_err() {
            // The monitor has ended: the next engine call reports the problem.
        }
    }

    /// Waits until the engine has been gone for this long.
    pub(crate) async fn is_gone_for(&self, long: Duration) -> Error {
        let mut health = self.health.clone();
        loop {
            let Ok(gone) =
                health.wait_for(|health| health.gone.is_some()).await.map(|health| health.clone())
            else {
                return std::future::pending().await;
            };
            if timeout(long, health.wait_for(|health| health.gone.is_none())).await.is_err() {
                return self.gone(gone.gone.unwrap_or_default());
            }
        }
    }

    /// Waits for a response of the engine, as long as the engine is available.
    pub(crate) async fn attend<T>(
        &self,
        doing: impl Into<String>,
        call: impl Future<Output = Result<T, Api>>,
    ) -> Result<T, Error> {
        self.attend_raw(call).await?.map_err(Error::of_engine(doing))
    }

    /// Like `attend`, but leaves errors that the engine itself reports to the caller.
    pub(crate) async fn attend_raw<T>(
        &self,
        call: impl Future<Output = Result<T, Api>>,
    ) -> Result<Result<T, Api>, Error> {
        tokio::select! {
            biased;
            answer = call => match answer {
                Err(error) if is_silence(&error) => Err(self.gone(error_text::with_causes(&error))),
                answer => Ok(answer),
            },
            gone = self.is_gone_for(Duration::ZERO) => Err(gone),
        }
    }

    /// Subscribes to container events.
    pub(crate) fn listen(&self) -> Listener {
        Listener(self.container_events.subscribe())
    }

    /// Returns the engine's own description if it is Podman.
    pub(crate) async fn podman(&self) -> Result<Option<Podman>, Error> {
        let refused = |error: container_images::Error| Error::Refused {
            doing: "ask the engine about itself".to_owned(),
            why: error_text::with_causes(&error),
        };
        self.engine.podman().await.map_err(refused)
    }

    /// The state of a container that Podman has not cleaned up yet.
    pub(crate) async fn stopped_container(&self, id: &str) -> Result<ContainerState, Error> {
        let refused = |error: container_images::Error| Error::Refused {
            doing: "inspect a container".to_owned(),
            why: error_text::with_causes(&error),
        };
        self.engine.stopped_container(id).await.map_err(refused)
    }

    /// Whether the engine is a Docker that runs as an ordinary user.
    pub(crate) async fn is_rootless_docker(&self) -> Result<bool, Error> {
        let info = self.attend("ask the engine about itself", self.docker().info()).await?;
        let options = info.security_options.unwrap_or_default();
        Ok(options.iter().any(|option| option.contains("name=rootless")))
    }

    /// The connection to the engine.
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

/// A subscription to container events of an engine.
pub(crate) struct Listener(broadcast::Receiver<String>);

impl Listener {
    /// Waits until a container may have changed.
    pub(crate) async fn hears_of(&mut self, id: &str) {
        loop {
            match self.0.recv().await {
                Ok(container) if container != id && container != ALL => {}
                // Some events were missed: they may be about this container.
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => return,
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

/// Whether an error is not a response of the engine itself.
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
    container_events: broadcast::Sender<String>,
    events: Events,
) {
    let listening = listen(engine.docker(), &health, &container_events);
    let pinging = async {
        let mut every = interval(PING);
        // After a suspend, the pings that were missed are not made up for.
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
                    tracing::warn!(
                        host,
                        why,
                        "the container engine does not answer; what needs it waits"
                    );
                    events(&Event::EngineGone { host, why: why.clone() });
                }
                (true, None) => {
                    tracing::warn!(host, "the container engine answers again");
                    events(&Event::EngineBack { host });
                }
                _ => {}
            }
            health.send_if_modified(|health| {
                // Also when it is back: an error that comes a little later may still be due to the
                // gap.
                if why.is_some() || was_gone {
                    health.missed = Some(Instant::now());
                }
                std::mem::replace(&mut health.gone, why.clone()) != why
            });
        }
    };
    tokio::join!(listening, pinging);
}

/// Publishes the ids of containers with events. After each interruption it publishes `ALL`, because
/// any event may have been missed.
async fn listen(
    docker: &Docker,
    health: &watch::Sender<Health>,
    container_events: &broadcast::Sender<String>,
) {
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
        // There may be no subscriber.
        let _ = container_events.send(ALL.to_owned());
        while let Some(Ok(event)) = stream.next().await {
            let _ = container_of(event).map(|id| container_events.send(id));
        }
    }
}

/// The id of the container that an event is about.
fn container_of(event: EventMessage) -> Option<String> {
    let actor = event.actor?;
    // A network event has the container among its attributes.
    actor.attributes.and_then(|mut attributes| attributes.remove("container")).or(actor.id)
}
