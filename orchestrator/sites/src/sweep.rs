//! Removes what processes that are gone have left behind: containers, networks, rules of the firewall, folders.

use std::collections::HashMap;

use bollard::errors::Error as Api;
use bollard::query_parameters::{
    ListContainersOptionsBuilder, ListNetworksOptionsBuilder, RemoveContainerOptionsBuilder,
};
use camino::Utf8Path;
use futures_util::future;
use images::Engine;

use crate::content::blocking;
use crate::owner::{INSTANCE, Owner, PROCESS};
use crate::{Error, firewall, network};

/// Whose things are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Those of processes that are gone.
    Orphans,
    /// Everybody's, whoever still uses them.
    All,
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Containers.
    pub containers: usize,
    /// Networks.
    pub networks: usize,
}

/// Removes containers and networks with our label, and rules of the firewall for networks that are gone.
///
/// # Errors
/// When the engine refuses.
pub async fn sweep(engine: &Engine, whose: Whose) -> Result<Swept, Error> {
    let docker = engine.docker();
    let ours: HashMap<String, Vec<String>> = [("label".to_owned(), vec![INSTANCE.to_owned()])].into();
    let to_go = |labels: &Option<HashMap<String, String>>| match whose {
        Whose::All => true,
        Whose::Orphans => labels.as_ref().is_some_and(Owner::has_left),
    };
    let gone = |result: Result<(), Api>| match result {
        Err(Api::DockerResponseServerError { status_code: 404 | 409, .. }) => Ok(()),
        other => other,
    };

    let options = ListContainersOptionsBuilder::default().all(true).filters(&ours).build();
    let containers = docker.list_containers(Some(options)).await;
    let containers = containers.map_err(Error::of_engine("list the containers"))?;
    let containers: Vec<String> =
        containers.into_iter().filter(|found| to_go(&found.labels)).filter_map(|found| found.id).collect();
    let force = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
    let removed = containers.iter().map(|id| docker.remove_container(id, Some(force.clone())));
    for result in future::join_all(removed).await {
        gone(result).map_err(Error::of_engine("remove a container"))?;
    }

    let options = ListNetworksOptionsBuilder::default().filters(&ours).build();
    let networks = docker.list_networks(Some(options)).await;
    let networks = networks.map_err(Error::of_engine("list the networks"))?;
    let networks: Vec<String> =
        networks.into_iter().filter(|found| to_go(&found.labels)).filter_map(|found| found.id).collect();
    for id in &networks {
        network::remove_by_id(engine, id).await?;
    }
    firewall::open(None).await;
    Ok(Swept { containers: containers.len(), networks: networks.len() })
}

/// Ends the processes of instances whose owner is gone, and removes their folders, whose names begin with the owner.
pub(crate) async fn sweep_folders(folder: &Utf8Path) -> Result<(), Error> {
    let folder = folder.to_owned();
    blocking(move || {
        let Ok(entries) = folder.read_dir_utf8() else { return Ok(()) };
        for entry in entries.flatten() {
            let owner = entry.file_name().split_once('.').map(|(owner, _)| owner.parse::<Owner>());
            if matches!(owner, Some(Ok(owner)) if !owner.is_alive()) {
                for copy in entry.path().read_dir_utf8().into_iter().flatten().flatten() {
                    let process = std::fs::read_to_string(copy.path().join(PROCESS));
                    if let Some(Ok(process)) = process.ok().map(|process| process.parse::<Owner>()) {
                        process.kill();
                    }
                }
                std::fs::remove_dir_all(entry.path()).map_err(Error::of_file("remove", entry.path()))?;
            }
        }
        Ok(())
    })
    .await
}
