//! Small JSON files that are always whole.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use camino::Utf8Path;
use file_version::Version;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// Writes a temporary file and renames it, so that readers see the old content or the new one.
pub(crate) fn replace(path: &Utf8Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let write = |source| Error::Write { path: path.to_owned(), source };
    let beside = path.with_extension("new");
    let mut options = fs::OpenOptions::new();
    let mut file =
        options.write(true).create(true).truncate(true).mode(mode).open(&beside).map_err(write)?;
    file.write_all(bytes).map_err(write)?;
    drop(file);
    fs::rename(&beside, path).map_err(write)
}

pub(crate) fn replace_json<T: Serialize>(path: &Utf8Path, value: &T) -> Result<(), Error> {
    let malformed = |source| Error::Malformed { path: path.to_owned(), source };
    replace(path, &serde_json::to_vec_pretty(value).map_err(malformed)?, 0o644)
}

/// Reads a file of this version or an older one; none if it is not there.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Utf8Path) -> Result<Option<T>, Error> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Read { path: path.to_owned(), source }),
    };
    parse(path, &text).map(Some)
}

pub(crate) fn parse<T: DeserializeOwned>(path: &Utf8Path, text: &str) -> Result<T, Error> {
    let malformed = |source| Error::Malformed { path: path.to_owned(), source };
    let value: serde_json::Value = serde_json::from_str(text).map_err(malformed)?;
    let version = Version::of(&value).map_err(malformed)?;
    version
        .check(Version::FIRST)
        .map_err(|newer| Error::NewerFormat { path: path.to_owned(), newer })?;
    serde_json::from_value(value).map_err(malformed)
}
