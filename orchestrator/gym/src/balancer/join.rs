//! A gym's side of a balancer: it registers itself, stays on the list, and leaves in the end.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Bytes;
use camino::Utf8PathBuf;
use host_check::Key;
use http::{Method, Request, StatusCode, header};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::balancer::Error;
use crate::balancer::server::{authority, without_password};

/// The time limit for a balancer to answer at the start.
const JOIN_WITHIN: Duration = Duration::from_secs(60);
/// The pause between two such attempts.
const AGAIN: Duration = Duration::from_secs(1);
/// The interval at which a gym registers again, because a restarted balancer does not know it.
const EVERY: Duration = Duration::from_secs(10);
/// The time limit for an answer. A balancer probes a gym before it adds it.
const WITHIN: Duration = Duration::from_secs(15);
/// The time after which a restarted balancer has all gyms back.
pub(crate) const REGISTERED_WITHIN: Duration = EVERY.saturating_add(WITHIN);
const LARGEST: usize = 1 << 20;

/// The membership of a gym in a balancer. The balancer's key is read only when it is needed,
/// because the balancer makes it at its start.
#[derive(Debug, Clone)]
pub struct Membership {
    /// Host and port of the balancer.
    balancer: String,
    /// The file of the balancer's key.
    key: Utf8PathBuf,
    /// The gym's own key.
    own: Key,
}

/// The reason why a balancer did not add the gym.
enum Refusal {
    /// The balancer may add the gym later.
    NotYet(String),
    /// The balancer will never add the gym.
    Never(String),
}

/// Registers a gym, keeps it on the list until the interrupt, and then takes it off. The interrupt
/// comes after the gym has ended. A gym that was taken off the list by its owner stays off.
///
/// # Errors
/// When the balancer refuses the gym, or does not answer for a minute at the start.
pub async fn stay(
    membership: &Membership,
    listens: SocketAddr,
    interrupt: &CancellationToken,
) -> Result<(), Error> {
    let since = Instant::now();
    let url = format!("http://{}", membership.balancer);
    let failed = |why| Error::Join { balancer: url.clone(), why };
    let (mut has_joined, mut is_member, mut has_warned) = (false, false, false);
    loop {
        let answer = membership.tell(Method::POST, listens, ("again", is_member)).await;
        is_member = answer.is_ok();
        match answer {
            Ok(answer) if answer["leaving"] == true => {
                tracing::info!("the balancer at {url} has taken the gym off its list");
                interrupt.cancelled().await;
                return Ok(());
            }
            Ok(_) => {
                if !has_joined {
                    tracing::info!("joined the balancer at {url}");
                }
                (has_joined, has_warned) = (true, false);
            }
            Err(Refusal::Never(why)) if !has_joined => return Err(failed(why)),
            Err(Refusal::NotYet(why)) if !has_joined && since.elapsed() > JOIN_WITHIN => {
                return Err(failed(format!("{why} (tried for {} s)", JOIN_WITHIN.as_secs())));
            }
            Err(Refusal::Never(why) | Refusal::NotYet(why)) => {
                if !has_warned {
                    tracing::warn!("the balancer at {url} does not take the gym: {why}");
                }
                has_warned = true;
            }
        }
        let pause = if has_joined { EVERY } else { AGAIN };
        if timeout(pause, interrupt.cancelled()).await.is_ok() {
            break;
        }
    }
    // Otherwise the balancer would list the gym as down, until it forgets it after a while.
    if has_joined
        && let Err(Refusal::Never(why) | Refusal::NotYet(why)) =
            membership.tell(Method::DELETE, listens, ("ended", true)).await
    {
        tracing::warn!("the balancer at {url} still lists the gym: {why}");
    }
    Ok(())
}

impl Membership {
    /// A membership of the balancer at this URL, whose key is in this file, of a gym with its `own`
    /// key.
    ///
    /// # Errors
    /// When the URL is not one of a balancer's form.
    pub fn new(balancer: &Url, key: Utf8PathBuf, own: Key) -> Result<Membership, Error> {
        let (balancer, _) = authority(balancer).map_err(|why| Error::Join {
            balancer: without_password(balancer),
            why: format!(
                "{why}; give it as `sandbox gym balance` prints it, such as http://127.0.0.1:9000"
            ),
        })?;
        Ok(Membership { balancer, key, own })
    }

    async fn tell(
        &self,
        method: Method,
        listens: SocketAddr,
        how: (&str, bool),
    ) -> Result<Value, Refusal> {
        let late =
            |_| Err(Refusal::NotYet(format!("it gives no answer within {} s", WITHIN.as_secs())));
        timeout(WITHIN, self.ask(method, listens, how)).await.unwrap_or_else(late)
    }

    async fn ask(
        &self,
        method: Method,
        listens: SocketAddr,
        (how, is_so): (&str, bool),
    ) -> Result<Value, Refusal> {
        if !self.key.exists() {
            let why = format!(
                "there is no key in {}; a balancer makes it at its start, and --join-key names the file of another",
                self.key
            );
            return Err(Refusal::NotYet(why));
        }
        let key = host_check::key::read(&self.key)
            .map_err(|error| Refusal::Never(format!("failed to {error}")))?;
        let unanswered = |error: &dyn std::error::Error| {
            let why = error_text::with_causes(error);
            Refusal::NotYet(format!(
                "it does not answer: {why}; start it with `sandbox gym balance`"
            ))
        };
        let stream =
            TcpStream::connect(&self.balancer).await.map_err(|error| unanswered(&error))?;
        let from = stream.local_addr().map_err(|error| unanswered(&error))?;
        let balancer = stream.peer_addr().map_err(|error| unanswered(&error))?;
        let gym = reachable(listens, from, balancer).map_err(Refusal::Never)?;
        let body =
            json!({ "url": format!("http://{gym}/{}", self.own.text()), how: is_so }).to_string();
        let request = Request::builder()
            .method(method)
            .uri("/servers")
            // By its address: a balancer's guard knows no names.
            .header(header::HOST, balancer.to_string())
            .header(header::AUTHORIZATION, format!("Bearer {key}"))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| Refusal::Never(error.to_string()))?;
        let answer = http_once::exchange(stream, request, LARGEST)
            .await
            .map_err(|error| unanswered(&error))?;
        let (status, text) = (answer.status(), answer.body());
        let told: Value = serde_json::from_slice(text).unwrap_or_default();
        let why = || {
            told["error"]
                .as_str()
                .map_or_else(|| format!("it is no balancer: status {status}"), str::to_owned)
        };
        match status {
            status if status.is_success() => Ok(told),
            status if status.is_server_error() => Err(Refusal::NotYet(why())),
            StatusCode::UNAUTHORIZED => {
                Err(Refusal::Never(format!("{}; name the file of its key with --join-key", why())))
            }
            _ => Err(Refusal::Never(why())),
        }
    }
}

/// Returns the address at which the balancer reaches the gym. If the gym listens on all addresses,
/// it is the one from which the gym reaches the balancer.
fn reachable(
    listens: SocketAddr,
    from: SocketAddr,
    balancer: SocketAddr,
) -> Result<SocketAddr, String> {
    if listens.ip().is_unspecified() {
        return Ok(SocketAddr::new(from.ip(), listens.port()));
    }
    if listens.ip().is_loopback() && !balancer.ip().is_loopback() && from.ip() != balancer.ip() {
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
    fn a_balancer_is_named_as_it_prints_its_address() {
        let of = |url: &str| Membership::new(&url.parse().unwrap(), "key".into(), Key::random());
        for url in ["http://Node7:9000/", "http://node7:9000", "http://node7:9000/key"] {
            assert_eq!(of(url).unwrap().balancer, "node7:9000");
        }
        for url in ["https://node7", "http://node7:9000/x/y", "http://u:p@node7"] {
            let error = of(url).unwrap_err().to_string();
            assert!(
                error.contains("as `sandbox gym balance` prints it") && !error.contains(":p@"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_gym_is_named_as_the_balancer_reaches_it() {
        let of = |listens: &str, from: &str, balancer: &str| {
            let [listens, from, balancer] =
                [listens, from, balancer].map(|one| one.parse().unwrap());
            reachable(listens, from, balancer).map(|address| address.to_string())
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
        assert!(
            of("127.0.0.1:7", "10.0.0.2:50", "10.0.0.1:9")
                .unwrap_err()
                .contains("--listen 10.0.0.2:0")
        );
    }
}
