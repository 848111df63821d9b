//! The digest of a suite and its world. Runs with the same digest are comparable.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};

use camino::{Utf8Path, Utf8PathBuf};
use scoring::{ProgramCheck, Requirement};
use sha2::{Digest as _, Sha256};
use snapshots::collection::files_of;
use snapshots::{Source, SourceReader};
use tasks::{Task, WorldSpec};

use crate::Error;
use crate::stored::WorldRecord;
use crate::stored::digest::Lines;

/// Number of bytes digested at each end of a snapshot. The end of a WACZ is its ZIP directory with
/// the checksum of every part.
const EDGE: u64 = 64 << 10;

/// The digests of the world's files, each computed once.
#[derive(Default)]
pub struct Digests {
    files: BTreeMap<Utf8PathBuf, [u8; 32]>,
    /// The files in folders.
    folders: BTreeMap<Utf8PathBuf, Vec<Utf8PathBuf>>,
}

impl Digests {
    /// SHA-256 over the world and these tasks. Snapshots count by content, not by path: by their
    /// length and both ends, which is fast for large files. Files for pages count in the same way,
    /// with their names.
    pub fn of_suite(&mut self, world: &WorldSpec, tasks: &[Task]) -> Result<String, Error> {
        let mut digest = Lines::default();
        let plain =
            WorldSpec { snapshots: Vec::new(), storage_state: None, files: None, ..world.clone() };
        add_json(&mut digest, &plain)?;
        for path in snapshot_files(&world.snapshots).iter().chain(&world.storage_state) {
            digest.add(&self.line(path)?);
        }
        if let Some(folder) = &world.files {
            for file in self.in_folder(folder)? {
                add_json(&mut digest, &file.strip_prefix(folder).unwrap_or(&file))?;
                digest.add(&self.line(&file)?);
            }
        }
        for task in tasks {
            let plain = Task { snapshots: None, storage_state: None, ..task.clone() };
            add_json(&mut digest, &plain.for_digest().map_err(|source| Error::Encode { source })?)?;
            let snapshots = snapshot_files(task.snapshots.as_deref().unwrap_or_default());
            for path in snapshots.iter().chain(&task.storage_state) {
                digest.add(&self.line(path)?);
            }
            let programs = task.scorer.requirements().into_iter().filter_map(Requirement::program);
            for file in programs.flat_map(ProgramCheck::files) {
                digest.add(&self.line(&file)?);
            }
        }
        Ok(digest.finish())
    }

    /// The record of the world of these tasks, without images of sites.
    pub fn of_world(&mut self, world: &WorldSpec, tasks: &[Task]) -> Result<WorldRecord, Error> {
        let mut snapshots = BTreeMap::new();
        for path in tasks
            .iter()
            .filter_map(|task| task.snapshots.as_ref())
            .flatten()
            .chain(&world.snapshots)
        {
            let digest = hex::encode(self.of_snapshot(path)?);
            let name = path.file_name().unwrap_or_default();
            // Files of one name in two folders are two snapshots.
            let is_other = snapshots.get(name).is_some_and(|known| *known != digest);
            let name = if is_other { path.as_str() } else { name };
            snapshots.insert(name.to_owned(), digest);
        }
        Ok(WorldRecord {
            clock: world.clock,
            seed: world.seed,
            snapshots,
            ..WorldRecord::default()
        })
    }

    /// The digest of a snapshot: of its file, or over those of a collection's members.
    fn of_snapshot(&mut self, path: &Utf8Path) -> Result<[u8; 32], Error> {
        match snapshot_files(&[path.to_owned()]).as_slice() {
            [file] => self.of_file(file),
            files => {
                let mut hash = Sha256::new();
                for file in files {
                    hash.update(self.of_file(file)?);
                }
                Ok(hash.finalize().into())
            }
        }
    }

    /// The digest of a file, which is read once.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of_file(&mut self, path: &Utf8Path) -> Result<[u8; 32], Error> {
        if let Some(known) = self.files.get(path) {
            return Ok(*known);
        }
        let digest = edges(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        self.files.insert(path.to_owned(), digest);
        Ok(digest)
    }

    /// A file's line in a suite digest: its digest as a list of bytes such as `[7f, 3]`. This form
    /// must not change, or the digests of earlier runs would no longer match.
    fn line(&mut self, path: &Utf8Path) -> Result<Vec<u8>, Error> {
        Ok(format!("{:x?}", self.of_file(path)?).into_bytes())
    }

    fn in_folder(&mut self, folder: &Utf8Path) -> Result<Vec<Utf8PathBuf>, Error> {
        if let Some(known) = self.folders.get(folder) {
            return Ok(known.clone());
        }
        let found =
            files(folder).map_err(|source| Error::Read { path: folder.to_owned(), source })?;
        self.folders.insert(folder.to_owned(), found.clone());
        Ok(found)
    }
}

/// The files of snapshots: the members of a collection stand for it, so that a suite has the same
/// digest whether it names them or their collection.
pub fn snapshot_files(paths: &[Utf8PathBuf]) -> Vec<Utf8PathBuf> {
    // What cannot be read is named by who opens it.
    paths.iter().flat_map(|path| files_of(path).unwrap_or_else(|_| vec![path.clone()])).collect()
}

/// All files below a folder, ordered by name.
pub fn files(folder: &Utf8Path) -> std::io::Result<Vec<Utf8PathBuf>> {
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

/// SHA-256 over the length and both ends of a file, or of an object at an address.
fn edges(path: &Utf8Path) -> std::io::Result<[u8; 32]> {
    let source = Source::open(path).map_err(|error| match error {
        snapshots::Error::Io { source, .. } => source,
        other => std::io::Error::other(other),
    })?;
    let length = source.length()?;
    let mut file = SourceReader::new(source);
    let mut hash = Sha256::new();
    hash.update(length.to_le_bytes());
    let mut bytes = Vec::new();
    file.by_ref().take(EDGE).read_to_end(&mut bytes)?;
    file.seek(SeekFrom::Start(length.saturating_sub(EDGE)))?;
    file.take(EDGE).read_to_end(&mut bytes)?;
    hash.update(&bytes);
    Ok(hash.finalize().into())
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
        let mut note_edges = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            seen.push(edges(&path).unwrap());
        };
        note_edges(&bytes);
        bytes[0] = 8;
        note_edges(&bytes);
        *bytes.last_mut().unwrap() = 8;
        note_edges(&bytes);
        bytes.push(8);
        note_edges(&bytes);
        let all = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), all);
    }

    /// A world with one snapshot in the folder.
    fn world(folder: &tempfile::TempDir) -> WorldSpec {
        let path = Utf8PathBuf::from_path_buf(folder.path().join("x.wacz")).unwrap();
        std::fs::write(&path, vec![7; 200 << 10]).unwrap();
        let spec = serde_json::json!({ "clock": "2026-03-14T09:00:00Z" });
        let world: WorldSpec = serde_json::from_value(spec).unwrap();
        WorldSpec { snapshots: vec![path], ..world }
    }

    #[test]
    fn digests_stay_what_they_have_been() {
        let folder = tempfile::tempdir().unwrap();
        let world = world(&folder);
        let mut digests = Digests::default();
        let suite = "7a7fbf0202e6b614390966df47a2bb7fbfbd38ad7568882d1fceedefea013bd8";
        assert_eq!(digests.of_suite(&world, &[]).unwrap(), suite);
        // Names of keys change; digests keep those of the first release.
        let task = "id: one\ngoal: Look.\ngoal_images: [https://a.test/1.png]\nsetup_script: go()\n\
            messages: [{step: 2, says: Hurry.}]\nearly_stop: {repeats: 3}\nscorer:\n  all:\n  \
            - state: {site: s, probe: p, params: {n: 0.5}, expect: {count: 1}}\n\
            wrong_solution: [{answer: no}]\n";
        let file = Utf8Path::from_path(folder.path()).unwrap().join("one.yaml");
        std::fs::write(&file, task).unwrap();
        let task = tasks::read_task(&file).unwrap();
        let older = concat!(
            r#"{"id":"one","goal":"Look.","images":["https://a.test/1.png"],"begin":"go()","#,
            r#""user":[{"step":2,"says":"Hurry."}],"max_steps":30,"stop":{"repeats":3},"scorer":"#,
            r#"{"all":[{"state":{"site":"s","probe":"p","with":{"n":0.5},"#,
            r#""expect":{"count":1}}}]},"#,
            r#""mistake":[{"answer":"no"}]}"#
        );
        let bare = WorldSpec { snapshots: Vec::new(), ..world.clone() };
        let mut lines = Lines::default();
        lines.add(&serde_json::to_vec(&bare).unwrap());
        lines.add(older.as_bytes());
        assert_eq!(digests.of_suite(&bare, &[task]).unwrap(), lines.finish());
        let record = digests.of_world(&world, &[]).unwrap();
        let snapshot = "195bca499f176890d9e997dfd60a1b16cf813329a12f3a8feed36d1b6511bf5f";
        assert_eq!(record.snapshots["x.wacz"], snapshot);
        let written = serde_json::to_value(&record).unwrap();
        assert_eq!(written["snapshots"]["x.wacz"], snapshot);
    }
}
