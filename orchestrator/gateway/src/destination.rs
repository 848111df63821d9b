//! The request destination (`document`, `image`, ...) for the ledger.

use http::header;

use crate::{RequestHead, miss};

/// The value of `Sec-Fetch-Dest`, or `beacon` for requests whose response the page cannot read:
/// `sendBeacon`, pings, and `fetch` in mode `no-cors`.
///
/// Browsers send the header over https only. Without it, `Accept` identifies documents, styles and
/// images; the destination of the other requests is unknown.
///
/// Each request of a page `without_cache` says that it wants nothing of a cache. A script for which
/// nobody says so is fetched by the browser, to see whether a service worker has a newer version.
pub(crate) fn of(head: &RequestHead, without_cache: bool) -> Option<String> {
    let named = head.header("sec-fetch-dest");
    let name = match named {
        Some("empty") if head.header("sec-fetch-mode") == Some("no-cors") => "beacon",
        Some("script") if without_cache && head.header(header::CACHE_CONTROL).is_none() => {
            "serviceworker"
        }
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

#[cfg(test)]
mod tests {
    use crate::replay::tests::head;

    #[test]
    fn a_script_of_which_no_page_wants_a_new_copy_is_compared_for_a_service_worker() {
        let of = |destination: &str, cache: Option<&str>, without_cache: bool| {
            let mut headers = vec![("sec-fetch-dest", destination)];
            headers.extend(cache.map(|cache| ("cache-control", cache)));
            let head = head("GET", "https://a.test/x", &headers);
            super::of(&head, without_cache).unwrap()
        };
        assert_eq!(of("script", Some("no-cache"), true), "script");
        assert_eq!(of("script", None, true), "serviceworker");
        assert_eq!(of("script", None, false), "script", "other browsers have a cache");
        assert_eq!(of("image", None, true), "image");
    }
}
