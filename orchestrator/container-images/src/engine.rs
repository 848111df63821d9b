//! The connection to a container engine, Docker or Podman.
//!
//! `DOCKER_HOST` selects it. If it is not set, the first of these sockets that answers is used:
//! rootless Docker, rootless Podman, the system's Docker, the system's Podman.

use std::time::Duration;

use bollard::errors::Error as Api;
use bollard::models::ImageInspect;
use bollard::query_parameters::ListImagesOptions;
use bollard::{API_DEFAULT_VERSION, Docker};

/// Time limit for an engine to tell its version. A healthy engine takes milliseconds.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// Time limit in seconds until any other answer begins.
const REQUEST_TIMEOUT: u64 = 120;

/// The timeout of requests that respond only after gigabytes were transferred.
pub(crate) const UNHURRIED: Duration = Duration::from_secs(7 * 24 * 3600);

/// A container engine that answers.
#[derive(Debug, Clone)]
pub struct Engine {
    docker: Docker,
    host: String,
}

/// Why no engine can be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No engine answers at any known socket.
    #[error("reach a container engine: {}", list(tried))]
    Unreachable {
        /// Each socket in the form of `DOCKER_HOST`, with its error.
        tried: Vec<(String, String)>,
    },
    /// `DOCKER_HOST` has an unknown form.
    #[error("use DOCKER_HOST={0}: it must begin with unix:// or tcp://")]
    Host(String),
}

fn list(tried: &[(String, String)]) -> String {
    tried.iter().map(|(host, why)| format!("{host} ({why})")).collect::<Vec<_>>().join(", ")
}

impl Error {
    /// What the user can do about the error.
    pub fn cure(&self) -> &'static str {
        let denied = "ermission denied";
        match self {
            Error::Unreachable { tried } if tried.iter().any(|(_, why)| why.contains(denied)) => {
                "become a member of the group that owns the socket (`sudo usermod -aG docker $USER`, then log in again)"
            }
            Error::Unreachable { .. } => {
                "install and start one with `./setup.sh engine`, or say with DOCKER_HOST where yours listens"
            }
            Error::Host(_) => {
                "forward the engine's socket here, for instance by `ssh -L`, and name it unix://PATH"
            }
        }
    }
}

impl Engine {
    /// Connects to the user's engine and agrees on a version of the API.
    ///
    /// # Errors
    /// When `DOCKER_HOST` is invalid, or no engine answers within seconds.
    pub async fn connect() -> Result<Engine, Error> {
        let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        let mut tried = Vec::new();
        for host in places(variable("DOCKER_HOST"), variable("XDG_RUNTIME_DIR")) {
            match reach(&host).await? {
                Ok(docker) => {
                    tracing::debug!(%host, version = %docker.client_version(), "container engine");
                    return Ok(Engine { docker, host });
                }
                Err(why) => tried.push((host, why)),
            }
        }
        Err(Error::Unreachable { tried })
    }

    /// The engine's API. Requests that take more than two minutes to answer need a clone [with a
    /// longer timeout](Docker::with_timeout).
    pub fn docker(&self) -> &Docker {
        &self.docker
    }

    /// Whether it is Podman, which implements Docker's API incompletely.
    ///
    /// # Errors
    /// When it does not respond.
    pub async fn is_podman(&self) -> Result<bool, Api> {
        let components = self.docker.version().await?.components.unwrap_or_default();
        Ok(components.iter().any(|component| component.name == "Podman Engine"))
    }

    /// Its socket, in the form of `DOCKER_HOST`.
    pub fn host(&self) -> &str {
        &self.host
    }
}

/// Requests that several operations share.
impl Engine {
    /// Finds an image by name or id.
    pub(crate) async fn image(&self, name: &str) -> Result<Option<ImageInspect>, crate::Error> {
        match self.docker.inspect_image(name).await {
            Ok(image) => Ok(Some(image)),
            Err(Api::DockerResponseServerError { status_code: 404, .. }) => Ok(None),
            Err(error) => Err(crate::Error::of_engine(format!("look for image {name}"))(error)),
        }
    }

    /// Whether there is an image with this name or id.
    ///
    /// # Errors
    /// When the engine does not answer.
    pub async fn has(&self, image: &str) -> Result<bool, crate::Error> {
        Ok(self.image(image).await?.is_some())
    }

    /// The names of all images, sorted.
    pub(crate) async fn tags(&self) -> Result<Vec<String>, crate::Error> {
        let images = self.docker.list_images(None::<ListImagesOptions>).await;
        let images = images.map_err(crate::Error::of_engine("list the images"))?;
        let mut tags: Vec<String> = images.into_iter().flat_map(|image| image.repo_tags).collect();
        tags.sort();
        Ok(tags)
    }

    /// The architecture of images, in Go's terms: amd64, arm64.
    pub(crate) async fn architecture(&self) -> Result<String, crate::Error> {
        let version = self.docker.version().await;
        let version = version.map_err(crate::Error::of_engine("ask the engine for its version"))?;
        Ok(version.arch.unwrap_or_default())
    }
}

/// The sockets where an engine may listen, best first.
fn places(docker_host: Option<String>, runtime_folder: Option<String>) -> Vec<String> {
    if let Some(host) = docker_host {
        return vec![host];
    }
    let rootless = runtime_folder.into_iter().flat_map(|folder| {
        ["docker.sock", "podman/podman.sock"].map(|name| format!("unix://{folder}/{name}"))
    });
    let systems =
        ["/var/run/docker.sock", "/run/podman/podman.sock"].map(|path| format!("unix://{path}"));
    rootless.chain(systems).collect()
}

/// The outer error ends the search; the inner one says why this socket does not work.
async fn reach(host: &str) -> Result<Result<Docker, String>, Error> {
    let connected = if let Some(path) = host.strip_prefix("unix://") {
        Docker::connect_with_unix(path, REQUEST_TIMEOUT, API_DEFAULT_VERSION)
    } else if host.starts_with("tcp://") || host.starts_with("http://") {
        Docker::connect_with_http(host, REQUEST_TIMEOUT, API_DEFAULT_VERSION)
    } else {
        return Err(Error::Host(host.to_owned()));
    };
    let docker = match connected {
        Ok(docker) => docker,
        Err(Api::SocketNotFoundError(_)) => return Ok(Err("no such file".to_owned())),
        Err(error) => return Ok(Err(error_text::root_cause(&error))),
    };
    Ok(match tokio::time::timeout(ANSWERS_WITHIN, docker.negotiate_version()).await {
        Ok(Ok(docker)) => Ok(docker),
        Ok(Err(error)) => Err(error_text::root_cause(&error)),
        Err(_) => Err(format!("no answer within {} s", ANSWERS_WITHIN.as_secs())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docker_host_excludes_every_other_place() {
        let places =
            places(Some("tcp://127.0.0.1:2375".to_owned()), Some("/run/user/7".to_owned()));
        assert_eq!(places, ["tcp://127.0.0.1:2375"]);
    }

    #[test]
    fn rootless_engines_come_before_the_systems() {
        assert_eq!(
            places(None, Some("/run/user/7".to_owned())),
            [
                "unix:///run/user/7/docker.sock",
                "unix:///run/user/7/podman/podman.sock",
                "unix:///var/run/docker.sock",
                "unix:///run/podman/podman.sock"
            ]
        );
        assert_eq!(
            places(None, None),
            ["unix:///var/run/docker.sock", "unix:///run/podman/podman.sock"]
        );
    }

    #[tokio::test]
    async fn a_place_where_nobody_listens_is_named_with_the_reason() {
        let free = std::net::TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .unwrap();
        let why = reach(&format!("tcp://{free}")).await.unwrap().unwrap_err();
        assert!(why.contains("refused"), "{why}");
        let why = reach("unix:///nonesuch.sock").await.unwrap().unwrap_err();
        assert_eq!(why, "no such file");
        assert!(matches!(reach("ssh://host").await, Err(Error::Host(_))));
    }
}
