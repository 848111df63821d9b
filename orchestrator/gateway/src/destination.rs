//! What a request's answer is for, as the ledger names it.

use http::header;

use crate::{RequestHead, miss};

/// `Sec-Fetch-Dest`, with `beacon` for what the page cannot read the answer of: `sendBeacon`,
/// pings, and `fetch` in mode `no-cors`. Browsers send the header over https only; without it,
/// `Accept` tells documents, styles and images from the rest, of which nothing is known.
pub(crate) fn of(head: &RequestHead) -> Option<String> {
    let named = head.header("sec-fetch-dest");
    let name = match named {
        Some("empty") if head.header("sec-fetch-mode") == Some("no-cors") => "beacon",
        Some(named) => named,
        None if miss::is_navigation(head) => "document",
        None => match head.header(header::ACCEPT)? {
            accept if accept.starts_with("text/css") => "style",
            accept if accept.starts_with("image/") => "image",
            _ => return None,
        },
    };
    Some(name.to_owned())
}
