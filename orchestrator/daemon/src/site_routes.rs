//! The gateway's routes to one instance of a site.
//!
//! A route maps a host of the site to a port of the instance. Every request over it carries the
//! header fields of the log-in.

use std::sync::{Arc, Weak};

use gateway::{Routes, Target};
use sites::{Lease, SiteTarget};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::Error;

/// The routes to one leased instance, with their own connections and their own count of changes.
pub struct SiteRoutes {
    /// Each host with its target. Hosts of the same port share one target.
    hosts: Vec<(String, SiteTarget, Arc<gateway::Site>)>,
    /// Ends the task that waits for the end of the instance.
    _watch: DropGuard,
}

impl SiteRoutes {
    /// Creates routes to this instance; every request carries these header fields. When the
    /// instance ends, no request is sent to it any more, and waiting clients get an error. Must be
    /// called within a runtime.
    ///
    /// # Errors
    /// When a header field is invalid.
    pub fn new(lease: &Lease, headers: &[(String, String)]) -> Result<SiteRoutes, Error> {
        let site = lease.site();
        let mut hosts: Vec<(String, SiteTarget, Arc<gateway::Site>)> = Vec::new();
        for host in &site.hosts {
            let upstream = lease.upstream_of(host);
            // Host names of one upstream share its connections and its count of changes.
            let known = hosts.iter().find(|(_, other, _)| *other == upstream);
            let target = match known {
                Some((_, _, target)) => Arc::clone(target),
                None => {
                    let target = gateway::Site::new(&site.name, upstream.clone());
                    Arc::new(target.with_headers(headers)?)
                }
            };
            hosts.push((host.name.clone(), upstream, target));
        }
        let (watch, ending) = (CancellationToken::new(), lease.ending());
        // Weak, so that this task does not keep connections open after the routes.
        let targets: Vec<Weak<gateway::Site>> =
            hosts.iter().map(|(_, _, target)| Arc::downgrade(target)).collect();
        let (dropped, name) = (watch.clone(), site.name.clone());
        tokio::spawn(async move {
            tokio::select! {
                _ = ending => {}
                () = dropped.cancelled() => return,
            }
            let why = format!("the site {name} has ended; try again").into();
            targets.iter().filter_map(Weak::upgrade).for_each(|target| target.has_gone(&why));
        });
        Ok(SiteRoutes { hosts, _watch: watch.drop_guard() })
    }

    /// Adds the routes of its hosts.
    ///
    /// # Errors
    /// When a host is not a valid route pattern.
    pub fn add_to(&self, routes: &mut Routes) -> Result<(), Error> {
        for (host, _, target) in &self.hosts {
            routes.add(host, Target::Site(Arc::clone(target)))?;
        }
        Ok(())
    }

    /// Whether a request may have changed something, as far as can be determined.
    pub fn changed(&self) -> bool {
        self.hosts.iter().any(|(_, _, target)| target.changes() > 0)
    }
}
