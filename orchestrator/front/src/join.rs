//! A gym's side of a front: it registers itself, stays on the list, and leaves in the end.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::Error;

/// How long a front that does not answer is waited for at the start.
const JOIN_WITHIN: Duration = Duration::from_secs(60);
/// Time between two attempts at that.
const AGAIN: Duration = Duration::from_secs(1);
/// A gym registers again so often, because a front that was started anew does not know it.
const EVERY: Duration = Duration::from_secs(10);
/// Time limit for an answer. A front looks at a gym before it takes it in.
const WITHIN: Duration = Duration::from_secs(15);
const LARGEST: usize = 1 << 20;

/// What a gym needs to be on a front's list.
#[derive(Debug, Clone)]
pub struct Membership {
    /// The front's URL.
    pub front: Url,
    /// The front's key.
    pub key: String,
    /// The address at which the gym listens.
    pub listens: SocketAddr,
}

/// Why a front did not take a gym in.
enum NotTaken {
    /// It does not answer, and may later.
    Unanswered(String),
    /// It does not want the gym.
    Refused(String),
}

/// Registers a gym, keeps it on the list until the interrupt, and then takes it off.
///
/// # Errors
/// When the front refuses the gym, or does not answer for a minute at the start.
pub async fn stay(membership: &Membership, interrupt: &CancellationToken) -> Result<(), Error> {
    let since = Instant::now();
    let failed = |why| Error::Join { front: membership.front.to_string(), why };
    let (mut joined, mut warned) = (false, false);
    loop {
        match membership.tell(Method::POST).await {
            Ok(()) => {
                if !joined {
                    tracing::info!("joined the front at {}", membership.front);
                }
                (joined, warned) = (true, false);
            }
            Err(NotTaken::Refused(why)) if !joined => return Err(failed(why)),
            Err(NotTaken::Unanswered(why)) if !joined && since.elapsed() > JOIN_WITHIN => {
                let why = format!("{why}, for {} s; start it with `sandbox front`", JOIN_WITHIN.as_secs());
                return Err(failed(why));
            }
            Err(NotTaken::Refused(why) | NotTaken::Unanswered(why)) => {
                if !warned && joined {
                    tracing::warn!("the front at {} does not take the gym: {why}", membership.front);
                }
                warned = true;
            }
        }
        let pause = if joined { EVERY } else { AGAIN };
        if timeout(pause, interrupt.cancelled()).await.is_ok() {
            break;
        }
    }
    if joined
        && let Err(NotTaken::Refused(why) | NotTaken::Unanswered(why)) = membership.tell(Method::DELETE).await
    {
        tracing::warn!("the front at {} still lists the gym: {why}", membership.front);
    }
    Ok(())
}

impl Membership {
    async fn tell(&self, method: Method) -> Result<(), NotTaken> {
        match timeout(WITHIN, self.ask(method)).await {
            Ok(told) => told,
            Err(_) => Err(NotTaken::Unanswered(format!("it gives no answer within {} s", WITHIN.as_secs()))),
        }
    }

    async fn ask(&self, method: Method) -> Result<(), NotTaken> {
        let unanswered = |error: &dyn std::error::Error| NotTaken::Unanswered(error_text::with_causes(error));
        let (host, port) = (self.front.host_str().unwrap_or_default(), self.front.port_or_known_default());
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let stream =
            TcpStream::connect((host, port.unwrap_or(80))).await.map_err(|error| unanswered(&error))?;
        let from = stream.local_addr().map_err(|error| unanswered(&error))?;
        let front = stream.peer_addr().map_err(|error| unanswered(&error))?;
        let gym = reachable(self.listens, from, front).map_err(NotTaken::Refused)?;
        let body = json!({ "url": format!("http://{gym}") }).to_string();
        let request = Request::builder()
            .method(method)
            .uri("/servers")
            // By its address: a front's guard knows no names.
            .header(header::HOST, front.to_string())
            .header(header::AUTHORIZATION, format!("Bearer {}", self.key))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| NotTaken::Refused(error.to_string()))?;
        let answer =
            http_once::exchange(stream, request, LARGEST).await.map_err(|error| unanswered(&error))?;
        if answer.status().is_success() {
            return Ok(());
        }
        let told: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
        let status = answer.status();
        let why =
            told["error"].as_str().map_or_else(|| format!("it is no front: status {status}"), str::to_owned);
        let why = match status {
            StatusCode::UNAUTHORIZED => format!("{why}; name the file of its key with --join-key"),
            _ => why,
        };
        Err(NotTaken::Refused(why))
    }
}

/// The address at which the front reaches the gym: that from which the gym reaches the front, if
/// the gym listens everywhere.
fn reachable(listens: SocketAddr, from: SocketAddr, front: SocketAddr) -> Result<SocketAddr, String> {
    if listens.ip().is_unspecified() {
        return Ok(SocketAddr::new(from.ip(), listens.port()));
    }
    if listens.ip().is_loopback() && !front.ip().is_loopback() && from.ip() != front.ip() {
        return Err(format!(
            "it is on another machine, which does not reach {listens}; start the gym with --listen {}:0",
            from.ip()
        ));
    }
    Ok(listens)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_gym_is_named_as_the_front_reaches_it() {
        let of = |listens: &str, from: &str, front: &str| {
            let [listens, from, front] = [listens, from, front].map(|one| one.parse().unwrap());
            reachable(listens, from, front).map(|address| address.to_string())
        };
        assert_eq!(of("127.0.0.1:7", "127.0.0.1:50", "127.0.0.1:9").unwrap(), "127.0.0.1:7");
        assert_eq!(of("0.0.0.0:7", "10.0.0.2:50", "10.0.0.1:9").unwrap(), "10.0.0.2:7");
        assert_eq!(of("[::]:7", "[fd00::2]:50", "[fd00::1]:9").unwrap(), "[fd00::2]:7");
        assert_eq!(of("10.0.0.2:7", "10.0.0.2:50", "10.0.0.1:9").unwrap(), "10.0.0.2:7");
        assert_eq!(
            of("127.0.0.1:7", "10.0.0.1:50", "10.0.0.1:9").unwrap(),
            "127.0.0.1:7",
            "the same machine"
        );
        assert!(of("127.0.0.1:7", "10.0.0.2:50", "10.0.0.1:9").unwrap_err().contains("--listen 10.0.0.2:0"));
    }
}
