//! Whether two runs are of the same suite in the same world.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest as _, Sha256};
use tasks::{Task, WorldSpec};

use crate::Error;
use crate::digest::Lines;
use crate::results::WorldRecord;

/// Bytes taken from either end of a snapshot. The end of a WACZ is its ZIP directory with the checksum of every part.
const EDGE: u64 = 64 << 10;

/// SHA-256 over the world and these tasks. Snapshots count by what they hold and not by where they lie; to stay quick with large ones, by
/// their length and both ends. So do files for pages, with their names.
pub(crate) fn suite_digest(world: &WorldSpec, tasks: &[Task]) -> Result<String, Error> {
    let mut digest = Lines::default();
    let plain = WorldSpec { snapshots: Vec::new(), files: None, ..world.clone() };
    add_json(&mut digest, &plain)?;
    for snapshot in &world.snapshots {
        digest.add(
            edges(snapshot).map_err(|source| Error::Read { path: snapshot.clone(), source })?.as_slice(),
        );
    }
    if let Some(folder) = &world.files {
        for file in files(folder).map_err(|source| Error::Read { path: folder.clone(), source })? {
            let holds = edges(&file).map_err(|source| Error::Read { path: file.clone(), source })?;
            add_json(&mut digest, &file.strip_prefix(folder).unwrap_or(&file))?;
            digest.add(&holds);
        }
    }
    for task in tasks {
        add_json(&mut digest, &Task { storage_state: None, ..task.clone() })?;
        if let Some(path) = &task.storage_state {
            digest.add(&edges(path).map_err(|source| Error::Read { path: path.clone(), source })?);
        }
    }
    Ok(digest.finish())
}

/// What the world is made of, but for the images of its sites.
pub(crate) fn world_record(world: &WorldSpec) -> Result<WorldRecord, Error> {
    let mut snapshots = BTreeMap::new();
    for path in &world.snapshots {
        let digest = edges(path).map_err(|source| Error::Read { path: path.clone(), source })?;
        let digest = String::from_utf8_lossy(&digest).into_owned();
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
