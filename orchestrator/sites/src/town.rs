//! All sites of one run, or of one `sandbox up`.
//!
//! A town owns a folder for each of its copies, a network for its containers, and one pool for each site. It returns from
//! its start at once, while copies start in the background; it is over when [`Town::stop`] has returned.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use embedded::desk;
use futures_util::future;
use images::Engine;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::content::{blocking, remove_folder};
use crate::driver::Driver;
use crate::driver::docker::{Docker, Ground};
use crate::driver::embedded::Embedded;
use crate::driver::external::External;
use crate::driver::process::Process;
use crate::engine::Monitor;
use crate::manifest::{Application, DriverKind};
use crate::network;
use crate::owner::Owner;
use crate::pool::{Pool, Surroundings};
use crate::sweep::{self, Swept, Whose};
use crate::{Error, Event, Events, Lease, Site, SiteState, SiteStatus};

/// How a town is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many copies of each site are leased at once. Where the site's policy has a copy waiting, there is one more.
    pub copies: usize,
    /// Where golden states are kept from one town to the next, and the state and clock of each copy while it lives.
    pub folder: Utf8PathBuf,
    /// The sites that the desk lists, whether they are up or not; those that are up when this is empty.
    pub listed: Vec<Site>,
    /// What the town is called: part of the names of its containers and networks.
    pub name: String,
}

/// A handle on the sites of a town; clones are handles on the same town.
///
/// When all handles and leases are gone without [`Town::stop`], copies are removed in the background, if the runtime lives
/// that long; the network goes with the next sweep after this process.
#[derive(Clone)]
pub struct Town(Arc<Inner>);

struct Inner {
    pools: Vec<Pool>,
    engine: Option<Ground>,
    /// With the folders of the copies.
    folder: Utf8PathBuf,
}

impl Town {
    /// Removes what dead towns have left, makes the network, and begins to start copies.
    ///
    /// # Errors
    /// When a site needs a container engine and there is none that we can use, or the folder cannot be written.
    pub async fn start(sites: Vec<Site>, options: Options, events: Events) -> Result<Town, Error> {
        Town::start_each(sites, &BTreeMap::new(), options, events).await
    }

    /// Does so with fewer copies of some sites, by their names.
    ///
    /// # Errors
    /// As [`Town::start`].
    pub async fn start_each(
        sites: Vec<Site>,
        fewer: &BTreeMap<String, usize>,
        options: Options,
        events: Events,
    ) -> Result<Town, Error> {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let owner = Owner::this();
        let name: String = options.name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let instance = format!("sandbox-{name}-{}-{number}", std::process::id());

        let folder = make_folder(options.folder).await?;
        let (copies, golden) = (folder.join("copies"), folder.join("golden"));
        shut(&copies).await?;
        shut(&golden).await?;
        sweep::sweep_folders(&copies).await?;
        let copies = copies.join(format!("{owner}.{name}-{number}"));

        let ground = if sites.iter().any(|site| site.driver == DriverKind::Docker) {
            let engine = Engine::connect().await?;
            // What others have left need not keep us from starting.
            match sweep::sweep(&engine, Whose::Orphans).await {
                Ok(Swept { containers, networks, left }) => {
                    if containers + networks > 0 {
                        events(&Event::Swept { containers, networks });
                    }
                    left.iter().for_each(|left| tracing::warn!("{left}"));
                }
                Err(error) => tracing::warn!(%error, "what dead towns have left could not be removed"),
            }
            let labels = owner.labels(&instance);
            let monitor = Monitor::start(engine, Arc::clone(&events));
            let range = match network::create(&monitor, &instance, labels.clone(), &events).await {
                Ok(range) => range,
                Err(error) => {
                    let _ = sweep::remove_instance(&monitor, &instance).await;
                    return Err(error);
                }
            };
            let (golden, copies) = (golden.clone(), copies.clone());
            Some(Ground { monitor, instance, range, labels, golden, copies })
        } else {
            None
        };

        let desk = Arc::new(desk_of(if options.listed.is_empty() { &sites } else { &options.listed }));
        let gate = Arc::new(Semaphore::new(2 * std::thread::available_parallelism().map_or(2, NonZero::get)));
        let unproven = watch::Sender::new(sites.len());
        let mut pools = Vec::new();
        let mut senseless = None;
        for site in sites {
            let site = Arc::new(site);
            let driver: Result<Arc<dyn Driver>, Error> = match (site.driver, &ground) {
                (DriverKind::Docker, Some(ground)) => {
                    Docker::new(Arc::clone(&site), ground.clone()).map(|driver| Arc::new(driver) as _)
                }
                (DriverKind::Embedded, _) => Embedded::new(&site, golden.join("embedded"), Arc::clone(&desk))
                    .await
                    .map(|driver| Arc::new(driver) as _),
                (DriverKind::External, _) => External::new(&site).map(|driver| Arc::new(driver) as _),
                (DriverKind::Process, _) => {
                    Ok(Arc::new(Process::new(Arc::clone(&site), copies.clone())) as _)
                }
                (DriverKind::Docker, None) => unreachable!("a site of containers has made us find an engine"),
            };
            let (events, gate, unproven) = (Arc::clone(&events), Arc::clone(&gate), unproven.clone());
            let copies = fewer.get(&site.name).copied().unwrap_or(options.copies);
            match driver {
                Ok(driver) => {
                    pools.push(Pool::open(Surroundings { site, driver, copies, events, gate, unproven }));
                }
                Err(error) => senseless = Some(error),
            }
        }
        let town = Town(Arc::new(Inner { pools, engine: ground, folder: copies }));
        match senseless {
            None => Ok(town),
            Some(error) => {
                town.stop().await?;
                Err(error)
            }
        }
    }

    /// Waits until every site has had a ready copy.
    ///
    /// # Errors
    /// When a site fails, or the deadline passes: names for each site what it waits for.
    pub async fn ready(&self, deadline: Duration) -> Result<(), Error> {
        let settled = future::join_all(self.0.pools.iter().map(Pool::settled));
        let in_time = tokio::time::timeout(deadline, settled).await.is_ok();
        let late: Vec<(String, String)> = self
            .status()
            .into_iter()
            .filter(|status| status.state != SiteState::Running)
            .map(|status| {
                let waits = status.copies.iter().find_map(|copy| copy.condition.clone());
                let why = match (status.problem, waits) {
                    (Some(problem), _) => format!("failed to {problem}"),
                    (None, Some(condition)) => format!("waits for {condition}"),
                    (None, None) => format!("{:?}", status.state).to_lowercase(),
                };
                (status.name, why)
            })
            .collect();
        if late.is_empty() { Ok(()) } else { Err(Error::Unready { within: deadline, in_time, late }) }
    }

    /// The sites of this town.
    pub fn sites(&self) -> impl Iterator<Item = &Site> {
        self.0.pools.iter().map(Pool::site)
    }

    /// The ids of the images that sites run from, by the names of the sites. Those that need no engine have none.
    ///
    /// # Errors
    /// When the engine does not tell.
    pub async fn images(&self) -> Result<BTreeMap<String, String>, Error> {
        let mut images = BTreeMap::new();
        let Some(Ground { monitor, .. }) = &self.0.engine else { return Ok(images) };
        for site in self.sites() {
            if let Some(image) = site.image.as_deref().filter(|_| site.driver == DriverKind::Docker) {
                images
                    .insert(site.name.clone(), crate::golden::id_of_image(monitor, image, &site.name).await?);
            }
        }
        Ok(images)
    }

    /// A pristine copy of a site: at once where one is ready.
    ///
    /// # Errors
    /// When there is no such site, it has failed, or no copy is free before the deadline.
    pub async fn lease(&self, site: &str, deadline: Duration) -> Result<Lease, Error> {
        self.pool(site)?.lease(deadline).await
    }

    /// How every site is doing.
    pub fn status(&self) -> Vec<SiteStatus> {
        self.0.pools.iter().map(Pool::status).collect()
    }

    /// Asks every copy how much memory it occupies; the answers stand in the next [`Town::status`].
    pub async fn measure(&self) {
        future::join_all(self.0.pools.iter().map(Pool::measure)).await;
    }

    /// Makes every copy of a site that is nobody's pristine, with proof, and tries again what was given up.
    ///
    /// # Errors
    /// When there is no such site, or it fails.
    pub async fn reset(&self, site: &str) -> Result<(), Error> {
        self.pool(site)?.reset().await
    }

    /// The last lines that each copy of a site has printed, by the number of the copy.
    ///
    /// # Errors
    /// When there is no such site.
    pub async fn logs(&self, site: &str, lines: usize) -> Result<Vec<(u32, Vec<String>)>, Error> {
        let mut said = Vec::new();
        for copy in self.pool(site)?.copies() {
            said.push((copy.id, copy.machine.log(lines).await));
        }
        Ok(said)
    }

    /// The last lines that each copy of a site has printed and all that they and the copies after them print, with the
    /// number of the copy, until the town stops or the receiver is dropped.
    ///
    /// # Errors
    /// When there is no such site.
    pub fn follow(&self, site: &str, lines: usize) -> Result<mpsc::Receiver<(u32, String)>, Error> {
        Ok(self.pool(site)?.follow(lines))
    }

    /// Removes all copies, leased ones too, with their folders and their network. Doing so again does nothing.
    ///
    /// # Errors
    /// When the engine refuses, or a folder cannot be removed.
    pub async fn stop(&self) -> Result<(), Error> {
        future::join_all(self.0.pools.iter().map(Pool::stop)).await;
        let removed = match &self.0.engine {
            Some(Ground { monitor, instance, range, .. }) => {
                let removed = sweep::remove_instance(monitor, instance).await;
                network::close(&range.network).await;
                removed
            }
            None => Ok(()),
        };
        remove_folder(&self.0.folder).await.and(removed)
    }

    /// What is to be said of the container engine, where sites need one and it does not answer.
    pub fn engine_problem(&self) -> Option<Error> {
        self.0.engine.as_ref()?.monitor.problem()
    }

    /// Waits until the container engine that a site needs has not answered for so long.
    pub async fn lacks_engine(&self, site: &str, long: Duration) -> Error {
        let needed = self.pool(site).is_ok_and(|pool| pool.site().driver == DriverKind::Docker);
        match self.0.engine.as_ref().filter(|_| needed) {
            Some(ground) => ground.monitor.is_gone_for(long).await,
            None => future::pending().await,
        }
    }

    fn pool(&self, name: &str) -> Result<&Pool, Error> {
        self.0.pools.iter().find(|pool| pool.site().name == name).ok_or_else(|| Error::Unknown {
            name: name.to_owned(),
            known: self.sites().map(|site| site.name.clone()).collect(),
        })
    }
}

/// The folder, made and by its full name: an engine mounts nothing else.
async fn make_folder(folder: Utf8PathBuf) -> Result<Utf8PathBuf, Error> {
    blocking(move || {
        let made = std::fs::create_dir_all(&folder).and_then(|()| Utf8Path::canonicalize_utf8(&folder));
        made.map_err(Error::of_file("make the folder", &folder))
    })
    .await
}

/// Makes a folder, where it is missing, that no other user of this machine gets into: what stands
/// in it is open to the users of containers.
async fn shut(folder: &Utf8Path) -> Result<(), Error> {
    let folder = folder.to_owned();
    blocking(move || {
        let made = std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)));
        made.map_err(Error::of_file("make the folder", &folder))
    })
    .await
}

/// What the desk shows of the others.
fn desk_of(sites: &[Site]) -> desk::Town {
    let others = sites.iter().filter(|site| site.embedded != Some(Application::Desk));
    let shown = others.map(|site| desk::TownSite {
        title: site.title.clone(),
        url: site.address(),
        about: site.about.clone(),
        accounts: site
            .accounts
            .values()
            .map(|account| desk::TownAccount {
                username: account.username.clone(),
                password: account.password.clone(),
                role: account.role.clone().unwrap_or_default(),
            })
            .collect(),
    });
    desk::Town { sites: shown.collect() }
}
