//! What runs a site, with the settings that only this driver has.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;

use super::{Application, Command, Limits, Sidecar, Volume};

/// What runs a site.
#[derive(Debug, Clone, PartialEq)]
pub enum DriverSpec {
    /// A container.
    Docker(ContainerSpec),
    /// A command on this machine.
    Process(ProcessSpec),
    /// An application inside our own process.
    Embedded(Application),
    /// A URL that is not ours.
    External(ExternalSpec),
}

/// A container, and what belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ContainerSpec {
    /// The image.
    pub image: String,
    /// The port that the application listens on inside its container.
    pub port: u16,
    /// What is run instead of the image's own command.
    pub command: Vec<String>,
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// Whether the application may write to its image's files.
    pub writable: bool,
    /// Folders of this machine, and room to write in, by where the container has them.
    pub volumes: BTreeMap<Utf8PathBuf, Volume>,
    /// What an instance may use.
    pub limits: Limits,
    /// Further containers of each instance, by the names that the application knows them by.
    pub sidecars: BTreeMap<String, Sidecar>,
    /// Commands run in order, once, in a fresh container that is ready.
    pub after_start: Vec<Command>,
}

/// A command on this machine.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessSpec {
    /// The program and its arguments, with `{port}` and `{state}` still to be filled in.
    pub command: Vec<String>,
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// What an instance may use.
    pub limits: Limits,
    /// Commands run in order, once, beside a fresh process that is ready.
    pub after_start: Vec<Command>,
}

/// A site on another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalSpec {
    /// Where it is, as `http` or `https`.
    pub url: String,
    /// A PEM file with the authorities to believe besides the public web's, relative to the site's
    /// folder.
    pub authority: Option<Utf8PathBuf>,
}

impl ContainerSpec {
    /// Its image, and those of its sidecars.
    pub fn images(&self) -> impl Iterator<Item = &str> {
        let sidecars = self.sidecars.values().map(|sidecar| sidecar.image.as_str());
        std::iter::once(self.image.as_str()).chain(sidecars)
    }
}

impl DriverSpec {
    /// The settings of its container, where it is one.
    pub fn container(&self) -> Option<&ContainerSpec> {
        match self {
            DriverSpec::Docker(container) => Some(container),
            DriverSpec::Process(_) | DriverSpec::Embedded(_) | DriverSpec::External(_) => None,
        }
    }

    /// Whether instances have sidecars.
    pub(crate) fn has_sidecars(&self) -> bool {
        self.container().is_some_and(|container| !container.sidecars.is_empty())
    }

    /// Commands that are run once in an instance that is ready.
    pub(crate) fn after_start(&self) -> &[Command] {
        match self {
            DriverSpec::Docker(container) => &container.after_start,
            DriverSpec::Process(process) => &process.after_start,
            DriverSpec::Embedded(_) | DriverSpec::External(_) => &[],
        }
    }
}
