//! A guard on the way to the live web: requests that may change something at a third party are not
//! sent. Whoever records a site asks it for what it shows, and nobody else for anything.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use http::Method;
use parking_lot::Mutex;

/// Which hosts may get requests that change something.
#[derive(Debug, Default)]
pub struct WriteGuard {
    /// Sites: names that one owner has registered, with all names below them.
    sites: Vec<String>,
    /// Whether everything passes.
    open: AtomicBool,
    stopped: Mutex<BTreeMap<String, u64>>,
}

impl WriteGuard {
    /// A guard that lets such requests to the sites of these hosts pass. As for a browser, a site
    /// is a name directly below a public suffix, such as `shop.de` or `shop.co.uk`, with all names
    /// below it.
    pub fn new(hosts: impl IntoIterator<Item = String>) -> WriteGuard {
        let sites = hosts.into_iter().map(|host| snapshots::index::site_of(&host)).collect();
        WriteGuard { sites, ..WriteGuard::default() }
    }

    /// Whether everything passes from now on: while a person decides what is sent, such as the
    /// solution of a CAPTCHA.
    pub fn set_open(&self, open: bool) {
        self.open.store(open, Ordering::Relaxed);
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
        if self.open.load(Ordering::Relaxed) || self.sites.iter().any(is_own) {
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
        let named = [
            "www.Shop.de",
            "app.other.co.uk",
            "www.gov.uk",
            "me.github.io",
            "192.0.2.1",
            "[2001:db8::1]",
        ];
        let guard = WriteGuard::new(named.map(str::to_owned));
        for (method, host, stopped) in [
            (Method::GET, "tracker.test", false),
            (Method::HEAD, "tracker.test", false),
            (Method::OPTIONS, "tracker.test", false),
            (Method::POST, "tracker.test", true),
            (Method::DELETE, "another.co.uk", true),
            (Method::POST, "notshop.de", true),
            (Method::POST, "shop.de", false),
            (Method::PUT, "img.shop.de", false),
            (Method::POST, "api.other.co.uk", false),
            (Method::POST, "www.gov.uk", false),
            (Method::POST, "tax.gov.uk", true),
            (Method::POST, "you.github.io", true),
            (Method::POST, "192.0.2.1", false),
            (Method::POST, "192.0.2.2", true),
            (Method::POST, "2001:db8::1", false),
        ] {
            assert_eq!(guard.stops(&method, host), stopped, "{method} {host}");
        }
        assert_eq!(guard.stopped().values().sum::<u64>(), 6);
        for open in [true, false] {
            guard.set_open(open);
            assert_eq!(guard.stops(&Method::POST, "tracker.test"), !open);
        }
    }
}
