//! Reading one YAML file strictly: what is not understood is an error with file, line and key.
//!
//! Suites, tasks and site manifests are all read this way, so a mistake in any of them is told
//! alike. [`to_string`] writes such files, in a form that readers of YAML 1.1 understand in the
//! same way.

mod write;

pub use write::to_string;

use std::time::Duration;
use std::{fmt, fs, io};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserializer;
use serde::de::{self, DeserializeOwned, Visitor};

/// Such a file is a page of text; anything far above is a mistake or an attack.
const SIZE_LIMIT: u64 = 1 << 20;

/// Why a file could not be read. Every text starts with the file and, where there is one, the line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file or folder cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// What was to be read.
        path: Utf8PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file is larger than any of its kind has reason to be.
    #[error("{path}: {size} bytes, more than the {limit} such a file may have")]
    TooLarge {
        /// The file.
        path: Utf8PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The most that is read.
        limit: u64,
    },
    /// Not YAML, an unknown or missing key, or a value of the wrong type or without sense.
    #[error("{path}{}: {message}", position(*line, *column))]
    Format {
        /// The file.
        path: Utf8PathBuf,
        /// Counted from 1; 0 when the whole file is meant.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What is wrong, starting with the path of keys where it is known.
        message: String,
    },
}

impl Error {
    /// A file whose values are each right and together make no sense.
    pub fn senseless(path: &Utf8Path, message: impl Into<String>) -> Error {
        Error::Format { path: path.to_owned(), line: 0, column: 0, message: message.into() }
    }
}

/// Reads a whole file as one YAML document of this type.
///
/// # Errors
/// When the file cannot be read, is too large, or does not hold what the type asks for.
pub fn read<T: DeserializeOwned>(path: &Utf8Path) -> Result<T, Error> {
    let unreadable = |source| Error::Read { path: path.to_owned(), source };
    let size = fs::metadata(path).map_err(unreadable)?.len();
    if size > SIZE_LIMIT {
        return Err(Error::TooLarge { path: path.to_owned(), size, limit: SIZE_LIMIT });
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    serde_yaml::from_str(&text).map_err(|error| format_error(path, &error))
}

/// Reads a scalar through a check of its text, for `deserialize_with`. The reader adds line and key path to errors only
/// when they arise while it stands on the scalar, hence the visitor.
///
/// # Errors
/// What `check` says is wrong with the text.
pub fn text<'de, D, T>(input: D, check: fn(&str) -> Result<T, String>) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
{
    input.deserialize_str(Text(check))
}

/// A length of time as people write it, for [`text`]: `200ms`, `60s`, `15m`.
///
/// # Errors
/// When it is none.
pub fn period(text: &str) -> Result<Duration, String> {
    let units = [("ms", 1), ("s", 1000), ("m", 60_000)];
    units
        .iter()
        .find_map(|(unit, ms)| text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(*ms))
        .map(Duration::from_millis)
        .ok_or_else(|| format!("`{text}` is not a length of time, such as 60s"))
}

fn position(line: usize, column: usize) -> String {
    if line == 0 { String::new() } else { format!(":{line}:{column}") }
}

fn format_error(path: &Utf8Path, error: &serde_yaml::Error) -> Error {
    let (line, column) = error.location().map_or((0, 0), |at| (at.line(), at.column()));
    let text = error.to_string();
    let message = match text.rfind(" at line ") {
        Some(end) if line > 0 => text[..end].to_owned(),
        _ => text,
    };
    Error::Format { path: path.to_owned(), line, column, message }
}

struct Text<T>(fn(&str) -> Result<T, String>);

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a text")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }
}
