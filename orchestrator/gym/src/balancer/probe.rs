//! Probes gyms: whether they answer, and how busy they are.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use tokio::time::{Instant, timeout};
use url::Url;

use crate::balancer::server::{Health, Report, Server, State};
use crate::balancer::{Balancer, Error};
use crate::protocol::{PLACES, SESSIONS_OPEN};

/// The interval between two probes of a gym.
const EVERY: Duration = Duration::from_secs(1);
/// The time limit for an answer to a probe.
const WITHIN: Duration = Duration::from_secs(5);
/// The time without being up after which requests in flight are aborted.
const GONE_AFTER: Duration = Duration::from_secs(60);
/// The time without being up after which a gym that has registered itself is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);
/// Maximum size of an answer.
const LARGEST: usize = 64 << 20;

/// Probes the gyms of the command line once, and follows them from then on.
///
/// # Errors
/// When something else answers there, or tasks differ.
pub(crate) async fn open(balancer: &Arc<Balancer>, gyms: &[Url]) -> Result<(), Error> {
    let mut looks = Vec::new();
    for url in gyms {
        let (server, is_new) = balancer.pool.add(Server::new(url, true)?);
        if is_new {
            let (balancer, looked_at) = (balancer.clone(), server.clone());
            looks.push((server, tokio::spawn(async move { look(&balancer, &looked_at).await })));
        }
    }
    for (server, look) in looks {
        // It does not panic, and nobody cancels it.
        let _ = look.await;
        match server.state().health {
            Health::Up => {}
            Health::Down(why) => {
                tracing::warn!(
                    "{} does not answer yet ({why}); it is taken in when it does",
                    server.url
                );
            }
            Health::Unfit(why) => return Err(Error::Unfit { url: server.url.clone(), why }),
        }
        follow(balancer, server);
    }
    Ok(())
}

/// Probes a gym at intervals, until it is off the list.
pub(crate) fn follow(balancer: &Arc<Balancer>, server: Arc<Server>) {
    let balancer = balancer.clone();
    tokio::spawn(async move {
        let looking = async {
            loop {
                // The deadline is the rule: a look before it is asked for by who had no answer.
                let _ = timeout(EVERY, server.look.notified()).await;
                look(&balancer, &server).await;
                let fate = Fate::of(&server.state(), server.is_permanent);
                server.is_gone.send_if_modified(|is_gone| {
                    std::mem::replace(is_gone, fate.is_gone) != fate.is_gone
                });
                if fate.is_removed {
                    balancer.pool.remove(&server);
                }
            }
        };
        tokio::select! {
            () = server.removal.cancelled() => {}
            () = looking => {}
        }
    });
}

/// The consequence of a probe for a gym.
#[derive(Debug, PartialEq, Eq)]
struct Fate {
    /// Requests in flight are given up.
    is_gone: bool,
    /// It is taken off the list.
    is_removed: bool,
}

impl Fate {
    fn of(state: &State, is_permanent: bool) -> Fate {
        let silent = if state.is_up() { Duration::ZERO } else { state.last_up.elapsed() };
        let is_gone = silent > GONE_AFTER;
        let is_idle = state.is_up() && state.open() == 0;
        let is_forgotten = !is_permanent && silent > FORGOTTEN_AFTER;
        Fate { is_gone, is_removed: is_forgotten || (state.is_leaving && (is_gone || is_idle)) }
    }
}

/// Probes a gym once. The result is in its state.
pub(crate) async fn look(balancer: &Balancer, server: &Server) {
    let before = server.state();
    let found = report(balancer, server).await;
    let is_found = found.is_ok();
    server.change(|state| match found {
        Ok(report) => {
            state.report = report;
            // What has begun and ended since the look began may or may not be in the report; the
            // next look knows.
            let meanwhile = |now: u64, before: u64| i64::try_from(now - before).unwrap_or(0);
            state.in_use = report.in_use + meanwhile(state.starts, before.starts)
                - meanwhile(state.ends, before.ends);
        }
        Err(health) => state.health = health,
    });
    if is_found && !before.is_up() {
        let health = within(compare(balancer, server)).await.err().unwrap_or(Health::Up);
        server.change(|state| state.health = health);
    }
    let state = server.state();
    if state.is_up() {
        server.change(|state| state.last_up = Instant::now());
    }
    if state.health != before.health && !before.is_leaving {
        match &state.health {
            Health::Up => tracing::info!("{} answers", server.url),
            other => tracing::warn!("{}: {other}", server.url),
        }
    }
    balancer.pool.notify();
}

async fn within<T>(asking: impl Future<Output = Result<T, Health>>) -> Result<T, Health> {
    let late = |_| Err(Health::Down(format!("no answer within {} s", WITHIN.as_secs())));
    timeout(WITHIN, asking).await.unwrap_or_else(late)
}

/// Returns the report of a gym, from the first of its addresses that answers.
async fn report(balancer: &Balancer, server: &Server) -> Result<Report, Health> {
    let without = |why: &str| Health::Down(format!("its name has no address{why}"));
    let found = within(async {
        let found = tokio::net::lookup_host(&server.authority).await;
        found.map(Iterator::collect).map_err(|error| without(&format!(": {error}")))
    });
    let mut health = without("");
    for address in in_order(found.await?, server.state().address) {
        match within(report_at(balancer, address, &server.state().prefix)).await {
            Ok(report) => {
                server.change(|state| state.address = Some(address));
                return Ok(report);
            }
            Err(why) => health = why,
        }
    }
    Err(health)
}

/// Returns these addresses, with the one that has answered before at the front.
fn in_order(mut found: Vec<SocketAddr>, before: Option<SocketAddr>) -> Vec<SocketAddr> {
    found.sort_by_key(|address| Some(*address) != before);
    found
}

async fn report_at(
    balancer: &Balancer,
    address: SocketAddr,
    prefix: &str,
) -> Result<Report, Health> {
    let (status, body) = balancer
        .upstream
        .get((address, prefix), "/metrics", LARGEST)
        .await
        .map_err(Health::Down)?;
    let unfit = || {
        Health::Unfit(format!(
            "it is no gym: GET /metrics has status {status} and no places of one"
        ))
    };
    // First, because this answer has no measurements either.
    if status == StatusCode::UNAUTHORIZED {
        return Err(Health::Unfit(
            "it wants another key; give its whole URL, as it prints it".to_owned(),
        ));
    }
    let text = std::str::from_utf8(&body).map_err(|_| unfit())?;
    let count = |name: &str| {
        // In Prometheus' format whole numbers are floats, too.
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let value = line
            .and_then(|value| value.trim().parse::<f64>().ok())
            .filter(|value| value.is_finite());
        value.map(|value| value as i64).ok_or_else(unfit)
    };
    let free = count(&format!("{PLACES}{{state=\"free\"}}"))?;
    let in_use = count(&format!("{PLACES}{{state=\"taken\"}}"))?;
    Ok(Report { places: free + in_use, in_use, sessions: count(SESSIONS_OPEN)? })
}

/// Finds out whether a gym that answers serves the tasks of the others.
async fn compare(balancer: &Balancer, server: &Server) -> Result<(), Health> {
    let State { address, prefix, .. } = server.state();
    let address = address.ok_or_else(|| Health::Down("it has no address".to_owned()))?;
    let (status, tasks) =
        balancer.upstream.get((address, &prefix), "/tasks", LARGEST).await.map_err(Health::Down)?;
    if !status.is_success() {
        return Err(Health::Unfit(format!("it is no gym: GET /tasks has status {status}")));
    }
    balancer.pool.admit(server, &tasks).map_err(|other| {
        Health::Unfit(format!(
            "its tasks are not those of {other}; a balancer serves one suite, so start the gyms alike"
        ))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_gym_is_given_up_by_the_time_since_it_was_up() {
        let server = Server::new(&"http://127.0.0.1:1".parse().unwrap(), false).unwrap();
        let fate =
            |health: Health, silent: Duration, is_leaving: bool, open: u64, is_permanent: bool| {
                let mut state = server.state();
                state.last_up = Instant::now().checked_sub(silent).unwrap();
                (state.health, state.is_leaving, state.starts) = (health, is_leaving, open);
                (state.report.sessions, state.in_use) = (1, 1);
                let Fate { is_gone, is_removed } = Fate::of(&state, is_permanent);
                (is_gone, is_removed)
            };
        let (down, unfit) =
            (|| Health::Down("it is silent".to_owned()), || Health::Unfit("another".to_owned()));
        let (short, minute, long) = (EVERY * 3, GONE_AFTER + EVERY, FORGOTTEN_AFTER + EVERY);
        assert_eq!(fate(Health::Up, long, false, 0, false), (false, false));
        assert_eq!(fate(Health::Up, short, true, 1, false), (false, false), "its session goes on");
        assert_eq!(fate(Health::Up, short, true, 0, true), (false, true));
        assert_eq!(fate(down(), short, true, 0, false), (false, false), "steps may be in flight");
        assert_eq!(fate(down(), minute, true, 1, false), (true, true));
        assert_eq!(fate(down(), minute, false, 1, false), (true, false));
        assert_eq!(
            fate(unfit(), long, false, 0, false),
            (true, true),
            "it answers, but is of no use"
        );
        assert_eq!(fate(down(), long, false, 0, true), (true, false));
    }

    #[test]
    fn an_address_that_has_answered_is_asked_first_while_it_is_one() {
        let [one, other] = ["[::1]:7", "127.0.0.1:7"].map(|address| address.parse().unwrap());
        assert_eq!(in_order(vec![one, other], Some(other)), [other, one]);
        assert_eq!(in_order(vec![one, other], None), [one, other]);
        assert_eq!(in_order(vec![one], Some(other)), [one]);
    }
}
