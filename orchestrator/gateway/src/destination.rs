//! The request destination (`document`, `image`, ...) for the ledger.

use http::header;

use crate::{RequestHead, miss};

/// The value of `Sec-Fetch-Dest`, or `beacon` for requests whose response the page cannot read:
/// `sendBeacon`, pings, and `fetch` in mode `no-cors`.
///
/// Browsers send the header over https only. Without it, `Accept` identifies documents, styles and
/// images; the destination of the other requests is unknown.
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
