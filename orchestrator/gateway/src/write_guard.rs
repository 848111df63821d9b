//! A guard on the way to the live web: requests that may change something at a third party are not
//! sent. Whoever records a site asks it for what it shows, and nobody else for anything.

use std::collections::BTreeMap;

use http::Method;
use parking_lot::Mutex;

/// Which hosts may get requests that change something.
#[derive(Debug, Default)]
pub struct WriteGuard {
    /// These hosts and all names below them.
    hosts: Vec<String>,
    stopped: Mutex<BTreeMap<String, u64>>,
}

impl WriteGuard {
    /// A guard that lets such requests to these hosts, and to names below them, pass. A leading
    /// `www.` does not count, so a site may talk to all of its own names, unless what is left may
    /// be a suffix that many share.
    pub fn new(hosts: impl IntoIterator<Item = String>) -> WriteGuard {
        let mut own = Vec::new();
        for host in hosts {
            let host = host.to_ascii_lowercase();
            let site = host.strip_prefix("www.").unwrap_or(&host).to_owned();
            own.push(host);
            // What is left of `www.gov.uk` is no site of one owner.
            if site.split('.').next_back().is_some_and(|end| end.len() > 2) || site.matches('.').count() > 1 {
                own.push(site);
            }
        }
        WriteGuard { hosts: own, stopped: Mutex::default() }
    }

    /// Whether a request is stopped. Counts it if so.
    pub(crate) fn stops(&self, method: &Method, host: &str) -> bool {
        // The safe methods of HTTP (RFC 9110, section 9.2.1).
        if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS | Method::TRACE) {
            return false;
        }
        let is_own = |own: &String| {
            host == own || host.strip_suffix(own.as_str()).is_some_and(|rest| rest.ends_with('.'))
        };
        if self.hosts.iter().any(is_own) {
            return false;
        }
        *self.stopped.lock().entry(host.to_owned()).or_default() += 1;
        true
    }

    /// How many requests were stopped, by host.
    pub fn stopped(&self) -> BTreeMap<String, u64> {
        self.stopped.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_change_something_at_others_is_stopped() {
        let guard = WriteGuard::new(["www.Shop.test", "api.other.test", "www.gov.uk"].map(str::to_owned));
        for (method, host, stopped) in [
            (Method::GET, "tracker.test", false),
            (Method::HEAD, "tracker.test", false),
            (Method::OPTIONS, "tracker.test", false),
            (Method::POST, "tracker.test", true),
            (Method::DELETE, "other.test", true),
            (Method::POST, "notshop.test", true),
            (Method::POST, "shop.test", false),
            (Method::PUT, "img.shop.test", false),
            (Method::POST, "api.other.test", false),
            (Method::POST, "www.gov.uk", false),
            (Method::POST, "tax.service.gov.uk", true),
        ] {
            assert_eq!(guard.stops(&method, host), stopped, "{method} {host}");
        }
        assert_eq!(guard.stopped().values().sum::<u64>(), 4);
    }
}
