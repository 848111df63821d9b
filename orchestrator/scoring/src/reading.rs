//! Readers for keys of task files, in scorers and elsewhere.

use serde::Deserializer;

/// Reads a text that is not empty, for `deserialize_with`.
///
/// # Errors
/// When the text is empty, or the value is none.
pub fn read_text<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    yaml::text(input, |text| {
        if text.trim().is_empty() { Err("is empty".to_owned()) } else { Ok(text.to_owned()) }
    })
}
