//! One address over many servers of `sandbox gym`.
//!
//! ```text
//! client -- POST /reset ------------> least busy gym with a free place; waits if there is none
//!        -- POST with a session -----> the gym that opened the session
//!        -- anything else -----------> any gym that answers
//!
//! gym: unknown -- answers, and has the tasks of the others --> up -- does not answer --> down
//!                                                               ^-------- answers again ---+
//! ```
//!
//! Every gym is looked at once a second: `GET /metrics` says how many places are free. Between two
//! looks, the sessions that begin and end here are counted. A reset is sent with
//! `Prefer: wait=0`, so that it waits here for all gyms, and not at one of them.
//!
//! *Invariants:* A gym that dies costs its own sessions and no others. Bodies of responses are
//! passed on as they come; of requests, only those of sessions are read, for the session's id.
//! Only who has the key changes the list of gyms. Clients have another one, in the address.

mod admin;
mod error;
mod forward;
mod http;
mod join;
mod joining;
mod metrics;
mod pool;
mod probe;
mod server;
mod sessions;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
pub use error::Error;
use forward::Upstream;
pub use join::{Membership, stay};
pub use joining::Joining;
use metrics::Counts;
use pool::Pool;
use serde::Serialize;
use sessions::Sessions;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use url::Url;

/// Time limit for requests in flight when the balancer closes.
const CLOSE_WITHIN: Duration = Duration::from_secs(5);

/// The settings of a balancer.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The listening address.
    pub listen: SocketAddr,
    /// How long a client waits for a free place.
    pub place_within: Duration,
    /// How long open sessions may continue after the interrupt.
    pub drain_within: Duration,
    /// The file of the key to the list of gyms. It is made if it does not exist.
    pub key: Utf8PathBuf,
}

/// The address of a running balancer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BalancerAddress {
    /// The base URL, with the key for clients: `http://127.0.0.1:PORT/KEY`.
    pub url: String,
    /// Number of gyms that answer.
    pub servers: usize,
    /// Number of their places.
    pub places: usize,
    /// The file of the key to the list of gyms.
    pub key: Utf8PathBuf,
}

/// The totals of a balancer that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Sessions that were begun.
    pub sessions: u64,
    /// Those of them that ended because their gym did not answer any more.
    pub lost: u64,
    /// Sessions that were still open at the end.
    pub unfinished: usize,
}

/// The state that all requests share.
struct Balancer {
    pool: Arc<Pool>,
    upstream: Upstream,
    sessions: Sessions,
    counts: Counts,
    key: String,
    place_within: Duration,
    started: Instant,
}

impl Balancer {
    fn new(key: String, place_within: Duration) -> Balancer {
        Balancer {
            pool: Pool::new(),
            upstream: Upstream::new(),
            sessions: Sessions::default(),
            counts: Counts::new(),
            key,
            place_within,
            started: Instant::now(),
        }
    }

    /// Whether gyms that have joined may not have registered with this balancer yet.
    fn is_young(&self) -> bool {
        self.started.elapsed() < join::REGISTERED_WITHIN
    }
}

/// Serves clients until it is interrupted and the open sessions have ended.
///
/// Gyms that do not answer yet are taken in when they do. `on_listening` is called once.
///
/// # Errors
/// When a URL leads to something that is no gym, or whose tasks differ; when the address or the
/// key's file cannot be used.
pub async fn serve(
    settings: Settings,
    gyms: &[Url],
    interrupt: CancellationToken,
    on_listening: impl FnOnce(&BalancerAddress),
) -> Result<Totals, Error> {
    let address = settings.listen;
    let listener =
        TcpListener::bind(address).await.map_err(|source| Error::Listen { address, source })?;
    let bound = listener.local_addr().map_err(|source| Error::Listen { address, source })?;
    let key = host_check::key::open(&settings.key)?;
    let guard = http::guard(bound, &key);
    let balancer = Arc::new(Balancer::new(key, settings.place_within));
    probe::open(&balancer, gyms).await?;
    let (servers, places) = balancer.pool.size();
    on_listening(&BalancerAddress { url: guard.url(), servers, places, key: settings.key });
    let closed = CancellationToken::new();
    let stop = closed.clone().cancelled_owned();
    let router = http::router(balancer.clone(), guard);
    let mut serving = tokio::spawn(host_check::serve(listener, router, stop));
    interrupt.cancelled().await;
    balancer.pool.close();
    let unfinished = balancer.pool.drain(settings.drain_within).await;
    closed.cancel();
    // A client that never ends its request must not keep the balancer open.
    if tokio::time::timeout(CLOSE_WITHIN, &mut serving).await.is_err() {
        serving.abort();
    }
    balancer.pool.remove_all();
    Ok(Totals { sessions: balancer.counts.sessions(), lost: balancer.counts.lost(), unfinished })
}
