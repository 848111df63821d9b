//! `url_normalize`: a URL with its scheme, its host in small letters, and every character escaped
//! in one way.

use python_compat::text::{lower, strip};
use python_compat::url::{SplitResult, quote, unquote};
use unicode_normalization::UnicodeNormalization as _;

/// The longest label of a host name.
const LABEL_LIMIT: usize = 63;

/// `url_normalize(url)`; nothing where it raises.
pub(super) fn url_normalize(url: &str) -> Option<String> {
    if url.is_empty() {
        return Some(String::new());
    }
    let url = with_scheme(url).replace("#!", "?_escaped_fragment_=");
    let url = url.trim_end_matches(['&', '?', ' ']);
    let parts = SplitResult::of(strip(url))?;
    let (userinfo, rest) = match parts.netloc.find('@') {
        Some(at) => parts.netloc.split_at(at + 1),
        None => ("", parts.netloc.as_str()),
    };
    let (name, port) = rest.split_once(':').unwrap_or((rest, ""));
    let userinfo = if matches!(userinfo, "@" | ":@") { "" } else { userinfo };
    let port = port_of(port, &parts.scheme);
    let colon = if port.is_empty() { "" } else { ":" };
    let netloc = format!("{userinfo}{}{colon}{port}", host(name)?);
    let path = path(&parts.path, &parts.scheme);
    let fragment = requoted(&parts.fragment, "~=");
    Some(
        SplitResult { netloc, path, query: query(&parts.query), fragment, scheme: parts.scheme }
            .join(),
    )
}

fn with_scheme(url: &str) -> String {
    if url == "-" || (url.starts_with('/') && !url.starts_with("//")) {
        return url.to_owned();
    }
    let head: String = url.chars().take(7).collect();
    if !head.contains(':') {
        return format!("https://{}", url.trim_start_matches('/'));
    }
    match url.split_once(':') {
        Some((scheme, rest)) if matches!(&*lower(scheme), "http" | "https" | "ftp" | "ftps") => {
            format!("{scheme}://{}", rest.trim_start_matches('/'))
        }
        _ => url.to_owned(),
    }
}

fn requoted(text: &str, safe: &str) -> String {
    quote(&unquote(text).nfc().collect::<String>(), safe)
}

fn query(query: &str) -> String {
    let safe = "~:/?[]@!$'()*+,;";
    let parameters = query.split('&').filter(|parameter| !parameter.is_empty()).map(|parameter| {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let (key, value) = (requoted(key, safe), requoted(value, safe));
        if value.is_empty() { key } else { format!("{key}={value}") }
    });
    parameters.collect::<Vec<_>>().join("&")
}

fn path(path: &str, scheme: &str) -> String {
    let mut path = requoted(path, "~:/#[]@!$&'()*+,;=");
    if matches!(scheme, "" | "http" | "https" | "ftp" | "file") {
        path = without_dots(&path);
    }
    if path.is_empty() && matches!(scheme, "http" | "https" | "ftp" | "file") {
        path.push('/');
    }
    path
}

/// No `.`, no `..`, no empty segments but at the ends.
fn without_dots(path: &str) -> String {
    let mut output: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" if output.is_empty() => output.push(part),
            "" | "." => {}
            ".." => {
                if output.len() > 1 {
                    output.pop();
                }
            }
            part => output.push(part),
        }
    }
    if path.rsplit('/').next().is_some_and(|last| matches!(last, "" | "." | "..")) {
        output.push("");
    }
    output.join("/")
}

fn port_of(port: &str, scheme: &str) -> String {
    if port.is_empty() || !port.bytes().all(|b| b.is_ascii_digit()) {
        return port.to_owned();
    }
    let number = port.trim_start_matches('0');
    let usual = match scheme {
        "ftp" => "21",
        "gopher" => "70",
        "http" | "ws" => "80",
        "https" | "wss" => "443",
        "news" | "nntp" => "119",
        "snews" | "snntp" => "563",
        "telnet" => "23",
        _ => "none",
    };
    match number {
        "" => "0".to_owned(),
        number if number == usual => String::new(),
        number => number.to_owned(),
    }
}

/// Nothing where neither standard of names takes it.
fn host(name: &str) -> Option<String> {
    let name = lower(name);
    let name = name.trim_matches('.');
    if !name.is_ascii() {
        return idna::domain_to_ascii(name).ok();
    }
    let labels: Vec<&str> = name.split('.').collect();
    if labels.iter().all(|label| label.is_empty() || is_valid(label)) {
        return Some(
            labels.into_iter().filter(|label| !label.is_empty()).collect::<Vec<_>>().join("."),
        );
    }
    // The older standard takes any character, but no empty labels.
    labels
        .iter()
        .all(|label| !label.is_empty() && label.len() <= LABEL_LIMIT)
        .then(|| name.to_owned())
}

fn is_valid(label: &str) -> bool {
    label.len() <= LABEL_LIMIT
        && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
        && (label.get(2..4) != Some("--") || label.starts_with("xn--"))
}

#[cfg(test)]
mod tests {
    use super::url_normalize;

    #[test]
    fn one_form() {
        for (url, expect) in [
            (
                "HTTP://Shop.Test:80//a/./b/../c d?x=1&&y=%41&",
                Some("http://shop.test/a/c%20d?x=1&y=A"),
            ),
            ("shop.test", Some("https://shop.test/")),
            ("/a?", Some("/a")),
            ("http://u@shop.test:08080/#!b", Some("http://u@shop.test:8080/?_escaped_fragment_=b")),
            ("http://a_b.test/x;y=é", Some("http://a_b.test/x;y=%C3%A9")),
            ("mailto:x@y.test", Some("mailto:x@y.test")),
            ("http://a]b/", None),
            ("http://a_b..test/", None),
        ] {
            assert_eq!(url_normalize(url).as_deref(), expect, "{url}");
        }
    }
}
