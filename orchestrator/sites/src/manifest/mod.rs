//! The manifest of a site, `sites/<name>/site.yaml`.
//!
//! It says how a web application runs, when it is ready, who may log in, what of it changes, and
//! how that is reset. Reading is strict: an unknown key, a missing one, or keys that contradict
//! each other are errors with the file and, where there is one, the line. The file is a flat list
//! of keys (`document`). A [`Site`] has the settings of its own driver and no other's.

mod check;
mod document;
mod driver;
mod fields;
mod hosts;
mod sidecars;
mod variables;
mod volumes;

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use document::Manifest;
pub use driver::{ContainerSpec, DriverSpec, ExternalSpec, ProcessSpec};
pub use fields::{Bytes, Period};
pub use hosts::Host;
pub use sidecars::Sidecar;
pub use volumes::Volume;
pub(crate) use volumes::folder_at;

const FILE: &str = "site.yaml";

/// One site, as its manifest describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// The name of its folder.
    pub name: String,
    /// Its folder, where the commands of a process run.
    pub folder: Utf8PathBuf,
    /// What people call it.
    pub title: String,
    /// What it is, in a sentence.
    pub about: String,
    /// What runs it.
    pub driver: DriverSpec,
    /// The names it is reached by.
    pub hosts: Vec<Host>,
    /// What the application's clock shows when an episode begins; real time if there is none.
    pub clock: Option<Timestamp>,
    /// What must hold before it is used; conditions are called by these names.
    pub ready: BTreeMap<String, Condition>,
    /// How long all of `ready` may take.
    pub ready_within: Period,
    /// Who can log in.
    pub accounts: BTreeMap<String, Account>,
    /// How an account gets in, by the account's name.
    pub login: BTreeMap<String, Login>,
    /// What changes, and is put back by a reset.
    pub state: State,
    /// How a used instance becomes a pristine one.
    pub reset: ResetPolicy,
    /// What scorers may read of its state.
    pub probes: BTreeMap<String, Probe>,
}

/// What runs inside our own process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Application {
    /// A forum.
    Forum,
    /// A front page that lists the other sites.
    Desk,
    /// `static: FOLDER`: the files of a folder, written as that of a [`Volume`]. Nothing of it
    /// changes, so there is nothing to put back.
    Static(String),
    /// `hosts: FOLDER`: as `static`, for hosts that each have a folder of their own in it.
    Hosts(String),
    /// `turk: FOLDER`: the pages of tasks in TurkingBench's form, and what their forms send.
    Turk(String),
}

/// How a used instance becomes a pristine one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ResetPolicy {
    /// A waiting instance takes its place, and a new one is started.
    #[default]
    Spare,
    /// A waiting instance takes its place; its state is put back while the application runs.
    Restore,
    /// It is removed and started again before it is used again, with no instance waiting.
    Recreate,
    /// As `restore`, or `spare` where there is no state to put back, but only if a request may have
    /// changed something.
    WhenDirty,
    /// Never: what does not change needs none.
    Never,
}

/// What an instance may use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Memory, with no swap beyond.
    pub memory: Bytes,
    /// Processes and threads.
    pub pids: u32,
    /// Processors' worth of time.
    pub cpus: f64,
    /// Shared memory.
    pub shm: Bytes,
    /// What it may write to its folder on this machine: its state beyond the golden one, and its
    /// log.
    pub disk: Bytes,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { memory: Bytes(512 << 20), pids: 200, cpus: 1.0, shm: Bytes(64 << 20), disk: Bytes(2 << 30) }
    }
}

/// One thing that must hold: an HTTP answer, or a command that succeeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The path of a page to ask for.
    pub get: Option<String>,
    /// The status it has; below 400 if not said.
    pub status: Option<u16>,
    /// What its body contains.
    pub contains: Option<String>,
    /// A command that exits with 0 inside the container.
    pub exec: Option<Vec<String>>,
}

/// A command inside the container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The program and its arguments, without a shell between.
    pub exec: Vec<String>,
    /// Who runs it; the container's own user if not said.
    pub user: Option<String>,
}

/// Somebody who can log in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// What is typed as the name.
    pub username: String,
    /// What is typed as the password, or `${NAME}` for an environment variable that holds it.
    pub password: String,
    /// What they may do, in a word.
    pub role: Option<String>,
}

impl Account {
    /// The account with its password in place of a variable. The error says which is missing.
    pub(crate) fn resolved(&self) -> Result<Account, String> {
        Ok(Account { password: variables::filled(&self.password)?, ..self.clone() })
    }
}

/// How an account gets in: exactly one of `form`, `cookie` and `header`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// By filling in a form.
    pub form: Option<Form>,
    /// By cookies that are known beforehand.
    #[serde(default)]
    pub cookie: BTreeMap<String, String>,
    /// By header fields on every request.
    #[serde(default)]
    pub header: BTreeMap<String, String>,
    /// How to tell that one is still logged in.
    pub check: Option<Condition>,
}

/// A log-in form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// The path of the page it stands on.
    pub page: String,
    /// The form's `id` or `name`, or the path that it is sent to; the first form that has all
    /// fields if not said.
    pub action: Option<String>,
    /// What is filled in; `{username}` and `{password}` stand for the account's. All other fields
    /// keep what the page gives them.
    pub fields: BTreeMap<String, String>,
}

/// What changes. Paths are inside the container, or relative to the process's state folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct State {
    /// SQLite databases.
    #[schemars(with = "Vec<String>")]
    pub sqlite: Vec<Utf8PathBuf>,
    /// File trees, and single files.
    #[schemars(with = "Vec<String>")]
    pub trees: Vec<Utf8PathBuf>,
    /// Commands that empty caches once the state is back.
    pub flush: Vec<Command>,
    /// What changes and does not count.
    #[schemars(with = "Vec<String>")]
    pub ignore: Vec<Utf8PathBuf>,
}

/// A way to read state: exactly one of `query`, `get`, and `exec`. Parameters are written `:name`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// What is asked of a database, which it cannot change.
    pub query: Option<String>,
    /// Which database; an embedded site has only one.
    #[schemars(with = "Option<String>")]
    pub sqlite: Option<Utf8PathBuf>,
    /// The path of a page.
    pub get: Option<String>,
    /// Header fields sent with `get`.
    #[serde(default)]
    pub header: BTreeMap<String, String>,
    /// Whether the answer is JSON, and not text.
    #[serde(default)]
    pub json: bool,
    /// A command inside the container, whose output is the answer.
    pub exec: Option<Vec<String>>,
}

impl Site {
    /// How much memory one run of it may take, in bytes, with what waits beside it: all that its
    /// containers are allowed. Other sites are small.
    pub fn memory(&self, instances: usize) -> u64 {
        let Some(container) = self.driver.container() else { return 0 };
        let waiting =
            matches!(self.reset, ResetPolicy::Spare | ResetPolicy::Restore | ResetPolicy::WhenDirty);
        container.limits.memory.0.saturating_mul((instances + usize::from(waiting)) as u64)
    }

    /// The manifest's file.
    pub fn file(&self) -> Utf8PathBuf {
        self.folder.join(FILE)
    }

    /// The file of the authorities to believe besides the public web's.
    pub fn authority_file(&self) -> Option<Utf8PathBuf> {
        let DriverSpec::External(external) = &self.driver else { return None };
        external.authority.as_ref().map(|path| self.folder.join(path))
    }

    /// Reads the manifest of one site from its folder.
    ///
    /// # Errors
    /// When the file cannot be read, holds what no manifest has, or makes no sense as a whole.
    pub fn load(folder: &Utf8Path) -> Result<Site, yaml::Error> {
        let path = folder.join(FILE);
        let manifest: Manifest = yaml::read(&path)?;
        let site = manifest.into_site(folder).and_then(|site| check::site(&site).map(|()| site));
        site.map_err(|message| yaml::Error::senseless(&path, message))
    }

    /// Reads every manifest below a folder, by name.
    ///
    /// # Errors
    /// As [`Self::load`], at the first that fails; and when two sites claim one host.
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
                    return Err(yaml::Error::senseless(&site.file(), message));
                }
            }
        }
        Ok(sites)
    }

    /// The first of its names, by which it knows itself.
    pub fn canonical(&self) -> &str {
        self.hosts.first().map_or("", |host| &host.name)
    }

    /// The URL of its front page as a browser in the world asks for it.
    pub fn address(&self) -> String {
        let host = self.canonical();
        if host.contains(':') { format!("http://{host}/") } else { format!("https://{host}/") }
    }
}
