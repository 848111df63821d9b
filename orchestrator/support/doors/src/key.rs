//! Keys: secrets that clients show as the password of a proxy.

use std::fmt;
use std::net::SocketAddr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderMap;
use http::header::PROXY_AUTHORIZATION;

/// A secret that a client shows as the password of the proxy, under any user name.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key with this text, which goes into URLs as it is.
    pub fn new(text: impl Into<String>) -> Key {
        Key(text.into())
    }

    /// A key that nobody guesses.
    pub fn random() -> Key {
        let bytes: [u8; 16] = rand::random();
        Key(hex::encode(bytes))
    }

    /// The URL of a proxy with this key at an address, as clients take it.
    pub fn in_url(&self, address: SocketAddr) -> String {
        format!("http://sandbox:{}@{address}", self.0)
    }

    /// The key itself.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether a request shows it.
    pub(crate) fn is_shown(&self, headers: &HeaderMap) -> bool {
        let mut shown = headers.get_all(PROXY_AUTHORIZATION).iter().filter_map(|value| {
            let (scheme, rest) = value.to_str().ok()?.split_once(' ')?;
            let decoded = BASE64_STANDARD.decode(rest.trim()).ok()?;
            let colon = decoded.iter().position(|&byte| byte == b':')?;
            scheme.eq_ignore_ascii_case("basic").then(|| decoded[colon + 1..].to_vec())
        });
        shown.any(|password| self.is(&password))
    }

    /// Whether this is the key.
    pub fn is(&self, shown: &[u8]) -> bool {
        let right = self.0.as_bytes();
        // No early end, so that the time tells nothing.
        shown.len() == right.len()
            && shown.iter().zip(right).fold(0, |all, (a, b)| all | (a ^ b)) == 0
    }
}

/// It is a secret.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_key_is_shown_as_the_password_of_any_user() {
        let key = Key::new("s3cret-Key_1");
        let shown = |text: &str| {
            let value = HeaderValue::from_str(text).unwrap_or_else(|error| panic!("{error}"));
            key.is_shown(&HeaderMap::from_iter([(PROXY_AUTHORIZATION, value)]))
        };
        let basic = |pair: &str| format!("Basic {}", BASE64_STANDARD.encode(pair));
        for right in ["sandbox:s3cret-Key_1", ":s3cret-Key_1", "any body:s3cret-Key_1"] {
            assert!(shown(&basic(right)), "{right}");
        }
        assert!(shown(&basic("a:s3cret-Key_1").replace("Basic", "bAsIc")));
        for wrong in [
            "sandbox:",
            "s3cret-Key_1",
            "s3cret-Key_1:",
            "sandbox:s3cret-Key_",
            "sandbox:s3cret-Key_12",
        ] {
            assert!(!shown(&basic(wrong)), "{wrong}");
        }
        for wrong in ["", "Basic", "Basic !", "Bearer s3cret-Key_1", "s3cret-Key_1"] {
            assert!(!shown(wrong), "{wrong}");
        }
        assert!(!key.is_shown(&HeaderMap::new()));
        assert_eq!(format!("{key:?}"), "Key(..)");
    }
}
