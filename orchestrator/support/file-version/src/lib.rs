//! Versions of the files that this program writes, and the check of every reader.
//!
//! A version is written `{"major":2,"minor":1}`, or as one number where there are no minor
//! versions. A file without a version has version 1. A reader accepts its own major version and
//! older ones with any minor version, and refuses a newer major version in words.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The version of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Version {
    /// Increased when older readers would misread the file.
    pub major: u32,
    /// Increased when something was added.
    pub minor: u32,
}

/// A file is of a newer major version than its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it has format {found}, and this version reads {}.x; use a newer sandbox", .reads.major)]
pub struct NewerVersion {
    /// The version of the file.
    pub found: Version,
    /// The version that is read.
    pub reads: Version,
}

impl Version {
    /// The version of files that name none.
    pub const FIRST: Version = Version { major: 1, minor: 0 };

    /// Whether it is the version that files need not name.
    pub fn is_first(&self) -> bool {
        *self == Version::FIRST
    }

    /// The version under the key `format` of a JSON object.
    ///
    /// # Errors
    /// When the key has something else.
    pub fn of(value: &Value) -> Result<Version, serde_json::Error> {
        match value.get("format") {
            None | Some(Value::Null) => Ok(Version::FIRST),
            Some(version) => serde_json::from_value(version.clone()),
        }
    }

    /// The version in the text of a JSON object, of which nothing else is kept.
    ///
    /// # Errors
    /// When the key `format` has something else, or the text is no JSON object.
    pub fn of_text(text: &[u8]) -> Result<Version, serde_json::Error> {
        #[derive(Deserialize)]
        struct Head {
            #[serde(default)]
            format: Option<Version>,
        }
        serde_json::from_slice::<Head>(text).map(|head| head.format.unwrap_or(Version::FIRST))
    }

    /// Checks that a reader of the version `reads` may read this.
    ///
    /// # Errors
    /// When it is of a newer major version.
    pub fn check(self, reads: Version) -> Result<(), NewerVersion> {
        if self.major > reads.major { Err(NewerVersion { found: self, reads }) } else { Ok(()) }
    }
}

/// The maximum number of values in one text of JSON that somebody else may have written.
const MOST_VALUES: usize = 1_000_000;

/// A text of JSON has more values than any file of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it has more than {MOST_VALUES} values")]
pub struct TooManyValues;

/// Refuses JSON with too many values before they take memory: each costs much more of it than its
/// two bytes of text. Commas, colons and brackets within strings do not count: a string is one
/// value, whatever an agent or a page has put into it.
///
/// # Errors
/// When there are too many.
pub fn check_values(text: &[u8]) -> Result<(), TooManyValues> {
    if count_values(text) > MOST_VALUES { Err(TooManyValues) } else { Ok(()) }
}

/// At least the number of values in valid JSON.
pub fn count_values(text: &[u8]) -> usize {
    let mut values = 0;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b',' | b':' | b'[' | b'{' => values += 1,
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
    }
    values
}

/// Leaves out the rest of a string, with its closing quote.
fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.find(|byte| matches!(byte, b'"' | b'\\')) {
        if *byte == b'"' {
            return;
        }
        // What is escaped, such as a quote, ends nothing.
        bytes.next();
    }
}

/// The key `format` in the JSON schema of a file of version 1.
pub fn schema() -> Value {
    serde_json::json!({
        "description": "The version of the format. Need not be named.",
        "type": "integer",
        "default": 1,
        "const": 1,
    })
}

impl Default for Version {
    fn default() -> Version {
        Version::FIRST
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Version, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a version, such as 1")]
        enum Written {
            Number(u32),
            Both { major: u32, minor: u32 },
        }
        Ok(match Written::deserialize(input)? {
            Written::Number(major) => Version { major, minor: 0 },
            Written::Both { major, minor } => Version { major, minor },
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_in_strings_do_not_count() {
        for (text, expect) in [
            ("{}", 1),
            (r#"{"a":[1,2],"b":{}}"#, 7),
            (r#"["{[,:\"[", "\\", ""]"#, 3),
            (r#""\\\"[""#, 0),
        ] {
            assert_eq!(count_values(text.as_bytes()), expect, "{text}");
        }
    }

    #[test]
    fn absent_numbers_and_objects_are_versions() {
        for (value, expect) in [
            (json!({}), (1, 0)),
            (json!({ "format": null }), (1, 0)),
            (json!({ "format": 3 }), (3, 0)),
            (json!({ "format": { "major": 2, "minor": 1 } }), (2, 1)),
        ] {
            let Version { major, minor } = Version::of(&value).unwrap();
            assert_eq!((major, minor), expect, "{value}");
        }
        for bad in [json!({ "format": "2" }), json!({ "format": -1 }), json!({ "format": [] })] {
            assert!(Version::of(&bad).is_err(), "{bad}");
        }
        let version = Version { major: 2, minor: 1 };
        assert_eq!(serde_json::to_string(&version).unwrap(), r#"{"major":2,"minor":1}"#);
    }

    #[test]
    fn values_count_and_what_stands_in_strings_does_not() {
        let separators = ",:[{".repeat(1 << 18);
        for fits in [
            format!("{{\"answer\":\"{separators}\"}}"),
            format!("[\"\\\"{separators}\", \"a\\\\\", 1]"),
            format!("\"\\u0022{separators}"),
        ] {
            assert_eq!(check_values(fits.as_bytes()), Ok(()), "{:?}", &fits[..20]);
        }
        for many in [
            format!("[{}0]", "0,".repeat(MOST_VALUES)),
            format!("[\"a\",{}0]", "0,".repeat(MOST_VALUES)),
            format!("[\"a\\\\\",\"\\\"\",{}0]", "[],".repeat(MOST_VALUES)),
            "[".repeat(MOST_VALUES + 1),
        ] {
            assert_eq!(check_values(many.as_bytes()), Err(TooManyValues), "{:?}", &many[..20]);
        }
    }

    #[test]
    fn a_newer_major_version_is_refused_in_words() {
        let reads = Version { major: 2, minor: 1 };
        for found in [Version::FIRST, reads, Version { major: 2, minor: 9 }] {
            assert_eq!(found.check(reads), Ok(()));
        }
        let newer = Version { major: 3, minor: 1 }.check(reads).unwrap_err();
        assert_eq!(
            newer.to_string(),
            "it has format 3.1, and this version reads 2.x; use a newer sandbox"
        );
    }
}
