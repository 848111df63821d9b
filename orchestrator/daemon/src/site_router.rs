//! The instances that are in use, and the routes to them.
//!
//! ```text
//! waited for -> routed (a route leads to it) -> reset: route to another instance, this one given back -> routed ...
//!      ^                   |
//!      +--- it has ended --+
//! ```
//!
//! A route lives no longer than its instance. Where there is none, whoever asks for the site is
//! told so, and to try again.
//!
//! A reset and a log-in go on to their end when whoever has asked for them goes away: one that is
//! given up half-way would leave a site without an instance, or an instance with half of its state.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use gateway::{Gateway, Routes, Target};
use parking_lot::{Mutex, MutexGuard};
use sites::manifest::ResetPolicy;
use sites::{Lease, LoginSession, Site, SiteGroup, SiteStatus};
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinError;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::clocks::RunningClock;
use crate::{Error, SiteRoutes};

/// How long a reset may wait for an instance that is not there yet.
const LEASE: Duration = Duration::from_secs(300);
/// How long a reset waits for a container engine that does not answer.
const ENGINE: Duration = Duration::from_secs(5);

pub(crate) struct SiteRouter {
    pub(crate) group: SiteGroup,
    gateway: Gateway,
    /// What each site's hosts lead to.
    targets: Mutex<BTreeMap<String, RouteTarget>>,
    /// What every request to a site carries since somebody was logged in to it, also to the
    /// instances after a reset.
    headers: Mutex<BTreeMap<String, Vec<(String, String)>>>,
    /// One reset of a site at a time.
    resetting: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

enum RouteTarget {
    /// To an instance.
    Instance(Arc<RoutedInstance>),
    /// Nowhere, with the reason.
    Unavailable(Arc<str>),
}

/// An instance in use.
struct RoutedInstance {
    /// Nothing once it is given back. A log-in has a share of it for as long as it lasts.
    lease: Mutex<Option<Arc<Lease>>>,
    routes: Mutex<SiteRoutes>,
    /// Whether somebody has logged in to it, which may leave traces.
    logged_in: AtomicBool,
    clock: RunningClock,
    /// Ends the task that waits for its end.
    _over: DropGuard,
}

impl SiteRouter {
    pub(crate) fn new(group: SiteGroup, gateway: Gateway) -> Arc<SiteRouter> {
        Arc::new(SiteRouter {
            group,
            gateway,
            targets: Mutex::default(),
            headers: Mutex::default(),
            resetting: Mutex::default(),
        })
    }

    pub(crate) fn proxy(&self) -> std::net::SocketAddr {
        self.gateway.local_addr()
    }

    /// Adds sites to the group.
    pub(crate) async fn add(self: &Arc<SiteRouter>, sites: Vec<Site>) -> Result<(), Error> {
        self.group.add(sites).await?;
        self.route_new_sites();
        Ok(())
    }

    /// Takes an instance of every site that has no place yet, as soon as there is one.
    pub(crate) fn route_new_sites(self: &Arc<SiteRouter>) {
        let mut new = Vec::new();
        for site in self.group.sites() {
            if let Entry::Vacant(target) = self.targets().entry(site.name.clone()) {
                let why = format!("the site {} is being started; try again", site.name);
                target.insert(RouteTarget::Unavailable(why.into()));
                new.push(site.name.clone());
            }
        }
        self.update_routes();
        new.iter().for_each(|name| self.route_soon(name));
    }

    fn route_soon(self: &Arc<SiteRouter>, name: &str) {
        let (router, name) = (Arc::clone(self), name.to_owned());
        tokio::spawn(async move { router.route_when_ready(&name).await });
    }

    /// Takes an instance of a site that has none, however long that takes. A site that was given up
    /// is tried again by its reset.
    async fn route_when_ready(self: &Arc<SiteRouter>, name: &str) {
        let _lock = self.lock_site(name).await;
        while !self.is_routed(name) {
            match self.route_to_fresh_instance(name).await {
                Ok(()) => return,
                // It may yet come: the container engine is being started anew, for example.
                Err(Error::Sites(sites::Error::Deadline { .. })) => {}
                Err(Error::Sites(sites::Error::Stopped(_))) => return,
                Err(error) => {
                    tracing::warn!(site = name, %error, "a site has no instance");
                    let why = format!(
                        "the site {name} is not running: failed to {error}; `sandbox reset {name}` starts it, then try again"
                    );
                    return self.mark_unavailable(name, &why.into());
                }
            }
        }
    }

    /// Makes a site pristine for its users; how long they had to wait.
    pub(crate) async fn reset(self: &Arc<SiteRouter>, name: &str) -> Result<Duration, Error> {
        let (router, name) = (Arc::clone(self), name.to_owned());
        run_to_completion(async move { router.reset_timed(&name).await }).await
    }

    async fn reset_timed(self: &Arc<SiteRouter>, name: &str) -> Result<Duration, Error> {
        let began = Instant::now();
        tokio::select! {
            biased;
            done = self.reset_exclusively(name) => done?,
            gone = self.group.lacks_engine(name, ENGINE) => {
                // What the reset would have done comes once the engine is back.
                self.route_soon(name);
                return Err(gone.into());
            }
        }
        Ok(began.elapsed())
    }

    async fn reset_exclusively(self: &Arc<SiteRouter>, name: &str) -> Result<(), Error> {
        let _lock = self.lock_site(name).await;
        let policy = self.site(name).map(|site| site.reset);
        match policy {
            Some(ResetPolicy::Never) if self.is_routed(name) => return Ok(()),
            // Its only instance is the one in use.
            Some(ResetPolicy::Recreate) => self.hand_back(name).await,
            _ => {}
        }
        if !self.is_routed(name) {
            // It may have been given up.
            self.group.reset(name).await?;
        }
        self.route_to_fresh_instance(name).await
    }

    /// Lets an account of the manifest in to the instance in use.
    pub(crate) async fn login(
        self: &Arc<SiteRouter>,
        name: &str,
        account: &str,
    ) -> Result<LoginSession, Error> {
        let (router, name, account) = (Arc::clone(self), name.to_owned(), account.to_owned());
        run_to_completion(async move { router.login_to_routed(&name, &account).await }).await
    }

    async fn login_to_routed(&self, name: &str, account: &str) -> Result<LoginSession, Error> {
        let Some(routed) = self.routed(name) else {
            return Err(Error::Refused(format!("log in to {name}: it is not up; try again")));
        };
        // The lease stays where it is: whatever becomes of this, the instance is in use.
        let Some(lease) = routed.lock().clone() else {
            return Err(Error::Refused(format!("log in to {name}: it is being reset; try again")));
        };
        let given = self.log_in(&routed, &lease, account).await;
        self.update_routes();
        given
    }

    /// Logs in to an instance, and has requests to it carry what that asks for.
    async fn log_in(
        &self,
        routed: &RoutedInstance,
        lease: &Lease,
        account: &str,
    ) -> Result<LoginSession, Error> {
        routed.logged_in.store(true, Ordering::Relaxed);
        let given = lease.login(account).await?;
        *locked(&routed.routes) = SiteRoutes::new(lease, &given.headers)?;
        locked(&self.headers).insert(lease.site().name.clone(), given.headers.clone());
        Ok(given)
    }

    /// How every site is doing.
    pub(crate) fn sites(&self) -> Vec<SiteStatus> {
        self.group.status()
    }

    /// Moves the clocks on.
    pub(crate) fn tick(&self) {
        for target in self.targets().values() {
            if let RouteTarget::Instance(routed) = target
                && let Some(lease) = &*routed.lock()
            {
                routed.clock.tick(lease);
            }
        }
    }

    async fn lock_site(&self, name: &str) -> OwnedMutexGuard<()> {
        let own = Arc::clone(locked(&self.resetting).entry(name.to_owned()).or_default());
        own.lock_owned().await
    }

    fn site(&self, name: &str) -> Option<Arc<Site>> {
        self.group.sites().into_iter().find(|site| site.name == name)
    }

    fn is_routed(&self, name: &str) -> bool {
        self.routed(name).is_some()
    }

    fn routed(&self, name: &str) -> Option<Arc<RoutedInstance>> {
        match self.targets().get(name) {
            Some(RouteTarget::Instance(routed)) => Some(Arc::clone(routed)),
            _ => None,
        }
    }

    /// Takes a pristine instance, leads the route to it, and gives the one before back.
    async fn route_to_fresh_instance(self: &Arc<SiteRouter>, name: &str) -> Result<(), Error> {
        let lease = self.group.lease(name, LEASE).await?;
        let headers = locked(&self.headers).get(name).cloned().unwrap_or_default();
        let routes = Mutex::new(SiteRoutes::new(&lease, &headers)?);
        let (clock, ending, over) = (RunningClock::of(&lease), lease.ending(), CancellationToken::new());
        let routed = Arc::new(RoutedInstance {
            lease: Mutex::new(Some(Arc::new(lease))),
            routes,
            logged_in: AtomicBool::new(false),
            clock,
            _over: over.clone().drop_guard(),
        });
        let before = self.targets().insert(name.to_owned(), RouteTarget::Instance(Arc::clone(&routed)));
        self.update_routes();
        let (router, name) = (Arc::clone(self), name.to_owned());
        let routed = Arc::downgrade(&routed);
        tokio::spawn(async move {
            tokio::select! {
                error = ending => router.ended(&name, &routed, error),
                () = over.cancelled() => {}
            }
        });
        if let Some(RouteTarget::Instance(before)) = before {
            before.end().await;
        }
        Ok(())
    }

    /// An instance has ended by itself: nothing leads to it any more, and another one takes its
    /// target.
    fn ended(self: &Arc<SiteRouter>, name: &str, instance: &Weak<RoutedInstance>, error: sites::Error) {
        let in_use = self.routed(name).filter(|routed| Weak::ptr_eq(&Arc::downgrade(routed), instance));
        if in_use.is_none() || matches!(error, sites::Error::Stopped(_)) {
            return;
        }
        let why = format!("the site {name} has ended and is being started anew; try again").into();
        self.mark_unavailable(name, &why);
        self.route_soon(name);
    }

    async fn hand_back(&self, name: &str) {
        let before = self.routed(name);
        self.mark_unavailable(name, &format!("the site {name} is being made anew; try again").into());
        if let Some(before) = before {
            before.end().await;
        }
    }

    /// Has a site's hosts lead nowhere.
    fn mark_unavailable(&self, name: &str, why: &Arc<str>) {
        self.targets().insert(name.to_owned(), RouteTarget::Unavailable(Arc::clone(why)));
        self.update_routes();
    }

    fn update_routes(&self) {
        let mut routes = Routes::new();
        for (name, target) in self.targets().iter() {
            let led = match target {
                RouteTarget::Instance(routed) => locked(&routed.routes).add_to(&mut routes),
                RouteTarget::Unavailable(why) => self.add_unavailable(name, why, &mut routes),
            };
            if let Err(error) = led {
                tracing::warn!(%error, "a host of a site cannot be reached");
            }
        }
        self.gateway.set_routes(routes);
    }

    fn add_unavailable(&self, name: &str, why: &Arc<str>, routes: &mut Routes) -> Result<(), Error> {
        let site = self.site(name);
        for host in site.iter().flat_map(|site| &site.hosts) {
            routes.add(&host.name, Target::Unavailable(Arc::clone(why)))?;
        }
        Ok(())
    }

    fn targets(&self) -> MutexGuard<'_, BTreeMap<String, RouteTarget>> {
        locked(&self.targets)
    }
}

impl RoutedInstance {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Lease>>> {
        locked(&self.lease)
    }

    async fn end(&self) {
        // A log-in that is under way gives the instance back, as changed, when it has ended.
        let lease = self.lock().take().and_then(Arc::into_inner);
        if let Some(lease) = lease {
            let changed = self.logged_in.load(Ordering::Relaxed) || locked(&self.routes).changed();
            lease.hand_back(changed).await;
        }
    }
}

/// Does work whether or not somebody waits for it to the end.
async fn run_to_completion<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    match tokio::spawn(work).await.map_err(JoinError::try_into_panic) {
        Ok(done) => done,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(_)) => Err(Error::Refused("finish what was asked for: the daemon is ending".to_owned())),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

#[cfg(test)]
mod tests;
