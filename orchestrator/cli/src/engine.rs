//! The container engine as the commands meet it: connecting, and what a failure means to the user.

use camino::Utf8PathBuf;
use images::{Engine, Error};

use crate::failure::Failure;
use crate::options::{UserFolder, user_folder};

/// Connects to this user's engine; the failure says what to do.
pub(crate) async fn connect() -> Result<Engine, Failure> {
    Engine::connect().await.map_err(|error| failure(Error::Engine(error)))
}

/// What an error asks of the user.
pub(crate) fn failure(error: Error) -> Failure {
    match &error {
        Error::Engine(cause) => {
            let cure = cause.cure();
            Failure::Environment(anyhow::anyhow!("{error}; {cure}"))
        }
        Error::Changed { image, .. } => Failure::No(format!(
            "{error}; if you trust the new one, accept it with `sandbox pull --update {image}`"
        )),
        Error::Step { .. } => Failure::No(error.to_string()),
        Error::Malformed { .. } | Error::Exists(_) | Error::Unknown { .. } => Failure::Input(error.into()),
        Error::Io { error: cause, .. } if cause.kind() == std::io::ErrorKind::NotFound => {
            Failure::Input(error.into())
        }
        Error::DiskFull { .. } => Failure::Environment(anyhow::anyhow!(
            "{error}; `docker system df` says what takes the space, `docker image prune` frees what has no name"
        )),
        Error::Refused { .. } | Error::Io { .. } | Error::Missing { .. } | Error::Program { .. } => {
            Failure::Environment(error.into())
        }
    }
}

/// Where downloads that can be had again are kept.
#[derive(clap::Args)]
pub(crate) struct CacheFolder {
    /// Folder for downloaded Python packages [default: $XDG_CACHE_HOME/sandbox or ~/.cache/sandbox]
    #[arg(long, env = "SANDBOX_CACHE", value_name = "DIR")]
    cache: Option<Utf8PathBuf>,
}

impl CacheFolder {
    /// The folder; it may not exist yet.
    ///
    /// # Errors
    /// When nothing says where it is.
    pub(crate) fn path(&self) -> Result<Utf8PathBuf, Failure> {
        user_folder(self.cache.as_deref(), &CACHE)
    }
}

const CACHE: UserFolder = UserFolder {
    holds: "downloaded packages",
    variable: "XDG_CACHE_HOME",
    below_home: ".cache",
    named_by: ["--cache", "SANDBOX_CACHE"],
};
