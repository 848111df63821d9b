//! Decodes the body of an entry: plain text, base64, Polly.js's lists of chunks, a file beside the
//! log, form fields, or nothing.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::schema::{RawContent, RawParam, RawPostData};
use super::{Attachments, Error};

/// A body, and whether the content coding is known to be removed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyContent {
    /// The log does not hold the body.
    Missing,
    /// Text, and therefore decoded.
    Text(String),
    /// Bytes as sent by the server.
    Sent(Vec<u8>),
    /// Decoded bytes.
    Decoded(Vec<u8>),
    /// Bytes that may or may not be decoded.
    Bytes(Vec<u8>),
}

/// The body of a response. `coded` says whether its headers name a content coding.
pub(super) fn of_response(
    content: Option<RawContent>,
    coded: bool,
    entry: u64,
    attachments: &mut Attachments,
    limit: u64,
) -> Result<BodyContent, Error> {
    let Some(content) = content else { return Ok(BodyContent::Missing) };
    // If `size` differs from the transferred size and equals ours, the content coding is removed.
    let decoded = |bytes: Vec<u8>| {
        let saved = content.compression.is_some_and(|saved| saved != 0.0);
        if saved && content.size == Some(bytes.len() as f64) {
            BodyContent::Decoded(bytes)
        } else {
            BodyContent::Bytes(bytes)
        }
    };
    if let Some(name) = content.file.filter(|name| !name.0.is_empty()) {
        return Ok(decoded(attachments.read(entry, &name.0, limit)?));
    }
    let Some(text) = content.text else { return Ok(BodyContent::Missing) };
    let base64 = content.encoding.is_some_and(|encoding| encoding.0.eq_ignore_ascii_case("base64"));
    if coded || content.is_binary == Some(true) {
        let chunk = if base64 { from_base64 } else { from_hex };
        if let Some(bytes) = from_chunks(&text.0, chunk) {
            return Ok(BodyContent::Sent(bytes));
        }
        if content.is_binary == Some(true)
            && !base64
            && let Some(bytes) = from_hex(&text.0)
        {
            return Ok(BodyContent::Bytes(bytes));
        }
    }
    if !base64 {
        return Ok(BodyContent::Text(text.0));
    }
    match from_base64(&text.0) {
        Some(bytes) => Ok(decoded(bytes)),
        None => Err(Error::Entry {
            entry,
            field: "response.content.text",
            reason: "is not base64, which response.content.encoding says it is".to_owned(),
        }),
    }
}

/// The body of a request, and whether it had to be rebuilt from `postData.params`.
pub(super) fn of_request(
    data: Option<RawPostData>,
    entry: u64,
    attachments: &mut Attachments,
    limit: u64,
) -> Result<(BodyContent, bool), Error> {
    let Some(data) = data else { return Ok((BodyContent::Missing, false)) };
    if let Some(name) = data.file.filter(|name| !name.0.is_empty()) {
        return Ok((BodyContent::Bytes(attachments.read(entry, &name.0, limit)?), false));
    }
    let params = data.params.unwrap_or_default();
    match data.text {
        Some(text) if !text.0.is_empty() || params.is_empty() => {
            let base64 =
                data.encoding.is_some_and(|encoding| encoding.0.eq_ignore_ascii_case("base64"));
            // What is no base64 after all is the text itself.
            let bytes = if base64 { from_base64(&text.0) } else { None };
            Ok((bytes.map_or(BodyContent::Text(text.0), BodyContent::Bytes), false))
        }
        _ if params.is_empty() => Ok((BodyContent::Missing, false)),
        _ => {
            let mime = data.mime_type.map(|mime| mime.0).unwrap_or_default();
            Ok((BodyContent::Bytes(from_params(&params, &mime)), true))
        }
    }
}

/// Encodes a text in the character set of its header. If that set is unsupported, the text is
/// UTF-8, and the flag is false: the header must be corrected.
pub(super) fn encode_text(text: String, charset: Option<&str>) -> (Vec<u8>, bool) {
    let honest = match charset {
        _ if text.is_ascii() => true,
        None | Some("utf-8" | "utf8") => true,
        Some("iso-8859-1" | "latin1") => {
            if let Some(bytes) = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect() {
                return (bytes, true);
            }
            false
        }
        Some(_) => false,
    };
    (text.into_bytes(), honest)
}

/// The `charset` parameter of a content type, in lower case and without quotes.
pub(super) fn charset(content_type: &str) -> Option<String> {
    parameter(content_type, "charset").map(|value| value.to_ascii_lowercase())
}

fn parameter(content_type: &str, wanted: &str) -> Option<String> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim().trim_matches('"').to_owned())
    })
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    if text.bytes().any(|byte| byte.is_ascii_whitespace()) {
        let packed: String = text.split_ascii_whitespace().collect();
        return STANDARD.decode(packed).ok();
    }
    STANDARD.decode(text).ok()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    digits
        .chunks_exact(2)
        .map(|pair| u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok())
        .collect()
}

/// Polly.js stores a coded body as the JSON list of the chunks in which it arrived.
fn from_chunks(text: &str, chunk: fn(&str) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    if !text.starts_with('[') {
        return None;
    }
    let chunks: Vec<String> = serde_json::from_str(text).ok()?;
    let parts: Option<Vec<Vec<u8>>> = chunks.iter().map(|part| chunk(part)).collect();
    parts.filter(|parts| !parts.is_empty()).map(|parts| parts.concat())
}

/// Characters that `application/x-www-form-urlencoded` does not escape.
const FORM: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_').remove(b' ');

/// The maximum length of a boundary; the standard has 70.
const MAX_BOUNDARY: usize = 200;

fn from_params(params: &[RawParam], mime: &str) -> Vec<u8> {
    let text = |text: &Option<super::schema::Text>| {
        text.as_ref().map(|text| text.0.clone()).unwrap_or_default()
    };
    // It is repeated for each field.
    if let Some(boundary) = parameter(mime, "boundary").filter(|text| text.len() <= MAX_BOUNDARY) {
        let mut body = String::new();
        for param in params {
            body.push_str(&format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"",
                text(&param.name)
            ));
            if param.file_name.is_some() {
                body.push_str(&format!("; filename=\"{}\"", text(&param.file_name)));
            }
            if param.content_type.is_some() {
                body.push_str(&format!("\r\nContent-Type: {}", text(&param.content_type)));
            }
            body.push_str(&format!("\r\n\r\n{}\r\n", text(&param.value)));
        }
        body.push_str(&format!("--{boundary}--\r\n"));
        return body.into_bytes();
    }
    let escape = |text: String| utf8_percent_encode(&text, FORM).to_string().replace(' ', "+");
    let pairs: Vec<String> = params
        .iter()
        .map(|param| format!("{}={}", escape(text(&param.name)), escape(text(&param.value))))
        .collect();
    pairs.join("&").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polly_chunks_are_joined() {
        assert_eq!(from_chunks(r#"["1f8b","0800"]"#, from_hex), Some(vec![0x1f, 0x8b, 8, 0]));
        assert_eq!(from_chunks(r#"["H4s=", "aGk="]"#, from_base64), Some(b"\x1f\x8bhi".to_vec()));
        assert_eq!(from_chunks(r#"["not hex"]"#, from_hex), None);
        assert_eq!(from_chunks("[]", from_hex), None);
        assert_eq!(from_chunks("{}", from_hex), None);
    }

    #[test]
    fn text_is_written_in_the_declared_character_set() {
        assert_eq!(encode_text("é".into(), Some("iso-8859-1")), (vec![0xE9], true));
        assert_eq!(encode_text("é".into(), None), ("é".as_bytes().to_vec(), true));
        assert_eq!(encode_text("鉄".into(), Some("shift_jis")), ("鉄".as_bytes().to_vec(), false));
        assert_eq!(encode_text("plain".into(), Some("shift_jis")), (b"plain".to_vec(), true));
    }
}
