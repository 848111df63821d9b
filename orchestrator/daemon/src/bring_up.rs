//! A daemon that comes up or goes, as the commands see it that wait for that.

use std::net::SocketAddr;
use std::process::Child;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::{Client, DaemonStatus, Error, Folder};

/// The exit code of a daemon's process that finds another one there.
pub const OTHER_IS_UP: i32 = 5;
/// How often a daemon is asked that comes up.
const ASK: Duration = Duration::from_millis(100);
/// How long all sites may take. Each has a deadline of its own, which comes first.
const UP_WITHIN: Duration = Duration::from_secs(900);
/// How long a container engine that does not answer is waited for: it may be starting anew.
const ENGINE: Duration = Duration::from_secs(15);
/// How long a daemon may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(120);
/// How often a daemon is asked that ends.
const ASK_END: Duration = Duration::from_millis(50);

/// Waits until the sites can be used or have been given up; `child` is the daemon's process, where
/// this one has started it. None is an interrupt.
///
/// # Errors
/// When the process has ended, or it takes too long.
pub async fn settle(
    client: &Client,
    mut child: Option<&mut Child>,
    stop: &CancellationToken,
    on: &mut dyn FnMut(&DaemonStatus),
) -> Result<Option<DaemonStatus>, Error> {
    let began = Instant::now();
    let mut ask = tokio::time::interval(ASK);
    let mut answered = began;
    loop {
        match client.status().await {
            Ok(status) => {
                on(&status);
                match &status.engine {
                    None => answered = Instant::now(),
                    Some(problem) if answered.elapsed() > ENGINE => {
                        return Err(Error::Lacks(problem.clone()));
                    }
                    Some(_) => {}
                }
                if status.is_settled() {
                    return Ok(Some(status));
                }
            }
            Err(Error::NotUp) => {}
            Err(error) => return Err(error),
        }
        let ended = child.as_mut().map_or(Ok(None), |child| child.try_wait());
        if let Some(ended) = ended.map_err(|source| Error::Process { source })? {
            if ended.code() != Some(OTHER_IS_UP) {
                return Err(Error::Ended { code: ended.code() });
            }
            // Somebody else was faster. Theirs is as good.
            child = None;
        }
        if began.elapsed() > UP_WITHIN {
            return Err(Error::NotSettled { within: UP_WITHIN });
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(None),
            _ = ask.tick() => {}
        }
    }
}

/// Ends a daemon and waits until nothing is left of it, its process included; which one that was,
/// if there was one and it said so.
///
/// # Errors
/// When it cannot be reached, or does not end.
pub async fn end(folder: &Folder) -> Result<Option<u32>, Error> {
    let client = Client::new(folder);
    let mut ended = None;
    let began = Instant::now();
    let mut ask = tokio::time::interval(ASK_END);
    while folder.is_held()? || ended.is_some_and(is_alive) {
        if ended.is_none_or(|pid| pid == 0) {
            ended = Some(client.status().await.map_or(0, |status| status.pid));
        }
        match client.stop().await {
            // It has heard, cannot hear yet, or hears no more.
            Ok(()) | Err(Error::NotUp | Error::Talk(_)) => {}
            Err(error) => return Err(error),
        }
        if began.elapsed() > ENDS_WITHIN {
            return Err(Error::NotEnded { within: ENDS_WITHIN });
        }
        ask.tick().await;
    }
    Ok(ended)
}

/// Whether a process still runs: what it has is removed only when it does not. One that has ended
/// and whose parent has not asked for it yet runs no more.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    pid != 0 && stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Whether somebody who listens at `there`, a URL, listens where it is asked for; any port will do
/// for port 0.
pub fn is_at(requested: SocketAddr, there: &str) -> bool {
    let address = there.trim_start_matches("http://");
    let address = address.rsplit_once('@').map_or(address, |(_, address)| address);
    let address = address.split_once('/').map_or(address, |(address, _)| address);
    address.parse::<SocketAddr>().is_ok_and(|there| {
        there.ip() == requested.ip() && (requested.port() == 0 || requested.port() == there.port())
    })
}
