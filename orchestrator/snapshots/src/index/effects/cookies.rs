//! The cookies of log-ins that a request carries, and that a response sets or takes away.

use crate::Headers;
use crate::matching::Key;

/// The most cookies of a message that count.
const MOST: usize = 64;
/// What names of cookies of log-ins contain.
const PARTS: [&str; 9] =
    ["auth", "jwt", "login", "remember", "sess", "sid", "sso", "token", "user"];
/// What names of cookies that are set and taken at any time contain.
const NOT: [&str; 6] = ["csrf", "flash", "message", "nonce", "state", "xsrf"];

/// Names of cookies, each as a few bytes of its digest.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct CookieNames(Box<[u32]>);

impl CookieNames {
    /// All that a request carries.
    pub(super) fn sent(headers: &Headers) -> CookieNames {
        let lines = headers.get_all("Cookie").filter_map(|line| std::str::from_utf8(line).ok());
        let names = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
        CookieNames(names.map(|(name, _)| mark(name)).take(MOST).collect())
    }

    /// Whether a request carries one of a log-in.
    pub(super) fn sends_log_in(headers: &Headers) -> bool {
        let lines = headers.get_all("Cookie").filter_map(|line| std::str::from_utf8(line).ok());
        let mut names =
            lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
        names.any(|(name, _)| is_of_log_in(name))
    }

    /// Those of log-ins that a response sets, and those that it takes away.
    pub(super) fn set(headers: &Headers) -> (CookieNames, CookieNames) {
        let (mut set, mut cleared) = (Vec::new(), Vec::new());
        let lines = headers.get_all("Set-Cookie").filter_map(|line| std::str::from_utf8(line).ok());
        // A header of an archive may hold several, one a line.
        for line in lines.flat_map(str::lines).take(MOST) {
            let Some((name, value)) = line.split(';').next().and_then(|pair| pair.split_once('='))
            else {
                continue;
            };
            if is_of_log_in(name) {
                if is_taken_away(value.trim(), line) { &mut cleared } else { &mut set }
                    .push(mark(name));
            }
        }
        (CookieNames(set.into()), CookieNames(cleared.into()))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has_one_of(&self, others: &CookieNames) -> bool {
        others.0.iter().any(|name| self.0.contains(name))
    }
}

fn mark(name: &str) -> u32 {
    let Key([a, b, c, d, ..]) = Key::of("cookie", &[name.trim().as_bytes()]);
    u32::from_le_bytes([a, b, c, d])
}

/// Whether a cookie of this name is one of a log-in or a session.
pub fn is_of_log_in(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    PARTS.iter().any(|part| name.contains(part)) && !NOT.iter().any(|part| name.contains(part))
}

/// Whether a cookie is given an end in the past, or nothing.
fn is_taken_away(value: &str, line: &str) -> bool {
    let value = value.trim_matches('"');
    let mut attributes = line.split(';').skip(1).filter_map(|attribute| attribute.split_once('='));
    let has_ended =
        attributes.any(|(name, value)| match name.trim().to_ascii_lowercase().as_str() {
            "max-age" => value.trim().parse::<i64>().is_ok_and(|seconds| seconds <= 0),
            // Nobody ends a cookie by a date of later years.
            "expires" => (1970..2000).any(|year| value.contains(&year.to_string())),
            _ => false,
        });
    has_ended || value.is_empty() || value.eq_ignore_ascii_case("deleted")
}
