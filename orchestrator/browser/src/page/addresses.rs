//! The URLs that may be opened in an episode: those of the web. URLs of the machine's files or of
//! the browser itself are refused (`file:`, `view-source:`, `chrome:`, `devtools:` and the like).
//!
//! Pages cannot open such URLs; Chromium sees to that. But it takes DevTools commands for the
//! user's own wish, so the URLs of agents and clients are checked here.

use url::Url;

/// A URL that an agent wants to open: of the web, or the empty page. Otherwise the reason.
pub(crate) fn for_agents(address: &str) -> Result<Url, String> {
    parse_allowed(address, &["http", "https"])
}

/// A URL that a client wants to open over DevTools. Data that it already has is allowed, too.
pub(crate) fn for_programs(address: &str) -> Result<Url, String> {
    parse_allowed(address, &["http", "https", "data", "blob"])
}

/// Parsed as browsers do: `url` follows the same standard. The caller passes on the parsed URL.
fn parse_allowed(address: &str, schemes: &[&str]) -> Result<Url, String> {
    let url = Url::parse(address).map_err(|error| error.to_string())?;
    match url.scheme() {
        scheme if schemes.contains(&scheme) => Ok(url),
        // The others lead to `chrome:`.
        "about" if url.path() == "blank" => Ok(url),
        "about" => Err("of `about:` addresses only `about:blank` is opened".to_owned()),
        scheme => Err(format!("`{scheme}:` addresses are not opened")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leads_out_of_the_web() {
        for address in
            ["https://a.test/", "http://a.test:81/b?c#d", "about:blank", "about:blank#here"]
        {
            assert!(for_agents(address).is_ok() && for_programs(address).is_ok(), "{address}");
        }
        for address in ["data:text/html,<p>", "blob:https://a.test/0b5c"] {
            assert!(for_agents(address).is_err() && for_programs(address).is_ok(), "{address}");
        }
        for address in [
            "file:///etc/passwd",
            " \tFILE:/etc/passwd",
            "fi\nle:///etc/passwd",
            "/etc/passwd",
            "view-source:https://a.test/",
            "view-source:file:///etc/passwd",
            "chrome://version",
            "chrome-untrusted://new-tab-page/",
            "chrome-extension://a/b.html",
            "about:version",
            "about:about",
            "devtools://devtools/bundled/inspector.html",
            "filesystem:https://a.test/temporary/b",
            "ftp://a.test/",
            "javascript:alert(1)",
            "intent://a#Intent;end",
            "",
        ] {
            assert!(for_agents(address).is_err() && for_programs(address).is_err(), "{address:?}");
        }
    }
}
