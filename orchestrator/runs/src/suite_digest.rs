//! Whether two runs are of the same suite in the same world.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest as _, Sha256};
use tasks::{ProgramCheck, Task, WorldSpec};

use crate::Error;
use crate::digest::Lines;
use crate::results::WorldRecord;

/// Bytes taken from either end of a snapshot. The end of a WACZ is its ZIP directory with the checksum of every part.
const EDGE: u64 = 64 << 10;

/// SHA-256 over the world and these tasks. Snapshots count by what they hold and not by where they lie; to stay quick with large ones, by
/// their length and both ends. So do files for pages, with their names.
pub(crate) fn suite_digest(world: &WorldSpec, tasks: &[Task]) -> Result<String, Error> {
    let mut digest = Lines::default();
    let plain = WorldSpec { snapshots: Vec::new(), storage_state: None, files: None, ..world.clone() };
    add_json(&mut digest, &plain)?;
    let mut known = Edges::default();
    for snapshot in world.snapshots.iter().chain(&world.storage_state) {
        digest.add(known.of(snapshot)?);
    }
    if let Some(folder) = &world.files {
        for file in files(folder).map_err(|source| Error::Read { path: folder.clone(), source })? {
            let holds = edges(&file).map_err(|source| Error::Read { path: file.clone(), source })?;
            add_json(&mut digest, &file.strip_prefix(folder).unwrap_or(&file))?;
            digest.add(&holds);
        }
    }
    for task in tasks {
        add_json(&mut digest, &Task { snapshots: None, storage_state: None, ..task.clone() })?;
        for path in task.snapshots.iter().flatten().chain(&task.storage_state) {
            digest.add(known.of(path)?);
        }
        for file in task.scorer.programs().into_iter().flat_map(ProgramCheck::files) {
            digest.add(known.of(&file)?);
        }
    }
    Ok(digest.finish())
}

/// Digests of files by [`edges`], each made once.
#[derive(Default)]
struct Edges(BTreeMap<Utf8PathBuf, Vec<u8>>);

impl Edges {
    fn of(&mut self, path: &Utf8Path) -> Result<&[u8], Error> {
        if !self.0.contains_key(path) {
            let digest = edges(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
            self.0.insert(path.to_owned(), digest);
        }
        Ok(&self.0[path])
    }
}

/// What the world and those of these tasks are made of, but for the images of sites.
pub(crate) fn world_record(world: &WorldSpec, tasks: &[Task]) -> Result<WorldRecord, Error> {
    let mut snapshots = BTreeMap::new();
    let mut known = Edges::default();
    for path in tasks.iter().filter_map(|task| task.snapshots.as_ref()).flatten().chain(&world.snapshots) {
        let digest = String::from_utf8_lossy(known.of(path)?).into_owned();
        snapshots.insert(path.file_name().unwrap_or_default().to_owned(), digest);
    }
    Ok(WorldRecord { clock: world.clock, seed: world.seed, snapshots, images: BTreeMap::new() })
}

/// All files below a folder, in the order of their names.
fn files(folder: &Utf8Path) -> std::io::Result<Vec<Utf8PathBuf>> {
    let mut files = Vec::new();
    let mut rest = vec![folder.to_owned()];
    while let Some(folder) = rest.pop() {
        for entry in folder.read_dir_utf8()? {
            let entry = entry?;
            let list = if entry.file_type()?.is_dir() { &mut rest } else { &mut files };
            list.push(entry.into_path());
        }
    }
    files.sort();
    Ok(files)
}

fn add_json<T: serde::Serialize>(digest: &mut Lines, value: &T) -> Result<(), Error> {
    digest.add(&serde_json::to_vec(value).map_err(|source| Error::Encode { source })?);
    Ok(())
}

fn edges(path: &Utf8Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut hash = Sha256::new();
    hash.update(length.to_le_bytes());
    let mut bytes = Vec::new();
    file.by_ref().take(EDGE).read_to_end(&mut bytes)?;
    file.seek(SeekFrom::Start(length.saturating_sub(EDGE)))?;
    file.take(EDGE).read_to_end(&mut bytes)?;
    hash.update(&bytes);
    Ok(format!("{:x?}", hash.finalize().as_slice()).into_bytes())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_and_the_length_of_a_snapshot_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("x.wacz");
        let mut bytes = vec![7; 200 << 10];
        let mut seen = Vec::new();
        let mut look = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            seen.push(edges(&path).unwrap());
        };
        look(&bytes);
        bytes[0] = 8;
        look(&bytes);
        *bytes.last_mut().unwrap() = 8;
        look(&bytes);
        bytes.push(8);
        look(&bytes);
        let all = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), all);
    }
}
