//! Routes map host patterns to targets.
//!
//! The most specific pattern wins, independent of order: host and port, then host, then the longest
//! wildcard, then `*`. The wildcard `*.example.test` does not match `example.test` itself. Each
//! pattern may name a port, and then precedes the same pattern without one. Of two equal patterns
//! the first one wins. An unmatched host is refused.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::upstream::is_bad_port;
use crate::{Fill, Recorder, Replay, Site};

/// What answers the requests of a route.
#[derive(Clone)]
pub enum Target {
    /// A snapshot; unrecorded requests are misses.
    Replay(Arc<Replay>),
    /// The live web, recorded.
    Record(Arc<Recorder>),
    /// A snapshot; unrecorded requests go to the live web and are recorded.
    Fill(Arc<Fill>),
    /// An instance of a site.
    Site(Arc<Site>),
    /// The live web, not recorded.
    Forward,
    /// Temporarily unavailable, with the message to show.
    Unavailable(Arc<str>),
    /// A readable refusal, counted.
    Refuse,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Target::Replay(_) => "Replay",
            Target::Record(_) => "Record",
            Target::Fill(..) => "Fill",
            Target::Site(..) => "Site",
            Target::Forward => "Forward",
            Target::Unavailable(_) => "Unavailable",
            Target::Refuse => "Refuse",
        })
    }
}

/// An invalid host pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read the route pattern {pattern:?}: {reason}")]
pub struct BadPattern {
    /// The given text.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// The routes of a gateway. Without any, every request is refused.
#[derive(Debug, Clone, Default)]
pub struct Routes {
    hosts: HashMap<(String, Option<u16>), Target>,
    /// Suffixes with their leading dot, longest first; the empty one is `*`.
    wildcards: Vec<(String, Option<u16>, Target)>,
}

impl Routes {
    /// No routes.
    pub fn new() -> Self {
        Self::default()
    }

    /// One target for everything.
    pub fn all(target: Target) -> Self {
        Self { hosts: HashMap::new(), wildcards: vec![(String::new(), None, target)] }
    }

    /// Adds a route for `host`, `host:port`, `*.suffix`, `*.suffix:port`, `*` or `*:port`. IPv6
    /// addresses stand in brackets.
    pub fn add(&mut self, pattern: &str, target: Target) -> Result<(), BadPattern> {
        let bad = |reason| BadPattern { pattern: pattern.to_owned(), reason };
        let (host, port) =
            split_port(pattern).ok_or(bad("the port is not a number below 65536"))?;
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        if pattern.starts_with("*.") && host == "*" {
            return Err(bad("there is nothing behind the wildcard"));
        }
        if host.is_empty() {
            return Err(bad("there is no host"));
        }
        let Some(suffix) = host.strip_prefix('*') else {
            if host.contains(['*', '/', ' ']) {
                return Err(bad("a host is a name, an address, or a wildcard like *.example.test"));
            }
            self.hosts.entry((host, port)).or_insert(target);
            return Ok(());
        };
        if suffix.contains(['*', '/', ' '])
            || !(suffix.is_empty() || (suffix.starts_with('.') && suffix.len() > 1))
        {
            return Err(bad("a wildcard is * or begins with *."));
        }
        if !self.wildcards.iter().any(|(own, own_port, _)| own == suffix && *own_port == port) {
            self.wildcards.push((suffix.to_owned(), port, target));
            // The first route that fits counts, so the most specific come first.
            self.wildcards
                .sort_by_key(|(suffix, port, _)| (std::cmp::Reverse(suffix.len()), port.is_none()));
        }
        Ok(())
    }

    /// Whether a tunnel to this server is allowed: to the web's default ports, to ports that a
    /// route or a recorded URL names, and to any valid URL port if the live web is the target.
    pub(crate) fn takes(&self, host: &str, port: u16) -> bool {
        if matches!(port, 80 | 443) || self.names_port(port) {
            return true;
        }
        match self.target(host, port) {
            Target::Forward | Target::Record(_) | Target::Fill(_) => !is_bad_port(port),
            Target::Replay(replay) => replay.has_port(host, port),
            Target::Site(_) | Target::Unavailable(_) | Target::Refuse => false,
        }
    }

    fn names_port(&self, port: u16) -> bool {
        let hosts = self.hosts.keys().map(|(_, own)| *own);
        hosts.chain(self.wildcards.iter().map(|(_, own, _)| *own)).any(|own| own == Some(port))
    }

    /// The target for a host (lower-case, IPv6 without brackets) and port.
    pub fn target(&self, host: &str, port: u16) -> &Target {
        let exact = (host.to_owned(), Some(port));
        if let Some(target) = self.hosts.get(&exact).or_else(|| self.hosts.get(&(exact.0, None))) {
            return target;
        }
        self.wildcards
            .iter()
            .find(|(suffix, own, _)| {
                own.is_none_or(|own| own == port)
                    && host.len() > suffix.len()
                    && host.ends_with(suffix)
            })
            .map_or(&Target::Refuse, |(_, _, target)| target)
    }
}

fn split_port(pattern: &str) -> Option<(&str, Option<u16>)> {
    if let Some(bracketed) = pattern.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(port.parse().ok()?))),
            None if rest.is_empty() => Some((host, None)),
            None => None,
        };
    }
    match pattern.split_once(':') {
        Some((host, port)) if !port.contains(':') => Some((host, Some(port.parse().ok()?))),
        // More than one colon: an IPv6 address without brackets.
        _ => Some((pattern, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which of the patterns, in order of adding, matches; `None` is a refusal. Patterns are
    /// distinguished by their `Replay`.
    fn check(patterns: &[&str], host: &str, port: u16, expect: Option<&str>) {
        let replays: Vec<_> = patterns.iter().map(|_| Arc::new(Replay::default())).collect();
        let mut routes = Routes::new();
        for (pattern, replay) in patterns.iter().zip(&replays) {
            routes.add(pattern, Target::Replay(replay.clone())).unwrap();
        }
        let found = match routes.target(host, port) {
            Target::Replay(replay) => {
                replays.iter().position(|own| Arc::ptr_eq(own, replay)).map(|at| patterns[at])
            }
            _ => None,
        };
        assert_eq!(found, expect, "{host}:{port} in {patterns:?}");
    }

    #[test]
    fn the_most_specific_pattern_wins() {
        let all = [
            "*",
            "*:8080",
            "*.test",
            "*.shop.test",
            "*.shop.test:444",
            "Shop.TEST",
            "shop.test:443",
        ];
        check(&all, "shop.test", 443, Some("shop.test:443"));
        check(&all, "shop.test", 80, Some("Shop.TEST"));
        check(&all, "a.shop.test", 80, Some("*.shop.test"));
        check(&all, "a.shop.test", 444, Some("*.shop.test:444"));
        check(&all, "forum.test", 80, Some("*.test"));
        check(&all, "example.org", 8080, Some("*:8080"));
        check(&all, "example.org", 80, Some("*"));
    }

    #[test]
    fn what_matches_nothing_is_refused() {
        check(&[], "shop.test", 443, None);
        check(&["*.shop.test", "shop.test:80"], "shop.test", 443, None);
        check(&["*.hop.test"], "shop.test", 443, None);
    }

    #[test]
    fn addresses_are_hosts_too() {
        check(&["[::1]:80", "::1"], "::1", 80, Some("[::1]:80"));
        check(&["[::1]:80", "::1"], "::1", 81, Some("::1"));
        check(&["127.0.0.1:80"], "127.0.0.1", 80, Some("127.0.0.1:80"));
    }

    #[test]
    fn tunnels_lead_to_ports_that_the_world_has() {
        let mut routes = Routes::new();
        routes.add("shop.test", Target::Replay(Arc::new(Replay::default()))).unwrap();
        routes.add("live.test", Target::Forward).unwrap();
        routes.add("api.test:8443", Target::Refuse).unwrap();
        for (host, port, expect) in [
            ("shop.test", 443, true),
            ("shop.test", 80, true),
            ("shop.test", 8080, false),
            ("shop.test", 8443, true),
            ("nowhere.test", 443, true),
            ("nowhere.test", 22, false),
            ("live.test", 8080, true),
            ("live.test", 25, false),
            ("live.test", 6667, false),
        ] {
            assert_eq!(routes.takes(host, port), expect, "{host}:{port}");
        }
    }

    #[test]
    fn malformed_patterns_are_refused() {
        for pattern in [
            "", ":80", "a:b", "a:70000", "*x.test", "a.*.test", "*.", "*.*.test", "http://a",
            "[::1", "[::1]x",
        ] {
            assert!(Routes::new().add(pattern, Target::Refuse).is_err(), "{pattern}");
        }
    }
}
