//! A site as a gateway sees it: where it is behind its host names, and whether it may have been
//! changed.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use tokio::sync::watch;
use url::{Host, Url};

use crate::{
    Scheme,
    upstream::{Connections, Place, Server},
};

/// A copy of a site for one episode, or a site that is somebody else's. Give a new one to the
/// routes for each episode: its connections are its own and end with it, so that none serves two.
#[derive(Debug)]
pub struct Site {
    name: String,
    way: SiteAddress,
    connections: Connections,
    /// Header fields that every request gets.
    headers: HeaderMap,
    changes: AtomicU64,
    /// Why it is there no more, once that is so.
    gone: watch::Sender<Option<Arc<str>>>,
}

/// How a site is reached.
#[derive(Debug)]
pub(crate) enum SiteAddress {
    /// A copy of ours, for plain HTTP.
    Copy(SocketAddr),
    /// A server that is not ours and stands at an address: asked by the site's own names.
    Address(Server),
    /// A server that is not ours and has a name: asked by that.
    Named(Server),
}

/// A header field that cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("send the header field {0:?}: its name or value has characters that HTTP does not allow")]
pub struct BadHeader(String);

impl Site {
    /// The site called `name`, whose copy listens on `address` for plain HTTP.
    pub fn new(name: impl Into<String>, address: SocketAddr) -> Self {
        Self::by(name.into(), SiteAddress::Copy(address))
    }

    /// The site called `name` that is somebody else's, on the server of a URL: in plain HTTP or,
    /// for `https`, TLS. The user has named it, so it may be on a private address.
    ///
    /// A server that the URL names by an address, or as `localhost`, is asked under the name that
    /// the client asks for; any other by its own.
    pub fn elsewhere(name: impl Into<String>, url: &Url) -> Self {
        let scheme = if url.scheme() == "https" { Scheme::Https } else { Scheme::Http };
        let port = url.port_or_known_default().unwrap_or(scheme.default_port());
        let at = |ip: IpAddr| {
            let place = Place::At(SocketAddr::new(ip, port));
            SiteAddress::Address(Server { scheme, host: ip.to_string(), port, place })
        };
        let named = |host: &str| Server { scheme, host: host.to_owned(), port, place: Place::Named };
        let way = match url.host() {
            Some(Host::Ipv4(ip)) => at(ip.into()),
            Some(Host::Ipv6(ip)) => at(ip.into()),
            Some(Host::Domain("localhost")) => SiteAddress::Address(named("localhost")),
            Some(Host::Domain(host)) => SiteAddress::Named(named(host)),
            None => SiteAddress::Named(named("")),
        };
        Self::by(name.into(), way)
    }

    fn by(name: String, way: SiteAddress) -> Self {
        let connections = Connections::default();
        let (changes, gone) = (AtomicU64::new(0), watch::Sender::new(None));
        Self { name, way, connections, headers: HeaderMap::new(), changes, gone }
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

    /// The copy has ended: whoever waits for an answer of it, or asks it from now on, is told why
    /// there is none.
    pub fn has_gone(&self, why: &Arc<str>) {
        self.gone.send_replace(Some(Arc::clone(why)));
    }

    /// Waits until it has.
    pub(crate) async fn gone(&self) -> Arc<str> {
        let mut gone = self.gone.subscribe();
        match gone.wait_for(Option::is_some).await.map(|why| why.clone()) {
            Ok(Some(why)) => why,
            // It is there as long as this is asked.
            _ => std::future::pending().await,
        }
    }

    /// What the site is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many requests may have changed its state: those with a method that is not safe, and
    /// WebSockets.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    pub(crate) fn way(&self) -> &SiteAddress {
        &self.way
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
