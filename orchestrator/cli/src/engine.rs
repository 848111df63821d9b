//! The container engine, and the cache of what can be had again.

use camino::{Utf8Path, Utf8PathBuf};
use images::{Engine, Error};

use crate::failure::Failure;
use crate::options::{UserFolder, user_folder};

/// Connects to this user's engine; the failure says what to do.
pub(crate) async fn connect() -> Result<Engine, Failure> {
    Ok(Engine::connect().await.map_err(Error::Engine)?)
}

/// The failure of a folder of images that has none.
pub(crate) fn no_recipe(images: &Utf8Path) -> Failure {
    Failure::Input(format!(
        "failed to find an image in {images}: no folder in it has a Dockerfile; name another with --images"
    ))
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

/// The user's folder of caches, for commands that have no option for it.
///
/// # Errors
/// When nothing says where it is.
pub(crate) fn cache() -> Result<Utf8PathBuf, Failure> {
    let named = std::env::var("SANDBOX_CACHE").ok().map(Utf8PathBuf::from);
    user_folder(named.as_deref(), &CACHE)
}

/// Lets the process keep what it reads of objects at addresses (`s3://`, `https://`) there. Without
/// such a folder it is kept for as long as the process runs.
pub(crate) fn cache_objects() {
    if let Ok(folder) = cache() {
        remote::use_cache(folder.join("objects"));
    }
}

const CACHE: UserFolder = UserFolder {
    holds: "downloaded packages",
    variable: "XDG_CACHE_HOME",
    below_home: ".cache",
    named_by: ["--cache", "SANDBOX_CACHE"],
};
