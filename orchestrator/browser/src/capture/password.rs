//! A password that stands in a page.

use std::fmt;

use serde::Deserialize;

/// A password that stands in a page. It is not shown where it is printed for programmers, and never
/// written.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Password(String);

impl Password {
    /// The password itself.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Password {
    fn from(text: &str) -> Password {
        Password(text.to_owned())
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}
