//! A copy of a site as a gateway sees it: an address behind host names, and whether it may have been changed.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
};

use http::{HeaderMap, HeaderName, HeaderValue, Method};

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A copy of a site for one episode. Give a new one to the routes for each, so that no connection serves two.
#[derive(Debug)]
pub struct Site {
    name: String,
    address: SocketAddr,
    /// Tells it from all others; two copies may have had one address, one after the other.
    number: u64,
    /// Header fields that every request gets.
    headers: HeaderMap,
    changes: AtomicU64,
}

/// A header field that cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("send the header field {0:?}: its name or value has characters that HTTP does not allow")]
pub struct BadHeader(String);

impl Site {
    /// The site called `name`, whose copy listens on `address` for plain HTTP.
    pub fn new(name: impl Into<String>, address: SocketAddr) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { name: name.into(), address, number, headers: HeaderMap::new(), changes: AtomicU64::new(0) }
    }

    /// The same, with header fields that every request gets in place of the client's own.
    pub fn with_headers(mut self, headers: &[(String, String)]) -> Result<Self, BadHeader> {
        for (name, value) in headers {
            let bad = || BadHeader(name.clone());
            let (name, value) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>());
            self.headers.insert(name.map_err(|_| bad())?, value.map_err(|_| bad())?);
        }
        Ok(self)
    }

    /// What the site is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many requests may have changed its state: those with a method that is not safe, and WebSockets.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    pub(crate) fn place(&self) -> (SocketAddr, u64) {
        (self.address, self.number)
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    pub(crate) fn asked(&self, method: &Method, socket: bool) {
        if socket || !method.is_safe() {
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
    }
}
