//! Options that several commands share.

use camino::Utf8PathBuf;

/// Where this user's certificate authority, indexes and sites are kept.
#[derive(clap::Args)]
pub(crate) struct DataFolder {
    /// Folder for the certificate authority, snapshot indexes and sites [default: $XDG_DATA_HOME/sandbox or ~/.local/share/sandbox]
    #[arg(long, env = "SANDBOX_DATA", value_name = "DIR", global = true)]
    data: Option<Utf8PathBuf>,
}

impl DataFolder {
    /// The folder; it may not exist yet.
    pub(crate) fn path(&self) -> Utf8PathBuf {
        let variable =
            |name| std::env::var(name).ok().filter(|value| !value.is_empty()).map(Utf8PathBuf::from);
        self.data.clone().filter(|data| !data.as_str().is_empty()).unwrap_or_else(|| {
            variable("XDG_DATA_HOME")
                .or_else(|| variable("HOME").map(|home| home.join(".local/share")))
                .unwrap_or_else(|| Utf8PathBuf::from("."))
                .join("sandbox")
        })
    }

    /// The folder of the certificate authority.
    pub(crate) fn ca(&self) -> Utf8PathBuf {
        self.path().join("ca")
    }

    /// The folder of snapshot indexes.
    pub(crate) fn indexes(&self) -> Utf8PathBuf {
        self.path().join("indexes")
    }

    /// The folder of the sites' golden states and of their copies.
    pub(crate) fn town(&self) -> Utf8PathBuf {
        self.path().join("town")
    }
}
