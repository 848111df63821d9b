//! Folds the method and body of a request into its URL, so that an index of URLs can distinguish
//! requests.
//!
//! This is pywb's convention: `__wb_method=POST` and the body are appended as arguments, and the
//! SURT key is computed from the result. It is lossy: the body is cut at 4096 characters, and JSON
//! keeps only the names of its leaves. Therefore it is only written for other tools, and never by
//! itself a reason to answer a request.

mod json;
pub(crate) mod multipart;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The maximum number of body characters that are folded in.
const MAX_QUERY: usize = 4096;

/// The part of one request that is folded into its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostQuery {
    /// The method, upper case.
    pub method: String,
    /// The body as URL arguments; empty if there is none or it cannot be read.
    pub body: String,
}

/// Applies the convention to a request; `None` for `GET`, whose URL is its key.
pub fn post_query(method: &str, content_type: &str, body: &[u8]) -> Option<PostQuery> {
    let method = method.to_ascii_uppercase();
    if method.is_empty() || method == "GET" {
        return None;
    }
    let folded = matches!(method.as_str(), "POST" | "PUT") && !body.is_empty();
    let body = if folded { fold(content_type, body) } else { String::new() };
    Some(PostQuery { method, body: cut(body) })
}

/// `url` with the method and body of its request appended, from which the SURT key is computed.
pub fn append_post_query(url: &str, method: &str, content_type: &str, body: &[u8]) -> String {
    match post_query(method, content_type, body) {
        None => url.to_owned(),
        Some(query) => query.append_to(url),
    }
}

impl PostQuery {
    /// `url` with this query appended.
    pub fn append_to(&self, url: &str) -> String {
        let mark = if url.contains('?') { '&' } else { '?' };
        let mut out = format!("{url}{mark}__wb_method={}", self.method);
        if !self.body.is_empty() {
            out.push('&');
            out.push_str(&self.body);
        }
        out
    }
}

fn fold(content_type: &str, body: &[u8]) -> String {
    let kind = |start: &str| content_type.starts_with(start);
    if kind("application/x-www-form-urlencoded") {
        std::str::from_utf8(body).map_or_else(|_| binary(body), unquote_plus)
    } else if kind("multipart/") {
        multipart::fields(content_type, body).map_or_else(|| binary(body), |fields| encode(&fields))
    } else if kind("application/json") {
        json::leaves(body).map(|fields| encode(&fields)).unwrap_or_default()
    } else if kind("text/plain") {
        json::leaves(body).map_or_else(|| binary(body), |fields| encode(&fields))
    } else if kind("application/x-amf") {
        // Flash is obsolete; its bodies are not distinguished as bytes either.
        String::new()
    } else {
        binary(body)
    }
}

fn binary(body: &[u8]) -> String {
    // Base64 of 3072 bytes reaches the limit.
    format!("__wb_post_data={}", STANDARD.encode(&body[..body.len().min(MAX_QUERY)]))
}

fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_QUERY) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

/// Decodes form encoding once. Bytes that are not text become U+FFFD.
fn unquote_plus(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

/// Form encoding of names and values.
fn encode(fields: &[(Vec<u8>, Vec<u8>)]) -> String {
    let mut out = String::new();
    for (name, value) in fields {
        if !out.is_empty() {
            out.push('&');
        }
        quote_plus(&mut out, name);
        out.push('=');
        quote_plus(&mut out, value);
    }
    out
}

fn quote_plus(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        match byte {
            b' ' => out.push('+'),
            b if b.is_ascii_alphanumeric() || b"_.-~".contains(b) => out.push(char::from(*b)),
            b => out.push_str(&format!("%{b:02X}")),
        }
    }
}

#[cfg(test)]
mod tests;
