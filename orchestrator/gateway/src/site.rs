//! A site as the gateway sees it: the server behind its host names, and whether requests may have
//! changed its state.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use doors::SiteTarget;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use tokio::sync::watch;
use url::{Host, Url};

use crate::Scheme;
use crate::upstream::{Connections, Place, Server};

/// An instance of a site for one episode, or an external site. Create a new one for each episode:
/// it has its own connections, which end with it, so that no connection serves two episodes.
#[derive(Debug)]
pub struct Site {
    name: String,
    way: SiteAddress,
    connections: Connections,
    /// Header fields added to every request.
    headers: HeaderMap,
    changes: AtomicU64,
    /// Why the site no longer exists, once that is so.
    gone: watch::Sender<Option<Arc<str>>>,
}

/// How a site is reached.
#[derive(Debug)]
pub(crate) enum SiteAddress {
    /// One of our instances, by plain HTTP.
    Instance(Place),
    /// An external server given by address. Requests use the site's own host names.
    Address(Server),
    /// An external server given by name. Requests use that name.
    Named(Server),
}

impl SiteAddress {
    fn elsewhere(url: &Url) -> SiteAddress {
        let scheme = if url.scheme() == "https" { Scheme::Https } else { Scheme::Http };
        let port = url.port_or_known_default().unwrap_or(scheme.default_port());
        let at = |ip: IpAddr| {
            let place = Place::At(SocketAddr::new(ip, port));
            SiteAddress::Address(Server { scheme, host: ip.to_string(), port, place })
        };
        let named =
            |host: &str| Server { scheme, host: host.to_owned(), port, place: Place::Named };
        match url.host() {
            Some(Host::Ipv4(ip)) => at(ip.into()),
            Some(Host::Ipv6(ip)) => at(ip.into()),
            Some(Host::Domain("localhost")) => SiteAddress::Address(named("localhost")),
            Some(Host::Domain(host)) => SiteAddress::Named(named(host)),
            None => SiteAddress::Named(named("")),
        }
    }
}

/// An invalid header field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("send the header field {0:?}: its name or value has characters that HTTP does not allow")]
pub struct BadHeader(String);

impl Site {
    /// The site `name`: one of our instances, in plain HTTP, or an external site on the server of a
    /// URL, in plain HTTP or, for `https`, TLS. The user has named that server, so it may have a
    /// private address.
    ///
    /// If the URL has an address or `localhost` as its host, requests use the client's host name.
    /// Otherwise they use the host of the URL.
    pub fn new(name: impl Into<String>, target: impl Into<SiteTarget>) -> Self {
        let way = match target.into() {
            SiteTarget::Address(address) => SiteAddress::Instance(Place::At(address)),
            SiteTarget::Socket(path) => {
                SiteAddress::Instance(Place::Socket(path.as_std_path().into()))
            }
            SiteTarget::Url(url) => SiteAddress::elsewhere(&url),
        };
        let connections = Connections::default();
        let (changes, gone) = (AtomicU64::new(0), watch::Sender::new(None));
        let headers = HeaderMap::new();
        Self { name: name.into(), way, connections, headers, changes, gone }
    }

    /// Adds header fields to every request. They replace the client's own.
    pub fn with_headers(mut self, headers: &[(String, String)]) -> Result<Self, BadHeader> {
        for (name, value) in headers {
            let bad = || BadHeader(name.clone());
            let (name, value) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>());
            self.headers.insert(name.map_err(|_| bad())?, value.map_err(|_| bad())?);
        }
        Ok(self)
    }

    /// Marks the instance as gone. Pending and future requests to it fail with this reason.
    pub fn has_gone(&self, why: &Arc<str>) {
        self.gone.send_replace(Some(Arc::clone(why)));
    }

    /// Waits until it is gone.
    pub(crate) async fn gone(&self) -> Arc<str> {
        let mut gone = self.gone.subscribe();
        match gone.wait_for(Option::is_some).await.map(|why| why.clone()) {
            Ok(Some(why)) => why,
            // The sender lives as long as `self`.
            _ => std::future::pending().await,
        }
    }

    /// The name of the site.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many requests may have changed its state: those with an unsafe method, and WebSockets.
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

    pub(crate) fn count_request(&self, method: &Method, socket: bool) {
        if socket || !method.is_safe() {
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
    }
}
