//! A strict reader of YAML files: everything it does not understand is an error with file, line and
//! key.
//!
//! Suites, tasks and site manifests are all read by it, so their errors look alike. [`to_string`]
//! writes YAML that readers of YAML 1.1 and 1.2 understand in the same way.

mod nesting;
mod write;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;
use std::{fmt, io};

use camino::{Utf8Path, Utf8PathBuf};
use file_version::Version;
use serde::Deserializer;
use serde::de::{self, DeserializeOwned, Visitor};
pub use write::to_string;

/// Settings files are small. A file far above this size is a mistake or an attack.
const SIZE_LIMIT: u64 = 1 << 20;

/// Why a file could not be read. Each text starts with the file and, if known, the line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file or folder cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file or folder.
        path: Utf8PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is larger than a file of its kind should be.
    #[error("{path}: {size} bytes, more than the {limit} such a file may have")]
    TooLarge {
        /// The file.
        path: Utf8PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The maximum size in bytes.
        limit: u64,
    },
    /// Not YAML, an unknown or missing key, or a value of the wrong type or without meaning.
    #[error("{path}{}: {message}", position(*line, *column))]
    Format {
        /// The file.
        path: Utf8PathBuf,
        /// Counted from 1; 0 if the error concerns the whole file.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What is wrong. Starts with the path of keys if it is known.
        message: String,
    },
}

impl Error {
    /// For a file whose values are each valid but contradict each other.
    pub fn inconsistent(path: &Utf8Path, message: impl Into<String>) -> Error {
        Error::Format { path: path.to_owned(), line: 0, column: 0, message: message.into() }
    }
}

/// Reads a whole file as one YAML document of type `T`.
///
/// # Errors
/// When the file cannot be read, is too large, or does not match the type.
pub fn read<T: DeserializeOwned>(path: &Utf8Path) -> Result<T, Error> {
    read_renamed(path, &[])
}

/// A key that had another name before. The type that is read has the older one as an alias.
#[derive(Debug, Clone, Copy)]
pub struct Renamed {
    /// The older name.
    pub older: &'static str,
    /// The name now.
    pub name: &'static str,
    /// Whether it stands below other keys. A key that does not is looked for at the first level
    /// alone, where the name is free for something else below it.
    pub nested: bool,
}

impl Renamed {
    /// Whether a line begins with the older name, or a mapping in it does.
    fn is_in(&self, line: &str) -> bool {
        let begins =
            |text: &str| text.strip_prefix(self.older).is_some_and(|rest| rest.starts_with(':'));
        match self.nested {
            true => line.split('{').any(|part| begins(part.trim_start_matches([' ', '-']))),
            false => begins(line),
        }
    }
}

/// As [`read`], for a file with keys that had another name before. An older name is logged with its
/// line, once in a process. Errors name the keys of today.
///
/// # Errors
///
/// As [`read`].
pub fn read_renamed<T: DeserializeOwned>(path: &Utf8Path, renamed: &[Renamed]) -> Result<T, Error> {
    static TOLD: Mutex<BTreeSet<(Utf8PathBuf, usize)>> = Mutex::new(BTreeSet::new());

    let text = text_of(path)?;
    let mut olders = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|_| !renamed.is_empty()) {
        let found = renamed.iter().filter(|key| key.is_in(line));
        olders.extend(found.map(|key| (number, key)));
    }
    let value = serde_yaml::from_str(&text).map_err(|error| {
        let mut error = format_error(path, &error);
        if let Error::Format { message, .. } = &mut error {
            for Renamed { older, name, .. } in renamed {
                for listed in [format!("`{older}`, "), format!(", `{older}`")] {
                    *message = message.replace(&listed, "");
                }
                if *message == format!("duplicate field `{name}`") {
                    message.push_str(&format!(": `{older}` is its older name; use one of them"));
                }
            }
        }
        error
    })?;
    for (number, Renamed { older, name, .. }) in olders {
        if TOLD.lock().is_ok_and(|mut told| told.insert((path.to_owned(), number))) {
            tracing::warn!("{path}:{number}: `{older}` is now called `{name}`");
        }
    }
    Ok(value)
}

/// The checked text of a file.
fn text_of(path: &Utf8Path) -> Result<String, Error> {
    let unreadable = |source| Error::Read { path: path.to_owned(), source };
    let file = files::open(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    if size > SIZE_LIMIT {
        return Err(Error::TooLarge { path: path.to_owned(), size, limit: SIZE_LIMIT });
    }
    let bytes = files::read_within(&file, SIZE_LIMIT).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        unreadable(io::Error::new(io::ErrorKind::InvalidData, "it is no text in UTF-8"))
    })?;
    let text = without_version(path, text)?;
    if let Err(place) = nesting::check(&text) {
        let message = format!(
            "it is nested deeper than {} levels here, or its aliases become too large",
            nesting::DEEPEST
        );
        return Err(Error::Format {
            path: path.to_owned(),
            line: place.line,
            column: place.column,
            message,
        });
    }
    Ok(text)
}

/// Checks that a text which somebody else wrote can be given to a reader of YAML: that it is not
/// nested so deeply that reading takes for ever.
///
/// # Errors
/// When it is, with the place.
pub fn check_nesting(text: &str) -> Result<(), String> {
    nesting::check(text).map_err(|place| {
        let deepest = nesting::DEEPEST;
        format!("it is nested deeper than {deepest} levels, or its aliases become too large, at line {}, column {}", place.line, place.column)
    })
}

/// Checks the version of a file, the key `format`, and makes its line a comment: no type has the
/// key, and the lines of all others stay. A file without the key has version 1.
fn without_version(path: &Utf8Path, text: String) -> Result<String, Error> {
    const KEY: &str = "format:";
    let is_key = |start: &usize| *start == 0 || text.as_bytes()[start - 1] == b'\n';
    let Some(start) = text.match_indices(KEY).map(|(start, _)| start).find(is_key) else {
        return Ok(text);
    };
    let line = text[..start].matches('\n').count() + 1;
    let wrong = |message: String| Error::Format { path: path.to_owned(), line, column: 1, message };
    let value = text[start + KEY.len()..].lines().next().unwrap_or_default();
    let found: Version = serde_yaml::from_str(value)
        .map_err(|_| wrong(format!("format: `{}` is no version", value.trim())))?;
    found.check(Version::FIRST).map_err(|newer| wrong(newer.to_string()))?;
    let mut text = text;
    text.replace_range(start..=start, "#");
    Ok(text)
}

/// Reads a scalar and checks its text, for `deserialize_with`. It uses a visitor because the reader
/// adds line and key path only to errors that arise while it is at the scalar.
///
/// # Errors
/// When `check` rejects the text.
pub fn text<'de, D, T>(input: D, check: fn(&str) -> Result<T, String>) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
{
    input.deserialize_str(Text(check))
}

/// Parses a duration such as `200ms`, `60s` or `15m`, for use with [`text`].
///
/// # Errors
/// When the text is not a duration.
pub fn period(text: &str) -> Result<Duration, String> {
    let units = [("ms", 1), ("s", 1000), ("m", 60_000)];
    units
        .iter()
        .find_map(|(unit, ms)| text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(*ms))
        .map(Duration::from_millis)
        .ok_or_else(|| format!("`{text}` is not a duration, such as 60s"))
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        name: String,
    }

    fn read_text(text: &str) -> Result<File, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().join("x.yaml")).unwrap();
        fs::write(&path, text).unwrap();
        let read = read(&path);
        read.map_err(|error| error.to_string().replace(folder.path().to_str().unwrap(), ""))
    }

    #[test]
    fn a_file_may_name_its_version_and_a_newer_one_is_refused() {
        for text in ["name: a", "format: 1\nname: a", "# x\nname: a\nformat: 1 # the first\n"] {
            assert_eq!(read_text(text).unwrap().name, "a", "{text}");
        }
        let newer = "it has format 2.0, and this version reads 1.x; use a newer sandbox";
        let text = "name: a\nformat: 2\nkeys: of a later version\n";
        assert_eq!(read_text(text).unwrap_err(), format!("/x.yaml:2:1: {newer}"));
        assert_eq!(
            read_text("format: new\n").unwrap_err(),
            "/x.yaml:1:1: format: `new` is no version"
        );
        // The lines of other errors stay.
        assert!(
            read_text("format: 1\nname: a\nnone: b\n").unwrap_err().starts_with("/x.yaml:3:1: ")
        );
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Changed {
        #[serde(alias = "title")]
        name: String,
        #[serde(default, alias = "with")]
        params: Option<Box<Changed>>,
    }

    /// Which lines have an older name, and what errors say of it.
    #[test]
    fn older_names_are_found_and_errors_have_those_of_today() {
        let name = Renamed { older: "title", name: "name", nested: false };
        let params = Renamed { older: "with", name: "params", nested: true };
        for (key, line, found) in [
            (name, "title: a", true),
            (name, "  title: a", false),
            (name, "titles: a", false),
            (params, "with: {name: b}", true),
            (params, "  - with: {name: b}", true),
            (params, "params: {with: {}}", true),
            (params, "goal: Go with: me", false),
        ] {
            assert_eq!(key.is_in(line), found, "{line}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().join("x.yaml")).unwrap();
        let read_text = |text: &str| {
            fs::write(&path, text).unwrap();
            let read = read_renamed::<Changed>(&path, &[name, params]);
            read.map_err(|error| error.to_string().replace(path.as_str(), "x.yaml"))
        };
        assert_eq!(read_text("title: a\n"), read_text("name: a\n"));
        assert_eq!(
            read_text("title: a\nname: b\n").unwrap_err(),
            "x.yaml:1:1: duplicate field `name`: `title` is its older name; use one of them"
        );
        assert_eq!(
            read_text("name: a\nnone: b\n").unwrap_err(),
            "x.yaml:2:1: unknown field `none`, expected one of `name`, `params`"
        );
    }
}
