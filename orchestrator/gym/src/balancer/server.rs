//! The balancer's view of one gym: its address, its health, and its places in use.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Bytes;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::balancer::Error;

/// A gym, with the result of its last probe.
pub(crate) struct Server {
    /// The base URL, without a slash at its end.
    pub(crate) url: String,
    /// Host and port.
    pub(crate) authority: String,
    /// Whether it was named at the start. Others are forgotten when they are gone for long.
    pub(crate) is_permanent: bool,
    state: Mutex<State>,
    /// Notified when a request had no answer, so that the next probe is now.
    pub(crate) look: Notify,
    /// Whether it has ended, or was silent for so long that requests in flight are aborted.
    pub(crate) is_gone: watch::Sender<bool>,
    /// Cancelled when it is off the list, which ends its probes.
    pub(crate) removal: CancellationToken,
}

/// The state of a gym.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) health: Health,
    /// It gets no new sessions, and is forgotten when the open ones have ended.
    pub(crate) is_leaving: bool,
    /// The prefix of the paths of its requests: its key.
    pub(crate) prefix: String,
    /// The address that answered the last probe.
    pub(crate) address: Option<SocketAddr>,
    /// Its answer to `GET /tasks`, without which it cannot be compared with others.
    pub(crate) tasks: Option<Bytes>,
    pub(crate) report: Report,
    /// Places in use: those of the last probe, and the starts and ends since.
    pub(crate) in_use: i64,
    /// Number of sessions that this balancer has started and ended.
    pub(crate) starts: u64,
    pub(crate) ends: u64,
    /// The time of the last probe that found it up; before that, of its addition.
    pub(crate) last_up: Instant,
}

/// Whether a gym can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Health {
    Up,
    /// It does not answer, for this reason.
    Down(String),
    /// Its answers cannot be used, for this reason.
    Unfit(String),
}

/// The report of a gym, from `GET /metrics`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Report {
    pub(crate) places: i64,
    pub(crate) in_use: i64,
    pub(crate) sessions: i64,
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Health::Up => f.write_str("it answers"),
            Health::Down(why) => write!(f, "it does not answer: {why}"),
            Health::Unfit(why) => f.write_str(why),
        }
    }
}

/// Host and port of a URL, and the path of its key, which is empty without one.
///
/// # Errors
/// The fault of the URL in words.
pub(crate) fn authority(url: &Url) -> Result<(String, String), &'static str> {
    if url.scheme() != "http" {
        return Err("it is not of plain HTTP");
    }
    let key = url.path().trim_matches('/');
    let is_bare = !key.contains('/') && url.query().is_none() && url.fragment().is_none();
    if !is_bare || !url.username().is_empty() || url.password().is_some() {
        return Err("there is more in it than host, port and key");
    }
    let host = url.host_str().ok_or("it has no host")?;
    let prefix = if key.is_empty() { String::new() } else { format!("/{key}") };
    Ok((format!("{host}:{}", url.port_or_known_default().unwrap_or(80)), prefix))
}

/// A URL for an error.
pub(crate) fn without_password(url: &Url) -> String {
    let mut url = url.clone();
    // What has no host has no password.
    let _ = url.set_password(None);
    url.to_string()
}

impl Server {
    /// Makes a gym from its URL. Its key is no part of the name by which it is listed.
    pub(crate) fn new(url: &Url, is_permanent: bool) -> Result<Arc<Server>, Error> {
        let (authority, prefix) =
            authority(url).map_err(|why| Error::Url { url: without_password(url), why })?;
        let state = State {
            health: Health::Down("it was not asked yet".to_owned()),
            is_leaving: false,
            prefix,
            address: None,
            tasks: None,
            report: Report::default(),
            in_use: 0,
            starts: 0,
            ends: 0,
            // One that never answers has as much time as one that has just stopped.
            last_up: Instant::now(),
        };
        Ok(Arc::new(Server {
            url: format!("http://{authority}"),
            authority,
            is_permanent,
            state: Mutex::new(state),
            look: Notify::new(),
            is_gone: watch::Sender::new(false),
            removal: CancellationToken::new(),
        }))
    }

    pub(crate) fn state(&self) -> State {
        self.state.lock().clone()
    }

    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock())
    }

    /// Notes that it did not answer a request. It gets no new sessions before it answers a probe.
    pub(crate) fn mark_down(&self, why: &str) {
        self.change(|state| state.health = Health::Down(why.to_owned()));
        self.look.notify_one();
    }

    /// Notes that it has no free place, whatever was counted here: others use it as well.
    pub(crate) fn mark_full(&self) {
        self.change(|state| state.in_use = state.in_use.max(state.report.places));
    }
}

impl State {
    pub(crate) fn is_up(&self) -> bool {
        self.health == Health::Up
    }

    /// Whether it can get new sessions.
    pub(crate) fn is_open(&self) -> bool {
        self.is_up() && !self.is_leaving
    }

    pub(crate) fn free(&self) -> i64 {
        if self.is_open() { (self.report.places - self.in_use).max(0) } else { 0 }
    }

    /// Sessions of this balancer that may be open in it.
    pub(crate) fn open(&self) -> u64 {
        let counted = self.starts.saturating_sub(self.ends);
        // Others may have ended without a word, or with a gym that has died.
        if self.is_up() {
            counted.min(u64::try_from(self.report.sessions.max(self.in_use)).unwrap_or(0))
        } else {
            0
        }
    }

    /// Its tasks, if it answers.
    pub(crate) fn up_tasks(self) -> Option<Bytes> {
        if self.is_up() { self.tasks } else { None }
    }

    /// Compares two gyms by the share of their places that is taken, then by that number.
    pub(crate) fn is_busier_than(&self, other: &State) -> std::cmp::Ordering {
        let part = |state: &State, of: &State| state.in_use * of.report.places;
        part(self, other).cmp(&part(other, self)).then(other.free().cmp(&self.free()))
    }
}

/// A place in a gym, for one session. Dropping it frees the place.
pub(crate) struct Lease {
    pub(crate) server: Arc<Server>,
    change: Arc<Notify>,
}

impl Lease {
    /// Takes a place, if one is free.
    pub(crate) fn take(server: &Arc<Server>, change: &Arc<Notify>) -> Option<Lease> {
        server.change(|state| {
            (state.free() > 0).then(|| {
                state.in_use += 1;
                state.starts += 1;
            })
        })?;
        Some(Lease { server: server.clone(), change: change.clone() })
    }

    /// Takes the place of a session that began without this balancer's knowledge.
    pub(crate) fn adopt(server: &Arc<Server>, change: &Arc<Notify>) -> Lease {
        server.change(|state| state.starts += 1);
        Lease { server: server.clone(), change: change.clone() }
    }

    /// Frees the place.
    pub(crate) fn end(self) -> Arc<Server> {
        self.server.clone()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.server.change(|state| {
            state.in_use = (state.in_use - 1).max(0);
            state.ends += 1;
        });
        self.change.notify_one();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn server(places: i64, in_use: i64) -> Arc<Server> {
        let server = Server::new(&"http://127.0.0.1:1".parse().unwrap(), true).unwrap();
        server.change(|state| {
            state.health = Health::Up;
            state.report = Report { places, in_use, sessions: 0 };
            state.in_use = in_use;
        });
        server
    }

    #[test]
    fn urls_are_those_that_a_gym_prints() {
        let of =
            |url: &str| Server::new(&url.parse().unwrap(), true).map(|server| server.url.clone());
        assert_eq!(of("http://Node7:8000/").unwrap(), "http://node7:8000");
        assert_eq!(of("http://[::1]").unwrap(), "http://[::1]:80");
        // The key is for requests, and no part of the name that others are told.
        assert_eq!(of("http://a:1/89ab").unwrap(), "http://a:1");
        let keyed = Server::new(&"http://a:1/89ab/".parse().unwrap(), true).unwrap();
        assert_eq!(keyed.state().prefix, "/89ab");
        for url in [
            "https://a:1",
            "http://a:1/x/y",
            "http://a:1/?x",
            "http://u@a:1",
            "http://u:p@a:1",
            "http://a:1/#x",
        ] {
            let error = of(url).unwrap_err();
            assert!(
                matches!(error, Error::Url { .. }) && !error.to_string().contains(":p@"),
                "{error}"
            );
        }
    }

    #[test]
    fn places_are_taken_while_there_are_some_and_freed_once() {
        let (server, change) = (server(2, 1), Arc::new(Notify::new()));
        let lease = Lease::take(&server, &change).unwrap();
        assert!(Lease::take(&server, &change).is_none());
        lease.end();
        assert_eq!((server.state().in_use, server.state().starts, server.state().ends), (1, 1, 1));
        let adopted = Lease::adopt(&server, &change);
        assert_eq!(server.state().in_use, 1, "the look has counted it");
        drop(adopted);
        assert_eq!(server.state().in_use, 0);
        server.mark_full();
        assert!(Lease::take(&server, &change).is_none());
        server.change(|state| state.in_use = 0);
        server.mark_down("it is gone");
        assert!(Lease::take(&server, &change).is_none(), "no place where nobody answers");
    }

    #[test]
    fn the_least_busy_has_the_smallest_part_of_its_places_taken() {
        let busier = |one: (i64, i64), other: (i64, i64)| {
            server(one.0, one.1).state().is_busier_than(&server(other.0, other.1).state())
        };
        assert!(busier((4, 1), (4, 2)).is_lt());
        assert!(busier((8, 2), (4, 1)).is_lt(), "as busy, but with more places");
        assert!(busier((8, 4), (2, 0)).is_gt());
        assert!(busier((4, 1), (4, 1)).is_eq());
    }
}
