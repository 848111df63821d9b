//! A copy of a site as a gateway sees it: an address behind host names, and whether it may have been changed.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
};

use http::{HeaderMap, HeaderName, HeaderValue, Method};

use crate::upstream::Connections;

/// A copy of a site for one episode. Give a new one to the routes for each: its connections are its own and end with it, so that none serves two.
#[derive(Debug)]
pub struct Site {
    name: String,
    address: SocketAddr,
    connections: Connections,
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
        let connections = Connections::default();
        Self {
            name: name.into(),
            address,
            connections,
            headers: HeaderMap::new(),
            changes: AtomicU64::new(0),
        }
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

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn connections(&self) -> &Connections {
        &self.connections
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
