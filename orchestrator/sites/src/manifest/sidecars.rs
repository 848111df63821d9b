//! Sidecars: further containers of an instance, such as a database.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Limits, Volume};

/// A container that belongs to every instance of a site: its database, its search engine.
///
/// It starts before the application's, goes with its instance, and reaches nothing but the
/// containers of that instance, which all know each other by name. What it keeps is its own: it is
/// neither put back nor part of the digest of the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sidecar {
    /// The image.
    pub image: String,
    /// What is run instead of the image's own command.
    #[serde(default)]
    pub command: Vec<String>,
    /// Environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Whether it may write to its image's files, as `writable` of the site.
    #[serde(default)]
    pub writable: bool,
    /// Folders of this machine, and room to write in, by where it has them.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Volume>")]
    pub volumes: BTreeMap<Utf8PathBuf, Volume>,
    /// What it may use.
    #[serde(default)]
    pub limits: Limits,
}
