//! The copies that are in use, and the routes to them.
//!
//! ```text
//! waited for -> held (a route leads to it) -> reset: route to another copy, this one given back -> held ...
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gateway::{Gateway, Routes};
use sites::manifest::ResetPolicy;
use sites::{Lease, LoggedIn, SiteStatus, Town};

use crate::clocks::Running;
use crate::{Entrance, Error};

/// How long a reset may wait for a copy that is not there yet.
const LEASE: Duration = Duration::from_secs(300);

pub(crate) struct Hall {
    pub(crate) town: Town,
    gateway: Gateway,
    held: Mutex<BTreeMap<String, Arc<Held>>>,
    /// What every request to a site carries since somebody was logged in to it, also to the copies after a reset.
    headers: Mutex<BTreeMap<String, Vec<(String, String)>>>,
    /// One reset of a site at a time.
    resetting: BTreeMap<String, tokio::sync::Mutex<()>>,
}

/// A copy in use.
struct Held {
    lease: Mutex<Option<Lease>>,
    entrance: Mutex<Entrance>,
    /// Whether somebody has logged in to it, which may leave traces.
    logged_in: AtomicBool,
    clock: Running,
}

impl Hall {
    pub(crate) fn new(town: Town, gateway: Gateway) -> Arc<Hall> {
        let resetting = town.sites().map(|site| (site.name.clone(), tokio::sync::Mutex::default())).collect();
        let (held, headers) = (Mutex::default(), Mutex::default());
        Arc::new(Hall { town, gateway, held, headers, resetting })
    }

    pub(crate) fn proxy(&self) -> std::net::SocketAddr {
        self.gateway.local_addr()
    }

    /// Takes a copy of every site as soon as there is one. A site that fails is tried again by its reset.
    pub(crate) fn move_in(self: &Arc<Hall>) {
        for site in self.town.sites() {
            let (hall, name) = (Arc::clone(self), site.name.clone());
            tokio::spawn(async move {
                let own = hall.own(&name).await;
                if let Err(error) = hall.take(&name).await {
                    tracing::warn!(site = name, %error, "a site has no copy");
                }
                drop(own);
            });
        }
    }

    /// Makes a site pristine for its users; how long they had to wait.
    pub(crate) async fn reset(&self, name: &str) -> Result<Duration, Error> {
        let began = Instant::now();
        let _own = self.own(name).await;
        let policy = self.town.sites().find(|site| site.name == name).map(|site| site.reset);
        match policy {
            Some(ResetPolicy::Never) if self.holds(name) => return Ok(began.elapsed()),
            // Its only copy is the one in use.
            Some(ResetPolicy::Recreate) => self.give_back(name).await,
            _ => {}
        }
        if !self.holds(name) {
            // It may have been given up.
            self.town.reset(name).await?;
        }
        self.take(name).await?;
        Ok(began.elapsed())
    }

    /// Lets an account of the manifest in to the copy in use.
    pub(crate) async fn login(&self, name: &str, account: &str) -> Result<LoggedIn, Error> {
        let held = self.held().get(name).cloned();
        let Some(held) = held else {
            return Err(Error::Refused(format!("log in to {name}: it is not up")));
        };
        // Taken out while it is used, as a lock is not held across a wait.
        let lease = held.lock().take();
        let Some(lease) = lease else {
            return Err(Error::Refused(format!("log in to {name}: it is being reset")));
        };
        let given = self.let_in(&held, &lease, account).await;
        *held.lock() = Some(lease);
        self.lead();
        given
    }

    /// Logs in to a copy, and has requests to it carry what that asks for.
    async fn let_in(&self, held: &Held, lease: &Lease, account: &str) -> Result<LoggedIn, Error> {
        held.logged_in.store(true, Ordering::Relaxed);
        let given = lease.login(account).await?;
        *locked(&held.entrance) = Entrance::to(lease, &given.headers)?;
        locked(&self.headers).insert(lease.site().name.clone(), given.headers.clone());
        Ok(given)
    }

    /// How every site is doing.
    pub(crate) fn sites(&self) -> Vec<SiteStatus> {
        self.town.status()
    }

    /// Moves the clocks on.
    pub(crate) fn tick(&self) {
        for held in self.held().values() {
            if let Some(lease) = &*held.lock() {
                held.clock.tick(lease);
            }
        }
    }

    async fn own(&self, name: &str) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        match self.resetting.get(name) {
            Some(own) => Some(own.lock().await),
            None => None,
        }
    }

    fn holds(&self, name: &str) -> bool {
        self.held().contains_key(name)
    }

    /// Takes a pristine copy, leads the route to it, and gives the one before back.
    async fn take(&self, name: &str) -> Result<(), Error> {
        let lease = self.town.lease(name, LEASE).await?;
        let headers = locked(&self.headers).get(name).cloned().unwrap_or_default();
        let entrance = Mutex::new(Entrance::to(&lease, &headers)?);
        let clock = Running::of(&lease);
        let held = Arc::new(Held {
            lease: Mutex::new(Some(lease)),
            entrance,
            logged_in: AtomicBool::new(false),
            clock,
        });
        let before = self.held().insert(name.to_owned(), held);
        self.lead();
        if let Some(before) = before {
            before.end().await;
        }
        Ok(())
    }

    async fn give_back(&self, name: &str) {
        let before = self.held().remove(name);
        self.lead();
        if let Some(before) = before {
            before.end().await;
        }
    }

    fn lead(&self) {
        let mut routes = Routes::new();
        for held in self.held().values() {
            if let Err(error) = locked(&held.entrance).lead(&mut routes) {
                tracing::warn!(%error, "a host of a site cannot be reached");
            }
        }
        self.gateway.set_routes(routes);
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Held>>> {
        locked(&self.held)
    }
}

impl Held {
    fn lock(&self) -> MutexGuard<'_, Option<Lease>> {
        locked(&self.lease)
    }

    async fn end(&self) {
        let lease = self.lock().take();
        if let Some(lease) = lease {
            let changed = self.logged_in.load(Ordering::Relaxed) || locked(&self.entrance).changed();
            lease.hand_back(changed).await;
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
