//! Containers: a read-only root, nothing of the host, no way out of their network, and limits on what they use.
//!
//! Each copy has two folders of its own on the host: its state at `/state`, which starts as a copy of the image's golden
//! state, and its clock at `/clock`. An image without golden state, somebody else's, gets a writable root if its manifest
//! says so.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bollard::models::{ContainerCreateBody, HealthConfig, HostConfig, HostConfigLogConfig, Mount, MountType};
use bollard::query_parameters::CreateContainerOptionsBuilder;
use camino::{Utf8Path, Utf8PathBuf};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use images::Engine;
use tokio::sync::OnceCell;
use tokio::time::{Instant, interval};

use super::container::Container;
use super::{Driver, Machine};
use crate::clock::{self, Clock};
use crate::content::{Content, blocking};
use crate::copy::Copy;
use crate::owner::{COPY, SITE};
use crate::state::{Golden, Layout, MOUNT};
use crate::{Error, Site, Upstream, golden};

/// How long an engine that is started anew may take, and how often it is looked at.
const ENGINE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(250);

/// Where a container finds its clock.
const CLOCK: &str = "/clock";

/// The user of our own images where this process is root's; otherwise containers run as who we are.
const USER: u32 = 10001;

/// Whom containers ask for names: themselves, where nobody listens, so that asking fails at once. The engine's own resolver
/// would be asked in vain for ten seconds.
const NO_RESOLVER: &str = "127.0.0.1";
const RESOLVER: &str = "resolv.conf";
const RESOLVER_TEXT: &str = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n";

/// Where the containers of one instance live.
#[derive(Clone)]
pub(crate) struct Ground {
    pub(crate) engine: Engine,
    /// The instance's name, unique on this machine.
    pub(crate) instance: String,
    /// The instance's network.
    pub(crate) network: String,
    pub(crate) labels: HashMap<String, String>,
    /// Golden states of images.
    pub(crate) golden: Utf8PathBuf,
    /// Folders of copies.
    pub(crate) copies: Utf8PathBuf,
}

impl Ground {
    /// Waits for the engine, should it be starting anew.
    async fn answers(&self) -> Result<(), Error> {
        let deadline = Instant::now() + ENGINE;
        let mut look = interval(LOOK);
        loop {
            look.tick().await;
            match self.engine.docker().ping().await {
                Ok(_) => return Ok(()),
                Err(error) if Instant::now() < deadline => {
                    tracing::debug!(%error, "waiting for the engine to answer");
                }
                Err(error) => return Err(Error::of_engine("wait for the engine to answer")(error)),
            }
        }
    }
}

pub(crate) struct Docker {
    site: Arc<Site>,
    image: String,
    port: u16,
    ground: Ground,
    golden: OnceCell<Option<Arc<Golden>>>,
}

impl Docker {
    pub(crate) fn new(site: Arc<Site>, ground: Ground) -> Result<Docker, Error> {
        let (Some(image), Some(port)) = (site.image.clone(), site.port) else {
            let why = "a container needs `image` and `port`".to_owned();
            return Err(Error::Senseless { site: site.name.clone(), why });
        };
        Ok(Docker { site, image, port, ground, golden: OnceCell::new() })
    }

    async fn start(&self, id: u32) -> Result<Copy, Error> {
        self.ground.answers().await?;
        let golden = self.golden.get_or_try_init(|| self.open_golden()).await?.clone();
        let folder = self.ground.copies.join(format!("{}-{id}", self.site.name));
        let clock = match self.site.clock {
            Some(_) => Clock::File(folder.join("clock")),
            None => Clock::Real,
        };
        let made = (golden.clone(), folder.clone());
        blocking(move || make_folders(made.0.as_deref(), &made.1)).await?;
        self.site.clock.map_or(Ok(()), |start| clock.set(start))?;

        let docker = self.ground.engine.docker();
        let name = format!("{}-{}-{id}", self.ground.instance, self.site.name);
        let body = self.body(id, &folder, golden.is_some());
        let options = CreateContainerOptionsBuilder::default().name(&name).build();
        let doing = || format!("start a container of {}", self.image);
        let created =
            docker.create_container(Some(options), body).await.map_err(Error::of_engine(doing()))?;
        let state = folder.join("state");
        let container = Container::new(&self.ground.engine, created.id, folder);
        // From here on there is something to remove.
        let started = async {
            docker.start_container(container.id(), None).await.map_err(Error::of_engine(doing()))?;
            container.address(&self.ground.network).await
        };
        match started.await {
            Ok(address) => {
                let upstream = Upstream::Address((address, self.port).into());
                let content =
                    golden.map_or(Content::Elsewhere, |golden| Content::Folder { golden, folder: state });
                Ok(Copy::new(id, upstream, clock, content, Box::new(container)))
            }
            Err(error) => {
                let _ = container.stop().await;
                Err(error)
            }
        }
    }

    async fn open_golden(&self) -> Result<Option<Arc<Golden>>, Error> {
        let layout = Layout::of(&self.site.state)?;
        let found =
            golden::of_image(&self.ground.engine, &self.image, &self.site.name, &self.ground.golden).await?;
        let Some(folder) = found else { return Ok(None) };
        let golden = blocking(move || Ok(Golden::open(&folder, layout)?)).await?;
        Ok(Some(Arc::new(golden)))
    }

    fn body(&self, id: u32, folder: &Utf8Path, has_state: bool) -> ContainerCreateBody {
        let site = &self.site;
        let mut env: Vec<String> = site.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut mounts = vec![mount(&folder.join(RESOLVER), "/etc/resolv.conf", true)];
        if site.clock.is_some() {
            env.push(format!("SITE_CLOCK_FILE={CLOCK}/{}", clock::FILE));
            mounts.push(mount(&folder.join("clock"), CLOCK, true));
        }
        if has_state {
            mounts.push(mount(&folder.join("state"), MOUNT, false));
        }
        let mut labels = self.ground.labels.clone();
        labels.insert(SITE.to_owned(), site.name.clone());
        labels.insert(COPY.to_owned(), id.to_string());
        let limit = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        let scratch = || "rw,nosuid,nodev,mode=1777".to_owned();
        let tmpfs = [("/tmp".to_owned(), scratch()), ("/run".to_owned(), scratch())];
        let host = HostConfig {
            network_mode: Some(self.ground.network.clone()),
            dns: Some(vec![NO_RESOLVER.to_owned()]),
            mounts: Some(mounts),
            readonly_rootfs: Some(!site.writable),
            tmpfs: (!site.writable).then(|| tmpfs.into()),
            // Somebody else's image changes users at its start; what no web application needs goes in any case.
            cap_drop: Some(if site.writable {
                ["NET_RAW", "MKNOD"].map(str::to_owned).into()
            } else {
                vec!["ALL".to_owned()]
            }),
            security_opt: Some(vec!["no-new-privileges".to_owned()]),
            memory: Some(limit(site.limits.memory.0)),
            memory_swap: Some(limit(site.limits.memory.0)),
            pids_limit: Some(site.limits.pids.into()),
            nano_cpus: Some((site.limits.cpus * 1e9) as i64),
            shm_size: Some(limit(site.limits.shm.0)),
            log_config: Some(HostConfigLogConfig {
                typ: Some("json-file".to_owned()),
                config: Some([("max-size", "8m"), ("max-file", "1")].map(owned).into()),
            }),
            ..Default::default()
        };
        ContainerCreateBody {
            image: Some(self.image.clone()),
            cmd: (!site.command.is_empty()).then(|| site.command.clone()),
            user: (has_state && !site.writable).then(user),
            env: Some(env),
            labels: Some(labels),
            // Conditions of the manifest are looked at instead.
            healthcheck: Some(HealthConfig { test: Some(vec!["NONE".to_owned()]), ..Default::default() }),
            host_config: Some(host),
            ..Default::default()
        }
    }
}

impl Driver for Docker {
    fn start(&self, id: u32) -> BoxFuture<'_, Result<Copy, Error>> {
        self.start(id).boxed()
    }
}

fn owned((key, value): (&str, &str)) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

fn mount(folder: &Utf8Path, target: &str, read_only: bool) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(folder.to_string()),
        target: Some(target.to_owned()),
        read_only: Some(read_only),
        ..Default::default()
    }
}

/// Whom containers run as: whoever owns the state on the host, so that both sides may write to it.
fn user() -> String {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if user.is_root() { format!("{USER}:{USER}") } else { format!("{}:{}", user.as_raw(), group.as_raw()) }
}

/// What of a copy is on the host.
fn make_folders(golden: Option<&Golden>, folder: &Utf8Path) -> Result<(), Error> {
    let (clock, resolver) = (folder.join("clock"), folder.join(RESOLVER));
    std::fs::create_dir_all(&clock).map_err(Error::of_file("create", &clock))?;
    std::fs::write(&resolver, RESOLVER_TEXT).map_err(Error::of_file("write", &resolver))?;
    golden.map_or(Ok(()), |golden| Ok(golden.copy_to(&folder.join("state"))?))
}
