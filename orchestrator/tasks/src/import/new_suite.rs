//! A suite that is made of a benchmark's files, and how its folder is written.
//!
//! The folder is made beside its place and moved there when it is whole, so that an interrupted
//! import leaves no half of one.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use thiserror::Error;

use super::Import;
use crate::{Task, WorldSpec, relative};

/// A suite that is not on disk yet.
#[derive(Debug, Clone)]
pub struct NewSuite {
    pub name: String,
    /// The world in which its episodes start.
    pub world: WorldSpec,
    /// The manifests of the sites that come with it, by their names.
    pub manifests: Vec<(String, String)>,
    /// The other files, by their paths in the suite's folder.
    pub files: Vec<(Utf8PathBuf, String)>,
    /// Links in its folder, each with where it leads.
    pub links: Vec<(Utf8PathBuf, Utf8PathBuf)>,
    /// Its tasks, and what was left out.
    pub import: Import,
}

/// Why a suite was not written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Something has its place.
    #[error("{0} is there already; remove it, or name another folder")]
    Exists(Utf8PathBuf),
    /// Two tasks have one id, so that they would be one file.
    #[error(
        "the task {0} is there twice; name each file once, and no file that holds the tasks of another"
    )]
    Repeated(String),
    /// The folder, or what belongs into it, cannot be written.
    #[error("{path}: {source}")]
    Io {
        /// The folder, or its parent.
        path: Utf8PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A task or the world is no YAML.
    #[error(transparent)]
    Yaml(#[from] serde_yaml::Error),
}

#[derive(Serialize)]
struct SuiteKeys<'a> {
    name: &'a str,
    world: &'a WorldSpec,
}

impl NewSuite {
    /// A suite of these tasks, without sites and files of its own.
    pub fn new(name: &str, world: WorldSpec, import: Import) -> NewSuite {
        let name = name.to_owned();
        NewSuite {
            name,
            world,
            manifests: Vec::new(),
            files: Vec::new(),
            links: Vec::new(),
            import,
        }
    }

    /// Writes its folder, which must not be there.
    ///
    /// # Errors
    /// When it is, when two tasks have one id, or when it cannot be written. Nothing is left of it
    /// then.
    pub fn write(&self, folder: &Utf8Path) -> Result<(), WriteError> {
        if fs::symlink_metadata(folder).is_ok() {
            return Err(WriteError::Exists(folder.to_owned()));
        }
        if let Some(id) = self.import.repeated_id() {
            return Err(WriteError::Repeated(id.to_owned()));
        }
        let parent = match folder.parent() {
            Some(parent) if !parent.as_str().is_empty() => parent,
            _ => Utf8Path::new("."),
        };
        let at = |path: &Utf8Path| {
            let path = path.to_owned();
            move |source| WriteError::Io { path, source }
        };
        fs::create_dir_all(parent).map_err(at(parent))?;
        let part = tempfile::Builder::new()
            .permissions(fs::Permissions::from_mode(0o755))
            .prefix(".import-")
            .tempdir_in(parent)
            .map_err(at(parent))?;
        let name = io::Error::other("the name of a folder is not UTF-8");
        let inside = Utf8Path::from_path(part.path()).ok_or(name).map_err(at(parent))?;
        // A path from the root means something else on another machine.
        let beside = |path: &Utf8PathBuf| match path.is_absolute() {
            true => relative(path, folder),
            false => path.clone(),
        };
        let world = WorldSpec {
            snapshots: self.world.snapshots.iter().map(beside).collect(),
            sites: self.world.sites.as_ref().map(beside),
            files: self.world.files.as_ref().map(beside),
            ..self.world.clone()
        };
        let suite = SuiteKeys { name: &self.name, world: &world };
        let mut texts = vec![(Utf8PathBuf::from("suite.yaml"), yaml::to_string(&suite)?)];
        for task in &self.import.tasks {
            let Task { id, .. } = task;
            texts.push((format!("{id}.yaml").into(), yaml::to_string(task)?));
        }
        let manifests = self.manifests.iter();
        let manifests = manifests
            .map(|(site, text)| (Utf8Path::new("sites").join(site).join("site.yaml"), text));
        let files = self.files.iter().map(|(place, text)| (place.clone(), text));
        let texts = texts.iter().map(|(place, text)| (place.clone(), text));
        for (place, text) in texts.chain(manifests).chain(files) {
            let path = inside.join(&place);
            let above = path.parent().unwrap_or(inside);
            fs::create_dir_all(above)
                .and_then(|()| fs::write(&path, text))
                .map_err(at(&folder.join(&place)))?;
        }
        for (place, target) in &self.links {
            symlink(target, inside.join(place)).map_err(at(&folder.join(place)))?;
        }
        fs::rename(inside, folder).map_err(at(folder))?;
        // It has another name now, so there is nothing to remove.
        let _ = part.keep();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{assistantbench, live};

    #[test]
    fn a_task_that_is_there_twice_is_not_lost_in_silence() {
        let folder = tempfile::tempdir().expect("a folder");
        let output = Utf8Path::from_path(folder.path()).expect("UTF-8").join("suite");
        let line = r#"{"id": "q1", "task": "Where?", "answer": "Alton"}"#;
        let import = assistantbench(&format!("{line}\n{line}")).expect("two tasks");
        let world = live::world(Vec::new(), jiff::Timestamp::UNIX_EPOCH, (800, 600), None);
        let error =
            NewSuite::new("twice", world, import).write(&output).expect_err("two tasks of one id");
        assert!(
            error.to_string().starts_with("the task assistantbench-q1 is there twice"),
            "{error}"
        );
        assert!(!output.exists());
    }
}
