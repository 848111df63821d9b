//! What a state folder holds, in one number, and in which file two of them differ.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::fs::{self, File};
use std::io::{self, Read};

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};

use super::{Layout, StateError, sqlite, trees};

/// The content of every file of a state folder. Times, owners and permissions do not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDigest {
    files: BTreeMap<Utf8PathBuf, [u8; 32]>,
}

/// A file in which a state differs from the golden one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// It is not in the golden state.
    Added(Utf8PathBuf),
    /// It is missing.
    Removed(Utf8PathBuf),
    /// Its content is another.
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

impl StateDigest {
    pub(super) fn of(folder: &Utf8Path, layout: &Layout) -> Result<StateDigest, StateError> {
        let mut files = BTreeMap::new();
        walk(folder, Utf8Path::new(""), layout, &mut files)?;
        Ok(StateDigest { files })
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

fn walk(
    folder: &Utf8Path,
    below: &Utf8Path,
    layout: &Layout,
    files: &mut BTreeMap<Utf8PathBuf, [u8; 32]>,
) -> Result<(), StateError> {
    for (name, metadata) in trees::entries(&folder.join(below))? {
        let path = below.join(name);
        if layout.is_ignored(&path) || layout.is_beside_database(&path) {
            continue;
        }
        let full = folder.join(&path);
        if metadata.is_dir() {
            // An empty folder counts, by its name.
            files.insert(path.join(""), [0; 32]);
            walk(folder, &path, layout, files)?;
        } else if layout.sqlite.contains(&path) {
            files.insert(path, sqlite::digest(&full)?);
        } else if metadata.is_symlink() {
            let target = fs::read_link(&full).map_err(StateError::io("read", &full))?;
            files.insert(path, Sha256::digest(target.as_os_str().as_encoded_bytes()).into());
        } else if metadata.is_file() {
            match digest_file(&full) {
                Ok(digest) => drop(files.insert(path, digest)),
                // Gone since it was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(StateError::io("read", &full)(error)),
            }
        }
        // Sockets and pipes hold nothing.
    }
    Ok(())
}

fn digest_file(path: &Utf8Path) -> io::Result<[u8; 32]> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut chunk = vec![0; 64 << 10];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(digest.finalize().into()),
            count => digest.update(&chunk[..count]),
        }
    }
}
