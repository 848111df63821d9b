//! Removes what dead processes have left behind: containers, networks, firewall rules, folders.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bollard::models::ContainerSummary;
use bollard::query_parameters::{ListContainersOptionsBuilder, ListNetworksOptionsBuilder};
use camino::Utf8Path;
use container_images::Engine;
use futures_util::future;
use rustix::process::Signal;
use tokio::time::{Instant, interval};

use crate::content::blocking;
use crate::driver::container;
use crate::engine::Monitor;
use crate::firewall::{self, Rules};
use crate::owner::{GROUP, Owner, PID, PROCESS};
use crate::{Error, network, state};

/// How long a group or a run may take to exit when asked, before it is killed.
const ENDS_WITHIN: Duration = Duration::from_secs(60);
/// The poll interval of waits.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long an engine may refuse to remove something of a dead process. The next sweep tries again.
const ORPHANED_WITHIN: Duration = Duration::from_secs(4);

/// The scope of a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepScope {
    /// Those of dead processes.
    Orphans,
    /// Those of all processes, even if still in use.
    All,
}

/// The result of a removal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// The number of containers removed.
    pub containers: usize,
    /// The number of networks removed.
    pub networks: usize,
    /// The resources that should have been removed, but still exist.
    pub left: Vec<Leftover>,
}

/// A resource that could not be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its type: "container" or "network".
    pub kind: &'static str,
    /// Its name in the engine.
    pub name: String,
    /// The reason why it still exists.
    pub why: String,
    /// The process that created it.
    pub pid: Option<u32>,
}

impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Leftover { kind, name, why, .. } = self;
        write!(f, "the {kind} {name} is left: failed to {why}")
    }
}

type Labels = Option<HashMap<String, String>>;

/// Removes containers and networks with our label, and firewall rules of networks that do not exist
/// any more. With [`SweepScope::All`], running groups and runs are ended first. Otherwise they
/// would start the removed instances again.
///
/// # Errors
/// When the engine cannot list its resources.
pub async fn sweep(engine: &Engine, whose: SweepScope) -> Result<SweepReport, Error> {
    let monitor = &*Monitor::start(engine.clone(), Arc::new(|_| {}));
    if whose == SweepScope::All {
        end_owners(monitor).await?;
    }
    let to_go = |labels: &Labels| match whose {
        SweepScope::All => true,
        SweepScope::Orphans => labels.as_ref().is_some_and(Owner::has_left),
    };
    let within = if whose == SweepScope::All { network::LEFT_WITHIN } else { ORPHANED_WITHIN };
    let (swept, kept) = remove(monitor, GROUP, within, to_go).await?;
    let kept = kept.iter().map(|name| network::bridge(name)).collect();
    firewall::open(Rules::But(&kept)).await;
    Ok(swept)
}

/// Removes all resources of a group, also those that its instances could not remove.
pub(crate) async fn remove_group(monitor: &Monitor, group: &str) -> Result<(), Error> {
    let (swept, _) =
        remove(monitor, &format!("{GROUP}={group}"), network::LEFT_WITHIN, |_| true).await?;
    match swept.left.first() {
        None => Ok(()),
        Some(Leftover { kind, name, why, .. }) => {
            Err(Error::Refused { doing: format!("remove the {kind} {name}"), why: why.clone() })
        }
    }
}

/// Removes containers and networks with a label. Returns the names of the remaining networks.
async fn remove(
    monitor: &Monitor,
    label: &str,
    within: Duration,
    to_go: impl Fn(&Labels) -> bool,
) -> Result<(SweepReport, Vec<String>), Error> {
    let mut left = Vec::new();
    let containers: Vec<_> = containers(monitor, label)
        .await?
        .into_iter()
        .filter(|found| to_go(&found.labels))
        .collect();
    let removed = containers
        .iter()
        .map(|found| container::remove(monitor, found.id.as_deref().unwrap_or_default(), within));
    for (found, result) in containers.iter().zip(future::join_all(removed).await) {
        let Err(error) = result else { continue };
        let name =
            found.names.iter().flatten().next().or(found.id.as_ref()).cloned().unwrap_or_default();
        let name = name.trim_start_matches('/').to_owned();
        left.push(Leftover {
            kind: "container",
            name,
            why: error.to_string(),
            pid: pid_of(&found.labels),
        });
    }
    // The engine refuses to remove a network that still has a container.
    let found = networks(monitor, label).await?;
    let (networks, kept): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|found| to_go(&found.labels));
    let removed = networks.iter().map(|found| {
        network::remove_by_id(monitor, found.id.as_deref().unwrap_or_default(), within)
    });
    for (found, result) in networks.iter().zip(future::join_all(removed).await) {
        let Err(error) = result else { continue };
        let name = found.name.clone().unwrap_or_default();
        left.push(Leftover {
            kind: "network",
            name,
            why: error.to_string(),
            pid: pid_of(&found.labels),
        });
    }
    let still = |kind| left.iter().filter(|left| left.kind == kind).count();
    let (containers, networks) =
        (containers.len() - still("container"), networks.len() - still("network"));
    let kept = kept.into_iter().filter_map(|found| found.name).collect();
    Ok((SweepReport { containers, networks, left }, kept))
}

async fn containers(monitor: &Monitor, label: &str) -> Result<Vec<ContainerSummary>, Error> {
    let labelled = [("label".to_owned(), vec![label.to_owned()])].into();
    let options = ListContainersOptionsBuilder::default().all(true).filters(&labelled).build();
    monitor.attend("list the containers", monitor.docker().list_containers(Some(options))).await
}

async fn networks(monitor: &Monitor, label: &str) -> Result<Vec<bollard::models::Network>, Error> {
    let labelled = [("label".to_owned(), vec![label.to_owned()])].into();
    let options = ListNetworksOptionsBuilder::default().filters(&labelled).build();
    monitor.attend("list the networks", monitor.docker().list_networks(Some(options))).await
}

fn pid_of(labels: &Labels) -> Option<u32> {
    labels.as_ref()?.get(PID)?.parse().ok()
}

/// Ends every other process that has containers or networks of ours: by request, or by force.
async fn end_owners(monitor: &Monitor) -> Result<(), Error> {
    let (containers, networks) =
        (containers(monitor, GROUP).await?, networks(monitor, GROUP).await?);
    let labels = containers.into_iter().map(|found| found.labels);
    let labels = labels.chain(networks.into_iter().map(|found| found.labels)).flatten();
    let owners: Vec<Owner> = labels
        .filter_map(|labels| Owner::labelled(&labels))
        .filter(|owner| *owner != Owner::this())
        .collect();
    for signal in [Signal::TERM, Signal::KILL] {
        owners.iter().for_each(|owner| owner.end(signal));
        let deadline = Instant::now() + ENDS_WITHIN;
        let mut polls = interval(POLL_INTERVAL);
        while owners.iter().any(Owner::is_alive) && Instant::now() < deadline {
            polls.tick().await;
        }
    }
    match owners.iter().find(|owner| owner.is_alive()) {
        None => Ok(()),
        // The process may belong to another user.
        Some(owner) => Err(Error::Deadline {
            within: ENDS_WITHIN,
            condition: format!("the process {owner} to end"),
        }),
    }
}

/// Ends the processes and removes the folders that dead groups have left in this folder, which is
/// the `folder` of their options.
///
/// # Errors
/// When a folder cannot be removed.
pub async fn sweep_folder(folder: &Utf8Path) -> Result<(), Error> {
    sweep_folders(&folder.join("copies")).await
}

/// Ends the processes of groups whose owner is gone, and removes their folders, whose names begin
/// with the owner.
pub(crate) async fn sweep_folders(folder: &Utf8Path) -> Result<(), Error> {
    let folder = folder.to_owned();
    blocking(move || {
        let Ok(entries) = folder.read_dir_utf8() else { return Ok(()) };
        for entry in entries.flatten() {
            let owner = entry.file_name().split_once('.').map(|(owner, _)| owner.parse::<Owner>());
            if matches!(owner, Some(Ok(owner)) if !owner.is_alive()) {
                // Its processes first, because they may still write into the folder.
                for instance in entry.path().read_dir_utf8().into_iter().flatten().flatten() {
                    let process = std::fs::read_to_string(instance.path().join(PROCESS));
                    if let Some(Ok(process)) = process.ok().map(|process| process.parse::<Owner>())
                    {
                        process.kill();
                    }
                }
                state::remove_folder(entry.path())?;
            }
        }
        Ok(())
    })
    .await
}
