//! Driver for containers. Containers have a read-only root file system, no access to the host, no
//! route out of their network, and resource limits.
//!
//! Each instance has two folders on the host. The state at `/state` starts as a copy of the image's
//! golden state. The clock is at `/clock`. A third-party image without golden state gets a writable
//! root file system if its manifest says so.
//!
//! Sidecars belong to one instance. They share a private network with it. All containers of the
//! instance know each other by the names of the manifest, which a file on the host lists. Each
//! container mounts this file as `/etc/hosts`.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use bollard::models::{
    ContainerCreateBody, EndpointIpamConfig, EndpointSettings, Mount, NetworkingConfig,
};
use bollard::query_parameters::CreateContainerOptionsBuilder;
use camino::{Utf8Path, Utf8PathBuf};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::OnceCell;

use super::Driver;
use super::body::{Body, Limiter, mount};
use super::container::Container;
use super::containers::Containers;
use crate::addresses::AddressLease;
use crate::clock::{self, Clock};
use crate::content::{Content, blocking};
use crate::engine::Monitor;
use crate::instance::Instance;
use crate::manifest::{ContainerSpec, Volume, folder_at};
use crate::network::{Network, Networking, Relays};
use crate::owner::{INSTANCE, Owner, SITE};
use crate::quota::Quota;
use crate::relay::{self, Relay};
use crate::state::{Access, Golden, Layout, Live, MOUNT};
use crate::{Error, Site, SiteTarget, golden};

/// The mount point of the clock in a container.
const CLOCK: &str = "/clock";

/// The user id of our own images when this process runs as root. Otherwise containers run as the
/// user of this process.
const USER: u32 = 10001;

/// The file that is mounted as resolver configuration. It names no usable server.
const RESOLVER: &str = "resolv.conf";
const RESOLVER_TEXT: &str = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n";

/// The file with the host names of the containers of one instance.
const HOSTS: &str = "hosts";
const HOSTS_TEXT: &str = "127.0.0.1\tlocalhost\n";

/// The mode of a user namespace in which the user of the engine is the same one inside.
const KEEP_USER: &str = "keep-id";

/// The network of an instance's containers.
enum Place {
    /// On a network, with an address each.
    In(Network),
    /// In one network namespace with nothing but loopback: that of the first container, whose id
    /// this is once it exists.
    Nowhere {
        first: Option<String>,
        /// Whether the user of the engine is the same one inside.
        keeps_user: bool,
    },
}

/// The ports of an application.
struct Ports {
    own: SiteTarget,
    /// Ports that are not at the same address.
    others: BTreeMap<u16, SiteTarget>,
}

/// The engine, network and folders that all containers of one site group use.
#[derive(Clone)]
pub(crate) struct DockerContext {
    pub(crate) monitor: Arc<Monitor>,
    /// The group's id, unique on this machine.
    pub(crate) group: String,
    pub(crate) networking: Networking,
    pub(crate) limiter: Limiter,
    pub(crate) labels: HashMap<String, String>,
    /// The folder with golden states of images.
    pub(crate) golden: Utf8PathBuf,
    /// The folder with one folder per instance.
    pub(crate) instances: Utf8PathBuf,
}

pub(crate) struct Docker {
    site: Arc<Site>,
    spec: ContainerSpec,
    context: DockerContext,
    golden: OnceCell<Option<Arc<Golden>>>,
}

impl Docker {
    pub(crate) fn new(site: Arc<Site>, spec: ContainerSpec, context: DockerContext) -> Docker {
        Docker { site, spec, context, golden: OnceCell::new() }
    }

    async fn start(&self, id: u32) -> Result<Instance, Error> {
        let golden = self.golden.get_or_try_init(|| self.open_golden()).await?.clone();
        // A missing image is an error before anything is made.
        for sidecar in self.spec.sidecars.values() {
            golden::id_of_image(&self.context.monitor, &sidecar.image, &self.site.name).await?;
        }
        let folder = self.context.instances.join(format!("{}-{id}", self.site.name));
        let clock = match self.site.clock {
            Some(_) => Clock::File(folder.join("clock")),
            None => Clock::Real,
        };
        let live = Live { folder: folder.join("state"), access: access(self.spec.writable) };
        let made = (golden.clone(), folder.clone(), live.clone());
        blocking(move || make_folders(made.0.as_deref(), &made.1, &made.2)).await?;
        // Before the application starts, which reads the time at once.
        self.site.clock.map_or(Ok(()), |start| clock.set(start))?;

        let mut containers = Containers::new(&self.context.monitor, folder.clone());
        containers.access = (!self.spec.writable).then_some(live.access);
        match self.run(id, &folder, golden.is_some(), &mut containers).await {
            Ok(ports) => {
                let quota = Quota::new(folder.clone(), &self.spec.limits, golden.as_deref());
                let content =
                    golden.map_or(Content::Elsewhere, |golden| Content::Folder { golden, live });
                let instance = Instance::new(id, ports.own, clock, content, Box::new(containers));
                Ok(instance.with_ports(ports.others).held_to(quota))
            }
            // The containers that were made before the failure.
            Err(error) => {
                let _ = containers.stop().await;
                Err(error)
            }
        }
    }

    /// Creates and starts the containers, the sidecars first. Returns where the application is
    /// reached.
    async fn run(
        &self,
        id: u32,
        folder: &Utf8Path,
        has_state: bool,
        made: &mut Containers,
    ) -> Result<Ports, Error> {
        let (site, spec) = (&self.site, &self.spec);
        let alone = spec.sidecars.is_empty();
        let name = format!("{}-{}-{id}", self.context.group, site.name);
        // Our images run as the owner of their state, who must be the same user inside.
        let user = (has_state && !spec.writable).then(user);
        let mut place = self.place(id, &name, user.is_some(), made).await?;
        let shared = |hostname| Body {
            image: &spec.image,
            command: &spec.command,
            env: &spec.env,
            writable: spec.writable,
            limits: &spec.limits,
            scratch: Vec::new(),
            extra_env: clock_of(site),
            mounts: mounts_of(site, folder),
            labels: self.labels(id),
            network: String::new(),
            users: None,
            hostname,
            limiter: &self.context.limiter,
            user: None,
        };
        for (alias, sidecar) in &spec.sidecars {
            let mut body = Body {
                image: &sidecar.image,
                command: &sidecar.command,
                env: &sidecar.env,
                writable: sidecar.writable,
                limits: &sidecar.limits,
                ..shared(Some(alias))
            };
            self.add_volumes(&mut body, &sidecar.volumes, &format!("sidecars.{alias}.volumes"))?;
            let container = self.create(&format!("{name}-{alias}"), body, &mut place).await?;
            // From here on there is something to remove.
            made.sidecars.push((alias.clone(), container));
            let Some((_, container)) = made.sidecars.last() else { continue };
            container.start(&sidecar.image).await?;
            introduce(folder, container.address(), alias)?;
        }
        let mut body = shared((!alone).then_some(site.name.as_str()));
        if has_state {
            body.mounts.push(mount(&folder.join("state"), MOUNT, false));
            body.user = user;
        }
        self.add_volumes(&mut body, &spec.volumes, "volumes")?;
        let container = made.main.insert(self.create(&name, body, &mut place).await?);
        container.start(&spec.image).await?;
        introduce(folder, container.address(), &site.name)?;
        match &self.context.networking {
            Networking::Bridged(_) => {
                let own = SiteTarget::Address((container.address(), spec.port).into());
                Ok(Ports { own, others: BTreeMap::new() })
            }
            Networking::Relayed(relays) => {
                let first = container.first_process(&spec.image).await?;
                let (ports, started) = self.relay(relays, folder, &first).await?;
                made.relays = started;
                Ok(ports)
            }
        }
    }

    /// Returns the network for the containers of a new instance.
    async fn place(
        &self,
        id: u32,
        name: &str,
        keeps_user: bool,
        made: &mut Containers,
    ) -> Result<Place, Error> {
        let range = match &self.context.networking {
            Networking::Bridged(range) => range,
            Networking::Relayed(relays) => {
                let keeps_user = keeps_user && relays.is_rootless;
                return Ok(Place::Nowhere { first: None, keeps_user });
            }
        };
        let sidecars = self.spec.sidecars.len();
        // The group's network keeps instances apart by itself.
        if sidecars == 0 && range.network.apart {
            return Ok(Place::In(range.network.clone()));
        }
        let network =
            range.of_copy(&self.context.monitor, name, self.labels(id), 1 + sidecars).await?;
        made.network = Some(network.clone());
        Ok(Place::In(network))
    }

    /// Starts a relay to each port of the application that a host leads to.
    async fn relay(
        &self,
        relays: &Relays,
        folder: &Utf8Path,
        first: &Owner,
    ) -> Result<(Ports, Vec<Relay>), Error> {
        let port = self.spec.port;
        let wanted = self.site.hosts.iter().filter_map(|host| host.port).chain([port]).collect();
        let (mut others, started) = relay::start(&relays.helper, folder, first, wanted).await?;
        let nowhere =
            || Error::Refused { doing: format!("reach port {port}"), why: "no relay".to_owned() };
        let own = others.remove(&port).ok_or_else(nowhere)?;
        others.insert(port, own.clone());
        Ok((Ports { own, others }, started))
    }

    fn add_volumes(
        &self,
        body: &mut Body<'_>,
        volumes: &BTreeMap<Utf8PathBuf, Volume>,
        key: &str,
    ) -> Result<(), Error> {
        for (path, volume) in volumes {
            if let Some(size) = volume.scratch {
                body.scratch.push((path.to_string(), size.0));
            }
            if let Some(folder) = &volume.folder {
                let found = folder_at(&self.site.folder, folder).map_err(|why| Error::Volume {
                    site: self.site.name.clone(),
                    manifest: self.site.file(),
                    key: format!("{key}.{path}.folder"),
                    why,
                })?;
                body.mounts.push(mount(&found, path.as_str(), true));
            }
        }
        Ok(())
    }

    /// Creates a container: with an address of its own, or without any network.
    async fn create(
        &self,
        name: &str,
        body: Body<'_>,
        place: &mut Place,
    ) -> Result<Container, Error> {
        match place {
            Place::In(network) => self.create_in(name, body, network).await,
            Place::Nowhere { first, keeps_user } => {
                let (network, users) = match first {
                    None => ("none".to_owned(), keeps_user.then(|| KEEP_USER.to_owned())),
                    Some(first) => {
                        let same = format!("container:{first}");
                        (same.clone(), keeps_user.then_some(same))
                    }
                };
                let doing = format!("make a container of {}", body.image);
                let body = Body { network, users, ..body }.for_engine();
                let container = self.submit(doing, name, body, None).await?;
                first.get_or_insert_with(|| container.id().to_owned());
                Ok(container)
            }
        }
    }

    /// Creates a container with an address of its own.
    async fn create_in(
        &self,
        name: &str,
        body: Body<'_>,
        network: &Network,
    ) -> Result<Container, Error> {
        let doing = format!("make a container of {}", body.image);
        let address = network.addresses.take(1).ok_or_else(|| network.used_up(doing.clone()))?;
        let endpoint = EndpointSettings {
            ipam_config: Some(EndpointIpamConfig {
                ipv4_address: Some(address.subnet.at(0).to_string()),
                ..Default::default()
            }),
            ..Default::default()
        };
        let endpoints = Some([(network.name.clone(), endpoint)].into());
        let body = ContainerCreateBody {
            networking_config: Some(NetworkingConfig { endpoints_config: endpoints }),
            ..Body { network: network.name.clone(), ..body }.for_engine()
        };
        self.submit(doing, name, body, Some((network.name.clone(), address))).await
    }

    async fn submit(
        &self,
        doing: String,
        name: &str,
        body: ContainerCreateBody,
        network: Option<(String, AddressLease)>,
    ) -> Result<Container, Error> {
        let monitor = &self.context.monitor;
        let options = CreateContainerOptionsBuilder::default().name(name).build();
        let created =
            monitor.attend(doing, monitor.docker().create_container(Some(options), body)).await?;
        Ok(Container::new(monitor, created.id, network))
    }

    fn labels(&self, id: u32) -> HashMap<String, String> {
        let mut labels = self.context.labels.clone();
        labels.insert(SITE.to_owned(), self.site.name.clone());
        labels.insert(INSTANCE.to_owned(), id.to_string());
        labels
    }

    async fn open_golden(&self) -> Result<Option<Arc<Golden>>, Error> {
        let layout = Layout::of(&self.site.state)?;
        let found = golden::of_image(
            &self.context.monitor,
            &self.spec.image,
            &self.site.name,
            &self.context.golden,
        )
        .await?;
        let Some(folder) = found else { return Ok(None) };
        let golden = blocking(move || Ok(Golden::open(&folder, layout)?)).await?;
        Ok(Some(Arc::new(golden)))
    }
}

impl Driver for Docker {
    fn start(&self, id: u32) -> BoxFuture<'_, Result<Instance, Error>> {
        self.start(id).boxed()
    }

    fn lacks(&self) -> Option<String> {
        let problem = self.context.monitor.problem()?;
        let Error::EngineGone { host, why } = problem else { return None };
        Some(format!("the container engine at {host} to answer ({why})"))
    }

    fn lacks_nothing(&self) -> BoxFuture<'_, ()> {
        self.context.monitor.answers().boxed()
    }

    fn is_disturbed(&self) -> bool {
        self.context.monitor.was_gone()
    }
}

/// The environment variables that tell a container where its clock is.
fn clock_of(site: &Site) -> Vec<String> {
    site.clock.iter().map(|_| format!("SITE_CLOCK_FILE={CLOCK}/{}", clock::FILE)).collect()
}

/// The mounts that every container of an instance gets from the instance's folder.
fn mounts_of(site: &Site, folder: &Utf8Path) -> Vec<Mount> {
    let mut mounts = vec![mount(&folder.join(RESOLVER), "/etc/resolv.conf", true)];
    if site.clock.is_some() {
        mounts.push(mount(&folder.join("clock"), CLOCK, true));
    }
    if site.driver.has_sidecars() {
        mounts.push(mount(&folder.join(HOSTS), "/etc/hosts", true));
    }
    mounts
}

/// Adds the name and address of one container to the hosts file of an instance. The file is changed
/// in place, because the containers have it mounted.
fn introduce(folder: &Utf8Path, address: IpAddr, name: &str) -> Result<(), Error> {
    let path = folder.join(HOSTS);
    let file = std::fs::File::options().append(true).open(&path);
    let written = file.and_then(|mut file| writeln!(file, "{address}\t{name}"));
    written.map_err(Error::of_file("write", &path))
}

/// The user of the containers: the owner of the state on the host, so that both sides can write to
/// it.
fn user() -> String {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if user.is_root() {
        format!("{USER}:{USER}")
    } else {
        format!("{}:{}", user.as_raw(), group.as_raw())
    }
}

/// Returns who can access the state: that user, or all users of a third-party image.
fn access(writable: bool) -> Access {
    match writable {
        true => Access::Everybody,
        false if rustix::process::geteuid().is_root() => Access::Only(USER, USER),
        false => Access::Own,
    }
}

/// Creates the folders of an instance on the host.
fn make_folders(golden: Option<&Golden>, folder: &Utf8Path, live: &Live) -> Result<(), Error> {
    let (clock, resolver) = (folder.join("clock"), folder.join(RESOLVER));
    std::fs::create_dir_all(&clock).map_err(Error::of_file("create", &clock))?;
    std::fs::write(&resolver, RESOLVER_TEXT).map_err(Error::of_file("write", &resolver))?;
    let hosts = folder.join(HOSTS);
    std::fs::write(&hosts, HOSTS_TEXT).map_err(Error::of_file("write", &hosts))?;
    // Users of the containers read them; others of this machine cannot get below `folder`.
    for (path, mode) in [(&clock, 0o755), (&resolver, 0o644), (&hosts, 0o644)] {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(path, mode).map_err(Error::of_file("change the mode of", path))?;
    }
    golden.map_or(Ok(()), |golden| Ok(golden.copy_to(live)?))
}
