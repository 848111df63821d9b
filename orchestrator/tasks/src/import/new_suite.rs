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
use crate::{Task, WorldSpec};

/// A suite that is not on disk yet.
#[derive(Debug, Clone)]
pub struct NewSuite {
    /// What it is called.
    pub name: String,
    /// What its episodes start from.
    pub world: WorldSpec,
    /// The manifests of the sites that come with it, by their names.
    pub manifests: Vec<(String, String)>,
    /// What else comes with it, by its place in the suite's folder.
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
    /// One of these tasks alone.
    pub fn new(name: &str, world: WorldSpec, import: Import) -> NewSuite {
        let name = name.to_owned();
        NewSuite { name, world, manifests: Vec::new(), files: Vec::new(), links: Vec::new(), import }
    }

    /// Writes its folder, which must not be there.
    ///
    /// # Errors
    /// When it is, or cannot be written; nothing is left of it then.
    pub fn write(&self, folder: &Utf8Path) -> Result<(), WriteError> {
        if fs::symlink_metadata(folder).is_ok() {
            return Err(WriteError::Exists(folder.to_owned()));
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
        let suite = SuiteKeys { name: &self.name, world: &self.world };
        let mut texts = vec![(Utf8PathBuf::from("suite.yaml"), yaml::to_string(&suite)?)];
        for task in &self.import.tasks {
            let Task { id, .. } = task;
            texts.push((format!("{id}.yaml").into(), yaml::to_string(task)?));
        }
        let manifests = self.manifests.iter();
        let manifests =
            manifests.map(|(site, text)| (Utf8Path::new("sites").join(site).join("site.yaml"), text));
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
