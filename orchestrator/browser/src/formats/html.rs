//! The HTML of documents: what Playwright's `page.content()` returns, for the page and for each of
//! its frames.

use schemars::JsonSchema;
use serde::Serialize;

/// The present HTML of a document.
pub(crate) const HTML: &str = "(document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '') + (document.documentElement?.outerHTML ?? '')";

/// A document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Html {
    /// The bid of the element that shows it; empty for the page itself.
    pub frame: String,
    /// Its URL.
    pub url: String,
    /// Its HTML.
    pub html: String,
}
