//! What a program is kept from.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Confinement, Network};

/// What a program is kept from. Without namespaces ([`Confinement::hides`]) it is kept from
/// nothing, and only ended with all that it has started.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Plan {
    /// How far it is confined; [`super::Helper::plan`] sets it.
    pub level: Option<Confinement>,
    /// Files and folders that look empty. What is not there needs no hiding.
    pub hidden: Vec<PathBuf>,
    /// Folders that are empty, and that the program may fill.
    pub scratch: Vec<PathBuf>,
    /// What stays in them.
    pub shown: Vec<Shown>,
    /// What it may read when nothing else is there ([`Confinement::Strict`]), besides the system.
    pub readable: Vec<PathBuf>,
    /// What it may write then, besides a folder for temporary files.
    pub writable: Vec<PathBuf>,
    /// What it reaches of the network. Absent where that is all of it.
    pub network: Option<Network>,
}

/// What stays in a folder that is hidden.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The file or folder.
    pub path: PathBuf,
    /// Whether the program may change it.
    pub writable: bool,
}

impl Plan {
    /// Whether there are namespaces.
    pub(super) fn hides(&self) -> bool {
        self.level.is_some_and(Confinement::hides)
    }
}
