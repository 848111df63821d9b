//! The gateway's way into a copy: which host leads to which port of it, and what every request carries.

use std::collections::BTreeMap;
use std::sync::Arc;

use gateway::{Routes, Target};
use sites::{Lease, Upstream};

use crate::Error;

/// The way into one leased copy, with connections and a count of changes of its own.
pub struct Entrance {
    /// Each host, with what it leads to; a site that is not ours is reached like any other.
    doors: Vec<(String, Option<Arc<gateway::Site>>)>,
}

impl Entrance {
    /// Into this copy; every request carries these header fields.
    ///
    /// # Errors
    /// When a header field cannot be sent.
    pub fn to(lease: &Lease, headers: &[(String, String)]) -> Result<Entrance, Error> {
        let site = lease.site();
        let mut ports = BTreeMap::new();
        let mut doors = Vec::new();
        for host in &site.hosts {
            let door = match lease.upstream_of(host) {
                Upstream::Address(address) => {
                    let made = gateway::Site::new(&site.name, address).with_headers(headers)?;
                    Some(Arc::clone(ports.entry(address).or_insert(Arc::new(made))))
                }
                Upstream::Url(_) => None,
            };
            doors.push((host.name.clone(), door));
        }
        Ok(Entrance { doors })
    }

    /// Adds the routes of its hosts.
    ///
    /// # Errors
    /// When a host is no pattern of a route.
    pub fn lead(&self, routes: &mut Routes) -> Result<(), Error> {
        for (host, door) in &self.doors {
            routes.add(host, door.clone().map_or(Target::Forward, Target::Site))?;
        }
        Ok(())
    }

    /// Whether a request may have changed something, as far as can be told.
    pub fn changed(&self) -> bool {
        self.doors.iter().any(|(_, door)| door.as_ref().is_none_or(|site| site.changes() > 0))
    }
}
