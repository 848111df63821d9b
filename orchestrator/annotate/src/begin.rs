//! The beginning of an annotation: names that nothing has yet, and copies of snapshots.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use snapshots::Recording;
use tasks::WorldSpec;
use url::Url;

use crate::{Draft, Error, Source, TaskFolder};

/// Whether a world has these snapshots.
pub(crate) fn is_of(world: &WorldSpec, snapshots: &[Utf8PathBuf]) -> bool {
    let real = |path: &Utf8PathBuf| path.canonicalize_utf8().unwrap_or_else(|_| path.clone());
    let known: Vec<Utf8PathBuf> = world.snapshots.iter().map(real).collect();
    snapshots.iter().all(|path| known.contains(&real(path)))
}

/// A draft that was left: a recording that is finished is played from now on.
pub fn resumed(mut draft: Draft) -> Draft {
    if let Source::Live(path) = &draft.source
        && path.is_file()
        && !Recording::is_left_over(path)
    {
        draft.source = Source::Snapshots(vec![path.clone()]);
    }
    draft
}

/// A name for a new snapshot of the suite that nothing has.
pub(crate) fn free_snapshot(folder: &Utf8Path) -> Utf8PathBuf {
    let name = |number: u32| match number {
        1 => folder.join("snapshot.wacz"),
        number => folder.join(format!("snapshot-{number}.wacz")),
    };
    let is_free = |path: &Utf8PathBuf| !path.exists() && !Recording::is_left_over(path);
    (1..=u32::MAX).map(name).find(is_free).unwrap_or_else(|| name(1))
}

/// An id that the suite does not have yet.
pub(crate) fn free_id(start: &Url, place: &TaskFolder) -> String {
    let host = start.host_str().unwrap_or("task");
    let host = host.strip_prefix("www.").unwrap_or(host);
    let host: String =
        host.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let host = host.trim_matches('-').to_owned();
    let ids = (1..=u32::MAX).map(|number| format!("{host}-{number}"));
    let is_free = |id: &String| !place.taken.contains_key(id);
    ids.into_iter().find(is_free).unwrap_or(host)
}

/// Copies the snapshots into the suite, each whole before it has its name. One that is there with
/// the same path is the same.
///
/// # Errors
/// When there is another one of its name, or it cannot be copied.
pub fn copy_snapshots(draft: &mut Draft, folder: &Utf8Path) -> Result<(), Error> {
    let Source::Snapshots(files) = &mut draft.source else { return Ok(()) };
    for file in files {
        let copy = folder.join(file.file_name().unwrap_or("snapshot.wacz"));
        let real = |path: &Utf8Path| path.canonicalize_utf8().ok();
        if copy.exists() && real(&copy) == real(file) {
            continue;
        }
        if copy.exists() {
            return Err(Error::CopyExists { file: file.clone(), copy });
        }
        copy_whole(file, &copy, folder).map_err(|source| Error::Copy {
            file: file.clone(),
            copy: copy.clone(),
            source,
        })?;
        *file = copy;
    }
    Ok(())
}

fn copy_whole(file: &Utf8Path, copy: &Utf8Path, folder: &Utf8Path) -> io::Result<()> {
    let part = tempfile::Builder::new().prefix(".part-").tempfile_in(folder)?;
    std::fs::copy(file, part.path())?;
    part.persist(copy).map_err(io::Error::other)?;
    Ok(())
}
