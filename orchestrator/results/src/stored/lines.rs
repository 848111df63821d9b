//! Reads and writes JSON and JSON lines. Errors name file and line.

use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};

use camino::Utf8Path;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;
use crate::stored::{FORMAT, Format, files};

/// Maximum length of a line, far above real observations.
const LINE_LIMIT: u64 = 64 << 20;
/// Maximum length of a file, and of its number of lines, far above those of real episodes. All of
/// it is held in memory, in which short lines are several times as large.
const FILE_LIMIT: u64 = 512 << 20;
const MOST_LINES: usize = 1 << 20;

pub(super) fn write_json<T: Serialize>(path: &Utf8Path, value: &T) -> Result<(), Error> {
    let mut bytes = serde_json::to_vec_pretty(value)
        .map_err(|source| Error::Write { path: path.to_owned(), source: source.into() })?;
    bytes.push(b'\n');
    files::write(path, &bytes).map_err(|source| Error::Write { path: path.to_owned(), source })
}

/// Writes a temporary file and renames it, so that the file is always complete.
pub(super) fn replace_json<T: Serialize>(path: &Utf8Path, value: &T) -> Result<(), Error> {
    let beside = path.with_extension("json.new");
    write_json(&beside, value)?;
    std::fs::rename(&beside, path).map_err(|source| Error::Write { path: path.to_owned(), source })
}

/// Reads a file of at most `limit` bytes. Its version is checked before anything else in it: what
/// is of a newer one may have any other keys.
pub(super) fn read_versioned<T: DeserializeOwned>(path: &Utf8Path, limit: u64) -> Result<T, Error> {
    let text = read_bounded(path, limit)?;
    let malformed = |source: serde_json::Error| malformed(path, source.line(), source);
    let found = Format::of_text(&text).map_err(malformed)?;
    found.check(FORMAT).map_err(|newer| Error::NewerFormat { path: path.to_owned(), newer })?;
    serde_json::from_slice(&text).map_err(malformed)
}

/// Reads a file of at most `limit` bytes.
pub(super) fn read_json<T: DeserializeOwned>(path: &Utf8Path, limit: u64) -> Result<T, Error> {
    let text = read_bounded(path, limit)?;
    serde_json::from_slice(&text).map_err(|source| malformed(path, source.line(), source))
}

fn read_bounded(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, Error> {
    let unread = |source| Error::Read { path: path.to_owned(), source };
    let text = files::read(path, limit).map_err(unread)?;
    file_version::check_values(&text).map_err(|error| unread(io::Error::other(error)))?;
    Ok(text)
}

pub(super) fn write_lines<T: Serialize>(path: &Utf8Path, items: &[T]) -> Result<(), Error> {
    let failed = |source| Error::Write { path: path.to_owned(), source };
    let mut file = BufWriter::new(files::create(path, 0o666).map_err(failed)?);
    for item in items {
        serde_json::to_writer(&mut file, item).map_err(|source| failed(source.into()))?;
        file.write_all(b"\n").map_err(failed)?;
    }
    file.flush().map_err(failed)
}

pub(super) fn read_lines<T: DeserializeOwned>(path: &Utf8Path) -> Result<Vec<T>, Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let file = files::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() > FILE_LIMIT {
        return Err(failed(io::Error::other(format!("it has more than {FILE_LIMIT} bytes"))));
    }
    let mut file = BufReader::new(file);
    let mut items = Vec::new();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = std::io::Read::take(&mut file, LINE_LIMIT)
            .read_until(b'\n', &mut line)
            .map_err(failed)?;
        if read == 0 {
            break;
        }
        if read as u64 == LINE_LIMIT {
            return Err(failed(io::Error::other(format!(
                "line {number} has more than {LINE_LIMIT} bytes"
            ))));
        }
        // Many small values take several times as much memory as their text.
        file_version::check_values(&line).map_err(|error| failed(io::Error::other(error)))?;
        if items.len() == MOST_LINES {
            return Err(failed(io::Error::other(format!("it has more than {MOST_LINES} lines"))));
        }
        items
            .push(serde_json::from_slice(&line).map_err(|source| malformed(path, number, source))?);
    }
    Ok(items)
}

fn malformed(path: &Utf8Path, line: usize, source: serde_json::Error) -> Error {
    Error::Malformed { path: path.to_owned(), line, source }
}
