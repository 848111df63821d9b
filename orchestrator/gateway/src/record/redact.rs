//! Redacts secrets before they are written.
//!
//! Each value is replaced by a placeholder that is derived from the value and a salt of the
//! recorder. Within a recording, equal values have equal placeholders, so requests that matched
//! still match. The value cannot be derived from the snapshot.

use sha2::{Digest, Sha256};
use snapshots::ops::CredentialFilter;
use snapshots::{Error, Exchange, Headers, Page};

/// What to redact, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redact {
    /// Header names, in any case. The whole value is replaced, in requests and responses.
    pub headers: Vec<String>,
    /// Cookie names, case-sensitive. The value is replaced in `Cookie` and `Set-Cookie`.
    pub cookies: Vec<String>,
    /// Whether to redact authorization headers, all cookies, and fields with names of passwords and
    /// tokens: in forms, JSON, URLs and WebSocket messages.
    pub credentials: bool,
}

/// The redaction of one recording.
pub(super) struct Redactor {
    redact: Redact,
    salt: [u8; 16],
    credentials: Option<CredentialFilter>,
}

impl Redactor {
    pub(super) fn new(redact: Redact, salt: [u8; 16]) -> Redactor {
        let credentials = redact.credentials.then(|| CredentialFilter::new(&salt));
        Redactor { redact, salt, credentials }
    }

    /// Redacts an exchange. After an error the exchange may still contain secrets.
    pub(super) fn exchange(&self, exchange: &mut Exchange) -> Result<(), Error> {
        self.redact.apply(&self.salt, exchange);
        self.credentials.as_ref().map_or(Ok(()), |credentials| credentials.exchange(exchange))
    }

    /// Redacts a WebSocket message; `None` if there is nothing to replace.
    pub(super) fn socket_message(&self, message: &[u8]) -> Option<Vec<u8>> {
        self.credentials.as_ref()?.socket_message(message)
    }

    /// Redacts what is kept of a page.
    pub(super) fn page(&self, page: Page) -> Page {
        match &self.credentials {
            Some(credentials) => credentials.page(page),
            None => page,
        }
    }

    /// Redacts a URL.
    pub(super) fn url(&self, url: &str) -> Option<String> {
        Some(self.credentials.as_ref()?.url(url))
    }
}

impl Redact {
    pub(super) fn apply(&self, salt: &[u8; 16], exchange: &mut Exchange) {
        if self.headers.is_empty() && self.cookies.is_empty() {
            return;
        }
        self.redact(salt, &mut exchange.request.headers);
        self.redact(salt, &mut exchange.response.headers);
    }

    fn redact(&self, salt: &[u8; 16], headers: &mut Headers) {
        for (name, value) in &mut headers.0 {
            if self.headers.iter().any(|own| own.eq_ignore_ascii_case(name)) {
                *value = placeholder(salt, value).into_bytes();
            } else if name.eq_ignore_ascii_case("cookie") {
                let pairs: Vec<Vec<u8>> =
                    value.split(|byte| *byte == b';').map(|pair| self.cookie(salt, pair)).collect();
                *value = pairs.join(&b';');
            } else if name.eq_ignore_ascii_case("set-cookie") {
                let end = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
                let mut redacted = self.cookie(salt, &value[..end]);
                redacted.extend_from_slice(&value[end..]);
                *value = redacted;
            }
        }
    }

    /// A `name=value` pair. White space around the name is kept.
    fn cookie(&self, salt: &[u8; 16], pair: &[u8]) -> Vec<u8> {
        let Some(equals) = pair.iter().position(|byte| *byte == b'=') else { return pair.to_vec() };
        let (name, value) = (&pair[..equals], &pair[equals + 1..]);
        if !self.cookies.iter().any(|own| own.as_bytes() == name.trim_ascii()) {
            return pair.to_vec();
        }
        [name, b"=", placeholder(salt, value).as_bytes()].concat()
    }
}

fn placeholder(salt: &[u8; 16], value: &[u8]) -> String {
    let digest = Sha256::new().chain_update(salt).chain_update(value).finalize();
    format!("redacted-{}", hex::encode(&digest[..8]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(redact: &Redact, fields: &[(&str, &str)]) -> Vec<String> {
        let mut headers: Headers = fields.iter().copied().collect();
        redact.redact(&[7; 16], &mut headers);
        headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value)))
            .collect()
    }

    #[test]
    fn named_headers_and_cookies_are_replaced_and_nothing_else() {
        let redact = Redact {
            headers: vec!["authorization".into()],
            cookies: vec!["sid".into()],
            ..Redact::default()
        };
        let secret = placeholder(&[7; 16], b"s3cret");
        let token = placeholder(&[7; 16], b"Bearer x");
        assert_eq!(
            redacted(
                &redact,
                &[
                    ("Authorization", "Bearer x"),
                    ("Cookie", "a=1; sid=s3cret; SID=other"),
                    ("Set-Cookie", "sid=s3cret; Path=/; Secure"),
                    ("Set-Cookie", "flag; Path=/"),
                    ("X-Other", "s3cret"),
                ]
            ),
            [
                format!("Authorization: {token}"),
                format!("Cookie: a=1; sid={secret}; SID=other"),
                format!("Set-Cookie: sid={secret}; Path=/; Secure"),
                "Set-Cookie: flag; Path=/".to_owned(),
                "X-Other: s3cret".to_owned(),
            ]
        );
    }

    #[test]
    fn another_recording_has_other_placeholders() {
        assert_ne!(placeholder(&[1; 16], b"x"), placeholder(&[2; 16], b"x"));
    }
}
