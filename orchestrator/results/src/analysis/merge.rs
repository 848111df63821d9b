//! Merges parts of a run that were played separately (shards).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use ::files::below;
use camino::{Utf8Path, Utf8PathBuf};

use crate::Error;
use crate::stored::{RunFolder, RunRecord, files};

/// Copies the episodes of all parts into a new run folder.
///
/// # Errors
/// When the parts belong to different runs, two of them have the same episode, or the new folder
/// already has a run.
pub fn merge(parts: &[Utf8PathBuf], out: &Utf8Path) -> Result<RunFolder, Error> {
    let folders = parts.iter().map(|path| RunFolder::open(path)).collect::<Result<Vec<_>, _>>()?;
    let records = folders.iter().map(RunFolder::run).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = records.first() else { return Err(Error::NothingToMerge) };
    // Before anything is written.
    for folder in &folders {
        for record in folder.episodes()? {
            files_of(folder.episode(&record.id()).path())?;
        }
    }
    let mut whole = RunRecord { shard: None, episodes: None, ..first.clone() };
    for (path, record) in parts.iter().zip(&records) {
        join(&mut whole, record, path)?;
    }
    let merged = RunFolder::create(out, &whole)?;
    for folder in &folders {
        if let Some(inputs) = folder.inputs()? {
            merged.write_inputs(&inputs)?;
        }
        for record in folder.episodes()? {
            let id = record.id();
            let (from, to) = (folder.episode(&id), merged.episode(&id));
            if to.is_whole() {
                merged.discard()?;
                return Err(Error::TwiceInParts {
                    path: from.path().to_owned(),
                    id: id.to_string(),
                });
            }
            // As with every episode, the folder appears under its name only when it is complete.
            let beside = merged.begin_episode(&id)?;
            copy(from.path(), beside.path())?;
            fs::rename(beside.path(), to.path())
                .map_err(|source| Error::Write { path: to.path().to_owned(), source })?;
        }
    }
    Ok(merged)
}

/// Adds what the record of a part says to that of the whole run.
///
/// # Errors
/// When they are of different runs, or of machines on which a run would not be the same.
pub fn join(whole: &mut RunRecord, part: &RunRecord, path: &Utf8Path) -> Result<(), Error> {
    let tasks = |run: &RunRecord| run.tasks.len().to_string();
    let differs = whole
        .differs_from(part)
        .or_else(|| {
            (whole.tasks != part.tasks).then(|| ("list of tasks", tasks(whole), tasks(part)))
        })
        .map(|(what, there, here)| (what.to_owned(), there, here))
        .or_else(|| whole.differs_in_machine(part));
    if let Some((what, there, here)) = differs {
        return Err(Error::DifferentParts { path: path.to_owned(), what, there, here });
    }
    whole.repeat = whole.repeat.max(part.repeat);
    whole.weaken(part);
    whole.started = whole.started.min(part.started);
    let world = &mut whole.world;
    world.chromium = world.chromium.take().or_else(|| part.world.chromium.clone());
    world.images.extend(part.world.images.clone());
    Ok(())
}

/// Copies the files of an episode into another folder. Each is opened by handles below its folder.
fn copy(from: &Utf8Path, to: &Utf8Path) -> Result<(), Error> {
    let unread = |source| Error::Read { path: from.to_owned(), source };
    for name in files_of(from)? {
        let place = to.join(&name);
        let mut file = files::open(&from.join(&name)).map_err(unread)?;
        let unwritten = |source| Error::Write { path: place.clone(), source };
        fs::create_dir_all(place.parent().unwrap_or(to)).map_err(unwritten)?;
        let mode = file.metadata().map_err(unread)?.permissions().mode();
        let mut new = files::create(&place, mode & 0o777).map_err(unwritten)?;
        std::io::copy(&mut file, &mut new).map_err(unwritten)?;
    }
    Ok(())
}

/// The files of an episode. A link could lead to any file of the user's, a pipe would never end: no
/// run has them.
fn files_of(folder: &Utf8Path) -> Result<Vec<String>, Error> {
    let found =
        below::list(folder).map_err(|source| Error::Read { path: folder.to_owned(), source })?;
    match found.others.first() {
        None => Ok(found.files),
        Some(other) => {
            let source = std::io::Error::other(
                "it is a link or no regular file, which no run has; remove it",
            );
            Err(Error::Read { path: folder.join(other), source })
        }
    }
}
