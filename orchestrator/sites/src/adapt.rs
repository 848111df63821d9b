//! Adapts a group to its container engine: how its containers are reached, and what limits them.
//!
//! ```text
//! Docker                      networks of the engine   profile as text   every limit
//! the system's Podman         networks of the engine   profile as file   every limit
//! the system's Podman, root   no network, and relays   profile as file   every limit
//! rootless Podman             no network, and relays   profile as file   those that its user may set
//! ```
//!
//! Podman's networks have a resolver of names on the bridge, which asks the outside. Only a rule of
//! the firewall keeps containers from it. So containers have no network where relays can reach
//! them.

use std::collections::HashMap;

use camino::{Utf8Path, Utf8PathBuf};
use container_images::{Engine, Podman};

use crate::content::blocking;
use crate::driver::body::Limiter;
use crate::driver::seccomp;
use crate::engine::Monitor;
use crate::network::{self, Networking, Relays};
use crate::{Error, Event, Events};

/// The name of the file with the seccomp profile.
const PROFILE: &str = "seccomp.json";

/// The settings of a group that its engine needs.
pub(crate) struct Settings<'a> {
    pub(crate) group: &'a str,
    pub(crate) labels: &'a HashMap<String, String>,
    /// The folder of its instances.
    pub(crate) folder: &'a Utf8Path,
    /// The program that is a relay.
    pub(crate) helper: &'a Option<Utf8PathBuf>,
}

/// The way in which containers of the group are made.
pub(crate) struct Adapted {
    pub(crate) networking: Networking,
    pub(crate) limiter: Limiter,
}

/// Asks the engine what it is, and prepares what it needs.
pub(crate) async fn to_engine(
    monitor: &Monitor,
    settings: &Settings<'_>,
    events: &Events,
) -> Result<Adapted, Error> {
    let unsupported = |why: String| Error::Unsupported { host: monitor.host().to_owned(), why };
    let bridged = async |apart: bool| {
        let labels = settings.labels.clone();
        let range = network::create(monitor, settings.group, apart, labels, events).await?;
        Ok::<Networking, Error>(Networking::Bridged(range))
    };
    let Some(podman) = monitor.podman().await? else {
        if monitor.is_rootless_docker().await? {
            let why = "it is a rootless Docker, which keeps its containers' addresses to itself; use Docker as the \
                       system's service, or Podman, rootless too";
            return Err(unsupported(why.to_owned()));
        }
        let limiter = Limiter { profile: seccomp::profile().to_owned(), controllers: None };
        return Ok(Adapted { networking: bridged(true).await?, limiter });
    };
    let profile = write_profile(settings.folder).await?.into_string();
    let (own, helper) = (rustix::process::geteuid(), settings.helper.clone());
    match (podman.rootless, helper) {
        // The state of its containers would belong to somebody else.
        (Some(user), _) if user != own.as_raw() => Err(unsupported(format!(
            "it is rootless and belongs to user {user}; this is user {}",
            own.as_raw()
        ))),
        (Some(_), None) => Err(unsupported(
            "it is rootless, and this program has no relay to its containers".to_owned(),
        )),
        (Some(_), Some(helper)) => {
            let limiter = Limiter { profile, controllers: Some(podman.controllers) };
            if let Some(why) = unlimited(&limiter) {
                tracing::warn!("{why}");
                events(&Event::Unlimited { why });
            }
            Ok(Adapted {
                networking: Networking::Relayed(Relays { helper, is_rootless: true }),
                limiter,
            })
        }
        (None, Some(helper)) if own.is_root() => {
            let limiter = Limiter { profile, controllers: None };
            Ok(Adapted {
                networking: Networking::Relayed(Relays { helper, is_rootless: false }),
                limiter,
            })
        }
        // Nobody else may enter its containers.
        (None, _) => {
            let limiter = Limiter { profile, controllers: None };
            Ok(Adapted { networking: bridged(false).await?, limiter })
        }
    }
}

/// Returns the limits of manifests that an engine does not support, and why, if there are any.
///
/// # Errors
/// When the engine does not answer.
pub async fn missing_limits(engine: &Engine) -> Result<Option<String>, container_images::Error> {
    let podman = engine.podman().await?.filter(|podman| podman.rootless.is_some());
    let limiter =
        |podman: Podman| Limiter { profile: String::new(), controllers: Some(podman.controllers) };
    Ok(podman.and_then(|podman| unlimited(&limiter(podman))))
}

/// Returns the limits that a rootless engine does not support.
fn unlimited(limiter: &Limiter) -> Option<String> {
    let limits = [("memory", "memory"), ("pids", "processes"), ("cpu", "CPU")];
    let missing = limits.iter().filter(|(controller, _)| !limiter.limits(controller));
    let missing: Vec<&str> = missing.map(|(_, limit)| *limit).collect();
    (!missing.is_empty()).then(|| {
        format!(
            "rootless Podman cannot limit {} of containers, because your user has no such controllers of control \
             groups (version 2, delegated by systemd with `Delegate=cpu memory pids`)",
            missing.join(", ")
        )
    })
}

/// Writes the profile for an engine that reads it from a file.
async fn write_profile(folder: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let (folder, path) = (folder.to_owned(), folder.join(PROFILE));
    blocking(move || {
        std::fs::create_dir_all(&folder).map_err(Error::of_file("create", &folder))?;
        std::fs::write(&path, seccomp::profile()).map_err(Error::of_file("write", &path))?;
        Ok(path)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_limited_is_named() {
        let limiter = |controllers: &[&str]| Limiter {
            profile: String::new(),
            controllers: Some(
                controllers.iter().map(|&controller| controller.to_owned()).collect(),
            ),
        };
        assert_eq!(unlimited(&limiter(&["cpuset", "cpu", "memory", "pids"])), None);
        let why = unlimited(&limiter(&["memory"])).unwrap_or_default();
        assert!(why.contains("cannot limit processes, CPU of containers"), "{why}");
        assert_eq!(unlimited(&Limiter { profile: String::new(), controllers: None }), None);
    }
}
