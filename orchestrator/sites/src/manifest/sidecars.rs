//! Sidecars: additional containers of an instance, such as a database.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Limits, Volume};

/// A container that belongs to every instance of a site, such as its database or search engine.
///
/// It starts before the application's container and is removed with its instance. It reaches only
/// the containers of that instance, which all know each other by name. Its data is not restored,
/// and is not part of the state digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sidecar {
    /// The image.
    pub image: String,
    /// The command that replaces the image's own command.
    #[serde(default)]
    pub command: Vec<String>,
    /// Environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Whether it may write to its image's files, like `writable` of the site.
    #[serde(default)]
    pub writable: bool,
    /// Folders of this machine and writable scratch space, by their path inside the container.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Volume>")]
    pub volumes: BTreeMap<Utf8PathBuf, Volume>,
    /// Its resource limits.
    #[serde(default)]
    pub limits: Limits,
}
