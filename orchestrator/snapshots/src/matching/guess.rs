//! Guesses which values are volatile from their format, without learned rules: time stamps and
//! random tokens.
//!
//! This is the weakest of the normalised rules. It applies only if everything else is equal,
//! including names and orders of magnitude. The value must not be something that a person chose:
//!
//! - a *time stamp* is a number of seconds, milliseconds, microseconds, minutes or five minutes, or
//!   an ISO 8601 time with seconds. The recorded one must be within ten minutes of the time of
//!   recording;
//! - a *random token* is a fraction in the format of `Math.random()`, or a UUID or a mix of letters
//!   and digits under a telling name (`nonce`, `token`, `session`, `rnd`, ...). A UUID under `id`
//!   may identify the requested resource.

use super::leaves::{Leaf, leaves};
use super::{ReplayRequest, query};
use crate::Timestamp;

/// The ledger label of a time stamp.
pub const TIME_STAMP: &str = "time-stamp";
/// The ledger label of a random token.
pub const RANDOM_TOKEN: &str = "random-token";

/// The maximum distance of a recorded time stamp from the time of recording, in milliseconds.
const NEAR: i64 = 10 * 60 * 1000;

/// Parts of a name that indicate a random value.
const OF_CHANCE: &[&str] = &[
    "cachebust",
    "correlation",
    "csrf",
    "nonce",
    "rand",
    "requestid",
    "rnd",
    "salt",
    "seed",
    "sess",
    "token",
    "trace",
    "uniq",
    "visit",
    "xsrf",
];
/// Whole names that indicate a random value.
const NAMES_OF_CHANCE: &[&str] = &["_", "cb", "cid", "guid", "r", "sid", "uuid", "z"];

/// The rules by which `request` matches `recorded`, which was recorded at `at_millis`; `None` if
/// they are different requests. Empty if nothing differs.
pub fn guess(
    request: &ReplayRequest<'_>,
    recorded: &ReplayRequest<'_>,
    at_millis: i64,
) -> Option<Vec<&'static str>> {
    let urls = [super::normalised_url(request.url), super::normalised_url(recorded.url)];
    let paths = [query::split(&urls[0]).0, query::split(&urls[1]).0];
    if request.method != recorded.method {
        return None;
    }
    let mut rules = Vec::new();
    let [a, b]: [Vec<&str>; 2] = paths.map(|path| path.split('/').collect());
    if a.len() != b.len() || a.iter().take(3).ne(b.iter().take(3)) {
        return None;
    }
    for (requested, recorded) in a.iter().zip(&b).filter(|(a, b)| a != b) {
        is_time_stamp(requested, recorded, at_millis).then(|| rules.push(TIME_STAMP))?;
    }
    let sorted = |request| {
        let mut values: Vec<Leaf> = leaves(request);
        values.sort_by(|a, b| (a.place, &a.name).cmp(&(b.place, &b.name)));
        values
    };
    let (a, b) = (sorted(request), sorted(recorded));
    if a.len() != b.len() {
        return None;
    }
    let clocked = a.iter().zip(&b).any(|(requested, recorded)| {
        requested.value != recorded.value
            && is_time_stamp(requested.value.trim_matches('"'), recorded.value.trim_matches('"'), at_millis)
    });
    for (requested, recorded) in a.iter().zip(&b) {
        if (requested.place, &requested.name) != (recorded.place, &recorded.name) {
            return None;
        }
        if requested.value == recorded.value {
            continue;
        }
        let (value, other) = (requested.value.trim_matches('"'), recorded.value.trim_matches('"'));
        if is_time_stamp(value, other, at_millis) {
            rules.push(TIME_STAMP);
        } else if is_random(&requested.name, value, other)
            || (clocked && is_visit(&requested.name, value, other))
        {
            rules.push(RANDOM_TOKEN);
        } else {
            return None;
        }
    }
    rules.sort_unstable();
    rules.dedup();
    Some(rules)
}

/// Whether a request contains anything that looks like a time stamp or a random token. Otherwise a
/// search is pointless.
pub fn may_guess(request: &ReplayRequest<'_>) -> bool {
    let url = super::normalised_url(request.url);
    let is_time = |text: &str| time(text).is_some();
    query::split(&url).0.split('/').skip(3).any(is_time)
        || leaves(request).iter().any(|leaf| {
            let value = leaf.value.trim_matches('"');
            is_time(value) || is_random(&leaf.name, value, value)
        })
}

/// Whether both are times in the same notation, the recorded one close to the time of recording.
fn is_time_stamp(requested: &str, recorded: &str, at_millis: i64) -> bool {
    let (Some((notation, _)), Some((other, recorded))) = (time(requested), time(recorded)) else {
        return false;
    };
    notation == other && recorded.abs_diff(at_millis) <= NEAR.unsigned_abs()
}

/// The notation of a time, and its milliseconds since 1970.
fn time(value: &str) -> Option<(usize, i64)> {
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !whole.is_empty() && digits(whole) && digits(fraction) {
        let number: i64 = whole.parse().ok()?;
        return match whole.len() {
            // Units of five minutes, and of minutes.
            7 => Some((7, number.checked_mul(300_000)?)),
            8 => Some((8, number.checked_mul(60_000)?)),
            10 => Some((10, number.checked_mul(1000)?)),
            13 => Some((13, number)),
            16 => Some((16, number / 1000)),
            _ => None,
        };
    }
    // A person may choose a day or a minute; seconds come from a clock.
    let iso = value.len() >= 19 && value.as_bytes()[10] == b'T' && value.matches([':', '%']).count() >= 2;
    let plain = value.replace("%3A", ":").replace("%2B", "+");
    iso.then(|| Timestamp::parse(&plain).ok()).flatten().map(|time| (0, time.as_millis()))
}

fn is_random(name: &str, requested: &str, recorded: &str) -> bool {
    let fraction = |value: &str| {
        value
            .strip_prefix("0.")
            .is_some_and(|digits| digits.len() >= 8 && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    if fraction(requested) && fraction(recorded) {
        return true;
    }
    let name: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let of_chance =
        NAMES_OF_CHANCE.contains(&name.as_str()) || OF_CHANCE.iter().any(|part| name.contains(part));
    let token = |value: &str| {
        let mixed =
            value.bytes().any(|b| b.is_ascii_digit()) && value.bytes().any(|b| b.is_ascii_alphabetic());
        (8..=128).contains(&value.len())
            && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
            && (mixed || value.bytes().all(|b| b.is_ascii_digit()))
    };
    of_chance && requested.len().abs_diff(recorded.len()) <= 4 && token(requested) && token(recorded)
}

/// Whether both begin with a UUID, under a name that does not mark it as the requested resource.
/// Together with a time stamp it identifies a visit.
fn is_visit(name: &str, requested: &str, recorded: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let uuid = |value: &str| value.get(..36).is_some_and(|start| uuid::Uuid::try_parse(start).is_ok());
    !["id", "key", "hash", "ref"].iter().any(|end| name.ends_with(end))
        && requested.len() == recorded.len()
        && uuid(requested)
        && uuid(recorded)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: i64 = 1_767_225_600_000;

    fn guessed(requested: &str, recorded: &str) -> Option<Vec<&'static str>> {
        guess(&ReplayRequest::bare("GET", requested), &ReplayRequest::bare("GET", recorded), AT)
    }

    #[test]
    fn clocks_and_chance_are_passed_over() {
        for (requested, recorded, rule) in [
            ("x?t=1767225723456", "x?t=1767225600456", TIME_STAMP),
            ("x?t=1767225723", "x?t=1767225600", TIME_STAMP),
            ("x?t=1767225723.25", "x?t=1767225600.125", TIME_STAMP),
            ("poll/1767225723456?a=1", "poll/1767225600456?a=1", TIME_STAMP),
            ("x?at=2026-03-01T00:00:07.5Z", "x?at=2026-01-01T00:00:07.5Z", TIME_STAMP),
            ("x?t=29453763", "x?t=29453760", TIME_STAMP),
            ("x?t=5890754", "x?t=5890752", TIME_STAMP),
            ("x?cachekey=0.84423748", "x?cachekey=0.12345678901", RANDOM_TOKEN),
            ("x?sessionId=a8f3k2m9x1", "x?sessionId=b8f3k2m9x7", RANDOM_TOKEN),
        ] {
            let (requested, recorded) =
                (format!("https://a.test/{requested}"), format!("https://a.test/{recorded}"));
            assert_eq!(guessed(&requested, &recorded), Some(vec![rule]), "{requested}");
        }
    }

    #[test]
    fn a_uuid_beside_a_time_stamp_is_of_the_visit() {
        let url = |name: &str, uuid: char, time: u32| {
            format!("https://a.test/x?{name}={uuid}c4a1f0e-5b7d-4e0a-9d0c-1f2e3d4c5b6a-su44qh&t={time}")
        };
        assert_eq!(
            guessed(&url("si", '8', 5_890_754), &url("si", '9', 5_890_752)),
            Some(vec![RANDOM_TOKEN, TIME_STAMP])
        );
        assert_eq!(guessed(&url("si", '8', 5_890_752), &url("si", '9', 5_890_752)), None);
        assert_eq!(guessed(&url("item_id", '8', 5_890_754), &url("item_id", '9', 5_890_752)), None);
    }

    #[test]
    fn what_somebody_chose_is_not() {
        for (requested, recorded) in [
            // Not the time of recording, but the day of a timetable.
            ("x?t=1767312000000", "x?t=1767484800000"),
            ("x?t=17672257", "x?t=17672256"),
            ("x?day=2026-01-02", "x?day=2026-01-01"),
            ("x?id=12345678", "x?id=12345679"),
            ("x?id=8c4a1f0e-5b7d-4e0a-9d0c-1f2e3d4c5b6a", "x?id=9c4a1f0e-5b7d-4e0a-9d0c-1f2e3d4c5b6a"),
            ("x?v=dQw4w9WgXcQ", "x?v=aQw4w9WgXc1"),
            ("x?t=1767225723456&page=2", "x?t=1767225600456&page=1"),
            ("x?t=1767225723456", "x?t=1767225600456&page=1"),
            ("y?t=1767225723456", "x?t=1767225600456"),
        ] {
            let (requested, recorded) =
                (format!("https://a.test/{requested}"), format!("https://a.test/{recorded}"));
            assert_eq!(guessed(&requested, &recorded), None, "{requested}");
        }
        assert_eq!(guessed("https://b.test/x?t=1767225723456", "https://a.test/x?t=1767225600456"), None);
    }
}
