//! Container networks. Containers in them reach neither the outside nor this machine.
//!
//! A group has one network, in which instances do not reach one another. An instance with several
//! containers has a network of its own, in which they reach one another, so that no instance
//! reaches the containers of another. Podman cannot isolate the containers of one network from each
//! other. With networks of Podman, each instance has its own network.
//!
//! If this process may enter a container of Podman, containers have no network at all, and a
//! relay leads to each port of an application (`relay`). The containers of one instance then share
//! their loopback.
//!
//! Every network is created with an explicit subnet, because engines accept chosen container
//! addresses only in such networks. The engine selects the subnet: a network is created without
//! one, and created again with the subnet that the engine assigned. The networks of instances are
//! parts of the same range, which the group's network reserves.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bollard::errors::Error as Api;
use bollard::models::{Ipam, IpamConfig, NetworkCreateRequest, NetworkDisconnectRequest};
use camino::Utf8PathBuf;
use sha2::{Digest, Sha256};
use tokio::time::{Instant, interval};

use crate::addresses::{AddressLease, Addresses, Subnet};
use crate::engine::Monitor;
use crate::firewall::{self, Rules};
use crate::{Error, Event, Events};

/// How long the containers of a network may take to disconnect from it.
pub(crate) const LEFT_WITHIN: Duration = Duration::from_secs(20);
/// The poll interval of that wait.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The engine's option for a bridge whose containers reach one another.
const TALK: &str = "com.docker.network.bridge.enable_icc";
/// The engine's option for the name of a bridge.
const BRIDGE: &str = "com.docker.network.bridge.name";

/// How often to retry when somebody else takes a range between the engine's assignment and our use.
const ATTEMPTS: u32 = 10;
/// How many addresses are left to the engine, for containers that are not ours.
const OTHERS: u32 = 16;

/// A network that was created.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub(crate) name: String,
    bridge: String,
    /// Whether its containers do not reach one another.
    pub(crate) apart: bool,
    /// The addresses of its containers.
    pub(crate) addresses: Addresses,
    /// The range that it is a part of.
    whole: Subnet,
    /// The part of the range, if this is the network of an instance.
    _part: Option<Arc<AddressLease>>,
}

/// The network of a group, and the range that contains the networks of its instances.
#[derive(Debug, Clone)]
pub(crate) struct Range {
    pub(crate) network: Network,
    parts: Addresses,
    whole: Subnet,
}

/// The way in which the containers of a group are reached, and are kept from everything else.
#[derive(Debug, Clone)]
pub(crate) enum Networking {
    /// They have addresses on networks that lead nowhere.
    Bridged(Range),
    /// They have no network, and relays lead to them.
    Relayed(Relays),
}

/// The resources that relays need.
#[derive(Debug, Clone)]
pub(crate) struct Relays {
    /// The program that is a relay.
    pub(crate) helper: Utf8PathBuf,
    /// Whether the engine runs as an ordinary user, who is another one inside unless it is told.
    pub(crate) is_rootless: bool,
}

/// Creates the network of a group. Containers that are `apart` do not reach one another.
pub(crate) async fn create(
    monitor: &Monitor,
    name: &str,
    apart: bool,
    labels: HashMap<String, String>,
    events: &Events,
) -> Result<Range, Error> {
    let mut attempt = 0;
    let (whole, own) = loop {
        attempt += 1;
        let whole = choose(monitor, name, labels.clone()).await?;
        // If the instances have their own networks, this network only reserves the range.
        let own = whole.head(if apart { whole.size() / 2 } else { whole.size().min(8) });
        match make(monitor, name, labels.clone(), own, Within::Apart).await {
            Ok(()) => break (whole, own),
            Err(error) if attempt == ATTEMPTS || error.is_gone() => return Err(error),
            Err(error) => tracing::debug!(%error, %own, "somebody else took the range"),
        }
    };
    let bridge = bridge(name);
    let kept = firewall::keep(&bridge).await;
    if let Err(mut why) = firewall::shut(&bridge).await {
        if !apart {
            why.push_str("; they may also have names resolved outside, by Podman's resolver");
        }
        events(&Event::Exposed { why });
    } else if let Err(why) = kept {
        events(&Event::Reachable { why });
    }
    let addresses = addresses_of(own, Within::Apart);
    let network = Network { name: name.to_owned(), bridge, apart, addresses, whole, _part: None };
    Ok(Range { network, parts: whole.between(own.size(), whole.size()), whole })
}

impl Range {
    /// Creates a network for one instance with this many containers. A missing firewall rule is not
    /// reported again, because it was reported for the group's network.
    pub(crate) async fn of_copy(
        &self,
        monitor: &Monitor,
        name: &str,
        labels: HashMap<String, String>,
        containers: usize,
    ) -> Result<Network, Error> {
        // Three more addresses are needed: the network, this machine, and broadcast.
        let size = u32::try_from(containers + 3).ok().and_then(u32::checked_next_power_of_two);
        let part = size.and_then(|size| self.parts.take(size));
        let part = part.ok_or_else(|| used_up(self.whole, format!("make the network {name}")))?;
        make(monitor, name, labels, part.subnet, Within::Together).await?;
        let bridge = bridge(name);
        let _ = firewall::shut(&bridge).await;
        let _ = firewall::keep(&bridge).await;
        let addresses = addresses_of(part.subnet, Within::Together);
        let _part = Some(Arc::new(part));
        Ok(Network {
            name: name.to_owned(),
            bridge,
            apart: false,
            addresses,
            whole: self.whole,
            _part,
        })
    }
}

impl Network {
    /// The error when no address is left.
    pub(crate) fn used_up(&self, doing: String) -> Error {
        used_up(self.whole, doing)
    }
}

fn used_up(whole: Subnet, doing: String) -> Error {
    let why = format!(
        "all addresses of {whole} are in use; run fewer instances, or give the engine larger address pools"
    );
    Error::Refused { doing, why }
}

/// Whether the containers of a network reach one another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Apart,
    Together,
}

/// The addresses for our containers. The first address is the network's, the second this machine's,
/// the last is for broadcast.
fn addresses_of(subnet: Subnet, within: Within) -> Addresses {
    let others = others(subnet, within).map_or(1, Subnet::size);
    subnet.between(2, subnet.size() - others)
}

/// The addresses that are left to the engine. A container that somebody else adds therefore never
/// gets an address that one of ours had.
fn others(subnet: Subnet, within: Within) -> Option<Subnet> {
    (within == Within::Apart && subnet.size() >= 4 * OTHERS).then(|| subnet.last(OTHERS))
}

/// Returns a range that the engine considers free.
async fn choose(
    monitor: &Monitor,
    name: &str,
    labels: HashMap<String, String>,
) -> Result<Subnet, Error> {
    // An engine chooses a range only for a network that it makes. So one is made, and removed
    // again.
    let request = request(name, labels, Within::Apart, None);
    let doing = || format!("make the network {name}");
    monitor.attend(doing(), monitor.docker().create_network(request)).await?;
    let found = monitor.attend(doing(), monitor.docker().inspect_network(name, None)).await;
    let removed = remove_by_id(monitor, name, LEFT_WITHIN).await;
    let configs = found?.ipam.and_then(|ipam| ipam.config).unwrap_or_default();
    removed?;
    let subnets: Vec<String> = configs.into_iter().filter_map(|config| config.subnet).collect();
    let subnet = subnets.iter().find_map(|subnet| subnet.parse().ok());
    subnet.filter(|subnet: &Subnet| subnet.size() >= 8).ok_or_else(|| Error::Refused {
        doing: doing(),
        why: format!("the engine gave it the addresses {}, which are too few", subnets.join(", ")),
    })
}

async fn make(
    monitor: &Monitor,
    name: &str,
    labels: HashMap<String, String>,
    subnet: Subnet,
    within: Within,
) -> Result<(), Error> {
    let request = request(name, labels, within, Some(subnet));
    let created = monitor.docker().create_network(request);
    monitor.attend(format!("make the network {name}"), created).await.map(drop)
}

fn request(
    name: &str,
    labels: HashMap<String, String>,
    within: Within,
    subnet: Option<Subnet>,
) -> NetworkCreateRequest {
    let talk = within == Within::Together;
    let config = subnet.map(|subnet| IpamConfig {
        subnet: Some(subnet.to_string()),
        gateway: Some(subnet.at(1).to_string()),
        ip_range: others(subnet, within).map(|others| others.to_string()),
        ..Default::default()
    });
    NetworkCreateRequest {
        name: name.to_owned(),
        driver: Some("bridge".to_owned()),
        internal: Some(true),
        enable_ipv6: Some(false),
        ipam: config.map(|config| Ipam { config: Some(vec![config]), ..Default::default() }),
        options: Some(
            [(TALK.to_owned(), talk.to_string()), (BRIDGE.to_owned(), bridge(name))].into(),
        ),
        labels: Some(labels),
        ..Default::default()
    }
}

/// The name of a network's bridge, cut to the maximum length of an interface name. The network's
/// own name is unique on this machine.
pub(crate) fn bridge(network: &str) -> String {
    let digest = Sha256::digest(network);
    let number = digest.iter().take(6).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    format!("sb-{number:012x}")
}

/// Removes a network whose containers are gone.
pub(crate) async fn remove(monitor: &Monitor, network: &Network) -> Result<(), Error> {
    let removed = remove_by_id(monitor, &network.name, LEFT_WITHIN).await;
    close(network).await;
    removed
}

/// Removes the parts of a network that the engine does not manage.
pub(crate) async fn close(network: &Network) {
    firewall::open(Rules::Of(&network.bridge)).await;
}

/// Removes a network, by its id or name, as soon as its last container has left it. An engine may
/// keep a network that it believes a removed container still uses. So after half of the time, the
/// remaining containers are disconnected by force.
pub(crate) async fn remove_by_id(
    monitor: &Monitor,
    id: &str,
    within: Duration,
) -> Result<(), Error> {
    let docker = monitor.docker();
    let doing = || format!("remove the network {id}");
    let began = Instant::now();
    let mut polls = interval(POLL_INTERVAL);
    loop {
        polls.tick().await;
        let refused = match monitor.attend_raw(docker.remove_network(id)).await? {
            Ok(()) | Err(Api::DockerResponseServerError { status_code: 404, .. }) => return Ok(()),
            // 403: a container of the network is still being removed.
            Err(refused) if began.elapsed() < within => refused,
            Err(error) => return Err(Error::of_engine(doing())(error)),
        };
        tracing::debug!(%refused, id, "a network cannot be removed yet");
        if began.elapsed() > within / 2 {
            let inside = monitor.attend_raw(docker.inspect_network(id, None)).await?;
            let left = inside.ok().and_then(|network| network.containers).unwrap_or_default();
            if left.is_empty() {
                let why = "the engine believes that a container is in it, and knows of none; once the engine has been started \
                           anew, `sandbox down` removes it";
                return Err(Error::Refused { doing: doing(), why: why.to_owned() });
            }
            for container in left.into_values().filter_map(|endpoint| endpoint.name) {
                let leave = NetworkDisconnectRequest { container, force: Some(true) };
                let _ = monitor.attend_raw(docker.disconnect_network(id, leave)).await?;
            }
        }
    }
}
