//! The copies that are in use, and the routes to them.
//!
//! ```text
//! waited for -> held (a route leads to it) -> reset: route to another copy, this one given back -> held ...
//!      ^                   |
//!      +--- it has ended --+
//! ```
//!
//! A route lives no longer than its copy. Where there is none, whoever asks for the site is told
//! so, and to try again.
//!
//! A reset and a log-in go on to their end when whoever has asked for them goes away: one that is
//! given up half-way would leave a site without a copy, or a copy with half of its state.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use gateway::{Gateway, Routes, Target};
use parking_lot::{Mutex, MutexGuard};
use sites::manifest::ResetPolicy;
use sites::{Lease, LoggedIn, Site, SiteStatus, Town};
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinError;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::clocks::Running;
use crate::{Entrance, Error};

/// How long a reset may wait for a copy that is not there yet.
const LEASE: Duration = Duration::from_secs(300);
/// How long a reset waits for a container engine that does not answer.
const ENGINE: Duration = Duration::from_secs(5);

pub(crate) struct Hall {
    pub(crate) town: Town,
    gateway: Gateway,
    /// What each site's hosts lead to.
    places: Mutex<BTreeMap<String, Place>>,
    /// What every request to a site carries since somebody was logged in to it, also to the copies after a reset.
    headers: Mutex<BTreeMap<String, Vec<(String, String)>>>,
    /// One reset of a site at a time.
    resetting: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

enum Place {
    /// To a copy.
    Held(Arc<Held>),
    /// Nowhere, with the reason.
    Empty(Arc<str>),
}

/// A copy in use.
struct Held {
    /// Nothing once it is given back. A log-in has a share of it for as long as it lasts.
    lease: Mutex<Option<Arc<Lease>>>,
    entrance: Mutex<Entrance>,
    /// Whether somebody has logged in to it, which may leave traces.
    logged_in: AtomicBool,
    clock: Running,
    /// Ends the task that waits for its end.
    _over: DropGuard,
}

impl Hall {
    pub(crate) fn new(town: Town, gateway: Gateway) -> Arc<Hall> {
        Arc::new(Hall {
            town,
            gateway,
            places: Mutex::default(),
            headers: Mutex::default(),
            resetting: Mutex::default(),
        })
    }

    pub(crate) fn proxy(&self) -> std::net::SocketAddr {
        self.gateway.local_addr()
    }

    /// Adds sites to those of the town.
    pub(crate) async fn add(self: &Arc<Hall>, sites: Vec<Site>) -> Result<(), Error> {
        self.town.add(sites).await?;
        self.move_in();
        Ok(())
    }

    /// Takes a copy of every site that has no place yet, as soon as there is one.
    pub(crate) fn move_in(self: &Arc<Hall>) {
        let mut new = Vec::new();
        for site in self.town.sites() {
            if let Entry::Vacant(place) = self.places().entry(site.name.clone()) {
                let why = format!("the site {} is being started; try again", site.name);
                place.insert(Place::Empty(why.into()));
                new.push(site.name.clone());
            }
        }
        self.lead();
        new.iter().for_each(|name| self.fill_soon(name));
    }

    fn fill_soon(self: &Arc<Hall>, name: &str) {
        let (hall, name) = (Arc::clone(self), name.to_owned());
        tokio::spawn(async move { hall.fill(&name).await });
    }

    /// Takes a copy of a site that has none, however long that takes. A site that was given up is
    /// tried again by its reset.
    async fn fill(self: &Arc<Hall>, name: &str) {
        let _own = self.own(name).await;
        while !self.holds(name) {
            match self.take(name).await {
                Ok(()) => return,
                // It may yet come: the container engine is being started anew, for example.
                Err(Error::Sites(sites::Error::Deadline { .. })) => {}
                Err(Error::Sites(sites::Error::Stopped(_))) => return,
                Err(error) => {
                    tracing::warn!(site = name, %error, "a site has no copy");
                    let why = format!(
                        "the site {name} is not running: failed to {error}; `sandbox reset {name}` starts it, then try again"
                    );
                    return self.empty(name, &why.into());
                }
            }
        }
    }

    /// Makes a site pristine for its users; how long they had to wait.
    pub(crate) async fn reset(self: &Arc<Hall>, name: &str) -> Result<Duration, Error> {
        let (hall, name) = (Arc::clone(self), name.to_owned());
        to_its_end(async move { hall.reset_timed(&name).await }).await
    }

    async fn reset_timed(self: &Arc<Hall>, name: &str) -> Result<Duration, Error> {
        let began = Instant::now();
        tokio::select! {
            biased;
            done = self.reset_in_turn(name) => done?,
            gone = self.town.lacks_engine(name, ENGINE) => {
                // What the reset would have done comes once the engine is back.
                self.fill_soon(name);
                return Err(gone.into());
            }
        }
        Ok(began.elapsed())
    }

    async fn reset_in_turn(self: &Arc<Hall>, name: &str) -> Result<(), Error> {
        let _own = self.own(name).await;
        let policy = self.site(name).map(|site| site.reset);
        match policy {
            Some(ResetPolicy::Never) if self.holds(name) => return Ok(()),
            // Its only copy is the one in use.
            Some(ResetPolicy::Recreate) => self.give_back(name).await,
            _ => {}
        }
        if !self.holds(name) {
            // It may have been given up.
            self.town.reset(name).await?;
        }
        self.take(name).await
    }

    /// Lets an account of the manifest in to the copy in use.
    pub(crate) async fn login(self: &Arc<Hall>, name: &str, account: &str) -> Result<LoggedIn, Error> {
        let (hall, name, account) = (Arc::clone(self), name.to_owned(), account.to_owned());
        to_its_end(async move { hall.login_to_held(&name, &account).await }).await
    }

    async fn login_to_held(&self, name: &str, account: &str) -> Result<LoggedIn, Error> {
        let Some(held) = self.held(name) else {
            return Err(Error::Refused(format!("log in to {name}: it is not up; try again")));
        };
        // The lease stays where it is: whatever becomes of this, the copy is in use.
        let Some(lease) = held.lock().clone() else {
            return Err(Error::Refused(format!("log in to {name}: it is being reset; try again")));
        };
        let given = self.let_in(&held, &lease, account).await;
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
        for place in self.places().values() {
            if let Place::Held(held) = place
                && let Some(lease) = &*held.lock()
            {
                held.clock.tick(lease);
            }
        }
    }

    async fn own(&self, name: &str) -> OwnedMutexGuard<()> {
        let own = Arc::clone(locked(&self.resetting).entry(name.to_owned()).or_default());
        own.lock_owned().await
    }

    fn site(&self, name: &str) -> Option<Arc<Site>> {
        self.town.sites().into_iter().find(|site| site.name == name)
    }

    fn holds(&self, name: &str) -> bool {
        self.held(name).is_some()
    }

    fn held(&self, name: &str) -> Option<Arc<Held>> {
        match self.places().get(name) {
            Some(Place::Held(held)) => Some(Arc::clone(held)),
            _ => None,
        }
    }

    /// Takes a pristine copy, leads the route to it, and gives the one before back.
    async fn take(self: &Arc<Hall>, name: &str) -> Result<(), Error> {
        let lease = self.town.lease(name, LEASE).await?;
        let headers = locked(&self.headers).get(name).cloned().unwrap_or_default();
        let entrance = Mutex::new(Entrance::to(&lease, &headers)?);
        let (clock, ending, over) = (Running::of(&lease), lease.ending(), CancellationToken::new());
        let held = Arc::new(Held {
            lease: Mutex::new(Some(Arc::new(lease))),
            entrance,
            logged_in: AtomicBool::new(false),
            clock,
            _over: over.clone().drop_guard(),
        });
        let before = self.places().insert(name.to_owned(), Place::Held(Arc::clone(&held)));
        self.lead();
        let (hall, name) = (Arc::clone(self), name.to_owned());
        let held = Arc::downgrade(&held);
        tokio::spawn(async move {
            tokio::select! {
                error = ending => hall.ended(&name, &held, error),
                () = over.cancelled() => {}
            }
        });
        if let Some(Place::Held(before)) = before {
            before.end().await;
        }
        Ok(())
    }

    /// A copy has ended by itself: nothing leads to it any more, and another one takes its place.
    fn ended(self: &Arc<Hall>, name: &str, copy: &Weak<Held>, error: sites::Error) {
        let in_use = self.held(name).filter(|held| Weak::ptr_eq(&Arc::downgrade(held), copy));
        if in_use.is_none() || matches!(error, sites::Error::Stopped(_)) {
            return;
        }
        let why = format!("the site {name} has ended and is being started anew; try again").into();
        self.empty(name, &why);
        self.fill_soon(name);
    }

    async fn give_back(&self, name: &str) {
        let before = self.held(name);
        self.empty(name, &format!("the site {name} is being made anew; try again").into());
        if let Some(before) = before {
            before.end().await;
        }
    }

    /// Has a site's hosts lead nowhere.
    fn empty(&self, name: &str, why: &Arc<str>) {
        self.places().insert(name.to_owned(), Place::Empty(Arc::clone(why)));
        self.lead();
    }

    fn lead(&self) {
        let mut routes = Routes::new();
        for (name, place) in self.places().iter() {
            let led = match place {
                Place::Held(held) => locked(&held.entrance).lead(&mut routes),
                Place::Empty(why) => self.lead_nowhere(name, why, &mut routes),
            };
            if let Err(error) = led {
                tracing::warn!(%error, "a host of a site cannot be reached");
            }
        }
        self.gateway.set_routes(routes);
    }

    fn lead_nowhere(&self, name: &str, why: &Arc<str>, routes: &mut Routes) -> Result<(), Error> {
        let site = self.site(name);
        for host in site.iter().flat_map(|site| &site.hosts) {
            routes.add(&host.name, Target::Unavailable(Arc::clone(why)))?;
        }
        Ok(())
    }

    fn places(&self) -> MutexGuard<'_, BTreeMap<String, Place>> {
        locked(&self.places)
    }
}

impl Held {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Lease>>> {
        locked(&self.lease)
    }

    async fn end(&self) {
        // A log-in that is under way gives the copy back, as changed, when it has ended.
        let lease = self.lock().take().and_then(Arc::into_inner);
        if let Some(lease) = lease {
            let changed = self.logged_in.load(Ordering::Relaxed) || locked(&self.entrance).changed();
            lease.hand_back(changed).await;
        }
    }
}

/// Does work whether or not somebody waits for it to the end.
async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    match tokio::spawn(work).await.map_err(JoinError::try_into_panic) {
        Ok(done) => done,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(_)) => Err(Error::Refused("finish what was asked for: the town is ending".to_owned())),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

#[cfg(test)]
mod tests;
