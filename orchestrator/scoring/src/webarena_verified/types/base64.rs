//! `Base64String`: compared by what is encoded, or with a pattern for that.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use python_compat::Value;
use python_compat::pattern::Flags;
use python_compat::text::strip;

use super::text::{is_pattern, matches};
use super::{Normal, TypedValue};
use crate::webarena_verified::PythonException;

/// As strict as `b64decode(validate=True)`: padded, but the last bits may be anything.
const STRICT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

pub(super) fn normalise(value: &Value) -> Result<Normal, PythonException> {
    let Value::Str(text) = value else {
        return Err(PythonException::new("Base64String only accepts string input."));
    };
    let text = strip(text);
    if text.is_empty() {
        return Err(PythonException::new("Base64 string is empty"));
    }
    if is_pattern(text) {
        return Ok(Normal::Text(text.to_owned()));
    }
    let bytes = STRICT.decode(text).ok();
    let content = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let content = content
        .ok_or_else(|| PythonException(format!("Invalid base64 string: {}", value.to_repr())))?;
    let lines = content.replace("\r\n", "\n").replace('\r', "\n");
    Ok(Normal::Text(strip(&lines).to_owned()))
}

pub(super) fn equal(one: &TypedValue, other: &TypedValue) -> Result<bool, PythonException> {
    let flags = Flags { dot_all: true, ..Flags::default() };
    Ok(matches(one, other, flags)?
        || matches(other, one, flags)?
        || one.texts().any(|one| other.texts().any(|other| one == other)))
}
