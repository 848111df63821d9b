//! Parsers for values on the command line: hosts, addresses of pages, and answers to banners.

use recorder::plan::Consent;
use url::Url;

/// Reads the name of a host.
pub(super) fn host(text: &str) -> Result<String, String> {
    let is_host = Url::parse(&format!("http://{text}/")).is_ok_and(|url| {
        url.port().is_none()
            && url.path() == "/"
            && url.host_str().is_some_and(|host| host.eq_ignore_ascii_case(text))
    });
    if is_host {
        Ok(text.to_owned())
    } else {
        Err("it is no name of a host, such as api.example.com".to_owned())
    }
}

/// Reads what becomes of banners about cookies.
pub(crate) fn consent(text: &str) -> Result<Consent, String> {
    match text {
        "accept" => Ok(Consent::Accept),
        "reject" => Ok(Consent::Reject),
        "leave" => Ok(Consent::Leave),
        _ => Err("it is accept, reject or leave".to_owned()),
    }
}

/// Reads the address of a page. Without a scheme it is none: `localhost:8000` would be one of the
/// scheme `localhost`.
pub(crate) fn web_address(text: &str) -> Result<Url, String> {
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
