//! The HTML of documents: what Playwright's `page.content()` returns, for the page and for each of
//! its frames.

/// The present HTML of a document.
pub(crate) const HTML: &str = "(document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '') + (document.documentElement?.outerHTML ?? '')";
