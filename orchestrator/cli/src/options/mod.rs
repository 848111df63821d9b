//! Options that several commands share, and the folders of this user.

pub(crate) mod benchmarks;
pub(crate) mod confinement;
pub(crate) mod gateway_options;
pub(crate) mod models;
pub(crate) mod old_spellings;
pub(crate) mod scoring;
pub(crate) mod units;

use camino::{Utf8Path, Utf8PathBuf};

use crate::failure::Failure;

/// Where this user's certificate authority, indexes and sites are kept.
#[derive(Clone, Default, clap::Args)]
pub(crate) struct DataFolder {
    /// Folder for the certificate authority, snapshot indexes and sites [default:
    /// $XDG_DATA_HOME/sandbox or ~/.local/share/sandbox]
    #[arg(long, env = "SANDBOX_DATA", value_name = "DIR", global = true)]
    data: Option<Utf8PathBuf>,
}

impl DataFolder {
    /// The folder; it may not exist yet.
    ///
    /// # Errors
    /// When nothing says where it is.
    pub(crate) fn path(&self) -> Result<Utf8PathBuf, Failure> {
        user_folder(self.data.as_deref(), &DATA)
    }

    /// The folder of the certificate authority.
    pub(crate) fn ca(&self) -> Result<Utf8PathBuf, Failure> {
        Ok(self.path()?.join("ca"))
    }

    /// The folder of snapshot indexes.
    pub(crate) fn indexes(&self) -> Result<Utf8PathBuf, Failure> {
        Ok(self.path()?.join("indexes"))
    }

    /// The file with the key of a balancer of gyms, unless another is named.
    pub(crate) fn balancer_key(&self, named: Option<&Utf8Path>) -> Result<Utf8PathBuf, Failure> {
        named.map_or_else(|| Ok(self.path()?.join("front.key")), |named| Ok(named.to_owned()))
    }

    /// The file with the secret by which servers of ours have their keys, unless another is named.
    pub(crate) fn server_key(&self, named: Option<&Utf8Path>) -> Result<Utf8PathBuf, Failure> {
        named.map_or_else(|| Ok(self.path()?.join("server.key")), |named| Ok(named.to_owned()))
    }

    /// The file that a process holds while it loads images of sites.
    pub(crate) fn images_lock(&self) -> Result<Utf8PathBuf, Failure> {
        Ok(self.path()?.join("images.lock"))
    }

    /// The folder of the sites' golden states and of their copies.
    pub(crate) fn town(&self) -> Result<Utf8PathBuf, Failure> {
        Ok(self.path()?.join("town"))
    }
}

/// Where what can be had again is kept.
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
        object_files::use_cache(folder.join("objects"));
    }
}

/// A kind of folder that every user has.
pub(crate) struct UserFolder {
    /// What is kept in it.
    pub(crate) holds: &'static str,
    /// The variable that says where such folders are.
    pub(crate) variable: &'static str,
    /// Where they are below the home folder otherwise.
    pub(crate) below_home: &'static str,
    /// The flag and the variable that name it.
    pub(crate) named_by: [&'static str; 2],
}

const DATA: UserFolder = UserFolder {
    holds: "data",
    variable: "XDG_DATA_HOME",
    below_home: ".local/share",
    named_by: ["--data", "SANDBOX_DATA"],
};

const CACHE: UserFolder = UserFolder {
    holds: "caches",
    variable: "XDG_CACHE_HOME",
    below_home: ".cache",
    named_by: ["--cache", "SANDBOX_CACHE"],
};

/// The folder that was named, or ours among the user's own. Paths that depend on the folder that
/// the command runs in are passed over, as the specification of these variables has it.
pub(crate) fn user_folder(
    named: Option<&Utf8Path>,
    folder: &UserFolder,
) -> Result<Utf8PathBuf, Failure> {
    if let Some(named) = named.filter(|named| !named.as_str().is_empty()) {
        return Ok(named.to_owned());
    }
    let variable =
        |name| std::env::var(name).ok().map(Utf8PathBuf::from).filter(|path| path.is_absolute());
    let below =
        variable(folder.variable).or_else(|| Some(variable("HOME")?.join(folder.below_home)));
    below.map(|below| below.join("sandbox")).ok_or_else(|| {
        let UserFolder { holds, variable, named_by: [flag, own], .. } = folder;
        Failure::Environment(format!(
            "failed to find the folder for {holds}: neither {variable} nor HOME is set to a path from the root; set one \
             of them, or name the folder with {flag} DIR or {own}=DIR"
        ))
    })
}
