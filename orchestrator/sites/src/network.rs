//! The networks of containers: nothing in them reaches the outside or this machine.
//!
//! An instance has one, in which copies do not reach one another. A copy of several containers has one of its own, in which
//! they do, so that no copy meets the containers of another.

use std::collections::HashMap;
use std::time::Duration;

use bollard::errors::Error as Api;
use bollard::models::NetworkCreateRequest;
use images::Engine;
use tokio::time::{Instant, interval};

use crate::{Error, Event, Events, firewall};

/// How long the containers of a network may take to leave it.
const LEFT_WITHIN: Duration = Duration::from_secs(20);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// The engine's option for a bridge whose containers reach one another.
const TALK: &str = "com.docker.network.bridge.enable_icc";

/// A network that was made.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub(crate) name: String,
    bridge: String,
}

/// Makes that of an instance.
pub(crate) async fn create(
    engine: &Engine,
    name: &str,
    labels: HashMap<String, String>,
    events: &Events,
) -> Result<Network, Error> {
    let info = engine.docker().info().await.map_err(Error::of_engine("ask the engine about itself"))?;
    if info.security_options.unwrap_or_default().iter().any(|option| option.contains("name=rootless")) {
        let why = "it is rootless, and keeps its containers' addresses to itself";
        return Err(Error::Unsupported { host: engine.host().to_owned(), why });
    }
    let (network, shut) = make(engine, name, labels, Within::Apart).await?;
    if let Err(why) = shut {
        events(&Event::Exposed { why });
    }
    Ok(network)
}

/// Makes one for the containers of one copy. Whether this machine could be shut to it has been told of the instance's.
pub(crate) async fn of_copy(
    engine: &Engine,
    name: &str,
    labels: HashMap<String, String>,
) -> Result<Network, Error> {
    make(engine, name, labels, Within::Together).await.map(|(network, _)| network)
}

/// Whether the containers of a network reach one another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Apart,
    Together,
}

/// The network, and whether this machine is shut to it.
async fn make(
    engine: &Engine,
    name: &str,
    labels: HashMap<String, String>,
    within: Within,
) -> Result<(Network, Result<(), String>), Error> {
    let request = NetworkCreateRequest {
        name: name.to_owned(),
        driver: Some("bridge".to_owned()),
        internal: Some(true),
        enable_ipv6: Some(false),
        options: Some([(TALK.to_owned(), (within == Within::Together).to_string())].into()),
        labels: Some(labels),
        ..Default::default()
    };
    let created = engine.docker().create_network(request).await;
    let id = created.map_err(Error::of_engine(format!("make the network {name}")))?.id;
    // The engine's own way of naming them.
    let bridge: String = format!("br-{}", id.chars().take(12).collect::<String>());
    let shut = firewall::shut(&bridge).await;
    Ok((Network { name: name.to_owned(), bridge }, shut))
}

/// Removes it; its containers are gone.
pub(crate) async fn remove(engine: &Engine, network: &Network) -> Result<(), Error> {
    let removed = remove_by_id(engine, &network.name).await;
    firewall::open(Some(&network.bridge)).await;
    removed
}

/// Removes a network, by its id or name, as soon as its last container has left it.
pub(crate) async fn remove_by_id(engine: &Engine, id: &str) -> Result<(), Error> {
    let deadline = Instant::now() + LEFT_WITHIN;
    let mut look = interval(LOOK);
    loop {
        look.tick().await;
        match engine.docker().remove_network(id).await {
            Ok(()) | Err(Api::DockerResponseServerError { status_code: 404, .. }) => return Ok(()),
            // Somebody else is still removing a container of it.
            Err(Api::DockerResponseServerError { status_code: 403, .. }) if Instant::now() < deadline => {}
            Err(error) => return Err(Error::of_engine(format!("remove the network {id}"))(error)),
        }
    }
}
