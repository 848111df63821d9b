//! What Podman says of itself beyond Docker's API: whose it is, and what it can limit.

use std::time::Duration;

use bollard::models::ContainerState;
use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::net::{TcpStream, UnixStream};

use crate::{Engine, Error};

/// The oldest version of Podman's own API that has all of this. NewerVersion ones answer to it.
const INFO: &str = "/v4.0.0/libpod/info";
const LARGEST_ANSWER: usize = 1 << 20;
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

/// A Podman engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Podman {
    /// The user of this machine that it runs as, if it has no rights beyond that user's.
    pub rootless: Option<u32>,
    /// The control groups' controllers by which it can limit containers: "memory", "pids", "cpu".
    pub controllers: Vec<String>,
}

#[derive(Deserialize)]
struct Info {
    host: Host,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Host {
    security: Security,
    cgroup_controllers: Option<Vec<String>>,
    #[serde(default)]
    id_mappings: IdMappings,
}

#[derive(Deserialize)]
struct Security {
    rootless: bool,
}

#[derive(Default, Deserialize)]
struct IdMappings {
    uidmap: Option<Vec<IdMapping>>,
}

#[derive(Deserialize)]
struct IdMapping {
    container_id: u32,
    host_id: u32,
}

impl Engine {
    /// Asks Podman about itself. `None` if the engine is not Podman.
    ///
    /// # Errors
    /// When the engine does not answer.
    pub async fn podman(&self) -> Result<Option<Podman>, Error> {
        const DOING: &str = "ask Podman about itself";
        if !self.is_podman().await.map_err(Error::of_engine(DOING))? {
            return Ok(None);
        }
        let refused = |why: String| Error::Refused { doing: DOING.to_owned(), why };
        let asked = tokio::time::timeout(ANSWERS_WITHIN, self.ask(INFO)).await;
        let answer =
            asked.map_err(|_| refused(format!("no answer within {} s", ANSWERS_WITHIN.as_secs())));
        read(&answer?.map_err(refused)?).map(Some).map_err(refused)
    }

    /// The state of a container where Podman calls it `stopped`: it has ended, and is not cleaned
    /// up yet. Docker's API has no such word, and its client refuses the whole answer.
    ///
    /// # Errors
    /// When the engine does not answer, or the container is not there.
    pub async fn stopped_container(&self, id: &str) -> Result<ContainerState, Error> {
        let refused = |why: String| Error::Refused { doing: "inspect a container".to_owned(), why };
        let path = format!("/v1.41/containers/{id}/json");
        let asked = tokio::time::timeout(ANSWERS_WITHIN, self.ask(&path)).await;
        let answer =
            asked.map_err(|_| refused(format!("no answer within {} s", ANSWERS_WITHIN.as_secs())));
        let answer = answer?.map_err(refused)?;
        read_stopped(&answer).map_err(refused)
    }

    async fn ask(&self, path: &str) -> Result<Bytes, String> {
        let request = Request::get(path).header("host", "podman").body(Full::default());
        let request = request.map_err(|error| error.to_string())?;
        let failed = |error: std::io::Error| error.to_string();
        let answered = match self.host().split_once("://") {
            Some(("unix", path)) => {
                let stream = UnixStream::connect(path).await.map_err(failed)?;
                http_once::exchange(stream, request, LARGEST_ANSWER).await
            }
            Some((_, address)) => {
                let stream =
                    TcpStream::connect(address.trim_end_matches('/')).await.map_err(failed)?;
                http_once::exchange(stream, request, LARGEST_ANSWER).await
            }
            None => return Err(format!("{} is no address", self.host())),
        };
        let answer = answered.map_err(|error| error_text::with_causes(&error))?;
        match answer.status().is_success() {
            true => Ok(answer.into_body()),
            false => Err(format!("status {}", answer.status())),
        }
    }
}

fn read(answer: &[u8]) -> Result<Podman, String> {
    let Info { host } = serde_json::from_slice(answer).map_err(|error| error.to_string())?;
    let users = host.id_mappings.uidmap.unwrap_or_default();
    let root = users.iter().find(|mapping| mapping.container_id == 0);
    let rootless = match (host.security.rootless, root) {
        (false, _) => None,
        (true, Some(root)) => Some(root.host_id),
        (true, None) => return Err("it is rootless, and does not say whose it is".to_owned()),
    };
    Ok(Podman { rootless, controllers: host.cgroup_controllers.unwrap_or_default() })
}

fn read_stopped(answer: &[u8]) -> Result<ContainerState, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Inspected {
        state: Map<String, Value>,
    }
    let Inspected { mut state } =
        serde_json::from_slice(answer).map_err(|error| error.to_string())?;
    state.remove("Status");
    state.remove("Health");
    serde_json::from_value(state.into()).map_err(|error| error.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn whose_it_is_and_what_it_limits_are_read() {
        let of_user =
            br#"{"host": {"arch": "amd64", "cgroupControllers": [], "security": {"rootless": true},
            "idMappings": {"uidmap": [{"container_id": 0, "host_id": 1001, "size": 1},
                                      {"container_id": 1, "host_id": 100000, "size": 65536}]}}}"#;
        assert_eq!(
            read(of_user).unwrap(),
            Podman { rootless: Some(1001), controllers: Vec::new() }
        );
        let of_root =
            br#"{"host": {"cgroupControllers": ["cpu", "memory"], "security": {"rootless": false},
            "idMappings": {"uidmap": null, "gidmap": null}}}"#;
        let controllers = vec!["cpu".to_owned(), "memory".to_owned()];
        assert_eq!(read(of_root).unwrap(), Podman { rootless: None, controllers });
        assert!(read(br#"{"host": {"security": {"rootless": true}}}"#).is_err());
        assert!(read(b"Not Found").is_err());
    }

    #[test]
    fn a_container_that_is_not_cleaned_up_has_an_exit_code() {
        let answer =
            br#"{"Id": "a", "State": {"Status": "stopped", "Running": false, "Paused": false,
            "OOMKilled": false, "Pid": 0, "ExitCode": 7, "Error": "", "Health": {"Status": ""},
            "StartedAt": "2026-11-26T18:35:44Z", "FinishedAt": "2026-11-26T18:35:45Z"}}"#;
        let state = read_stopped(answer).unwrap();
        assert_eq!((state.running, state.exit_code), (Some(false), Some(7)));
    }
}
