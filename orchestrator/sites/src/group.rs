//! A site group: all sites of one run, or of one `sandbox up`.
//!
//! A group owns a folder for each instance, a network for its containers, and one pool for each
//! site. Sites can be added later. Its start returns at once, while instances start in the
//! background. The group ends when [`SiteGroup::stop`] returns.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use container_images::Engine;
use embedded_sites::desk;
use futures_util::future;
use parking_lot::RwLock;
use processes::Variable;
use tokio::sync::{Mutex, OnceCell, Semaphore, mpsc, watch};

use crate::adapt::{self, Adapted, Settings};
use crate::content::{blocking, remove_folder};
use crate::driver::Driver;
use crate::driver::docker::{Docker, DockerContext};
use crate::driver::embedded::Embedded;
use crate::driver::external::External;
use crate::driver::namespace::Namespaces;
use crate::driver::process::Process;
use crate::engine::Monitor;
use crate::manifest::{Application, ContainerSpec, DriverSpec};
use crate::network::{self, Networking};
use crate::owner::Owner;
use crate::pool::{Pool, PoolSettings};
use crate::sweep::{self, SweepReport, SweepScope};
use crate::{Error, Event, Events, Lease, Site, SiteState, SiteStatus};

/// The settings of a group.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many instances of each site can be leased at the same time. One more runs if the site's
    /// reset policy keeps a spare instance.
    pub instances: usize,
    /// The folder for golden states, which are kept for later groups, and for the state and clock
    /// of each instance while it runs.
    pub folder: Utf8PathBuf,
    /// The sites that the desk lists, running or not. If empty, the desk lists the running sites.
    pub listed: Vec<Site>,
    /// The name of the group, which is part of the names of its containers and networks.
    pub name: String,
    /// A program that has the commands [`relay::COMMAND`](crate::relay::COMMAND) and
    /// [`relay::BEGIN`](crate::relay::BEGIN). Without one, sites do not run on a rootless engine,
    /// and those that are commands have no network of their own.
    pub helper: Option<Utf8PathBuf>,
    /// The variables that manifests may take. No others are.
    pub variables: Vec<Variable>,
}

impl Options {
    /// One instance of each site, in this folder, under this name, without more.
    pub fn new(name: &str, folder: Utf8PathBuf) -> Options {
        let (listed, variables) = (Vec::new(), Vec::new());
        Options { instances: 1, folder, listed, name: name.to_owned(), helper: None, variables }
    }
}

/// A handle on a group of sites; clones are handles on the same group.
///
/// If all handles and leases are dropped without [`SiteGroup::stop`], instances are removed in the
/// background, as long as the runtime lives. The network is removed by the next sweep after this
/// process has ended.
#[derive(Clone)]
pub struct SiteGroup(Arc<Inner>);

struct Inner {
    options: Options,
    events: Events,
    /// The id in the names of its containers and networks.
    id: String,
    owner: Owner,
    /// The folder of golden states.
    golden: Utf8PathBuf,
    /// The folder with one folder per instance.
    instances: Utf8PathBuf,
    /// The list that a desk shows.
    directory: desk::Directory,
    gate: Arc<Semaphore>,
    unproven: watch::Sender<usize>,
    pools: RwLock<Vec<Pool>>,
    /// Set when the first site needs an engine.
    engine: OnceCell<DockerContext>,
    /// Looked for when the first site is a command.
    namespaces: OnceCell<Option<Namespaces>>,
    /// Whether the group was stopped. Locked while sites are added and while the group stops.
    stopped: Mutex<bool>,
}

impl SiteGroup {
    /// Removes the leftovers of dead groups, creates the network, and begins to start instances.
    ///
    /// # Errors
    /// When a site needs a container engine and no usable one is found, or the folder cannot be
    /// written.
    pub async fn start(
        sites: Vec<Site>,
        options: Options,
        events: Events,
    ) -> Result<SiteGroup, Error> {
        SiteGroup::start_each(sites, &BTreeMap::new(), options, events).await
    }

    /// Like [`SiteGroup::start`], with another number of instances of the sites that are named
    /// here.
    ///
    /// # Errors
    /// As [`SiteGroup::start`].
    pub async fn start_each(
        sites: Vec<Site>,
        counts: &BTreeMap<String, usize>,
        options: Options,
        events: Events,
    ) -> Result<SiteGroup, Error> {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let owner = Owner::this();
        let name: String =
            options.name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let id = format!("sandbox-{name}-{}-{number}", std::process::id());

        let folder = make_folder(options.folder.clone()).await?;
        let (instances, golden) = (folder.join("copies"), folder.join("golden"));
        shut(&instances).await?;
        shut(&golden).await?;
        // A process that was killed has left its folders.
        sweep::sweep_folders(&instances).await?;
        let instances = instances.join(format!("{owner}.{name}-{number}"));

        // An instance that starts mostly waits.
        let at_once = 2 * std::thread::available_parallelism().map_or(2, NonZero::get);
        let group = SiteGroup(Arc::new(Inner {
            options,
            events,
            id,
            owner,
            golden,
            instances,
            directory: desk::Directory::default(),
            gate: Arc::new(Semaphore::new(at_once)),
            unproven: watch::Sender::new(0),
            pools: RwLock::default(),
            engine: OnceCell::new(),
            namespaces: OnceCell::new(),
            stopped: Mutex::new(false),
        }));
        match group.add_each(sites, counts).await {
            Ok(()) => Ok(group),
            Err(error) => {
                group.stop().await?;
                Err(error)
            }
        }
    }

    /// Begins to start instances of further sites. Sites that are already in the group are not
    /// changed.
    ///
    /// # Errors
    /// As [`SiteGroup::start`], and when the group was stopped. On error, none of the sites is
    /// added.
    pub async fn add(&self, sites: Vec<Site>) -> Result<(), Error> {
        self.add_each(sites, &BTreeMap::new()).await
    }

    /// Like [`SiteGroup::add`], with another number of instances of the sites that are named here.
    ///
    /// # Errors
    /// As [`SiteGroup::add`].
    pub async fn add_each(
        &self,
        sites: Vec<Site>,
        counts: &BTreeMap<String, usize>,
    ) -> Result<(), Error> {
        // Held to the end, so that the group does not stop while sites are added.
        let stopped = self.0.stopped.lock().await;
        let mut new = Vec::new();
        for site in sites.into_iter().filter(|site| self.pool(&site.name).is_err()) {
            let (name, manifest) = (site.name.clone(), site.file());
            let site = site.with_variables(&self.0.options.variables);
            new.push(Arc::new(site.map_err(|why| Error::Variable {
                site: name,
                manifest,
                why,
            })?));
        }
        if let Some(site) = new.first().filter(|_| *stopped) {
            return Err(Error::Stopped(site.name.clone()));
        }
        // All drivers before the first pool, so that an error leaves none of the sites behind.
        let mut drivers = Vec::new();
        for site in &new {
            drivers.push(self.driver(site).await?);
        }
        // Before the pools begin: further instances wait until this is 0 again.
        self.0.unproven.send_modify(|left| *left += new.len());
        let mut all = self.pools();
        for (site, driver) in new.into_iter().zip(drivers) {
            let instances = counts.get(&site.name).copied().unwrap_or(self.0.options.instances);
            let Inner { events, gate, unproven, .. } = &*self.0;
            let (events, gate, unproven) = (Arc::clone(events), Arc::clone(gate), unproven.clone());
            all.push(Pool::open(PoolSettings { site, driver, instances, events, gate, unproven }));
        }
        all.sort_by(|a, b| a.site().name.cmp(&b.site().name));
        let listed: Vec<&Site> = match self.0.options.listed.as_slice() {
            [] => all.iter().map(|pool| pool.site().as_ref()).collect(),
            listed => listed.iter().collect(),
        };
        self.0.directory.set(desk_of(&listed));
        *self.0.pools.write() = all;
        Ok(())
    }

    async fn driver(&self, site: &Arc<Site>) -> Result<Arc<dyn Driver>, Error> {
        let Inner { golden, instances, directory, .. } = &*self.0;
        Ok(match &site.driver {
            DriverSpec::Docker(spec) => {
                let context = self.context().await?.clone();
                Arc::new(Docker::new(Arc::clone(site), spec.clone(), context))
            }
            DriverSpec::Process(spec) => {
                let namespaces = self.namespaces().await.clone();
                Arc::new(Process::new(
                    Arc::clone(site),
                    spec.clone(),
                    instances.clone(),
                    namespaces,
                ))
            }
            DriverSpec::Embedded(application) => {
                let (golden, directory) = (golden.join("embedded"), directory.clone());
                let instances = instances.clone();
                Arc::new(
                    Embedded::new(site, application.clone(), golden, instances, directory).await?,
                )
            }
            DriverSpec::External(spec) => Arc::new(External::new(site, spec)?),
        })
    }

    /// The networks of sites that are commands. Nothing where the system allows none, which is
    /// reported once.
    async fn namespaces(&self) -> &Option<Namespaces> {
        let Inner { namespaces, events, options, .. } = &*self.0;
        let find = async || match Namespaces::find(options.helper.as_deref()).await {
            Ok(found) => Some(found),
            Err(why) => {
                events(&Event::Reachable { why });
                None
            }
        };
        namespaces.get_or_init(find).await
    }

    /// The container engine with this group's network. The first call removes the leftovers of dead
    /// groups on the engine.
    async fn context(&self) -> Result<&DockerContext, Error> {
        let Inner { engine, owner, id, events, golden, instances, options, .. } = &*self.0;
        let make = async || {
            let engine = Engine::connect().await?;
            // Leftovers of others do not prevent our start.
            match sweep::sweep(&engine, SweepScope::Orphans).await {
                Ok(SweepReport { containers, networks, left }) => {
                    if containers + networks > 0 {
                        events(&Event::Swept { containers, networks });
                    }
                    left.iter().for_each(|left| tracing::warn!("{left}"));
                }
                Err(error) => {
                    tracing::warn!(%error, "what dead processes have left could not be removed")
                }
            }
            let labels = owner.labels(id);
            let monitor = Monitor::start(engine, Arc::clone(events));
            let settings =
                Settings { group: id, labels: &labels, folder: instances, helper: &options.helper };
            let adapted = match adapt::to_engine(&monitor, &settings, events).await {
                Ok(adapted) => adapted,
                Err(error) => {
                    let _ = sweep::remove_group(&monitor, id).await;
                    return Err(error);
                }
            };
            let Adapted { networking, limiter } = adapted;
            let (golden, instances, group) = (golden.clone(), instances.clone(), id.clone());
            Ok(DockerContext { monitor, group, networking, limiter, labels, golden, instances })
        };
        engine.get_or_try_init(make).await
    }

    /// Waits until every site has had a ready instance.
    ///
    /// # Errors
    /// When a site fails, or the deadline passes. The error names for each site what it waits for.
    pub async fn ready(&self, deadline: Duration) -> Result<(), Error> {
        let pools = self.pools();
        let settled = future::join_all(pools.iter().map(Pool::settled));
        let in_time = tokio::time::timeout(deadline, settled).await.is_ok();
        let late: Vec<(String, String)> = self
            .status()
            .into_iter()
            .filter(|status| status.state != SiteState::Running)
            .map(|status| {
                let waits = status.instances.iter().find_map(|instance| instance.condition.clone());
                let why = match (status.problem, waits) {
                    (Some(problem), _) => format!("failed to {problem}"),
                    (None, Some(condition)) => format!("waits for {condition}"),
                    (None, None) => format!("{:?}", status.state).to_lowercase(),
                };
                (status.name, why)
            })
            .collect();
        if late.is_empty() {
            Ok(())
        } else {
            Err(Error::Unready { within: deadline, in_time, late })
        }
    }

    /// The sites of this group, by name.
    pub fn sites(&self) -> Vec<Arc<Site>> {
        self.pools().iter().map(|pool| Arc::clone(pool.site())).collect()
    }

    /// The ids of the sites' images, by site name. Sites without an engine have none.
    ///
    /// # Errors
    /// When the engine does not report them.
    pub async fn images(&self) -> Result<BTreeMap<String, String>, Error> {
        let mut images = BTreeMap::new();
        let Some(DockerContext { monitor, .. }) = self.0.engine.get() else { return Ok(images) };
        for site in self.sites() {
            if let Some(ContainerSpec { image, .. }) = site.driver.container() {
                images.insert(
                    site.name.clone(),
                    crate::golden::id_of_image(monitor, image, &site.name).await?,
                );
            }
        }
        Ok(images)
    }

    /// Leases a pristine instance of a site; returns at once if one is ready.
    ///
    /// # Errors
    /// When there is no such site, the site has failed, or no instance is free before the deadline.
    pub async fn lease(&self, site: &str, deadline: Duration) -> Result<Lease, Error> {
        self.pool(site)?.lease(deadline).await
    }

    /// The status of every site.
    pub fn status(&self) -> Vec<SiteStatus> {
        self.pools().iter().map(Pool::status).collect()
    }

    /// Measures the memory of every instance. The next [`SiteGroup::status`] has the results.
    pub async fn measure(&self) {
        future::join_all(self.pools().iter().map(Pool::measure)).await;
    }

    /// Makes every unleased instance of a site pristine, with verification, and retries a site that
    /// was given up.
    ///
    /// # Errors
    /// When there is no such site, or it fails.
    pub async fn reset(&self, site: &str) -> Result<(), Error> {
        self.pool(site)?.reset().await
    }

    /// The last output lines of each instance of a site, by the number of the instance.
    ///
    /// # Errors
    /// When there is no such site.
    pub async fn logs(&self, site: &str, lines: usize) -> Result<Vec<(u32, Vec<String>)>, Error> {
        let mut said = Vec::new();
        for instance in self.pool(site)?.instances() {
            said.push((instance.id, instance.machine.log(lines).await));
        }
        Ok(said)
    }

    /// Follows the output of a site: the last lines of each instance, then every new line of these
    /// and later instances, with the number of the instance. Ends when the group stops or the
    /// receiver is dropped.
    ///
    /// # Errors
    /// When there is no such site.
    pub fn follow(&self, site: &str, lines: usize) -> Result<mpsc::Receiver<(u32, String)>, Error> {
        Ok(self.pool(site)?.follow(lines))
    }

    /// Removes all instances, leased ones too, with their folders and their network. A second call
    /// does nothing.
    ///
    /// # Errors
    /// When the engine returns an error, or a folder cannot be removed.
    pub async fn stop(&self) -> Result<(), Error> {
        let mut stopped = self.0.stopped.lock().await;
        *stopped = true;
        future::join_all(self.pools().iter().map(Pool::stop)).await;
        let removed = match self.0.engine.get() {
            Some(DockerContext { monitor, group, networking, .. }) => {
                let removed = sweep::remove_group(monitor, group).await;
                if let Networking::Bridged(range) = networking {
                    network::close(&range.network).await;
                }
                removed
            }
            None => Ok(()),
        };
        remove_folder(&self.0.instances).await.and(removed)
    }

    /// The error to report if sites need the container engine and it does not respond.
    pub fn engine_problem(&self) -> Option<Error> {
        self.0.engine.get()?.monitor.problem()
    }

    /// Waits until the container engine that a site needs has not responded for this long.
    pub async fn lacks_engine(&self, site: &str, long: Duration) -> Error {
        let needed = self.pool(site).is_ok_and(|pool| pool.site().driver.container().is_some());
        match self.0.engine.get().filter(|_| needed) {
            Some(context) => context.monitor.is_gone_for(long).await,
            None => future::pending().await,
        }
    }

    fn pools(&self) -> Vec<Pool> {
        self.0.pools.read().clone()
    }

    fn pool(&self, name: &str) -> Result<Pool, Error> {
        let mut pools = self.pools();
        match pools.iter().position(|pool| pool.site().name == name) {
            Some(place) => Ok(pools.swap_remove(place)),
            None => {
                let known = pools.iter().map(|pool| pool.site().name.clone()).collect();
                Err(Error::Unknown { name: name.to_owned(), known })
            }
        }
    }
}

/// Creates the folder and returns its absolute path: an engine mounts only absolute paths.
async fn make_folder(folder: Utf8PathBuf) -> Result<Utf8PathBuf, Error> {
    blocking(move || {
        let made =
            std::fs::create_dir_all(&folder).and_then(|()| Utf8Path::canonicalize_utf8(&folder));
        made.map_err(Error::of_file("make the folder", &folder))
    })
    .await
}

/// Creates a folder, if it is missing, that no other user of this machine can enter. Its content is
/// accessible to the users of containers.
async fn shut(folder: &Utf8Path) -> Result<(), Error> {
    let folder = folder.to_owned();
    blocking(move || {
        let made = std::fs::create_dir_all(&folder).and_then(|()| {
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700))
        });
        made.map_err(Error::of_file("make the folder", &folder))
    })
    .await
}

/// The list of other sites that the desk shows.
fn desk_of(sites: &[&Site]) -> desk::SiteList {
    let others = sites.iter().filter(|site| site.driver != DriverSpec::Embedded(Application::Desk));
    let shown = others.map(|site| desk::ListedSite {
        title: site.title.clone(),
        url: site.address(),
        about: site.description.clone(),
        accounts: site
            .accounts
            .values()
            .map(|account| desk::ListedAccount {
                username: account.username.clone(),
                password: account.password.clone(),
                role: account.role.clone().unwrap_or_default(),
            })
            .collect(),
    });
    desk::SiteList { sites: shown.collect() }
}
