//! Waits until a daemon has come up or ended, for the commands that start and stop it.

use std::net::SocketAddr;
use std::process::Child;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::{Client, DaemonStatus, Error, Folder};

/// The exit code of a daemon's process that finds another daemon in its folder.
pub const OTHER_IS_UP: i32 = 5;
/// The interval at which a starting daemon is asked for its status.
const ASK: Duration = Duration::from_millis(100);
/// The time limit for all sites. Each has a deadline of its own, which comes first.
const UP_WITHIN: Duration = Duration::from_secs(900);
/// The time for which a container engine may fail to answer, because it may be restarting.
const ENGINE: Duration = Duration::from_secs(15);
/// The time limit for a daemon to end.
const ENDS_WITHIN: Duration = Duration::from_secs(120);
/// The interval at which an ending daemon is asked for its status.
const ASK_END: Duration = Duration::from_millis(50);

/// Waits until the sites can be used or have been given up. `child` is the daemon's process, if
/// this one has started it. Returns none at an interrupt.
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

/// Ends a daemon and waits until nothing of it is left, its process included. Returns the process
/// id, if there was a daemon and it gave one.
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

/// Whether a process still runs. Its files are removed only after its end. A zombie counts as
/// ended.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    pid != 0 && stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Returns whether the URL `there` is at the requested address. Port 0 matches any port.
pub fn is_at(requested: SocketAddr, there: &str) -> bool {
    let address = there.trim_start_matches("http://");
    let address = address.rsplit_once('@').map_or(address, |(_, address)| address);
    let address = address.split_once('/').map_or(address, |(address, _)| address);
    address.parse::<SocketAddr>().is_ok_and(|there| {
        there.ip() == requested.ip() && (requested.port() == 0 || requested.port() == there.port())
    })
}
