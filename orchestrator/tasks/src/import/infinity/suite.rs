//! The suite of WebArena-Infinity's applications, which stay where they are.

use camino::{Utf8Path, Utf8PathBuf};

use super::{APPS, List, SERVE, VERIFY, infinity, manifest, world};
use crate::import::{Import, ImportError, NewSuite, read_file, reading};

/// A suite, and what it is made of.
pub struct InfinitySuite {
    pub suite: NewSuite,
    /// The folder with the applications.
    pub folder: Utf8PathBuf,
    /// Their names.
    pub apps: Vec<String>,
}

/// The suite of the applications in a folder: those of these names, or all.
///
/// # Errors
/// When there are none, or one of them has no such list of tasks.
pub fn suite(folder: &Utf8Path, apps: &[String], list: List) -> Result<InfinitySuite, ImportError> {
    let folder = applications(folder, list)?;
    let apps = names(&folder, apps, list)?;
    let mut import = Import::default();
    for app in &apps {
        import.extend(read_file(&folder.join(app).join(list.file()), |json| infinity(app, json))?);
    }
    let suite = NewSuite {
        manifests: apps.iter().map(|app| (app.clone(), manifest(app))).collect(),
        files: [VERIFY, SERVE]
            .map(|(name, text)| (Utf8PathBuf::from(name), text.to_owned()))
            .into(),
        links: vec![(APPS.into(), folder.clone())],
        ..NewSuite::new("webarena-infinity", world(), import)
    };
    Ok(InfinitySuite { suite, folder, apps })
}

/// The folder with the applications: the one named, or `apps` in it.
fn applications(folder: &Utf8Path, list: List) -> Result<Utf8PathBuf, ImportError> {
    for inside in [folder.join(APPS), folder.to_owned()] {
        if inside.is_dir() && !found(&inside, list)?.is_empty() {
            return inside.canonicalize_utf8().map_err(reading(&inside));
        }
    }
    Err(ImportError::Unusable(format!(
        "{folder} has no application, which is a folder with server.py and {}; name the benchmark's repository, or its \
         folder {APPS}",
        list.file()
    )))
}

/// The folders in it that are applications, by name.
fn found(folder: &Utf8Path, list: List) -> Result<Vec<String>, ImportError> {
    let mut names = Vec::new();
    for entry in folder.read_dir_utf8().map_err(reading(folder))? {
        let path = entry.map_err(reading(folder))?.into_path();
        if path.join("server.py").is_file() && path.join(list.file()).is_file() {
            names.extend(path.file_name().map(str::to_owned));
        }
    }
    names.sort();
    Ok(names)
}

/// Those that were asked for.
fn names(folder: &Utf8Path, apps: &[String], list: List) -> Result<Vec<String>, ImportError> {
    let there = found(folder, list)?;
    if let Some(unknown) = apps.iter().find(|app| !there.contains(app)) {
        let there = there.join(", ");
        return Err(ImportError::Unusable(format!(
            "{folder} has no application `{unknown}`; there are: {there}"
        )));
    }
    Ok(there.into_iter().filter(|app| apps.is_empty() || apps.contains(app)).collect())
}
