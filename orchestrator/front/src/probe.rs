//! Looks at gyms: whether they answer, and how busy they are.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use gym_protocol::{PLACES, RESIDENT_MEMORY, SESSIONS_OPEN, STEPS};
use tokio::time::{Instant, timeout};
use url::Url;

use crate::server::{Health, Report, Server};
use crate::{Error, Front};

/// Time between two looks at a gym.
const EVERY: Duration = Duration::from_secs(1);
/// Time limit for a look.
const WITHIN: Duration = Duration::from_secs(5);
/// After so long without an answer, requests in flight are given up.
const GONE_AFTER: Duration = Duration::from_secs(60);
/// After so long without an answer, a gym that has registered itself is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);
/// Maximum size of an answer.
const LARGEST: usize = 64 << 20;

/// Looks at the gyms of the command line once, and follows them from then on.
///
/// # Errors
/// When something else answers there, or tasks differ.
pub(crate) async fn open(front: &Arc<Front>, gyms: &[Url]) -> Result<(), Error> {
    let mut looks = Vec::new();
    for url in gyms {
        let (server, is_new) = front.pool.add(Server::new(url, true)?);
        if is_new {
            let (front, looked_at) = (front.clone(), server.clone());
            looks.push((server, tokio::spawn(async move { look(&front, &looked_at).await })));
        }
    }
    for (server, look) in looks {
        // It does not panic, and nobody cancels it.
        let _ = look.await;
        match server.state().health {
            Health::Up => {}
            Health::Down(why) => {
                tracing::warn!("{} does not answer yet ({why}); it is taken in when it does", server.url);
            }
            Health::Unfit(why) => return Err(Error::Unfit { url: server.url.clone(), why }),
        }
        follow(front, server);
    }
    Ok(())
}

/// Looks at a gym again and again, until it has left.
pub(crate) fn follow(front: &Arc<Front>, server: Arc<Server>) {
    let front = front.clone();
    tokio::spawn(async move {
        let left = server.left.clone();
        let looking = async {
            loop {
                // The deadline is the rule: a look before it is asked for by who had no answer.
                let _ = timeout(EVERY, server.look.notified()).await;
                look(&front, &server).await;
                let state = server.state();
                let silent = state.answered.elapsed();
                server.gone.send_if_modified(|gone| {
                    let before = std::mem::replace(gone, !state.is_up() && silent > GONE_AFTER);
                    before != *gone
                });
                let is_forgotten = !server.is_permanent && !state.is_up() && silent > FORGOTTEN_AFTER;
                if is_forgotten || (state.is_leaving && state.open() == 0) {
                    front.pool.remove(&server);
                }
            }
        };
        tokio::select! {
            () = left.cancelled() => {}
            () = looking => {}
        }
    });
}

/// Looks at a gym once. What was found is in its state.
pub(crate) async fn look(front: &Front, server: &Server) {
    let before = server.state();
    let found = match timeout(WITHIN, report(front, server)).await {
        Ok(found) => found,
        Err(_) => Err(Health::Down(format!("no answer within {} s", WITHIN.as_secs()))),
    };
    let report = match found {
        Ok(report) => report,
        Err(health) => {
            if before.health != health && !before.is_leaving {
                tracing::warn!("{}: {health}", server.url);
            }
            return server.change(|state| state.health = health);
        }
    };
    server.change(|state| {
        state.report = report;
        state.answered = Instant::now();
        // What has begun and ended since the look began may or may not be in the report; the next
        // look knows.
        let meanwhile = |now: u64, before: u64| i64::try_from(now - before).unwrap_or(0);
        state.taken =
            report.taken + meanwhile(state.begun, before.begun) - meanwhile(state.ended, before.ended);
    });
    if !before.is_up() {
        let health = match timeout(WITHIN, compare(front, server)).await {
            Ok(health) => health,
            Err(_) => Health::Down(format!("no answer within {} s", WITHIN.as_secs())),
        };
        match &health {
            Health::Up => tracing::info!("{} answers", server.url),
            other if *other != before.health => tracing::warn!("{}: {other}", server.url),
            _ => {}
        }
        server.change(|state| state.health = health);
    }
    if server.state().free() > 0 {
        front.pool.freed();
    }
}

async fn report(front: &Front, server: &Server) -> Result<Report, Health> {
    server.resolve().await.map_err(Health::Down)?;
    let (status, body) = front.upstream.get(server, "/metrics", LARGEST).await.map_err(Health::Down)?;
    let unfit =
        || Health::Unfit(format!("it is no gym: GET /metrics has status {status} and no places of one"));
    let text = std::str::from_utf8(&body).map_err(|_| unfit())?;
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.trim().parse::<f64>().ok()).filter(|value| value.is_finite())
    };
    let count = |name: &str| value(name).map(|value| value as i64);
    let free = count(&format!("{PLACES}{{state=\"free\"}}")).ok_or_else(unfit)?;
    let taken = count(&format!("{PLACES}{{state=\"taken\"}}")).ok_or_else(unfit)?;
    Ok(Report {
        places: free + taken,
        taken,
        sessions: count(SESSIONS_OPEN).ok_or_else(unfit)?,
        steps: value(STEPS).unwrap_or(0.0),
        resident: value(RESIDENT_MEMORY).unwrap_or(0.0),
    })
}

/// Whether a gym that answers serves the tasks of the others.
async fn compare(front: &Front, server: &Server) -> Health {
    let tasks: Bytes = match front.upstream.get(server, "/tasks", LARGEST).await {
        Ok((status, tasks)) if status.is_success() => tasks,
        Ok((status, _)) => return Health::Unfit(format!("it is no gym: GET /tasks has status {status}")),
        Err(why) => return Health::Down(why),
    };
    match front.pool.admit(server, &tasks) {
        Ok(()) => Health::Up,
        Err(other) => Health::Unfit(format!(
            "its tasks are not those of {other}; a front serves one suite, so start the gyms alike"
        )),
    }
}
