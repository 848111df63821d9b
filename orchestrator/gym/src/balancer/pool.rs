//! The list of gyms. It decides which client gets the next free place, in the order of their
//! requests.

use std::sync::Arc;

use axum::body::Bytes;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Duration, Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::balancer::server::{Health, Lease, Server, State};

/// All gyms, in the order in which they came.
pub(crate) struct Pool {
    servers: Mutex<Vec<Arc<Server>>>,
    /// Notified when there may be a free place, or fewer sessions.
    change: Arc<Notify>,
    /// Held by the client that gets the next place. The lock is fair: first come, first served.
    turn: tokio::sync::Mutex<()>,
    /// One copy for each client that waits.
    waiters: Arc<()>,
    closing: CancellationToken,
}

/// The reason why there is no place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoCapacity {
    /// All are taken.
    Full,
    /// No gym answers.
    NoServer,
    /// The balancer is closing.
    Closing,
}

impl Pool {
    pub(crate) fn new() -> Arc<Pool> {
        Arc::new(Pool {
            servers: Mutex::default(),
            change: Arc::default(),
            turn: tokio::sync::Mutex::default(),
            waiters: Arc::default(),
            closing: CancellationToken::new(),
        })
    }

    pub(crate) fn all(&self) -> Vec<Arc<Server>> {
        self.servers.lock().clone()
    }

    pub(crate) fn find(&self, url: &str) -> Option<Arc<Server>> {
        self.servers.lock().iter().find(|server| server.url == url).cloned()
    }

    /// Adds a gym. Returns the gym on the list, and whether it is new.
    pub(crate) fn add(&self, server: Arc<Server>) -> (Arc<Server>, bool) {
        let mut servers = self.servers.lock();
        if let Some(known) = servers.iter().find(|one| one.url == server.url) {
            return (known.clone(), false);
        }
        servers.push(server.clone());
        (server, true)
    }

    /// Takes a gym off the list.
    pub(crate) fn remove(&self, server: &Server) {
        self.servers.lock().retain(|one| one.url != server.url);
        server.removal.cancel();
    }

    pub(crate) fn remove_all(&self) {
        self.servers.lock().drain(..).for_each(|server| server.removal.cancel());
    }

    /// Adds a gym that has these tasks, if the others have the same.
    ///
    /// # Errors
    /// When another has other tasks: its URL.
    pub(crate) fn admit(&self, server: &Server, tasks: &Bytes) -> Result<(), String> {
        // Two that come at the same time are compared.
        let servers = self.servers.lock();
        let mut others = servers.iter().filter(|one| one.url != server.url);
        let other = others.find_map(|one| Some((one.url.clone(), one.state().up_tasks()?)));
        let tasks = match other {
            Some((url, theirs)) if theirs != tasks => return Err(url),
            // One copy for all.
            Some((_, theirs)) => theirs,
            None => tasks.clone(),
        };
        server.change(|state| {
            state.tasks = Some(tasks);
            state.health = Health::Up;
        });
        Ok(())
    }

    /// Wakes whoever waits, to check all gyms again.
    pub(crate) fn notify(&self) {
        self.change.notify_one();
    }

    pub(crate) fn adopt(&self, server: &Arc<Server>) -> Lease {
        Lease::adopt(server, &self.change)
    }

    /// Returns the least busy gym that answers.
    pub(crate) fn least_busy(&self) -> Option<Arc<Server>> {
        self.by_load().next().map(|(server, _)| server)
    }

    fn by_load(&self) -> impl Iterator<Item = (Arc<Server>, State)> {
        let of = |server: Arc<Server>| {
            let state = server.state();
            state.is_open().then_some((server, state))
        };
        let mut open: Vec<_> = self.all().into_iter().filter_map(of).collect();
        open.sort_by(|(_, one), (_, other)| one.is_busier_than(other));
        open.into_iter()
    }

    /// Waits for a place in the least busy gym.
    pub(crate) async fn lease(&self, until: Instant) -> Result<Lease, NoCapacity> {
        if self.closing.is_cancelled() {
            return Err(NoCapacity::Closing);
        }
        // A client that does not wait needs no turn, if nobody is before it.
        if Arc::strong_count(&self.waiters) == 1
            && let Some(lease) = self.take()
        {
            return Ok(lease);
        }
        let _waits = self.waiters.clone();
        let place = async {
            let _turn = self.turn.lock().await;
            loop {
                if let Some(lease) = self.take() {
                    return lease;
                }
                self.change.notified().await;
            }
        };
        tokio::select! {
            biased;
            () = self.closing.cancelled() => Err(NoCapacity::Closing),
            place = timeout_at(until, place) => place.map_err(|_| match self.least_busy() {
                Some(_) => NoCapacity::Full,
                None => NoCapacity::NoServer,
            }),
        }
    }

    fn take(&self) -> Option<Lease> {
        self.by_load().find_map(|(server, _)| Lease::take(&server, &self.change))
    }

    /// Waits until no session is open, after [`Pool::close`]. Returns the number of sessions that
    /// are open at the time limit.
    pub(crate) async fn drain(&self, within: Duration) -> usize {
        let open = || -> u64 { self.all().iter().map(|server| server.state().open()).sum() };
        let end = async {
            while open() > 0 {
                self.change.notified().await;
            }
        };
        let _ = timeout(within, end).await;
        usize::try_from(open()).unwrap_or(usize::MAX)
    }

    /// Refuses new sessions from now on.
    pub(crate) fn close(&self) {
        self.closing.cancel();
    }

    /// Number of gyms that answer, and of their places.
    pub(crate) fn size(&self) -> (usize, usize) {
        let up: Vec<State> =
            self.all().iter().map(|server| server.state()).filter(State::is_up).collect();
        let places: i64 = up.iter().map(|state| state.report.places).sum();
        (up.len(), usize::try_from(places).unwrap_or(0))
    }

    /// Returns why gyms cannot be used, in words.
    pub(crate) fn complaints(&self) -> String {
        let complaint = |server: &Arc<Server>| match server.state().health {
            Health::Up => format!("{} is leaving", server.url),
            Health::Down(why) | Health::Unfit(why) => format!("{}: {why}", server.url),
        };
        let complaints: Vec<String> = self.all().iter().map(complaint).collect();
        if complaints.is_empty() { "none is registered".to_owned() } else { complaints.join("; ") }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::balancer::server::Report;

    #[tokio::test]
    async fn who_does_not_wait_takes_no_turn() {
        let pool = Pool::new();
        let (server, _) =
            pool.add(Server::new(&"http://127.0.0.1:1".parse().unwrap(), true).unwrap());
        server.change(|state| {
            state.health = Health::Up;
            state.report = Report { places: 1, in_use: 0, sessions: 0 };
        });
        let turn = pool.turn.lock().await;
        let lease = pool.lease(Instant::now()).await.unwrap_or_else(|_| panic!("a place is free"));
        drop(turn);
        assert_eq!(pool.lease(Instant::now()).await.err(), Some(NoCapacity::Full));
        server.change(|state| state.is_leaving = true);
        assert_eq!(pool.lease(Instant::now()).await.err(), Some(NoCapacity::NoServer));
        assert_eq!(pool.complaints(), "http://127.0.0.1:1 is leaving");
        drop(lease);
    }
}
