//! Scans a snapshot for likely secrets that should not be shared.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::exchanges::damaged;
use super::stage::starts;
use super::{Error, OnProgress};
use crate::{Archive, BrowserState, Progress, Record, RecordKind, content};

pub(super) mod patterns;

/// The maximum number of listed findings; the counts continue.
const LISTED: usize = 1000;
/// The maximum size of a body that is searched.
const LARGEST: u64 = 64 << 20;

/// The result of a scan.
#[derive(Debug, Clone, Serialize)]
pub struct SecretScan {
    /// The file.
    pub path: Utf8PathBuf,
    /// Whether nothing was found.
    pub clean: bool,
    /// Findings by kind.
    pub counts: BTreeMap<SecretKind, u64>,
    /// The findings, the first thousand.
    pub secrets: Vec<Secret>,
    /// Bodies that were too large or too damaged to be searched.
    pub not_searched: u64,
}

/// A likely secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Secret {
    /// What it looks like.
    pub kind: SecretKind,
    /// URL of the record that contains it.
    pub url: String,
    /// Its place in the record: `request header authorization`, `response body`, `url`, `page`,
    /// `localStorage`.
    pub place: String,
    /// Its first four characters and its length; never more.
    pub hint: String,
}

/// What a secret looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretKind {
    /// An `Authorization` or `Proxy-Authorization` header, or a header with the name of a key.
    AuthorizationHeader,
    /// A cookie with the name of a session.
    SessionCookie,
    /// A JSON Web Token.
    JsonWebToken,
    /// A private key in PEM form.
    PrivateKey,
    /// A string with the prefix and form of a known service's API key.
    ApiKey,
    /// A URL field with the name of a secret.
    SecretInUrl,
    /// A web storage entry with the name of a secret.
    StoredSecret,
}

/// Searches a snapshot for likely secrets. Placeholders from redaction do not count.
///
/// # Errors
/// The snapshot cannot be read or is damaged.
pub fn scan_secrets(path: &Utf8Path, progress: OnProgress<'_>) -> Result<SecretScan, Error> {
    let archive = Archive::open(path)?;
    let mut scan = SecretScan {
        path: path.to_owned(),
        clean: true,
        counts: BTreeMap::new(),
        secrets: Vec::new(),
        not_searched: 0,
    };
    let starts = starts(&archive);
    for item in archive.records() {
        let (at, record) = item.map_err(|error| damaged(&archive, error))?;
        progress(Progress { done: starts.position(at), total: starts.total });
        scan.record(record);
    }
    for page in archive.pages() {
        scan.text(&page.url, "page", page.url.as_bytes());
        for text in [page.title, page.text].into_iter().flatten() {
            scan.text(&page.url, "page", text.as_bytes());
        }
    }
    scan.state(&BrowserState::of(&archive));
    scan.clean = scan.counts.is_empty();
    Ok(scan)
}

impl SecretScan {
    fn record(&mut self, mut record: Record) {
        let url = record.target_uri().map(|url| url.into_owned()).unwrap_or_default();
        let side = match record.kind() {
            RecordKind::Request => "request",
            RecordKind::Response | RecordKind::Revisit => "response",
            _ => {
                match record.read_block(LARGEST) {
                    Ok(block) => self.text(&url, record.kind().name(), &block),
                    Err(_) => self.not_searched += 1,
                }
                return;
            }
        };
        if side == "response" {
            // Reported once for an exchange, not again for the request.
            self.url(&url);
        }
        if !record.holds_http() {
            return;
        }
        let head = match side {
            "request" => record.request_head().map(|head| head.headers),
            _ => record.response_head().map(|head| head.headers),
        };
        let Ok(headers) = head else {
            self.not_searched += 1;
            return;
        };
        for (name, value) in headers.iter() {
            self.header(&url, side, name, value);
        }
        let media = headers.get_str("content-type").unwrap_or_default().to_ascii_lowercase();
        if ["image/", "video/", "audio/", "font/"].iter().any(|start| media.starts_with(start)) {
            return;
        }
        let body =
            content::body(record, &headers).and_then(|body| content::decoded(&headers, &body, LARGEST));
        match body {
            Ok(body) => self.text(&url, &format!("{side} body"), &body),
            Err(_) => self.not_searched += 1,
        }
    }

    fn header(&mut self, url: &str, side: &str, name: &str, value: &[u8]) {
        let lower = name.to_ascii_lowercase();
        let place = format!("{side} header {lower}");
        let cookies = match lower.as_str() {
            "cookie" => value.split(|byte| *byte == b';').collect(),
            "set-cookie" => value.split(|byte| *byte == b';').take(1).collect(),
            _ => Vec::new(),
        };
        for cookie in cookies {
            let equals = cookie.iter().position(|byte| *byte == b'=').unwrap_or(cookie.len());
            let (name, value) = cookie.split_at(equals);
            let value = value.strip_prefix(b"=").unwrap_or(value).trim_ascii();
            if patterns::is_session_name(&String::from_utf8_lossy(name)) && !patterns::is_harmless(value) {
                self.add(SecretKind::SessionCookie, url, &place, value);
            }
        }
        if side == "request" && patterns::is_key_header(&lower) && !patterns::is_harmless(value) {
            self.add(SecretKind::AuthorizationHeader, url, &place, value);
        } else {
            self.text(url, &place, value);
        }
    }

    /// Searches the browser state.
    fn state(&mut self, state: &BrowserState) {
        for cookie in &state.cookies {
            let value = cookie.value.as_bytes();
            if patterns::is_session_name(&cookie.name) && !patterns::is_harmless(value) {
                self.add(SecretKind::SessionCookie, &cookie.domain, "cookie", value);
            } else {
                self.text(&cookie.domain, "cookie", value);
            }
        }
        for (place, storage) in
            [("localStorage", &state.local_storage), ("sessionStorage", &state.session_storage)]
        {
            for (origin, entries) in storage {
                for (key, value) in entries {
                    let value = value.as_bytes();
                    let named = patterns::is_secret_field(key) || patterns::is_token(key);
                    if named && !patterns::is_harmless(value) {
                        self.add(SecretKind::StoredSecret, origin, place, value);
                    } else {
                        self.text(origin, place, value);
                    }
                }
            }
        }
    }

    fn url(&mut self, url: &str) {
        let Ok(parsed) = url::Url::parse(url) else { return };
        for (name, value) in parsed.query_pairs() {
            if patterns::is_secret_field(&name) && !patterns::is_harmless(value.as_bytes()) {
                self.add(SecretKind::SecretInUrl, url, "url", value.as_bytes());
            }
        }
        self.text(url, "url", url.as_bytes());
    }

    fn text(&mut self, url: &str, place: &str, text: &[u8]) {
        for (kind, found) in patterns::find(text) {
            self.add(kind, url, place, found);
        }
    }

    fn add(&mut self, kind: SecretKind, url: &str, place: &str, value: &[u8]) {
        *self.counts.entry(kind).or_default() += 1;
        if self.secrets.len() < LISTED {
            let start: String = String::from_utf8_lossy(value).chars().take(4).collect();
            let hint = format!("{start}… ({} bytes)", value.len());
            // The URL may contain the secret itself.
            let url = url.split(['?', '#']).next().unwrap_or_default().to_owned();
            self.secrets.push(Secret { kind, url, place: place.to_owned(), hint });
        }
    }
}
