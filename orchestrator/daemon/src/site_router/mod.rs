//! The site router: keeps one leased instance of every site in use, and the routes to it.
//!
//! ```text
//! waited for -> routed (a route leads to it) -> reset: route to another instance, this one given back -> routed ...
//!      ^                   |
//!      +--- it has ended --+
//! ```
//!
//! A route never outlives its instance. While a site has no instance, its clients get a response
//! that says so and asks them to try again.
//!
//! A site that has direct addresses may have several instances in use. They are routed under names
//! of their own, `SITE:NUMBER`, to which no host leads.
//!
//! A reset or log-in runs to completion even if its client disconnects. If it stopped half-way, a
//! site would be left without an instance, or an instance with a partial state.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use futures_util::future;
use gateway::{Gateway, Routes, Target};
use parking_lot::{Mutex, MutexGuard};
use sites::manifest::{Account, ResetPolicy};
use sites::{Lease, LoginSession, Site, SiteGroup, SiteStatus, SiteTarget};
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinError;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::clocks::RunningClock;
use crate::direct::{self, DirectAddress};
use crate::serve::DirectSettings;
use crate::{Error, SiteRoutes};

/// The time limit for a reset to get an instance.
const LEASE: Duration = Duration::from_secs(300);
/// The time limit for a container engine to respond to a reset.
const ENGINE: Duration = Duration::from_secs(5);

pub(crate) struct SiteRouter {
    pub(crate) group: SiteGroup,
    gateway: Gateway,
    pub(crate) settings: DirectSettings,
    /// Closes the listeners of direct addresses.
    stop: CancellationToken,
    /// The listener of each instance that has one, by the name under which it is routed.
    listeners: Mutex<BTreeMap<String, SocketAddr>>,
    /// The route target of each site, and of its further instances.
    targets: Mutex<BTreeMap<String, RouteTarget>>,
    /// The header fields of the last log-in of each site. Every request to the site carries them,
    /// also after a reset.
    headers: Mutex<BTreeMap<String, Vec<(String, String)>>>,
    /// One lock for each site, so that its resets run one at a time.
    resetting: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

enum RouteTarget {
    /// An instance.
    Instance(Arc<RoutedInstance>),
    /// No instance, with the reason.
    Unavailable(Arc<str>),
}

/// An instance in use.
struct RoutedInstance {
    /// `None` after it is given back. A running log-in holds a reference.
    lease: Mutex<Option<Arc<Lease>>>,
    routes: Mutex<SiteRoutes>,
    /// Whether a log-in or a direct request took place, which may change the state.
    used: AtomicBool,
    clock: RunningClock,
    /// Cancels the task that waits for the end of the instance.
    _over: DropGuard,
}

impl SiteRouter {
    pub(crate) fn new(
        group: SiteGroup,
        gateway: Gateway,
        settings: DirectSettings,
        stop: CancellationToken,
    ) -> Arc<SiteRouter> {
        Arc::new(SiteRouter {
            group,
            gateway,
            settings,
            stop,
            listeners: Mutex::default(),
            targets: Mutex::default(),
            headers: Mutex::default(),
            resetting: Mutex::default(),
        })
    }

    /// The URL by which clients use the gateway as their proxy.
    pub(crate) fn proxy(&self) -> Option<String> {
        self.gateway.proxy()
    }

    /// Adds sites to the group.
    pub(crate) async fn add(self: &Arc<SiteRouter>, sites: Vec<Site>) -> Result<(), Error> {
        let counts = counts(&sites, self.settings.instances);
        self.group.add_each(sites, &counts).await?;
        self.route_new_sites();
        Ok(())
    }

    /// Starts a task for every site without a target, which routes the site to an instance when one
    /// is ready.
    pub(crate) fn route_new_sites(self: &Arc<SiteRouter>) {
        let mut new = Vec::new();
        for site in self.group.sites() {
            for name in self.names(&site) {
                if let Entry::Vacant(target) = self.targets().entry(name.clone()) {
                    let why = format!("the site {} is being started; try again", site.name);
                    target.insert(RouteTarget::Unavailable(why.into()));
                    new.push(name);
                }
            }
        }
        new.iter().for_each(|name| self.open_directly(name));
        self.update_routes();
        new.iter().for_each(|name| self.route_soon(name));
    }

    /// The names under which instances of a site are routed: its own, and those of further ones.
    fn names(&self, site: &Site) -> Vec<String> {
        let several = direct::administrator(site).map_or(1, |_| self.settings.instances);
        let further = (2..=several).map(|number| format!("{}{NUMBER}{number}", site.name));
        std::iter::once(site.name.clone()).chain(further).collect()
    }

    /// Opens the address of an instance, if its site has direct addresses.
    fn open_directly(self: &Arc<SiteRouter>, name: &str) {
        if self.site(name).as_deref().and_then(direct::administrator).is_none() {
            return;
        }
        let admission = self.settings.admission.clone();
        match direct::open(self, name, admission, self.stop.clone().cancelled_owned()) {
            Ok(address) => {
                self.listeners.lock().insert(name.to_owned(), address);
            }
            Err(error) => tracing::warn!(%error, "a site can be reached by the proxy alone"),
        }
    }

    /// Where programs reach instances without the proxy, in the order of their names.
    pub(crate) fn direct(&self) -> Vec<DirectAddress> {
        let listeners = self.listeners.lock().clone();
        let address = |(name, address): (String, SocketAddr)| {
            let site = self.site(&name)?;
            let Account { username, password, role: _ } = direct::administrator(&site)?.clone();
            let (is_up, url) = (self.is_routed(&name), format!("http://{address}"));
            Some(DirectAddress { instance: name, url, username, password, is_up })
        };
        let mut all: Vec<DirectAddress> = listeners.into_iter().filter_map(address).collect();
        // By number, of which some have two digits.
        all.sort_by_key(|own| (site_of(&own.instance).to_owned(), own.instance.len()));
        all
    }

    /// The address of the instance in use under this name, for a request that may change it.
    pub(crate) fn use_directly(&self, name: &str) -> Option<SiteTarget> {
        let routed = self.routed(name)?;
        routed.used.store(true, Ordering::Relaxed);
        let lease = routed.lock();
        lease.as_ref().map(|lease| lease.upstream().clone())
    }

    fn route_soon(self: &Arc<SiteRouter>, name: &str) {
        let (router, name) = (Arc::clone(self), name.to_owned());
        tokio::spawn(async move { router.route_when_ready(&name).await });
    }

    /// Waits until a site without an instance has one, without a deadline, and routes to it. A site
    /// that was given up is retried by its reset.
    async fn route_when_ready(self: &Arc<SiteRouter>, name: &str) {
        let _lock = self.lock_site(name).await;
        while !self.is_routed(name) {
            match self.route_to_fresh_instance(name).await {
                Ok(()) => return,
                // An instance may still come, for example when the container engine is being
                // restarted.
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

    /// Resets a site for its users, with all its instances in use, or the one that is named.
    /// Returns how long they had to wait.
    pub(crate) async fn reset(self: &Arc<SiteRouter>, name: &str) -> Result<Duration, Error> {
        let site = self.site(name).filter(|site| site.name == name);
        let names = site.map_or_else(|| vec![name.to_owned()], |site| self.names(&site));
        let known: Vec<String> = self.targets().keys().cloned().collect();
        if names.iter().any(|name| name.contains(NUMBER) && !known.contains(name)) {
            return Err(sites::Error::Unknown { name: name.to_owned(), known }.into());
        }
        let router = Arc::clone(self);
        run_to_completion(async move {
            let all = names.iter().map(|name| router.reset_timed(name));
            let times = future::try_join_all(all).await?;
            Ok(times.into_iter().max().unwrap_or_default())
        })
        .await
    }

    async fn reset_timed(self: &Arc<SiteRouter>, name: &str) -> Result<Duration, Error> {
        let began = Instant::now();
        tokio::select! {
            biased;
            done = self.reset_exclusively(name) => done?,
            gone = self.group.lacks_engine(site_of(name), ENGINE) => {
                // If the reset has given the instance back already, the site gets another one when
                // the engine is back.
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
            // The site may have been given up.
            self.group.reset(site_of(name)).await?;
        }
        self.route_to_fresh_instance(name).await
    }

    /// Logs in to the instance in use, as an account of the manifest.
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
        // The lease stays in the route: even if this fails, the instance is in use.
        let Some(lease) = routed.lock().clone() else {
            return Err(Error::Refused(format!("log in to {name}: it is being reset; try again")));
        };
        let given = self.log_in(&routed, &lease, account).await;
        self.update_routes();
        given
    }

    /// Logs in to an instance, and adds the log-in's header fields to its requests.
    async fn log_in(
        &self,
        routed: &RoutedInstance,
        lease: &Lease,
        account: &str,
    ) -> Result<LoginSession, Error> {
        routed.used.store(true, Ordering::Relaxed);
        let given = lease.login(account).await?;
        *locked(&routed.routes) = SiteRoutes::new(lease, &given.headers)?;
        locked(&self.headers).insert(lease.site().name.clone(), given.headers.clone());
        Ok(given)
    }

    /// The status of every site.
    pub(crate) fn sites(&self) -> Vec<SiteStatus> {
        self.group.status()
    }

    /// Advances the clocks.
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

    /// The site of this name, or of the instance of this name.
    fn site(&self, name: &str) -> Option<Arc<Site>> {
        self.group.sites().into_iter().find(|site| site.name == site_of(name))
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

    /// Leases a pristine instance, moves the route to it, and gives the previous instance back.
    async fn route_to_fresh_instance(self: &Arc<SiteRouter>, name: &str) -> Result<(), Error> {
        let lease = self.group.lease(site_of(name), LEASE).await?;
        let headers = locked(&self.headers).get(name).cloned().unwrap_or_default();
        let routes = Mutex::new(SiteRoutes::new(&lease, &headers)?);
        let (clock, ending, over) =
            (RunningClock::of(&lease), lease.ending(), CancellationToken::new());
        let routed = Arc::new(RoutedInstance {
            lease: Mutex::new(Some(Arc::new(lease))),
            routes,
            used: AtomicBool::new(false),
            clock,
            _over: over.clone().drop_guard(),
        });
        // The route moves before the old instance is given back, so that no client meets it during
        // its reset.
        let before =
            self.targets().insert(name.to_owned(), RouteTarget::Instance(Arc::clone(&routed)));
        self.update_routes();
        let (router, name) = (Arc::clone(self), name.to_owned());
        // A strong reference would keep the instance, and with it the guard that ends this task.
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

    /// Handles the unexpected end of an instance: removes the route to it, and takes another
    /// instance.
    fn ended(
        self: &Arc<SiteRouter>,
        name: &str,
        instance: &Weak<RoutedInstance>,
        error: sites::Error,
    ) {
        let in_use =
            self.routed(name).filter(|routed| Weak::ptr_eq(&Arc::downgrade(routed), instance));
        if in_use.is_none() || matches!(error, sites::Error::Stopped(_)) {
            return;
        }
        let why = format!("the site {name} has ended and is being started anew; try again").into();
        self.mark_unavailable(name, &why);
        self.route_soon(name);
    }

    async fn hand_back(&self, name: &str) {
        let before = self.routed(name);
        self.mark_unavailable(
            name,
            &format!("the site {name} is being made anew; try again").into(),
        );
        if let Some(before) = before {
            before.end().await;
        }
    }

    /// Routes a site's hosts to an error response with this reason.
    fn mark_unavailable(&self, name: &str, why: &Arc<str>) {
        self.targets().insert(name.to_owned(), RouteTarget::Unavailable(Arc::clone(why)));
        self.update_routes();
    }

    fn update_routes(&self) {
        let mut routes = Routes::new();
        for (name, target) in self.targets().iter() {
            if site_of(name) != name {
                continue;
            }
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

    fn add_unavailable(
        &self,
        name: &str,
        why: &Arc<str>,
        routes: &mut Routes,
    ) -> Result<(), Error> {
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
        // If a log-in is running, it gives the instance back when it ends, as changed.
        let lease = self.lock().take().and_then(Arc::into_inner);
        if let Some(lease) = lease {
            let changed = self.used.load(Ordering::Relaxed) || locked(&self.routes).changed();
            lease.hand_back(changed).await;
        }
    }
}

/// What separates the name of a site from the number of a further instance.
const NUMBER: char = ':';

/// The name of the site of an instance.
fn site_of(name: &str) -> &str {
    name.split(NUMBER).next().unwrap_or(name)
}

/// How many instances of sites are used at a time, where it is not one.
pub(crate) fn counts(sites: &[Site], instances: usize) -> BTreeMap<String, usize> {
    let several = sites.iter().filter(|site| direct::administrator(site).is_some());
    several.map(|site| (site.name.clone(), instances)).collect()
}

/// Runs work to completion, even if the caller stops waiting for it.
async fn run_to_completion<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    match tokio::spawn(work).await.map_err(JoinError::try_into_panic) {
        Ok(done) => done,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(_)) => {
            Err(Error::Refused("finish what was asked for: the daemon is ending".to_owned()))
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

#[cfg(test)]
mod tests;
