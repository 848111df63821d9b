//! The gateway's way into an instance: which host leads to which port of it, and what every request carries.

use std::sync::{Arc, Weak};

use gateway::{Routes, Target};
use sites::{Lease, Upstream};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::Error;

/// The way into one leased instance, with connections and a count of changes of its own.
pub struct Entrance {
    /// Each host, with what it leads to; hosts of one port share their way.
    doors: Vec<(String, Upstream, Arc<gateway::Site>)>,
    /// Ends the task that waits for the end of the instance.
    _shut: DropGuard,
}

impl Entrance {
    /// Into this instance; every request carries these header fields. Once the instance has ended nothing
    /// is sent there any more, and whoever waits for an answer is told. To be called within a
    /// runtime.
    ///
    /// # Errors
    /// When a header field cannot be sent.
    pub fn to(lease: &Lease, headers: &[(String, String)]) -> Result<Entrance, Error> {
        let site = lease.site();
        let mut doors: Vec<(String, Upstream, Arc<gateway::Site>)> = Vec::new();
        for host in &site.hosts {
            let upstream = lease.upstream_of(host);
            let known = doors.iter().find(|(_, other, _)| *other == upstream);
            let door = match (known, &upstream) {
                (Some((_, _, door)), _) => Arc::clone(door),
                (None, Upstream::Address(address)) => {
                    Arc::new(gateway::Site::new(&site.name, *address).with_headers(headers)?)
                }
                (None, Upstream::Url(url)) => {
                    Arc::new(gateway::Site::elsewhere(&site.name, url).with_headers(headers)?)
                }
            };
            doors.push((host.name.clone(), upstream, door));
        }
        let (open, ending) = (CancellationToken::new(), lease.ending());
        let ways: Vec<Weak<gateway::Site>> = doors.iter().map(|(_, _, door)| Arc::downgrade(door)).collect();
        let (shut, name) = (open.clone(), site.name.clone());
        tokio::spawn(async move {
            tokio::select! {
                _ = ending => {}
                () = shut.cancelled() => return,
            }
            let why = format!("the site {name} has ended; try again").into();
            ways.iter().filter_map(Weak::upgrade).for_each(|way| way.has_gone(&why));
        });
        Ok(Entrance { doors, _shut: open.drop_guard() })
    }

    /// Adds the routes of its hosts.
    ///
    /// # Errors
    /// When a host is no pattern of a route.
    pub fn lead(&self, routes: &mut Routes) -> Result<(), Error> {
        for (host, _, door) in &self.doors {
            routes.add(host, Target::Site(Arc::clone(door)))?;
        }
        Ok(())
    }

    /// Whether a request may have changed something, as far as can be told.
    pub fn changed(&self) -> bool {
        self.doors.iter().any(|(_, _, door)| door.changes() > 0)
    }
}
