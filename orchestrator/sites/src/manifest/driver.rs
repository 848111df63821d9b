//! The driver of a site, with the settings that only this driver has.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;

use super::{Application, Command, Limits, Sidecar, Volume};

/// The driver of a site.
#[derive(Debug, Clone, PartialEq)]
pub enum DriverSpec {
    /// A container.
    Docker(ContainerSpec),
    /// A command on this machine.
    Process(ProcessSpec),
    /// An application inside our own process.
    Embedded(Application),
    /// An external URL.
    External(ExternalSpec),
}

/// The container of a site, and its sidecars.
#[derive(Debug, Clone, PartialEq)]
pub struct ContainerSpec {
    /// The image.
    pub image: String,
    /// The port that the application listens on inside its container.
    pub port: u16,
    /// The command that replaces the image's own command.
    pub command: Vec<String>,
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// Whether the application may write to its image's files.
    pub writable: bool,
    /// Folders of this machine and writable scratch space, by their path inside the container.
    pub volumes: BTreeMap<Utf8PathBuf, Volume>,
    /// Resource limits of an instance.
    pub limits: Limits,
    /// Further containers of each instance, by the host names that the application uses.
    pub sidecars: BTreeMap<String, Sidecar>,
    /// Commands that run once, in order, in a fresh container that is ready.
    pub after_start: Vec<Command>,
}

/// A command on this machine.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessSpec {
    /// The program and its arguments, with the placeholders `{port}` and `{state}`.
    pub command: Vec<String>,
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// Resource limits of an instance.
    pub limits: Limits,
    /// Commands that run once, in order, beside a fresh process that is ready.
    pub after_start: Vec<Command>,
}

/// A site that runs elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalSpec {
    /// Its URL, `http` or `https`.
    pub url: String,
    /// A PEM file with certificate authorities to trust in addition to the public ones, relative to
    /// the site's folder.
    pub authority: Option<Utf8PathBuf>,
}

impl ContainerSpec {
    /// The image of the site, and those of its sidecars.
    pub fn images(&self) -> impl Iterator<Item = &str> {
        let sidecars = self.sidecars.values().map(|sidecar| sidecar.image.as_str());
        std::iter::once(self.image.as_str()).chain(sidecars)
    }
}

impl DriverSpec {
    /// The container settings, if the driver is Docker.
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

    /// Commands that run once in an instance that is ready.
    pub(crate) fn after_start(&self) -> &[Command] {
        match self {
            DriverSpec::Docker(container) => &container.after_start,
            DriverSpec::Process(process) => &process.after_start,
            DriverSpec::Embedded(_) | DriverSpec::External(_) => &[],
        }
    }
}
