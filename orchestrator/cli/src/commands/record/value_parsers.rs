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
