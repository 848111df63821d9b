//! Cookies, as sites set them and browsers get them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A cookie, with the attributes that a browser keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value, as sent in requests.
    pub value: String,
    /// The path prefix of the requests that carry it.
    pub path: String,
    /// The domain that it is valid for; only the host that set it if `None`.
    pub domain: Option<String>,
    /// When it expires, by the site's clock; at the end of the browser session if `None`.
    pub expires: Option<Timestamp>,
    /// Whether it is sent over HTTPS only.
    pub secure: bool,
    /// Whether scripts cannot read it.
    pub http_only: bool,
    /// `Strict`, `Lax` or `None`, if the site sets it.
    pub same_site: Option<String>,
}

impl Cookie {
    /// A cookie of which no more than this is known.
    pub fn new(name: &str, value: &str) -> Cookie {
        Cookie {
            name: name.to_owned(),
            value: value.to_owned(),
            path: "/".to_owned(),
            domain: None,
            expires: None,
            secure: false,
            http_only: false,
            same_site: None,
        }
    }
}
