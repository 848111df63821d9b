//! Digests of a state folder, and the first file in which two folders differ.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::fs::File;
use std::io::{self, Read};

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};

use super::dir::{Dir, Kind};
use super::{Layout, StateError, sqlite, trees};

/// How many entries and bytes an application may add to its golden state before the walk is
/// aborted.
const MORE_ENTRIES: usize = 100_000;
const MORE_BYTES: u64 = 4 << 30;
/// The maximum nesting depth of folders.
pub(super) const DEEPEST: usize = 100;

/// A digest of every file of a state folder. Times, owners and permissions are ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDigest {
    files: BTreeMap<Utf8PathBuf, [u8; 32]>,
    bytes: u64,
}

/// A file in which a state differs from the golden state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// The file is not in the golden state.
    Added(Utf8PathBuf),
    /// The file is missing.
    Removed(Utf8PathBuf),
    /// The content of the file differs.
    Changed(Utf8PathBuf),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Added(path) => write!(f, "{path} was added"),
            Difference::Removed(path) => write!(f, "{path} is missing"),
            Difference::Changed(path) => write!(f, "{path} has changed"),
        }
    }
}

/// Limits of a walk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) entries: usize,
    pub(super) bytes: u64,
}

impl Bounds {
    /// For a golden state, which we trust.
    pub(super) const NONE: Bounds = Bounds { entries: usize::MAX, bytes: u64::MAX };

    /// For a state that an application has changed.
    pub(super) fn around(golden: &StateDigest) -> Bounds {
        let bytes = golden.bytes.saturating_add(MORE_BYTES);
        Bounds { entries: golden.files.len() + MORE_ENTRIES, bytes }
    }
}

impl StateDigest {
    /// The digest of a folder that nobody changes.
    pub(super) fn of_golden(folder: &Dir, layout: &Layout) -> Result<StateDigest, StateError> {
        StateDigest::of(folder, layout, Bounds::NONE, &|database| {
            sqlite::digest_golden(folder, database)
        })
    }

    /// The digest of a folder; `database` computes the digest of one of its databases.
    pub(super) fn of(
        folder: &Dir,
        layout: &Layout,
        bounds: Bounds,
        database: &dyn Fn(&Utf8Path) -> Result<[u8; 32], StateError>,
    ) -> Result<StateDigest, StateError> {
        let mut walk = Walk { layout, left: bounds, database, files: BTreeMap::new() };
        walk.enter(folder, Utf8Path::new(""), DEEPEST)?;
        Ok(StateDigest { files: walk.files, bytes: bounds.bytes - walk.left.bytes })
    }

    /// The total size of its files in bytes.
    pub fn size(&self) -> u64 {
        self.bytes
    }

    /// The first file, by name, in which `other` differs from this state.
    pub fn difference(&self, other: &StateDigest) -> Option<Difference> {
        let added = other.files.keys().find(|path| !self.files.contains_key(*path));
        let changed = self.files.iter().find_map(|(path, own)| match other.files.get(path) {
            None => Some(Difference::Removed(path.clone())),
            Some(there) if there != own => Some(Difference::Changed(path.clone())),
            Some(_) => None,
        });
        changed.or_else(|| added.map(|path| Difference::Added(path.clone())))
    }
}

/// Sixty-four hexadecimal digits.
impl fmt::Display for StateDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut whole = Sha256::new();
        for (path, digest) in &self.files {
            whole.update((path.as_str().len() as u64).to_le_bytes());
            whole.update(path.as_str());
            whole.update(digest);
        }
        whole.finalize().iter().try_for_each(|byte| {
            f.write_char(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'))?;
            f.write_char(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'))
        })
    }
}

/// A walk over a whole folder.
struct Walk<'a> {
    layout: &'a Layout,
    left: Bounds,
    database: &'a dyn Fn(&Utf8Path) -> Result<[u8; 32], StateError>,
    files: BTreeMap<Utf8PathBuf, [u8; 32]>,
}

impl Walk<'_> {
    fn enter(&mut self, folder: &Dir, below: &Utf8Path, deeper: usize) -> Result<(), StateError> {
        let odd = |name: &Utf8Path, what: &str| {
            Err(StateError::Odd { path: name.to_owned(), what: what.to_owned() })
        };
        let Some(deeper) = deeper.checked_sub(1) else {
            return odd(below, "there are too many folders in one another");
        };
        let entries = folder.entries(self.left.entries)?;
        self.left.entries -= entries.len();
        for (name, entry) in entries {
            let path = trees::below(below, &name);
            if self.layout.is_ignored(&path) || self.layout.is_beside_database(&path) {
                continue;
            }
            if matches!(entry.kind, Kind::File) {
                match self.left.bytes.checked_sub(entry.size) {
                    Some(left) => self.left.bytes = left,
                    None => return odd(&path, "the state has grown too large"),
                }
            }
            let digest = match entry.kind {
                _ if self.layout.sqlite.contains(&path) => (self.database)(&path)?,
                Kind::Folder => {
                    // Empty folders are included, by their name.
                    self.files.insert(path.join(""), [0; 32]);
                    self.enter(&folder.folder(&name)?, &path, deeper)?;
                    continue;
                }
                Kind::Link => Sha256::digest(folder.link(&name)?.as_encoded_bytes()).into(),
                // If the file has grown in the meantime, the rest is not read.
                Kind::File => match folder.file(&name) {
                    Ok((file, _)) => digest_file(file.take(entry.size))
                        .map_err(StateError::io("read", &folder.path_of(&name)))?,
                    // Removed since it was listed.
                    Err(error) if error.is_absence() => continue,
                    Err(error) => return Err(error),
                },
                // Sockets have no content.
                Kind::Socket => continue,
                Kind::Special => return odd(&path, "it is a pipe or a device"),
            };
            self.files.insert(path, digest);
        }
        Ok(())
    }
}

fn digest_file(mut file: io::Take<File>) -> io::Result<[u8; 32]> {
    let mut digest = Sha256::new();
    let mut chunk = vec![0; 64 << 10];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(digest.finalize().into()),
            count => digest.update(&chunk[..count]),
        }
    }
}
