//! Merges parts of a run that were played separately (shards).

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use crate::Error;
use crate::results::{RunFolder, RunRecord};

/// Copies the episodes of all parts into a new run folder.
///
/// # Errors
/// When the parts belong to different runs, two of them have the same episode, or the new folder
/// already has a run.
pub fn merge(parts: &[Utf8PathBuf], out: &Utf8Path) -> Result<RunFolder, Error> {
    let folders = parts.iter().map(|path| RunFolder::open(path)).collect::<Result<Vec<_>, _>>()?;
    let records = folders.iter().map(RunFolder::run).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = records.first() else { return Err(Error::NothingToMerge) };
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
                return Err(Error::TwiceInParts { path: from.path().to_owned(), id: id.to_string() });
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
pub(crate) fn join(whole: &mut RunRecord, part: &RunRecord, path: &Utf8Path) -> Result<(), Error> {
    let tasks = |run: &RunRecord| run.tasks.len().to_string();
    let differs = whole
        .differs_from(part)
        .or_else(|| (whole.tasks != part.tasks).then(|| ("list of tasks", tasks(whole), tasks(part))))
        .map(|(what, there, here)| (what.to_owned(), there, here))
        .or_else(|| whole.differs_in_machine(part));
    if let Some((what, there, here)) = differs {
        return Err(Error::DifferentParts { path: path.to_owned(), what, there, here });
    }
    whole.repeat = whole.repeat.max(part.repeat);
    whole.started = whole.started.min(part.started);
    let world = &mut whole.world;
    world.chromium = world.chromium.take().or_else(|| part.world.chromium.clone());
    world.images.extend(part.world.images.clone());
    Ok(())
}

/// Copies a folder's content into another folder.
fn copy(from: &Utf8Path, to: &Utf8Path) -> Result<(), Error> {
    let unread = |source| Error::Read { path: from.to_owned(), source };
    for entry in from.read_dir_utf8().map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let place = to.join(entry.file_name());
        let unwritten = |source| Error::Write { path: place.clone(), source };
        if entry.file_type().map_err(unread)?.is_dir() {
            fs::create_dir_all(&place).map_err(unwritten)?;
            copy(entry.path(), &place)?;
        } else {
            fs::copy(entry.path(), &place).map_err(unwritten)?;
        }
    }
    Ok(())
}
