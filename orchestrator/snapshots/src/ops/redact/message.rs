//! Redacts one record or page: its fields, its HTTP head, its body.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::fields::{self, Names, Value};
use super::literals::{Literals, placeholder};
use super::{Redaction, json};
use crate::http::{Dechunk, parse_request, parse_response, write_request, write_response};
use crate::ops::scan::patterns;
use crate::ops::stage::StagedRecord;
use crate::recording::FRAMES_TYPE;
use crate::{Body, Error, Frame, Headers, Page, RecordKind, content};

/// The maximum size of a body that is searched. A larger one is an error, so that nothing is
/// missed.
const LARGEST: u64 = 512 << 20;
/// The common prefix of all placeholders.
pub(super) const MARK: &[u8] = b"redacted-";

/// The redaction rules, ready for use.
#[derive(Debug)]
pub(in crate::ops) struct Cleaner {
    key: Vec<u8>,
    /// What the user names: redacted wherever it occurs.
    pub(super) named: Sets,
    /// What is redacted in its own field: the above, and credentials if requested.
    pub(super) hidden: Sets,
    pub(super) literals: Literals,
}

/// Names by where they occur.
#[derive(Debug, Clone)]
pub(super) struct Sets {
    headers: Names,
    pub(super) cookies: Names,
    urls: Names,
    forms: Names,
    /// In JSON that clients send.
    pub(super) sent_json: Names,
    /// In responses that are JSON.
    pub(super) json: Names,
    /// In responses that contain JSON.
    other: Names,
    /// Whether passwords in `user:password@` are among them.
    userinfo: bool,
}

/// A parsed block.
enum Parts {
    Request { method: String, target: String, headers: Headers, body: Vec<u8>, decoded: Vec<u8> },
    Response { status: u16, reason: String, headers: Headers, body: Vec<u8>, decoded: Vec<u8> },
    Other(Vec<u8>),
}

impl Cleaner {
    pub(in crate::ops) fn new(what: &Redaction) -> Cleaner {
        let fields = Names::new(&what.fields);
        let mut named = Sets {
            headers: Names::new(&what.headers),
            cookies: Names::new(&what.cookies),
            urls: fields.clone(),
            forms: fields.clone(),
            sent_json: fields.clone(),
            json: fields.clone(),
            other: fields.clone(),
            userinfo: what.credentials,
        };
        let mut hidden = named.clone();
        if what.credentials {
            // Long and random: these values are also searched for elsewhere.
            named.headers =
                named.headers.or(|name| matches!(name, "authorization" | "proxy-authorization"));
            hidden.headers = hidden.headers.or(patterns::is_key_header);
            hidden.cookies = hidden.cookies.or(|_| true);
            hidden.urls =
                fields.or(|name| patterns::is_password(name) || patterns::is_issued(name));
            hidden.forms =
                fields.or(|name| patterns::is_password(name) || patterns::is_issued(name));
            hidden.sent_json =
                fields.or(|name| patterns::is_password(name) || patterns::is_token(name));
            hidden.json = fields.or(patterns::is_token);
        }
        Cleaner { key: what.key.clone(), named, hidden, literals: Literals::default() }
    }

    /// Adds the values under the given names in a block to `found`.
    pub(super) fn find_in_block(
        &self,
        kind: RecordKind,
        http: bool,
        block: &Body,
        found: &mut BTreeSet<Vec<u8>>,
    ) -> Result<(), Error> {
        match parts(kind, http, block)? {
            Parts::Request { target, headers, decoded, .. } => {
                self.find_in_url(target.as_bytes(), found);
                self.find_in_headers(&headers, found);
                keep(self.named.in_body(RecordKind::Request, &headers, &decoded), found);
                // A page may show what was typed. A word of a language is not looked for in pages.
                let typed = self.hidden.in_body(RecordKind::Request, &headers, &decoded);
                keep(
                    typed.into_iter().filter(|value| is_unlike_words(&value.value)).collect(),
                    found,
                );
            }
            Parts::Response { headers, decoded, .. } => {
                self.find_in_headers(&headers, found);
                keep(self.named.in_body(kind, &headers, &decoded), found);
            }
            Parts::Other(bytes) => {
                let frames = String::from_utf8_lossy(&bytes);
                for frame in
                    frames.lines().filter_map(|line| serde_json::from_str::<Frame>(line).ok())
                {
                    keep(
                        json::in_json(frame.text.unwrap_or_default().as_bytes(), &self.named.other),
                        found,
                    );
                }
                keep(json::in_json(&bytes, &self.named.other), found);
            }
        }
        Ok(())
    }

    /// Adds the values of a URL's query to `found`.
    pub(super) fn find_in_url(&self, url: &[u8], found: &mut BTreeSet<Vec<u8>>) {
        keep(self.named.in_url(url), found);
        let typed = self.hidden.in_url(url);
        keep(typed.into_iter().filter(|value| is_unlike_words(&value.value)).collect(), found);
    }

    fn find_in_headers(&self, headers: &Headers, found: &mut BTreeSet<Vec<u8>>) {
        for (name, value) in headers.iter() {
            keep(self.named.in_header(name, value), found);
            // `Bearer x`: scripts carry only `x`.
            if self.named.headers.has(name.as_bytes())
                && let Some(space) = value.iter().position(|byte| *byte == b' ')
            {
                let secret = value[space + 1..].trim_ascii();
                found.insert(secret.to_vec());
                // `Basic x` is user and password in base64.
                let pair = STANDARD.decode(secret).unwrap_or_default();
                if let Some(colon) = pair.iter().position(|byte| *byte == b':')
                    && value[..space].eq_ignore_ascii_case(b"basic")
                    && pair.len() > colon + 1
                {
                    found.insert(pair[colon + 1..].to_vec());
                }
            }
        }
    }

    /// A redacted record, and the number of replacements.
    pub(super) fn record(&self, taken: StagedRecord) -> Result<(StagedRecord, u64), Error> {
        let mut count = 0;
        let mut headers = Headers::new();
        for (name, value) in taken.headers.iter() {
            let value = match name.to_ascii_lowercase().as_str() {
                "warc-target-uri" | "warc-refers-to-target-uri" => self.url(value, &mut count),
                // Ids and times lead from record to record.
                "warc-record-id"
                | "warc-concurrent-to"
                | "warc-date"
                | "warc-refers-to"
                | "warc-refers-to-date" => value.to_vec(),
                _ => self.literals(value, &mut count),
            };
            headers.push(name, value);
        }
        let before = count;
        let frames = taken.headers.get_str("Content-Type") == Some(FRAMES_TYPE);
        let block = match parts(taken.kind, taken.http, &taken.block)? {
            Parts::Request { method, target, headers, body, decoded } => {
                let target =
                    String::from_utf8_lossy(&self.url(target.as_bytes(), &mut count)).into_owned();
                let (headers, body) =
                    self.message(taken.kind, &headers, body, &decoded, &mut count);
                let mut block = Vec::new();
                write_request(&mut block, &method, &target, &headers);
                block.extend(body);
                block
            }
            Parts::Response { status, reason, headers, body, decoded } => {
                let (headers, body) =
                    self.message(taken.kind, &headers, body, &decoded, &mut count);
                let mut block = Vec::new();
                write_response(&mut block, status, &reason, &headers);
                block.extend(body);
                block
            }
            Parts::Other(bytes) if frames => self.frames(&bytes, &mut count),
            Parts::Other(bytes) => {
                let found = json::in_json(&bytes, &self.hidden.other);
                let bytes =
                    self.values(&bytes, self.hidden.with_userinfo(found, &bytes), &mut count);
                self.literals(&bytes, &mut count)
            }
        };
        // A block without matches is kept byte for byte.
        let block = if count == before { taken.block.clone() } else { Body::from(block) };
        Ok((StagedRecord { headers, block, ..taken }, count))
    }

    /// A redacted page, and the number of replacements.
    pub(in crate::ops) fn page(&self, page: Page) -> (Page, u64) {
        let mut count = 0;
        let text = |text: Option<String>, count: &mut u64| {
            text.map(|text| {
                String::from_utf8_lossy(&self.text(text.as_bytes(), count)).into_owned()
            })
        };
        let url = String::from_utf8_lossy(&self.url(page.url.as_bytes(), &mut count)).into_owned();
        let title = text(page.title, &mut count);
        let words = text(page.text, &mut count);
        // Other tools write fields of any shape, so they are redacted as the text of their JSON.
        let extra = serde_json::to_string(&page.extra).unwrap_or_default();
        let userinfo = self.hidden.with_userinfo(Vec::new(), extra.as_bytes());
        let before = count;
        let clean = self.values(extra.as_bytes(), userinfo, &mut count);
        let clean = String::from_utf8_lossy(&clean).into_owned();
        let clean = match self.literals.replace_text(&clean) {
            Some((clean, places)) => {
                count += places;
                clean
            }
            None => clean,
        };
        let extra = if count > before {
            serde_json::from_str(&clean).unwrap_or_default()
        } else {
            page.extra
        };
        (Page { url, title, text: words, extra, ..page }, count)
    }

    /// A redacted HTTP message. `decoded` is its body without codings.
    pub(in crate::ops) fn message(
        &self,
        kind: RecordKind,
        headers: &Headers,
        body: Vec<u8>,
        decoded: &[u8],
        count: &mut u64,
    ) -> (Headers, Vec<u8>) {
        let mut clean = Headers::new();
        for (name, value) in headers.iter() {
            let value = self.values(value, self.hidden.in_header(name, value), count);
            clean.push(name, self.literals(&value, count));
        }
        let before = *count;
        let bytes = self.values(decoded, self.hidden.in_body(kind, headers, decoded), count);
        let bytes = self.literals(&bytes, count);
        if *count == before {
            return (clean, body);
        }
        // The body is stored decoded and changed, so that its codings and digests do not hold any
        // more.
        clean.remove("content-encoding");
        clean.remove("transfer-encoding");
        for obsolete in ["content-md5", "digest", "content-digest", "repr-digest"] {
            clean.remove(obsolete);
        }
        clean.set("Content-Length", bytes.len().to_string());
        (clean, bytes)
    }

    /// Redacts frames, one JSON object a line. Text is searched as text, base64 in decoded form.
    pub(super) fn frames(&self, lines: &[u8], count: &mut u64) -> Vec<u8> {
        let mut out = Vec::new();
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            // A damaged line may still have values that are known from elsewhere.
            let Ok(mut frame) = serde_json::from_slice::<Frame>(line) else {
                out.extend(self.literals(line, count));
                continue;
            };
            let before = *count;
            let clean = |bytes: &[u8], count: &mut u64| self.socket_message(bytes, count);
            frame.text = frame
                .text
                .map(|text| String::from_utf8_lossy(&clean(text.as_bytes(), count)).into_owned());
            frame.base64 = frame.base64.map(|text| match STANDARD.decode(&text) {
                Ok(bytes) => STANDARD.encode(clean(&bytes, count)),
                Err(_) => text,
            });
            // A line without a secret stays as it is, byte by byte.
            match serde_json::to_vec(&frame) {
                Ok(mut json) if *count > before => {
                    json.push(b'\n');
                    out.extend(json);
                }
                _ => out.extend_from_slice(line),
            }
        }
        out
    }

    /// A redacted WebSocket message.
    pub(in crate::ops) fn socket_message(&self, message: &[u8], count: &mut u64) -> Vec<u8> {
        let clean = self.values(message, json::in_json(message, &self.hidden.sent_json), count);
        self.literals(&clean, count)
    }

    /// A redacted title or description, which may be an address.
    pub(super) fn shown(&self, text: &str, count: &mut u64) -> String {
        String::from_utf8_lossy(&self.url(text.as_bytes(), count)).into_owned()
    }

    /// A text that is shown, without passwords in its addresses.
    fn text(&self, text: &[u8], count: &mut u64) -> Vec<u8> {
        let clean = self.values(text, self.hidden.with_userinfo(Vec::new(), text), count);
        self.literals(&clean, count)
    }

    /// A redacted URL.
    pub(in crate::ops) fn url(&self, url: &[u8], count: &mut u64) -> Vec<u8> {
        let clean = self.values(url, self.hidden.in_url(url), count);
        self.literals(&clean, count)
    }

    pub(super) fn literals(&self, bytes: &[u8], count: &mut u64) -> Vec<u8> {
        match self.literals.replace(bytes) {
            Some((clean, places)) => {
                *count += places;
                clean
            }
            None => bytes.to_vec(),
        }
    }

    /// Replaces the values at the given positions. Existing placeholders are kept.
    pub(super) fn values(&self, bytes: &[u8], values: Vec<Value>, count: &mut u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        let mut done = 0;
        for Value { range, value, quote } in values {
            // A placeholder stays: the check of the result redacts again and must find nothing.
            if value.starts_with(MARK) {
                continue;
            }
            out.extend_from_slice(&bytes[done..range.start]);
            out.extend_from_slice(
                format!("{quote}{}{quote}", placeholder(&self.key, &value)).as_bytes(),
            );
            done = range.end;
            *count += 1;
        }
        out.extend_from_slice(&bytes[done..]);
        out
    }
}

impl Sets {
    pub(super) fn in_header(&self, name: &str, value: &[u8]) -> Vec<Value> {
        if self.headers.has(name.as_bytes()) && !value.is_empty() {
            return vec![Value { range: 0..value.len(), value: value.to_vec(), quote: "" }];
        }
        match name.to_ascii_lowercase().as_str() {
            "cookie" => fields::in_cookies(value, &self.cookies),
            "set-cookie" => fields::in_set_cookie(value, &self.cookies),
            "location" | "referer" | "content-location" | "refresh" | "link" => self.in_url(value),
            _ => self.with_userinfo(Vec::new(), value),
        }
    }

    pub(super) fn in_url(&self, url: &[u8]) -> Vec<Value> {
        self.with_userinfo(fields::in_url(url, &self.urls), url)
    }

    pub(super) fn with_userinfo(&self, values: Vec<Value>, text: &[u8]) -> Vec<Value> {
        if self.userinfo { fields::joined(values, fields::in_userinfo(text)) } else { values }
    }

    pub(super) fn in_body(&self, kind: RecordKind, headers: &Headers, body: &[u8]) -> Vec<Value> {
        let media = headers.get_str("content-type").unwrap_or_default().to_ascii_lowercase();
        let named = self.in_fields(kind, headers, body);
        if is_opaque(&media) { named } else { self.with_userinfo(named, body) }
    }

    fn in_fields(&self, kind: RecordKind, headers: &Headers, body: &[u8]) -> Vec<Value> {
        let media = headers.get_str("content-type").unwrap_or_default();
        let lower = media.to_ascii_lowercase();
        if is_form(&lower) {
            return fields::in_form(body, &self.forms);
        }
        if lower.starts_with("multipart/form-data") {
            let found = fields::in_multipart(media, body, &self.forms);
            if !found.is_empty() {
                return found;
            }
        }
        match kind {
            _ if is_opaque(&lower) => Vec::new(),
            RecordKind::Request if is_json(&lower) => json::in_json(body, &self.sent_json),
            RecordKind::Request => {
                let found = json::in_json(body, &self.sent_json);
                fields::joined(found, fields::in_text_form(body, &self.forms))
            }
            _ if is_json(&lower) => json::in_json(body, &self.json),
            _ => json::in_json(body, &self.other),
        }
    }
}

/// Whether a value has something besides letters, so that it is no word that pages have anyway.
fn is_unlike_words(value: &[u8]) -> bool {
    value.iter().any(|byte| byte.is_ascii_digit() || byte.is_ascii_punctuation())
}

pub(super) fn is_opaque(media: &str) -> bool {
    ["image/", "video/", "audio/", "font/"].iter().any(|start| media.starts_with(start))
}

pub(super) fn is_form(media: &str) -> bool {
    media.starts_with("application/x-www-form-urlencoded")
}

pub(super) fn is_json(media: &str) -> bool {
    let media = media.split(';').next().unwrap_or_default().trim();
    media.ends_with("/json") || media.ends_with("+json")
}

pub(super) fn keep(values: Vec<Value>, found: &mut BTreeSet<Vec<u8>>) {
    found.extend(
        values.into_iter().map(|value| value.value).filter(|value| !value.starts_with(MARK)),
    );
}

/// Parses a block. A block that is not an HTTP message stays whole.
fn parts(kind: RecordKind, http: bool, block: &Body) -> Result<Parts, Error> {
    let bytes = block.to_vec(LARGEST)?;
    if !http {
        return Ok(Parts::Other(bytes));
    }
    if kind == RecordKind::Request {
        let Ok((head, end)) = parse_request(&bytes) else { return Ok(Parts::Other(bytes)) };
        let decoded = decoded(&head.headers, &bytes[end..])?;
        let body = bytes[end..].to_vec();
        return Ok(Parts::Request {
            method: head.method,
            target: head.target,
            headers: head.headers,
            body,
            decoded,
        });
    }
    let Ok((head, end)) = parse_response(&bytes) else { return Ok(Parts::Other(bytes)) };
    let decoded = decoded(&head.headers, &bytes[end..])?;
    let body = bytes[end..].to_vec();
    Ok(Parts::Response {
        status: head.status,
        reason: head.reason,
        headers: head.headers,
        body,
        decoded,
    })
}

fn decoded(headers: &Headers, body: &[u8]) -> Result<Vec<u8>, Error> {
    let mut plain = Vec::new();
    if content::is_chunked(headers) {
        std::io::Read::read_to_end(&mut Dechunk::new(body), &mut plain)
            .map_err(|error| Error::io("read", "a record block".into(), error))?;
    } else {
        plain.extend_from_slice(body);
    }
    content::decoded(headers, &Body::from(plain), LARGEST)
}
