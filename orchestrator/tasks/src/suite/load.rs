//! Reads a [`Suite`] from its folder.

use std::collections::HashMap;
use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};
use object_files::is_address;
use schemars::JsonSchema;
use scoring::{ProgramCheck, Requirement};
use serde::Deserialize;

use super::{Error, Suite, Task, WorldSpec, read_task, versions};

const SUITE_FILE: &str = "suite.yaml";
/// Its other spelling.
const SHORT: &str = "suite.yml";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuiteFile {
    /// The name of the suite; by default that of its folder.
    name: Option<String>,
    /// The world in which every episode of the suite starts.
    world: WorldSpec,
}

impl Suite {
    /// Loads a suite from its folder or its `suite.yaml`, which may be a `suite.yml` as all its
    /// files may; or, given a task file, that one task in its suite's world. `SUITE@2026-11-26` is
    /// the version of a day; without it the newest version is taken that is there.
    ///
    /// # Errors
    /// When a file cannot be read, is not what the format says, two tasks have one id, or a version
    /// is named and snapshots have none.
    pub fn load(path: &Utf8Path) -> Result<Suite, Error> {
        let (path, version) = versions::split(path);
        let mut suite = Suite::read(path)?;
        suite.versions = suite.find_versions();
        match version.or(suite.versions.last().copied()) {
            Some(version) if suite.has_versions() => suite.take_version(version),
            Some(version) => return Err(Error::NoVersions { path: path.to_owned(), version }),
            None => {}
        }
        Ok(suite)
    }

    /// The world of the suite in a folder, which may have no task yet. Of a dated world it is the
    /// newest version.
    ///
    /// # Errors
    /// When `suite.yaml` cannot be read, or is not what the format says.
    pub fn load_world(folder: &Utf8Path) -> Result<WorldSpec, Error> {
        let mut suite = Suite::with_tasks(folder, &[])?;
        suite.versions = suite.find_versions();
        if let Some(newest) = suite.versions.last().copied() {
            suite.take_version(newest);
        }
        Ok(suite.world)
    }

    fn read(path: &Utf8Path) -> Result<Suite, Error> {
        let unreadable = |source| yaml::Error::Read { path: path.to_owned(), source };
        let whole = fs::metadata(path).map_err(unreadable)?.is_dir() || is_suite_file(path);
        let folder = if path.is_dir() { path } else { parent(path) };
        let files = if whole { task_files(folder)? } else { vec![path.to_owned()] };
        Suite::with_tasks(folder, &files)
    }

    /// The suite of a folder with the tasks of these files.
    fn with_tasks(folder: &Utf8Path, files: &[Utf8PathBuf]) -> Result<Suite, Error> {
        let SuiteFile { name, mut world } = yaml::read(&suite_file(folder)?)?;
        for snapshot in &mut world.snapshots {
            *snapshot = snapshot_in(folder, snapshot);
        }
        world.storage_state = world.storage_state.map(|state| folder.join(state));
        world.files = world.files.map(|files| folder.join(files));
        world.sites = world.sites.map(|sites| folder.join(sites));
        Ok(Suite {
            name: name.unwrap_or_else(|| folder_name(folder)),
            folder: folder.to_owned(),
            version: None,
            versions: Vec::new(),
            world,
            tasks: read_tasks(folder, files)?,
        })
    }
}

/// A snapshot that a suite in this folder names: a path, or an address that stays what it is.
fn snapshot_in(folder: &Utf8Path, snapshot: &Utf8Path) -> Utf8PathBuf {
    if is_address(snapshot) { snapshot.to_owned() } else { folder.join(snapshot) }
}

fn parent(file: &Utf8Path) -> &Utf8Path {
    match file.parent() {
        Some(folder) if !folder.as_str().is_empty() => folder,
        _ => Utf8Path::new("."),
    }
}

fn is_suite_file(path: &Utf8Path) -> bool {
    matches!(path.file_name(), Some(SUITE_FILE | SHORT))
}

fn suite_file(folder: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let (usual, short) = (folder.join(SUITE_FILE), folder.join(SHORT));
    match (usual.is_file(), short.is_file()) {
        (true, true) => Err(yaml::Error::inconsistent(
            &short,
            "there is a suite.yaml beside it; keep one of them",
        )
        .into()),
        (false, true) => Ok(short),
        _ => Ok(usual),
    }
}

fn folder_name(folder: &Utf8Path) -> String {
    let resolved = folder.canonicalize_utf8();
    let name = resolved.as_deref().unwrap_or(folder).file_name();
    name.unwrap_or("suite").to_owned()
}

fn task_files(folder: &Utf8Path) -> Result<Vec<Utf8PathBuf>, Error> {
    let unreadable = |source: io::Error| yaml::Error::Read { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in folder.read_dir_utf8().map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.into_path();
        let is_task = matches!(path.extension(), Some("yaml" | "yml")) && !is_suite_file(&path);
        if is_task && path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(Error::NoTasks { path: folder.to_owned() });
    }
    files.sort();
    Ok(files)
}

fn read_tasks(folder: &Utf8Path, files: &[Utf8PathBuf]) -> Result<Vec<Task>, Error> {
    let mut tasks: Vec<Task> = Vec::with_capacity(files.len());
    let mut seen: HashMap<String, &Utf8Path> = HashMap::new();
    for file in files {
        let mut task = read_task(file)?;
        for snapshot in task.snapshots.iter_mut().flatten() {
            *snapshot = snapshot_in(folder, snapshot);
        }
        task.storage_state = task.storage_state.map(|state| folder.join(state));
        task.scorer.resolve(folder);
        // A program that is given `{url}` needs something to take it from.
        let mut programs = task.scorer.requirements().into_iter().filter_map(Requirement::program);
        let wants_url = programs.any(ProgramCheck::wants_url);
        if wants_url && task.sites.is_empty() && task.start_url.is_none() {
            let why = "scorer: `{url}` is the address of the task's first site, or else of the host of its start \
                page; it has neither `sites` nor `start_url`";
            return Err(yaml::Error::inconsistent(file, why).into());
        }
        if let Some(first) = seen.insert(task.id.clone(), file) {
            return Err(Error::DuplicateId {
                id: task.id,
                first: first.to_owned(),
                second: file.clone(),
            });
        }
        tasks.push(task);
    }
    Ok(tasks)
}
