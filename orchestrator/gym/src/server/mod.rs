#![doc = include_str!("../../GYM.md")]

mod attempts;
mod client;
mod http;
mod memory;
mod metrics;
mod observation;
mod session;
mod state;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use attempts::Attempts;
use camino::Utf8PathBuf;
use host_check::{Guard, Key};
use play::environment::EnvironmentError;
use play::run::{HostFacts, select};
use play::world::{World, running_sites, start_pages};
use play::{Environment, Options};
use results::Summary;
use serde::Serialize;
use state::GymServer;
use tasks::Suite;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Time limit for requests in flight when the gym closes.
const CLOSE_WITHIN: Duration = Duration::from_secs(5);

/// The settings of a gym besides those of episodes. In its [`Options`], `workers` is the number of
/// concurrent episodes, and `limits.answer` is the time limit for a client's next action.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The listening address.
    pub listen: SocketAddr,
    /// The key that clients must send.
    pub key: Key,
    /// How long a client waits for a free slot.
    pub place_within: Duration,
}

/// The address and settings of a running gym.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GymAddress {
    /// The base URL, with the key: `http://127.0.0.1:PORT/KEY`.
    pub url: String,
    /// The listening address, which is in the URL.
    #[serde(skip)]
    pub address: SocketAddr,
    /// The name of the suite.
    pub suite: String,
    /// The folder of the results.
    pub run: Utf8PathBuf,
    /// Number of concurrent episodes.
    pub workers: usize,
}

/// An event of a gym.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// It answers now.
    Listening(&'a GymAddress),
    /// An event of its episodes or their worlds.
    Played(play::Event<'a>),
}

/// Receives events. Called from the workers, so it must not block.
pub type Progress = Arc<dyn Fn(Event<'_>) + Send + Sync>;

/// An error in serving a gym.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its episodes cannot be played, or their results cannot be written.
    #[error(transparent)]
    Played(#[from] play::Error),
    /// The gym cannot listen on the address.
    #[error("listen at {address}: {source}; name another address, or port 0 for a free one")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
}

/// Serves a suite as a gym until it is interrupted. Returns the summary of the played episodes, if
/// any.
///
/// # Errors
/// When the world cannot start, the address cannot be used, or results cannot be written.
pub async fn serve(
    suite: &Suite,
    options: &Options,
    settings: Settings,
    interrupt: CancellationToken,
    progress: Progress,
) -> Result<Option<Summary>, Error> {
    let tasks = select(suite, options)?;
    // Every client may request the same task.
    let repeat = u32::try_from(options.workers).unwrap_or(u32::MAX);
    let repeated = Options { repeat, ..options.clone() };
    let played = of_played(&progress);
    let running = running_sites::open(suite, &tasks, &repeated, &interrupt, &played).await?;
    let open = async {
        let machine = HostFacts::of(running.as_ref(), options.headed).await?;
        let town = running.as_ref().map(|running| running.town.clone());
        let world = start_pages::open(suite, &tasks, town, options, &played).await?;
        let (spec, settle) = (suite.world.clone(), options.limits.settle);
        let bring_up = move || {
            let (spec, world) = (spec.clone(), world.clone());
            async move { World::bring_up(&spec, world, settle).await }
        };
        serve_in(machine, bring_up, suite, options, settings, interrupt, progress).await
    };
    let outcome = open.await;
    if let Some(running) = running {
        running_sites::stop(&running.town).await;
    }
    outcome
}

/// As [`serve`], with any kind of environment.
///
/// # Errors
/// As [`serve`].
pub async fn serve_in<E, B, F>(
    machine: HostFacts,
    bring_up: B,
    suite: &Suite,
    options: &Options,
    settings: Settings,
    interrupt: CancellationToken,
    progress: Progress,
) -> Result<Option<Summary>, Error>
where
    E: Environment,
    B: Fn() -> F + Send + Sync + 'static,
    F: Future<Output = Result<E, EnvironmentError>> + Send + 'static,
{
    let address = settings.listen;
    // Before the run has a folder: a port that is taken leaves nothing behind.
    let listener =
        TcpListener::bind(address).await.map_err(|source| Error::Listen { address, source })?;
    let bound = listener.local_addr().map_err(|source| Error::Listen { address, source })?;
    let bring_up = Box::new(move || Box::pin(bring_up()) as state::Coming<E>);
    let attempts = Attempts::open(suite, options, machine).await?;
    let guard = Guard::new(bound, settings.key.clone());
    let server = GymServer::open(
        attempts,
        bring_up,
        suite,
        options,
        settings,
        interrupt.clone(),
        of_played(&progress),
    );
    let server = Arc::new(server?);
    progress(Event::Listening(&GymAddress {
        url: guard.url(),
        address: bound,
        suite: suite.name.clone(),
        run: server.attempts.run().path().to_owned(),
        workers: options.workers.max(1),
    }));
    let router = http::router(server.clone(), guard);
    let stop = interrupt.clone().cancelled_owned();
    let mut serving = tokio::spawn(host_check::serve(listener, router, stop));
    let fallen = tokio::select! {
        biased;
        () = interrupt.cancelled() => None,
        fallen = &mut serving => Some(fallen),
    };
    if let Some(why) = &fallen {
        tracing::warn!(?why, "the gym no longer listens");
        interrupt.cancel();
    }
    server.empty().await;
    // A client that never ends its request must not keep the gym open.
    if fallen.is_none() && tokio::time::timeout(CLOSE_WITHIN, &mut serving).await.is_err() {
        serving.abort();
    }
    Ok(server.attempts.conclude().await?)
}

/// Wraps the events of playing as events of the gym.
fn of_played(progress: &Progress) -> play::Progress {
    let progress = progress.clone();
    Arc::new(move |event| progress(Event::Played(event)))
}
