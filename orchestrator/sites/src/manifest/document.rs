//! The format of `site.yaml`: one flat list of keys, for all drivers.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Account, Application, Command, Condition, ContainerSpec, DriverSpec, ExternalSpec, Host,
    Limits, Login, Period, Probe, ProcessSpec, ResetPolicy, Sidecar, Site, State, Volume, fields,
};

/// One site, as its manifest describes it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// The display name.
    title: String,
    /// A description in one sentence.
    #[serde(alias = "about")]
    description: String,
    /// The driver that runs the site.
    driver: DriverKind,
    /// Docker: the image.
    image: Option<String>,
    /// Docker: the command that replaces the image's own command. Process: the program and its
    /// arguments, where `{port}` stands for the port to listen on and `{state}` for the state
    /// folder.
    #[serde(default)]
    command: Vec<String>,
    /// Embedded: which built-in application to run.
    #[serde(default)]
    embedded: Option<Application>,
    /// External: the URL of the site, `http` or `https`. If the URL has an IP address or
    /// `localhost`, requests carry the site's own host names. Otherwise they carry the host name of
    /// the URL, which should be among `hosts`.
    url: Option<String>,
    /// External: a PEM file, beside the manifest, with certificate authorities to trust in addition
    /// to the public ones.
    #[schemars(with = "Option<String>")]
    authority: Option<Utf8PathBuf>,
    /// Docker: the port that the application listens on inside its container.
    port: Option<u16>,
    /// The host names of the site.
    hosts: Vec<Host>,
    /// Environment variables.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// What the application's clock shows when an episode begins; real time if it is missing.
    #[serde(default, deserialize_with = "fields::clock")]
    #[schemars(with = "Option<String>")]
    clock: Option<Timestamp>,
    /// Docker: whether the application may write to its image's files. It then starts as the
    /// image's own user, with the privileges to change to other users. For third-party images.
    #[serde(default)]
    writable: bool,
    /// Docker: folders of this machine and writable scratch space, by their path inside the
    /// container.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Volume>")]
    volumes: BTreeMap<Utf8PathBuf, Volume>,
    /// Docker: resource limits of an instance.
    #[serde(default)]
    limits: Limits,
    /// Docker: containers that belong to each instance, by the host names that the application
    /// uses.
    #[serde(default)]
    sidecars: BTreeMap<String, Sidecar>,
    /// The older name of `sidecars`.
    #[serde(default)]
    #[schemars(skip)]
    beside: Option<BTreeMap<String, Sidecar>>,
    /// Conditions that must hold before an instance is used, by name.
    #[serde(default)]
    ready: BTreeMap<String, Condition>,
    /// The timeout for all conditions of `ready` together.
    #[serde(default = "fields::a_minute")]
    ready_within: Period,
    /// Docker: commands that run once, in order, in a fresh container that is ready.
    #[serde(default)]
    after_start: Vec<Command>,
    /// The accounts that can log in.
    #[serde(default)]
    accounts: BTreeMap<String, Account>,
    /// How each account logs in, by the account's name.
    #[serde(default)]
    login: BTreeMap<String, Login>,
    /// The state that changes and that a reset restores.
    #[serde(default)]
    state: State,
    /// How a used instance becomes pristine again.
    #[serde(default)]
    reset: ResetPolicy,
    /// What scorers can read of the state.
    #[serde(default)]
    probes: BTreeMap<String, Probe>,
}

/// The driver of a site.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum DriverKind {
    /// A container.
    Docker,
    /// A command on this machine.
    Process,
    /// An application inside our own process.
    Embedded,
    /// An external URL.
    External,
}

impl Manifest {
    /// Converts this into a site in this folder. The error names the invalid key.
    pub(super) fn into_site(mut self, folder: &Utf8Path) -> Result<Site, String> {
        if let Some(beside) = self.beside.take() {
            if !self.sidecars.is_empty() {
                return Err(
                    "beside: this is the older name of `sidecars`; use one of them".to_owned()
                );
            }
            tracing::warn!("{folder}: `beside` is now called `sidecars`");
            self.sidecars = beside;
        }
        let driver = self.take_driver()?;
        // The keys that no driver has taken belong to another one.
        self.check_rest(folder)?;
        Ok(Site {
            name: folder.file_name().unwrap_or("site").to_owned(),
            folder: folder.to_owned(),
            title: self.title,
            description: self.description,
            driver,
            hosts: self.hosts,
            clock: self.clock,
            ready: self.ready,
            ready_within: self.ready_within,
            accounts: self.accounts,
            login: self.login,
            state: self.state,
            reset: self.reset,
            probes: self.probes,
        })
    }

    /// Takes the keys that belong to the driver.
    fn take_driver(&mut self) -> Result<DriverSpec, String> {
        Ok(match self.driver {
            DriverKind::Docker => DriverSpec::Docker(ContainerSpec {
                image: needed("image", self.image.take())?,
                port: needed("port", self.port.take())?,
                command: std::mem::take(&mut self.command),
                env: std::mem::take(&mut self.env),
                writable: std::mem::take(&mut self.writable),
                volumes: std::mem::take(&mut self.volumes),
                limits: self.limits,
                sidecars: std::mem::take(&mut self.sidecars),
                after_start: std::mem::take(&mut self.after_start),
            }),
            DriverKind::Process => {
                let command = Some(std::mem::take(&mut self.command));
                DriverSpec::Process(ProcessSpec {
                    command: needed("command", command.filter(|words| !words.is_empty()))?,
                    env: std::mem::take(&mut self.env),
                    limits: self.limits,
                    after_start: std::mem::take(&mut self.after_start),
                })
            }
            DriverKind::Embedded => DriverSpec::Embedded(needed("embedded", self.embedded.take())?),
            DriverKind::External => DriverSpec::External(ExternalSpec {
                url: needed("url", self.url.take())?,
                authority: self.authority.take(),
            }),
        })
    }

    /// Checks that no key of another driver is present.
    fn check_rest(&self, folder: &Utf8Path) -> Result<(), String> {
        for (left, wrong) in [
            (!self.sidecars.is_empty(), "sidecars: only a container has them"),
            (!self.volumes.is_empty(), "volumes: only a container has them"),
            (self.authority.is_some(), "authority: only for a site that is not ours"),
        ] {
            if left {
                return Err(wrong.to_owned());
            }
        }
        for (left, key) in [
            (self.image.is_some(), "image"),
            (self.port.is_some(), "port"),
            (!self.command.is_empty(), "command"),
            (!self.env.is_empty(), "env"),
            (self.writable, "writable"),
            (!self.after_start.is_empty(), "after_start"),
            (self.embedded.is_some(), "embedded"),
            (self.url.is_some(), "url"),
        ] {
            if left {
                tracing::warn!("{folder}: `{key}` has no meaning for this driver");
            }
        }
        Ok(())
    }
}

fn needed<T>(key: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("`{key}` is missing: the driver needs it"))
}
