//! The files that determine a run, so that another machine can check that it has the same.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use scoring::{ProgramCheck, Requirement};
use tasks::{Suite, Task};

use crate::Error;
use crate::stored::suite_digest::{Digests, files, snapshot_files};

/// The files of a suite and of its world with their digests, by paths as the suite names them: the
/// suite's own files, snapshots, storage states, files for pages, scorers' programs, and the
/// folders of the sites that these tasks name.
///
/// # Errors
/// When one of them cannot be read.
pub fn input_files(suite: &Suite, tasks: &[Task]) -> Result<BTreeMap<Utf8PathBuf, String>, Error> {
    let mut paths = BTreeSet::new();
    let mut below = |folder: &Utf8Path| -> Result<(), Error> {
        let found =
            files(folder).map_err(|source| Error::Read { path: folder.to_owned(), source })?;
        paths.extend(found);
        Ok(())
    };
    let world = &suite.world;
    if let Some(folder) = &world.files {
        below(folder)?;
    }
    let sites: BTreeSet<&String> = tasks.iter().flat_map(|task| &task.sites).collect();
    for site in sites {
        if let Some(folder) =
            world.sites.as_ref().map(|sites| sites.join(site)).filter(|path| path.is_dir())
        {
            below(&folder)?;
        }
    }
    let read = |source| Error::Read { path: suite.folder.clone(), source };
    for entry in suite.folder.read_dir_utf8().map_err(read)? {
        let path = entry.map_err(read)?.into_path();
        if matches!(path.extension(), Some("yaml" | "yml")) {
            paths.insert(path);
        }
    }
    paths.extend(snapshot_files(&world.snapshots));
    paths.extend(world.storage_state.clone());
    for task in tasks {
        paths.extend(snapshot_files(task.snapshots.as_deref().unwrap_or_default()));
        paths.extend(task.storage_state.clone());
        let programs = task.scorer.requirements().into_iter().filter_map(Requirement::program);
        paths.extend(programs.flat_map(ProgramCheck::files));
    }
    let mut digests = Digests::default();
    paths.into_iter().map(|path| Ok((path.clone(), hex::encode(digests.of_file(&path)?)))).collect()
}

/// The digest of one such file: SHA-256 over its length and both ends, in hexadecimal.
///
/// # Errors
/// When it cannot be read.
pub fn digest(path: &Utf8Path) -> Result<String, Error> {
    Ok(hex::encode(Digests::default().of_file(path)?))
}
