//! The suite of an unpacked run, as it can be played here.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader};

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest as _, Sha256};
use tasks::{Suite, Task};

use super::collect::{load, tasks_of, written};
use super::manifest::{CASSETTE, RUN, SUITE};
use super::{Error, Manifest, SnapshotMember};
use crate::stored::RunFolder;

/// A run that was unpacked completely.
#[derive(Debug)]
pub struct Unpacked {
    folder: Utf8PathBuf,
    manifest: Manifest,
}

impl Unpacked {
    /// The run that [`super::unpack`] has put into a folder.
    pub fn new(folder: &Utf8Path, manifest: Manifest) -> Unpacked {
        Unpacked { folder: folder.to_owned(), manifest }
    }

    /// The folder of the run.
    pub fn run(&self) -> Utf8PathBuf {
        self.folder.join(RUN)
    }

    /// Recorded replies of models, if the file has them.
    pub fn cassette(&self) -> Option<Utf8PathBuf> {
        Some(self.folder.join(CASSETTE)).filter(|path| path.is_file())
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The suite and the tasks of the run. Snapshots that are not in the file are looked for in
    /// `others`, by their digests.
    ///
    /// # Errors
    /// When the suite cannot be read, or a snapshot is not there.
    pub fn suite(&self, others: &[Utf8PathBuf]) -> Result<(Suite, Vec<Task>), Error> {
        let record = RunFolder::open(&self.run())?.run()?;
        let suite = load(&self.folder.join(SUITE), &record)?;
        let outside = self.find_snapshots(others)?;
        // What the file does not have is not looked for on this machine either.
        let place =
            |suite: &Suite, path: &Utf8Path| match self.manifest.paths.get(&written(suite, path)) {
                // A member is below the folder: this was checked with the manifest.
                Some(member) => outside
                    .get(member.as_str())
                    .cloned()
                    .unwrap_or_else(|| self.folder.join(member)),
                None => self.folder.join("missing").join(path.file_name().unwrap_or_default()),
            };
        let mut placed = suite.clone();
        let world = &mut placed.world;
        let single = [&mut world.storage_state, &mut world.files, &mut world.sites];
        for path in world.snapshots.iter_mut().chain(single.into_iter().flatten()) {
            *path = place(&suite, path);
        }
        for task in &mut placed.tasks {
            for path in task.snapshots.iter_mut().flatten().chain(&mut task.storage_state) {
                *path = place(&suite, path);
            }
        }
        if record.tasks.iter().all(|task| task.sites.is_empty()) {
            placed.world.sites = None;
        }
        placed.name = record.suite.clone();
        let tasks = tasks_of(&placed, &record, self.manifest.settings.max_steps)?;
        Ok((placed, tasks))
    }

    /// Finds the snapshots that are not in the file. Returns their paths by their members.
    fn find_snapshots(
        &self,
        folders: &[Utf8PathBuf],
    ) -> Result<BTreeMap<&str, Utf8PathBuf>, Error> {
        let mut found = BTreeMap::new();
        for snapshot in self.manifest.snapshots.iter().filter(|snapshot| !snapshot.inside) {
            let mut place = None;
            for folder in folders {
                place = match place {
                    None => find(folder, snapshot)?,
                    found => found,
                };
            }
            let name = Utf8Path::new(&snapshot.path).file_name().unwrap_or_default().to_owned();
            let place = place.ok_or(Error::NoSnapshot { name, sha256: snapshot.sha256.clone() })?;
            found.insert(snapshot.path.as_str(), place);
        }
        Ok(found)
    }
}

/// The file in a folder, or the file itself, that is this snapshot.
fn find(place: &Utf8Path, snapshot: &SnapshotMember) -> Result<Option<Utf8PathBuf>, crate::Error> {
    let unread = |source| crate::Error::Read { path: place.to_owned(), source };
    let candidates = if place.is_dir() {
        let entries = place.read_dir_utf8().map_err(unread)?;
        entries.map(|entry| entry.map(|entry| entry.into_path())).collect::<io::Result<Vec<_>>>()
    } else {
        Ok(vec![place.to_owned()])
    };
    for path in candidates.map_err(unread)? {
        // The length first: it spares reading files that cannot be the one.
        let fits =
            path.metadata().is_ok_and(|there| there.is_file() && there.len() == snapshot.bytes);
        if fits && sha256(&path).map_err(unread)? == snapshot.sha256 {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

fn sha256(path: &Utf8Path) -> io::Result<String> {
    let mut file = BufReader::with_capacity(256 << 10, files::open(path)?);
    let mut hash = Sha256::new();
    loop {
        let read = file.fill_buf()?;
        if read.is_empty() {
            return Ok(hex::encode(hash.finalize()));
        }
        hash.update(read);
        let length = read.len();
        file.consume(length);
    }
}
