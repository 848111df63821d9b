//! Request bodies: their content type family, and a canonical form for structured bodies.

use std::borrow::Cow;

use super::rules::{Rule, Rules};
use super::{Payload, ReplayRequest, json, query};

/// A larger body is only compared byte by byte.
pub const MAX_STRUCTURED_BODY: usize = 1 << 20;

/// The family of a content type. Parameters and spelling are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family<'a> {
    /// No body.
    None,
    /// JSON in any of its types.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/...`.
    Multipart,
    /// `text/plain`, which scripts also use for JSON to avoid a preflight.
    Text,
    /// Any other type, as written; empty if there was none.
    Other(&'a str),
}

impl<'a> Family<'a> {
    /// The family of a `Content-Type` value.
    pub fn of(content_type: Option<&'a str>) -> Family<'a> {
        let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        let is = |name: &str| essence.eq_ignore_ascii_case(name);
        let ends = |suffix: &str| {
            essence.len() >= suffix.len()
                && essence.is_char_boundary(essence.len() - suffix.len())
                && essence[essence.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
        };
        let starts = |prefix: &str| {
            essence.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
        };
        if is("application/json") || is("text/json") || ends("+json") {
            Family::Json
        } else if is("application/x-www-form-urlencoded") {
            Family::Form
        } else if starts("multipart/") {
            Family::Multipart
        } else if is("text/plain") {
            Family::Text
        } else {
            Family::Other(essence)
        }
    }

    /// A name shared by all content types of the family.
    pub fn name(&self) -> Cow<'a, str> {
        match self {
            Family::None => Cow::Borrowed("none"),
            Family::Json => Cow::Borrowed("json"),
            Family::Form => Cow::Borrowed("form"),
            Family::Multipart => Cow::Borrowed("multipart"),
            Family::Text => Cow::Borrowed("text"),
            Family::Other(essence) => Cow::Owned(format!("other {}", essence.to_ascii_lowercase())),
        }
    }
}

/// The canonical form of a structured body; `None` for a body that is compared as bytes. Adds the
/// rules that changed something to `rules`.
pub(super) fn canonical(request: &ReplayRequest<'_>, rules: &mut Rules) -> Option<Vec<u8>> {
    let Payload::Bytes(bytes) = request.body else { return None };
    if bytes.is_empty() || bytes.len() > MAX_STRUCTURED_BODY {
        return None;
    }
    let (rule, form) = match Family::of(request.content_type) {
        Family::Json | Family::Text => (Rule::JsonSpelling, json::parse(bytes)?.canonical()),
        Family::Form => return form(bytes, rules),
        Family::Multipart => {
            (Rule::MultipartBoundary, multipart(bytes, boundary(request.content_type?)?)?)
        }
        Family::None | Family::Other(_) => return None,
    };
    if form != bytes {
        rules.add(rule);
    }
    Some(form)
}

fn form(bytes: &[u8], rules: &mut Rules) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut fields: Vec<Cow<'_, str>> = text.split('&').map(Cow::Borrowed).collect();
    query::sort_by_name(&mut fields, rules, Rule::FormOrder);
    Some(fields.join("&").into_bytes())
}

/// The parts of a multipart body, each prefixed with its length. This removes the boundary and is
/// unambiguous.
fn multipart(bytes: &[u8], boundary: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    for part in parts(bytes, boundary)? {
        out.extend_from_slice(&(part.len() as u64).to_le_bytes());
        out.extend_from_slice(part);
    }
    Some(out)
}

/// Splits a multipart body; `None` if it does not end with the closing delimiter.
pub(super) fn parts<'a>(bytes: &'a [u8], boundary: &str) -> Option<Vec<&'a [u8]>> {
    let first = format!("--{boundary}");
    let later = format!("\r\n--{boundary}");
    let mut rest = bytes.strip_prefix(first.as_bytes())?;
    let mut parts = Vec::new();
    loop {
        if rest.starts_with(b"--") {
            return Some(parts);
        }
        rest = rest.strip_prefix(b"\r\n")?;
        let end = find(rest, later.as_bytes())?;
        parts.push(&rest[..end]);
        rest = &rest[end + later.len()..];
    }
}

/// The `boundary` parameter of a content type.
pub(super) fn boundary(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches('"');
        (name.trim().eq_ignore_ascii_case("boundary") && !value.is_empty() && value.len() <= 200)
            .then_some(value)
    })
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    while let Some(at) = haystack.get(from..)?.iter().position(|byte| *byte == first) {
        if haystack[from + at..].starts_with(needle) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}
