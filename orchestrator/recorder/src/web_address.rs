//! Addresses of pages, as they are typed.

use url::Url;

/// Reads the address of a page. Without a scheme it is none: `localhost:8000` would be one of the
/// scheme `localhost`.
///
/// # Errors
/// Says what is wrong with it, and how it is written.
pub fn web_address(text: &str) -> Result<Url, String> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        Ok(url) if text.contains("://") => {
            Err(format!("{}: is not recorded; http: and https: are", url.scheme()))
        }
        _ => {
            let plain = format!("http://{text}");
            let host = text.split(['/', ':', '?']).next().unwrap_or_default();
            let local = host == "localhost"
                || host.parse::<std::net::IpAddr>().is_ok()
                || !host.contains('.');
            let scheme = if local { "http" } else { "https" };
            match Url::parse(&plain) {
                Ok(url) if url.has_host() => {
                    Err(format!("the scheme is missing: write {scheme}://{text}"))
                }
                _ => Err("it is no address of a page, such as https://example.org/".to_owned()),
            }
        }
    }
}
