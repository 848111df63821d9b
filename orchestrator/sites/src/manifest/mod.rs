//! The manifest of a site, `sites/<name>/site.yaml`.
//!
//! A manifest describes how a web application runs, when it is ready, who can log in, which state
//! changes, and how the state is reset. Parsing is strict: an unknown key, a missing key, or
//! contradictory keys are errors. The error names the file and, if known, the line. The file is a
//! flat list of keys (`document`). A [`Site`] has only the settings of its own driver.

mod application;
mod check;
mod document;
mod driver;
mod fields;
mod hosts;
mod shipped;
mod sidecars;
mod variables;
mod volumes;

use std::collections::BTreeMap;
use std::fs;

pub use application::Application;
use camino::{Utf8Path, Utf8PathBuf};
pub(crate) use document::Manifest;
pub use driver::{ContainerSpec, DriverSpec, ExternalSpec, ProcessSpec};
pub use fields::{Bytes, Period};
pub use hosts::Host;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use shipped::is_shipped;
pub use sidecars::Sidecar;
pub use variables::FilledValue;
pub use volumes::Volume;
pub(crate) use volumes::folder_at;

const FILE: &str = "site.yaml";

/// Keys that had another name before 0.2.
const RENAMED: [yaml::Renamed; 2] = [
    yaml::Renamed { older: "about", name: "description", nested: false },
    yaml::Renamed { older: "turk", name: "turkingbench", nested: true },
];

/// One site, as its manifest describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// The name of the site's folder.
    pub name: String,
    /// The site's folder, where the commands of a process run.
    pub folder: Utf8PathBuf,
    /// The display name.
    pub title: String,
    /// A description in one sentence.
    pub description: String,
    /// The driver that runs the site.
    pub driver: DriverSpec,
    /// The host names of the site.
    pub hosts: Vec<Host>,
    /// The time of the application's clock when an episode begins; real time if `None`.
    pub clock: Option<Timestamp>,
    /// Conditions that must hold before an instance is used, by name.
    pub ready: BTreeMap<String, Condition>,
    /// The timeout for all conditions of `ready` together.
    pub ready_within: Period,
    /// The accounts that can log in.
    pub accounts: BTreeMap<String, Account>,
    /// The log-in of each account, by the account's name.
    pub login: BTreeMap<String, Login>,
    /// The state that changes and that a reset restores.
    pub state: State,
    /// The method by which a used instance becomes pristine again.
    pub reset: ResetPolicy,
    /// The parts of the state that scorers can read.
    pub probes: BTreeMap<String, Probe>,
}

/// How a used instance becomes pristine again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ResetPolicy {
    /// A waiting spare instance takes its place, and a new one is started.
    #[default]
    Spare,
    /// A waiting spare instance takes its place. Its own state is restored while the application
    /// runs.
    Restore,
    /// It is removed and started again before the next use. No spare instance waits.
    Recreate,
    /// Like `restore`, or `spare` if there is no state to restore, but only if a request may have
    /// changed something.
    WhenDirty,
    /// Never: the site has no state that changes.
    Never,
}

/// Resource limits of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Memory, without additional swap.
    pub memory: Bytes,
    /// The number of processes and threads.
    pub pids: u32,
    /// CPU time, in processors.
    pub cpus: f64,
    /// Shared memory.
    pub shm: Bytes,
    /// What it may write to its folder on this machine: its state beyond the golden state, and its
    /// log.
    pub disk: Bytes,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            memory: Bytes(512 << 20),
            pids: 200,
            cpus: 1.0,
            shm: Bytes(64 << 20),
            disk: Bytes(2 << 30),
        }
    }
}

/// One condition: an HTTP response, or a command that succeeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The path of a page to request.
    pub get: Option<String>,
    /// The expected status code; any below 400 if missing.
    pub status: Option<u16>,
    /// A text that the body must contain.
    pub contains: Option<String>,
    /// A command that must exit with 0 inside the container.
    pub exec: Option<Vec<String>>,
}

/// A command inside the container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The program and its arguments; no shell is used.
    pub exec: Vec<String>,
    /// The user that runs it; the container's own user if missing.
    pub user: Option<String>,
}

/// An account that can log in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// The user name for the log-in.
    pub username: String,
    /// The password for the log-in, or `${NAME}` for an environment variable that holds it and that
    /// the user gives with `--site-env`.
    pub password: String,
    /// The role of the account, in one word.
    pub role: Option<String>,
}

/// How an account logs in: exactly one of `form`, `cookie` and `header`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// With a log-in form.
    pub form: Option<Form>,
    /// With fixed cookies.
    #[serde(default)]
    pub cookie: BTreeMap<String, String>,
    /// With header fields on every request.
    #[serde(default)]
    pub header: BTreeMap<String, String>,
    /// The condition that holds while the account is logged in.
    pub check: Option<Condition>,
}

/// A log-in form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// The path of the page with the form.
    pub page: String,
    /// The form's `id` or `name`, or the path that it is sent to. If missing, the first form that
    /// has all fields.
    pub action: Option<String>,
    /// The values to fill in; `{username}` and `{password}` stand for those of the account. All
    /// other fields keep the values of the page.
    pub fields: BTreeMap<String, String>,
}

/// The state that changes. Paths are inside the container, or relative to the process's state
/// folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct State {
    /// SQLite databases.
    #[schemars(with = "Vec<String>")]
    pub sqlite: Vec<Utf8PathBuf>,
    /// File trees and single files.
    #[schemars(with = "Vec<String>")]
    pub trees: Vec<Utf8PathBuf>,
    /// Commands that flush caches after the state is restored.
    pub flush: Vec<Command>,
    /// Files that change but are not compared.
    #[schemars(with = "Vec<String>")]
    pub ignore: Vec<Utf8PathBuf>,
}

/// A way to read state: exactly one of `query`, `get`, and `exec`. Parameters are written `:name`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// A database query, which cannot change the database.
    pub query: Option<String>,
    /// The database; an embedded site has only one.
    #[schemars(with = "Option<String>")]
    pub sqlite: Option<Utf8PathBuf>,
    /// The path of a page.
    pub get: Option<String>,
    /// Header fields sent with `get`.
    #[serde(default)]
    pub header: BTreeMap<String, String>,
    /// Whether the response is JSON instead of text.
    #[serde(default)]
    pub json: bool,
    /// A command inside the container whose output is the value.
    pub exec: Option<Vec<String>>,
}

impl Site {
    /// The maximum memory in bytes of this many instances and of the spare instance, if the reset
    /// policy keeps one: the sum of the limits of the application's containers. Returns 0 for sites
    /// without containers, which need little memory.
    pub fn memory(&self, instances: usize) -> u64 {
        let Some(container) = self.driver.container() else { return 0 };
        let waiting = matches!(
            self.reset,
            ResetPolicy::Spare | ResetPolicy::Restore | ResetPolicy::WhenDirty
        );
        container.limits.memory.0.saturating_mul((instances + usize::from(waiting)) as u64)
    }

    /// The path of the manifest file.
    pub fn file(&self) -> Utf8PathBuf {
        self.folder.join(FILE)
    }

    /// The file with certificate authorities to trust in addition to the public ones.
    pub fn authority_file(&self) -> Option<Utf8PathBuf> {
        let DriverSpec::External(external) = &self.driver else { return None };
        external.authority.as_ref().map(|path| self.folder.join(path))
    }

    /// Reads the manifest of one site from its folder.
    ///
    /// # Errors
    /// When the file cannot be read, contains unknown keys or values, or is inconsistent.
    pub fn load(folder: &Utf8Path) -> Result<Site, yaml::Error> {
        let path = folder.join(FILE);
        let manifest: Manifest = yaml::read_renamed(&path, &RENAMED)?;
        let site = manifest.into_site(folder).and_then(|site| check::site(&site).map(|()| site));
        site.map_err(|message| yaml::Error::inconsistent(&path, message))
    }

    /// Reads every manifest below a folder, sorted by name.
    ///
    /// # Errors
    /// As [`Self::load`], for the first manifest that fails; and when two sites claim the same
    /// host.
    pub fn load_all(folder: &Utf8Path) -> Result<Vec<Site>, yaml::Error> {
        let unreadable = |source| yaml::Error::Read { path: folder.to_owned(), source };
        let mut sites = Vec::new();
        for entry in folder.read_dir_utf8().map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.into_path();
            if fs::metadata(path.join(FILE)).is_ok() {
                sites.push(Site::load(&path)?);
            }
        }
        sites.sort_by(|a, b| a.name.cmp(&b.name));
        let mut claimed: BTreeMap<&str, &str> = BTreeMap::new();
        for site in &sites {
            for host in &site.hosts {
                if let Some(other) = claimed.insert(&host.name, &site.name) {
                    let message = format!("hosts: `{}` is the site `{other}` already", host.name);
                    return Err(yaml::Error::inconsistent(&site.file(), message));
                }
            }
        }
        Ok(sites)
    }

    /// The first host name, which the site uses for itself.
    pub fn canonical(&self) -> &str {
        self.hosts.first().map_or("", |host| &host.name)
    }

    /// The URL of the front page, as a browser requests it.
    pub fn address(&self) -> String {
        let host = self.canonical();
        if host.contains(':') { format!("http://{host}/") } else { format!("https://{host}/") }
    }
}
