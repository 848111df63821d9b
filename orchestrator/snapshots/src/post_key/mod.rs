//! Folds the method and body of a request into its URL, so that an index of URLs tells requests
//! apart.
//!
//! This is the convention of pywb: `__wb_method=POST` and the body as arguments are appended, and
//! the SURT key is made of the result. It is lossy (the body is cut at 4096 characters, JSON keeps
//! only the names of its leaves), so it is written for other tools to read and is never by itself a
//! reason to answer a request.

mod json;
pub(crate) mod multipart;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// More of a body than this many characters is not folded in.
const MAX_QUERY: usize = 4096;

/// What is folded into the URL of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostQuery {
    /// The method, upper case.
    pub method: String,
    /// The body as URL arguments; empty if there is none or it cannot be read.
    pub body: String,
}

/// What the convention makes of a request; `None` for `GET`, whose URL is its key.
pub fn post_query(method: &str, content_type: &str, body: &[u8]) -> Option<PostQuery> {
    let method = method.to_ascii_uppercase();
    if method.is_empty() || method == "GET" {
        return None;
    }
    let folded = matches!(method.as_str(), "POST" | "PUT") && !body.is_empty();
    let body = if folded { fold(content_type, body) } else { String::new() };
    Some(PostQuery { method, body: cut(body) })
}

/// `url` with the method and body of its request appended, the text of which the SURT key is made.
pub fn append_post_query(url: &str, method: &str, content_type: &str, body: &[u8]) -> String {
    match post_query(method, content_type, body) {
        None => url.to_owned(),
        Some(query) => query.append_to(url),
    }
}

impl PostQuery {
    /// `url` with this appended.
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
        // Flash is gone; its bodies are told apart as bytes nowhere else either.
        String::new()
    } else {
        binary(body)
    }
}

fn binary(body: &[u8]) -> String {
    // Base64 of 3072 bytes fills the limit.
    format!("__wb_post_data={}", STANDARD.encode(&body[..body.len().min(MAX_QUERY)]))
}

fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_QUERY) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

/// Undoes form encoding once; bytes that are no text become U+FFFD.
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
