//! Scans a snapshot for likely secrets that should not be shared.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::exchanges::damaged;
use super::redact::{Cleaner, Redaction, is_placeholder};
use super::stage::starts;
use super::{Error, OnProgress};
use crate::recording::FRAMES_TYPE;
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
    /// Bodies and lines of page lists that were too large or too damaged to be searched.
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
    /// Any other cookie.
    Cookie,
    /// A JSON Web Token.
    JsonWebToken,
    /// A private key in PEM form.
    PrivateKey,
    /// A string with the prefix and form of a known service's API key.
    ApiKey,
    /// A field with the name of a password in a form, in JSON or in a WebSocket message; or the
    /// password of an address (`user:password@`).
    Password,
    /// A URL field with the name of a secret.
    SecretInUrl,
    /// A web storage entry with the name of a secret.
    StoredSecret,
}

/// Searches a snapshot for likely secrets: all that [`super::count_credentials`] counts, and what
/// looks like a key of a known service. Placeholders from redaction do not count.
///
/// # Errors
/// The snapshot cannot be read or is damaged.
pub fn scan_secrets(path: &Utf8Path, progress: OnProgress<'_>) -> Result<SecretScan, Error> {
    let archive = Archive::open(path)?;
    // What a redaction of credentials would replace.
    let cleaner = &Cleaner::new(&Redaction { credentials: true, ..Redaction::default() });
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
        scan.record(record, cleaner);
    }
    for page in archive.page_lines() {
        let Ok(page) = page else {
            scan.not_searched += 1;
            continue;
        };
        let extra = serde_json::to_string(&page.extra).ok();
        scan.passwords(cleaner.hidden_in_url(page.url.as_bytes()), &page.url, "page");
        scan.text(&page.url, "page", page.url.as_bytes());
        for text in [page.title, page.text, extra].into_iter().flatten() {
            scan.passwords(cleaner.hidden_in_text(text.as_bytes()), &page.url, "page");
            scan.text(&page.url, "page", text.as_bytes());
        }
    }
    scan.other_files(&archive, cleaner);
    scan.state(&BrowserState::of(&archive), cleaner);
    scan.clean = scan.counts.is_empty();
    Ok(scan)
}

impl SecretScan {
    fn record(&mut self, mut record: Record, cleaner: &Cleaner) {
        let url = record.target_uri().map(|url| url.into_owned()).unwrap_or_default();
        let side = match record.kind() {
            RecordKind::Request => "request",
            RecordKind::Response | RecordKind::Revisit => "response",
            _ => {
                match record.read_block(LARGEST) {
                    Ok(block) => {
                        let place = record.kind().name();
                        if record.content_type() == Some(FRAMES_TYPE)
                            && cleaner.holds_in_frames(&block)
                        {
                            self.add(SecretKind::Password, &url, "message", b"");
                        }
                        self.passwords(cleaner.hidden_in_text(&block), &url, place);
                        self.text(&url, place, &block);
                    }
                    Err(_) => self.not_searched += 1,
                }
                return;
            }
        };
        if side == "response" {
            // Reported once for an exchange, not again for the request.
            self.url(&url, cleaner);
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
            self.header(&url, side, name, value, cleaner);
        }
        let kind = record.kind();
        let media = headers.get_str("content-type").unwrap_or_default().to_ascii_lowercase();
        if ["image/", "video/", "audio/", "font/"].iter().any(|start| media.starts_with(start)) {
            return;
        }
        let body = content::body_within(record, &headers, LARGEST)
            .and_then(|body| content::decoded(&headers, &body, LARGEST));
        match body {
            Ok(body) => {
                let place = format!("{side} body");
                self.passwords(cleaner.hidden_in_body(kind, &headers, &body), &url, &place);
                self.text(&url, &place, &body);
            }
            Err(_) => self.not_searched += 1,
        }
    }

    /// Adds what a redaction of credentials would replace in a header of a request or a response.
    fn header(&mut self, url: &str, side: &str, name: &str, value: &[u8], cleaner: &Cleaner) {
        let lower = name.to_ascii_lowercase();
        let place = format!("{side} header {lower}");
        if matches!(lower.as_str(), "cookie" | "set-cookie") {
            for (name, value) in cleaner.hidden_cookies(&lower, value) {
                self.add(cookie_kind(&name), url, &place, &value);
            }
        } else {
            let is_key = patterns::is_key_header(&lower);
            let kind = if is_key { SecretKind::AuthorizationHeader } else { SecretKind::Password };
            let hidden = cleaner.hidden_in_header(name, value);
            hidden.iter().for_each(|value| self.add(kind, url, &place, value));
            // Its whole value is reported already.
            if is_key && !hidden.is_empty() {
                return;
            }
        }
        self.text(url, &place, value);
    }

    /// Searches the browser state.
    fn state(&mut self, state: &BrowserState, cleaner: &Cleaner) {
        for cookie in &state.cookies {
            let value = cookie.value.as_bytes();
            // Redacted values are no secrets.
            if is_placeholder(value) || value.is_empty() {
                continue;
            }
            self.add(cookie_kind(cookie.name.as_bytes()), &cookie.domain, "cookie", value);
        }
        for (place, storage) in
            [("localStorage", &state.local_storage), ("sessionStorage", &state.session_storage)]
        {
            for (origin, entries) in storage {
                for (key, value) in entries {
                    let hidden = cleaner.hidden_in_storage(key, value);
                    hidden
                        .iter()
                        .for_each(|value| self.add(SecretKind::StoredSecret, origin, place, value));
                    let value = value.as_bytes();
                    if !hidden.is_empty() {
                        continue;
                    }
                    if patterns::is_secret_field(key) && !patterns::is_harmless(value) {
                        self.add(SecretKind::StoredSecret, origin, place, value);
                    } else {
                        self.text(origin, place, value);
                    }
                }
            }
        }
    }

    /// Searches the files of a container that are neither records nor made of them: descriptions,
    /// logs, rules, and what else somebody has put there.
    fn other_files(&mut self, archive: &Archive, cleaner: &Cleaner) {
        let Some(package) = archive.package() else { return };
        let is_known = |name: &str| {
            ["archive/", "indexes/", "pages/"].iter().any(|part| name.starts_with(part))
        };
        for entry in package.entries().iter().filter(|entry| !is_known(&entry.name)) {
            match package.read(&entry.name, LARGEST) {
                Ok(Some(bytes)) => {
                    self.passwords(cleaner.hidden_in_text(&bytes), &entry.name, &entry.name);
                    self.text(&entry.name, &entry.name, &bytes);
                }
                Ok(None) => {}
                Err(_) => self.not_searched += 1,
            }
        }
    }

    fn passwords(&mut self, found: Vec<Vec<u8>>, url: &str, place: &str) {
        for value in found {
            self.add(SecretKind::Password, url, place, &value);
        }
    }

    fn url(&mut self, url: &str, cleaner: &Cleaner) {
        let Ok(parsed) = url::Url::parse(url) else { return };
        let named: Vec<_> =
            parsed.query_pairs().filter(|(name, _)| patterns::is_secret_field(name)).collect();
        // Those in named fields are reported below.
        let is_other =
            |value: &Vec<u8>| !named.iter().any(|(_, known)| known.as_bytes() == value.as_slice());
        let others = cleaner.hidden_in_url(url.as_bytes()).into_iter().filter(is_other).collect();
        self.passwords(others, url, "url");
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
            // Half of a short password would be too much of it.
            let shown = if kind == SecretKind::Password { 0 } else { 4 };
            let start: String = String::from_utf8_lossy(value).chars().take(shown).collect();
            let hint = format!("{start}… ({} bytes)", value.len());
            // The URL may contain the secret itself.
            let url = cleaned(url.split(['?', '#']).next().unwrap_or_default());
            self.secrets.push(Secret { kind, url, place: place.to_owned(), hint });
        }
    }
}

fn cookie_kind(name: &[u8]) -> SecretKind {
    let is_session = patterns::is_session_name(&String::from_utf8_lossy(name));
    if is_session { SecretKind::SessionCookie } else { SecretKind::Cookie }
}

/// An address without user and password.
fn cleaned(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(sign) => format!("{scheme}://{}", &rest[sign + 1..]),
        None => url.to_owned(),
    }
}
