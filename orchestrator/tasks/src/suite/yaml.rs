//! Reading one YAML file strictly.

use std::fmt;
use std::fs;

use camino::Utf8Path;
use serde::Deserializer;
use serde::de::{self, DeserializeOwned, Visitor};

use super::Error;

/// A task file is a page of text; anything far above is a mistake or an attack.
const SIZE_LIMIT: u64 = 1 << 20;

/// Reads a whole file as one YAML document of this type.
pub(super) fn read<T: DeserializeOwned>(path: &Utf8Path) -> Result<T, Error> {
    let unreadable = |source| Error::Read { path: path.to_owned(), source };
    let size = fs::metadata(path).map_err(unreadable)?.len();
    if size > SIZE_LIMIT {
        return Err(Error::TooLarge { path: path.to_owned(), size, limit: SIZE_LIMIT });
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    serde_yaml::from_str(&text).map_err(|error| format_error(path, &error))
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

/// Reads a scalar through a check of its text. The reader adds line and key path to errors only when they arise
/// while it stands on the scalar, hence the visitor.
pub(super) fn text<'de, D, T>(input: D, check: fn(&str) -> Result<T, String>) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
{
    input.deserialize_str(Text(check))
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
