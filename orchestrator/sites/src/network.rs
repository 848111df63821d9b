//! The network of one instance: nothing in it reaches the outside, this machine, or one another.

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

/// A network that was made.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub(crate) name: String,
    bridge: String,
}

/// Makes it.
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
    let request = NetworkCreateRequest {
        name: name.to_owned(),
        driver: Some("bridge".to_owned()),
        internal: Some(true),
        enable_ipv6: Some(false),
        options: Some([("com.docker.network.bridge.enable_icc".to_owned(), "false".to_owned())].into()),
        labels: Some(labels),
        ..Default::default()
    };
    let created = engine.docker().create_network(request).await;
    let id = created.map_err(Error::of_engine(format!("make the network {name}")))?.id;
    // The engine's own way of naming them.
    let bridge: String = format!("br-{}", id.chars().take(12).collect::<String>());
    if let Err(why) = firewall::shut(&bridge).await {
        events(&Event::Exposed { why });
    }
    Ok(Network { name: name.to_owned(), bridge })
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
