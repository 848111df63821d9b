//! The protocol between a gym and the programs before it, besides the bodies of requests: headers,
//! and the names of measurements.

use std::time::Duration;

use http::{HeaderMap, HeaderName};

/// The session that an answer belongs to.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("sandbox-session");
/// Whether the episode of that session is [`OPEN`] or [`ENDED`].
pub(crate) const EPISODE: HeaderName = HeaderName::from_static("sandbox-episode");
/// The episode goes on.
pub(crate) const OPEN: &str = "open";
/// The episode is over.
pub(crate) const ENDED: &str = "ended";
/// RFC 7240; see [`preferred_wait`].
pub(crate) const PREFER: HeaderName = HeaderName::from_static("prefer");
/// The preference not to wait at all.
pub(crate) const NO_WAIT: &str = "wait=0";

/// Slots for episodes, by the label `state`: `free` or `taken`.
pub(crate) const PLACES: &str = "sandbox_gym_places";
/// Sessions whose episode has not ended.
pub(crate) const SESSIONS_OPEN: &str = "sandbox_gym_sessions_open";
/// Upper bounds of histograms, in seconds. Steps take milliseconds to minutes.
pub(crate) const BUCKETS: [f64; 12] =
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0];

/// Returns how long the client of a request waits for a slot: `Prefer: wait=SECONDS`. `None`
/// without that header.
pub(crate) fn preferred_wait(headers: &HeaderMap) -> Option<Duration> {
    let values = headers.get_all(PREFER).into_iter().filter_map(|value| value.to_str().ok());
    let mut preferences = values.flat_map(|value| value.split([',', ';']));
    let seconds = preferences.find_map(|one| one.trim().strip_prefix("wait=")?.parse().ok())?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_one_of_many_preferences() {
        let of = |values: &[&str]| {
            let headers = values.iter().map(|value| (PREFER, value.parse().unwrap()));
            preferred_wait(&headers.collect())
        };
        assert_eq!(of(&["wait=7"]), Some(Duration::from_secs(7)));
        assert_eq!(of(&["respond-async, wait=0", "wait=3"]), Some(Duration::ZERO));
        for none in ["", "wait", "wait=", "wait=-1", "wait=1.5", "await=3", "respond-async"] {
            assert_eq!(of(&[none]), None, "{none}");
        }
    }
}
