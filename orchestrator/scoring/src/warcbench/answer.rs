//! How answers are decoded before they are compared.

use python_compat::unicode_escape::{Others, decode};

use super::super::ScoreError;
use super::super::mode::ScoringMode;

/// The texts that an answer may stand for: as published, the one that `codecs.decode(answer,
/// 'unicode_escape')` makes of it; in [`ScoringMode::Fixed`] the answer itself, and with its
/// escapes decoded.
///
/// # Errors
/// Where the published code raises an exception.
pub(super) fn readings(answer: &str, mode: ScoringMode) -> Result<Vec<String>, ScoreError> {
    match mode {
        ScoringMode::Faithful => match decode(answer, Others::Bytes) {
            Some(decoded) => Ok(vec![decoded]),
            None => Err(ScoreError::Raised("UnicodeDecodeError")),
        },
        ScoringMode::Fixed => {
            let decoded = decode(answer, Others::Kept);
            Ok(std::iter::once(answer.to_owned()).chain(decoded).collect())
        }
    }
}
