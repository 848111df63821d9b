//! The suite of WorkArena's tasks: on a ServiceNow instance that is the user's, or on the built-in
//! service desk.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use scoring::workarena::KINDS;
use url::Url;

use super::{
    ARTICLES, DESK, FORMS, Selection, Setup, TASKS, TaskOptions, WORKARENA, workarena, world,
};
use crate::import::{Import, ImportError, NewSuite, reading};

/// The manifest of the instance.
const SITE: &str = "servicenow";
/// The manifest of the built-in desk.
const DESK_SITE: &str = "itsm";
/// The desk as it is without the benchmark's data.
const DESK_MANIFEST: &str = include_str!("../../../../../sites/itsm/site.yaml");
/// Where browsers reach the desk.
const DESK_ADDRESS: &str = "https://itsm.test";
/// What of its manifest is replaced: the application, and the time of the site's clock.
const DESK_APPLICATION: &str = "embedded: itsm ";
const DESK_CLOCK: &str = "clock: 2025-09-01T12:00:00Z";
/// The variable that holds the password of its administrator, as the package calls it.
pub const PASSWORD: &str = "SNOW_INSTANCE_PWD";

/// The largest file in bytes.
const LARGEST: u64 = 256 << 20;

/// What the tasks are done on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Platform {
    /// An instance of ServiceNow.
    Instance {
        /// Its address.
        address: Url,
        /// The user that sets tasks up on it.
        user: String,
    },
    /// The built-in service desk.
    Desk,
}

/// Which tasks there are to be, and what they are done on.
#[derive(Debug, Clone)]
pub struct SuiteOptions {
    pub platform: Platform,
    pub selection: Selection,
    /// How many tasks of each kind at most.
    pub per_kind: Option<usize>,
    /// The seed of values that have to be unique.
    pub seed: u64,
    /// The start of page clocks.
    pub clock: Timestamp,
}

/// The suite of the package's folder `data_files`.
///
/// # Errors
/// When the folder is another one, or a file is not what it should be.
pub fn suite(folder: &Utf8Path, options: &SuiteOptions) -> Result<NewSuite, ImportError> {
    let folder = find_data(folder)?;
    let (name, site, address, manifest) = match &options.platform {
        Platform::Instance { address, user } => {
            (WORKARENA, SITE, origin(address), manifest(address, user)?)
        }
        Platform::Desk => {
            (DESK, DESK_SITE, DESK_ADDRESS.to_owned(), desk_manifest(&folder, options.clock)?)
        }
    };
    let mut setup = Setup::default();
    if let Some((json, path)) = text(folder.join(ARTICLES))? {
        setup.read_articles(&json).map_err(in_file(&path))?;
    }
    for (table, file) in FORMS {
        if let Some((json, path)) = text(folder.join(file))? {
            setup.read_form(table, &json).map_err(in_file(&path))?;
        }
    }
    let task_options = TaskOptions {
        site: site.to_owned(),
        address,
        seed: options.seed,
        per_kind: options.per_kind,
        selection: options.selection,
        prefix: name,
    };
    let mut import = Import::default();
    for kind in &KINDS {
        let path = folder.join(TASKS).join(kind.file);
        let json = text(path.clone())?.map(|(json, _)| json);
        workarena(kind, json.as_deref(), &setup, &task_options, &mut import)
            .map_err(in_file(&path))?;
    }
    let world = world("sites".into(), options.clock, options.seed);
    let manifests = vec![(site.to_owned(), manifest)];
    Ok(NewSuite { manifests, ..NewSuite::new(name, world, import) })
}

/// The manifest of the built-in desk with the data of this folder, by its whole path: the suite may
/// be moved.
///
/// # Errors
/// When the folder cannot be read.
pub fn desk_manifest(data: &Utf8Path, clock: Timestamp) -> Result<String, ImportError> {
    let data = data.canonicalize_utf8().map_err(reading(data))?;
    // A JSON text is a YAML text, too, whatever is in it.
    let application = format!("embedded: {{itsm: {}}} ", serde_json::Value::from(data.as_str()));
    Ok(DESK_MANIFEST
        .replace(DESK_APPLICATION, &application)
        .replace(DESK_CLOCK, &format!("clock: {clock}")))
}

/// For `map_err`: this file is not what it should be.
fn in_file(path: &Utf8Path) -> impl FnOnce(ImportError) -> ImportError {
    let path = path.to_owned();
    move |source| ImportError::File { path, source: Box::new(source) }
}

/// A file that may be missing.
fn text(path: Utf8PathBuf) -> Result<Option<(String, Utf8PathBuf)>, ImportError> {
    match files::read_text(&path, LARGEST) {
        Ok(text) => Ok(Some((text, path))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(reading(&path)(error)),
    }
}

/// The folder `data_files`: it, or one that holds it.
fn find_data(folder: &Utf8Path) -> Result<Utf8PathBuf, ImportError> {
    for inside in ["", "data_files", "browsergym/workarena/data_files"] {
        let data = folder.join(inside);
        if data.join(TASKS).is_dir() {
            return Ok(data);
        }
    }
    Err(ImportError::Unusable(format!(
        "{folder} has no folder {TASKS}; name the folder `data_files` of the package"
    )))
}

fn origin(instance: &Url) -> String {
    instance.origin().ascii_serialization()
}

/// The manifest of the instance. A JSON text is a YAML text, too, whatever is in it.
///
/// # Errors
/// When the instance has no address that a browser can open.
pub fn manifest(instance: &Url, user: &str) -> Result<String, ImportError> {
    let unusable = |why: &str| ImportError::Unusable(format!("{instance} {why}"));
    if !matches!(instance.scheme(), "http" | "https") {
        return Err(unusable("is no address of a web server"));
    }
    let host = instance.host_str().ok_or_else(|| unusable("has no host"))?;
    let text = |text: &str| serde_json::Value::from(text);
    Ok(format!(
        "title: ServiceNow
description: An instance of yours, with what WorkArena installs on it.
driver: external
url: {url}
hosts: [{host}]
ready:
  log-in page: {{get: /login.do, status: 200}}
ready_within: 2m
accounts:
  admin: {{username: {user}, password: \"${{{PASSWORD}}}\", role: administrator}}
reset: never                         # each episode makes a user of its own and removes what that has made
",
        url = text(&origin(instance)),
        host = text(host),
        user = text(user),
    ))
}
