//! `urllib.parse`: `urlsplit`, `urlparse`, `urlunsplit`, `parse_qs`, `quote` and `unquote`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::Ipv6Addr;

use percent_encoding::percent_decode_str;

use super::text::{lower, replace};

/// The parts of a URL that scorers look at.
#[derive(Debug, PartialEq, Eq)]
pub struct Url<'a> {
    /// In small letters.
    pub scheme: Cow<'a, str>,
    /// Host with user, port and letter case as written.
    pub netloc: Cow<'a, str>,
    /// Without the `;parameters` of the last segment.
    pub path: Cow<'a, str>,
    /// Without `?`.
    pub query: Cow<'a, str>,
    /// Without `#`.
    pub fragment: Cow<'a, str>,
}

/// Schemes whose last path segment may carry `;parameters`; a URL without scheme may too.
const SCHEMES_WITH_PARAMETERS: [&str; 16] = [
    "", "ftp", "hdl", "prospero", "http", "imap", "https", "shttp", "rtsp", "rtsps", "rtspu",
    "sip", "sips", "mms", "sftp", "tel",
];

/// Characters whose compatibility form has a delimiter in it.
const HIDDEN_DELIMITERS: &str = "\u{2047}\u{2048}\u{2049}\u{2100}\u{2101}\u{2105}\u{2106}\u{2a74}\u{fe13}\u{fe16}\
    \u{fe55}\u{fe56}\u{fe5f}\u{fe6b}\u{ff03}\u{ff0f}\u{ff1a}\u{ff1f}\u{ff20}";

impl<'a> Url<'a> {
    /// `urlparse(text)`; nothing where it raises `ValueError`.
    pub fn parse(text: &'a str) -> Option<Url<'a>> {
        match clean(text) {
            Cow::Borrowed(text) => Some(Parts::of(text)?.url(Cow::Borrowed)),
            Cow::Owned(text) => Some(Parts::of(&text)?.url(|part| part.to_owned().into())),
        }
    }

    /// `parse_qsl(query)`: names and values in their order; blank values do not exist.
    pub fn parameters(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        self.query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (decode(name), decode(value)))
    }

    /// `parse_qs(query)[key][0]`.
    pub fn first_parameter(&self, key: &str) -> Option<String> {
        self.parameters().find(|(name, _)| name == key).map(|(_, value)| value.into_owned())
    }
}

/// `unquote(text)` of a part of a query, where a plus is a space.
fn decode(text: &str) -> Cow<'_, str> {
    match replace(text.into(), "+", " ") {
        Cow::Borrowed(text) => percent_decode_str(text).decode_utf8_lossy(),
        Cow::Owned(text) => unquote(&text).into(),
    }
}

/// Without what `urlsplit` takes out before anything else.
fn clean(text: &str) -> Cow<'_, str> {
    let text = text.trim_start_matches(|c| c <= ' ');
    if text.contains(['\t', '\r', '\n']) {
        text.replace(['\t', '\r', '\n'], "").into()
    } else {
        text.into()
    }
}

/// The parts of a clean text, as they stand there.
struct Parts<'a> {
    /// Before a colon.
    scheme: &'a str,
    netloc: &'a str,
    path: &'a str,
    query: &'a str,
    fragment: &'a str,
}

impl<'a> Parts<'a> {
    /// Nothing where `urlsplit` raises `ValueError`.
    fn of(text: &'a str) -> Option<Parts<'a>> {
        let (scheme, rest) = split_scheme(text);
        let (netloc, rest) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len())),
            None => ("", rest),
        };
        check_brackets(netloc)?;
        if netloc.contains(|c: char| !c.is_ascii() && HIDDEN_DELIMITERS.contains(c)) {
            return None;
        }
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        Some(Parts { scheme, netloc, path, query, fragment })
    }

    /// `own` says whether the parts are borrowed or copied.
    fn url<'u>(self, own: impl Fn(&'a str) -> Cow<'u, str>) -> Url<'u> {
        let scheme = if self.scheme.bytes().any(|b| b.is_ascii_uppercase()) {
            self.scheme.to_ascii_lowercase().into()
        } else {
            own(self.scheme)
        };
        let path = if SCHEMES_WITH_PARAMETERS.contains(&&*scheme) {
            without_parameters(self.path)
        } else {
            self.path
        };
        Url {
            scheme,
            netloc: own(self.netloc),
            path: own(path),
            query: own(self.query),
            fragment: own(self.fragment),
        }
    }
}

/// The result of `urlsplit`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SplitResult {
    /// In lower case.
    pub scheme: String,
    /// Host with user and port.
    pub netloc: String,
    /// With the `;parameters` of its segments.
    pub path: String,
    /// Without `?`.
    pub query: String,
    /// Without `#`.
    pub fragment: String,
}

/// Schemes whose URLs have a host even where it is empty, as far as `urlunsplit` knows.
const SCHEMES_WITH_HOST: [&str; 24] = [
    "ftp", "http", "gopher", "nntp", "telnet", "imap", "wais", "file", "mms", "https", "shttp",
    "snews", "prospero", "rtsp", "rtsps", "rtspu", "rsync", "svn", "svn+ssh", "sftp", "nfs", "git",
    "git+ssh", "ws",
];

impl SplitResult {
    /// `urlsplit(text)`; nothing where it raises `ValueError`.
    pub fn of(text: &str) -> Option<SplitResult> {
        let text = clean(text);
        let Parts { scheme, netloc, path, query, fragment } = Parts::of(&text)?;
        Some(SplitResult {
            scheme: scheme.to_ascii_lowercase(),
            netloc: netloc.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            fragment: fragment.to_owned(),
        })
    }

    /// `urlunsplit(self)`.
    pub fn join(&self) -> String {
        let SplitResult { scheme, netloc, path, query, fragment } = self;
        let mut url = String::new();
        if !scheme.is_empty() {
            url.extend([scheme, ":"]);
        }
        let has_host = scheme == "wss" || SCHEMES_WITH_HOST.contains(&scheme.as_str());
        if !netloc.is_empty() || (has_host && !path.starts_with("//")) {
            url.extend(["//", netloc]);
            if !path.is_empty() && !path.starts_with('/') {
                url.push('/');
            }
        }
        url.push_str(path);
        if !query.is_empty() {
            url.extend(["?", query]);
        }
        if !fragment.is_empty() {
            url.extend(["#", fragment]);
        }
        url
    }

    /// The path as `urlparse` gives it with its parameters put back: a semicolon with nothing
    /// behind it is lost.
    pub fn path_with_parameters(&self) -> &str {
        if !SCHEMES_WITH_PARAMETERS.contains(&self.scheme.as_str()) {
            return &self.path;
        }
        match self.path.strip_suffix(';') {
            Some(rest) if without_parameters(&self.path).len() == rest.len() => rest,
            _ => &self.path,
        }
    }

    /// `hostname` and the text of the port behind it.
    pub fn host_and_port(&self) -> (String, Option<&str>) {
        let host = self.netloc.rsplit_once('@').map_or(self.netloc.as_str(), |(_, host)| host);
        let (host, port) = match host.split_once('[') {
            Some((_, bracketed)) => {
                let (host, rest) = bracketed.split_once(']').unwrap_or((bracketed, ""));
                (host, rest.split_once(':').map(|(_, port)| port))
            }
            None => match host.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (host, None),
            },
        };
        (lower(host).into_owned(), port.filter(|port| !port.is_empty()))
    }
}

/// `parse_qs(query, keep_blank_values=True)`: the values of each name, in the order of their first
/// mention.
pub fn parse_qs(query: &str) -> Vec<(String, Vec<String>)> {
    let mut names: Vec<(String, Vec<String>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = decode(name).into_owned();
        let place = *places.entry(name.clone()).or_insert(names.len());
        if place == names.len() {
            names.push((name, Vec::new()));
        }
        names[place].1.push(decode(value).into_owned());
    }
    names
}

/// `quote(text, safe)`.
pub fn quote(text: &str, safe: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || "_.-~".contains(c) || (c.is_ascii() && safe.contains(c)) {
            out.push(c);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// `unquote(text)`: `%XX` only, bad UTF-8 becomes U+FFFD.
pub fn unquote(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn split_scheme(url: &str) -> (&str, &str) {
    let is_scheme = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    url.split_once(':').filter(|(scheme, _)| is_scheme(scheme)).unwrap_or(("", url))
}

fn without_parameters(path: &str) -> &str {
    let segment = path.rfind('/').unwrap_or(0);
    path[segment..].find(';').map_or(path, |at| &path[..segment + at])
}

/// Brackets come in pairs and hold an IPv6 address or a future form of address.
fn check_brackets(netloc: &str) -> Option<()> {
    match (netloc.find('['), netloc.contains(']')) {
        (None, false) => return Some(()),
        (Some(_), true) => {}
        _ => return None,
    }
    let inside = netloc.split_once('[')?.1;
    let host = inside.split_once(']').map_or(inside, |(host, _)| host);
    let valid = match host.strip_prefix('v') {
        Some(future) => future.split_once('.').is_some_and(|(version, address)| {
            !version.is_empty()
                && version.bytes().all(|b| b.is_ascii_hexdigit())
                && !address.is_empty()
        }),
        None => match host.split_once('%') {
            Some((address, zone)) => is_ipv6(address) && !zone.is_empty() && !zone.contains('%'),
            None => is_ipv6(host),
        },
    };
    valid.then_some(())
}

fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<[&str; 4]>) {
        let url = Url::parse(text).map(|url| [url.netloc, url.path, url.query, url.fragment]);
        assert_eq!(url, expect.map(|parts| parts.map(Cow::Borrowed)), "{text:?}");
    }

    #[test]
    fn splits_as_python_does() {
        check(
            "HTTPS://u@Shop.test:8/a;b/c;d?q=1?#f#g",
            Some(["u@Shop.test:8", "/a;b/c", "q=1?", "f#g"]),
        );
        check(" \u{1}http://a\n.test", Some(["a.test", "", "", ""]));
        check("about:blank", Some(["", "blank", "", ""]));
        check("data:a;b", Some(["", "a;b", "", ""]));
        check("shop.test/a;b", Some(["", "shop.test/a", "", ""]));
        check("//h?x", Some(["h", "", "x", ""]));
        check("http://[::1%25]/", Some(["[::1%25]", "/", "", ""]));
        check("http://[v1.x]/", Some(["[v1.x]", "/", "", ""]));
        for bad in [
            "http://[bad/",
            "http://bad]/",
            "http://[1.2.3.4]/",
            "http://a\u{2100}b/",
            "http://]a[/",
        ] {
            check(bad, None);
        }
    }

    #[test]
    fn what_is_split_joins_again() {
        for url in ["https://a:1/b;c?d#e", "a/b", "//h/p", "mailto:x@y", "/p?q", "file:///p", ""] {
            assert_eq!(SplitResult::of(url).map(|split| split.join()).as_deref(), Some(url));
        }
        let split = SplitResult::of("HTTP://u@Shop.test:80/a;").expect("a URL");
        assert_eq!((split.scheme.as_str(), split.path_with_parameters()), ("http", "/a"));
        assert_eq!(split.host_and_port(), ("shop.test".to_owned(), Some("80")));
        assert_eq!(quote("a b/é~", "/"), "a%20b/%C3%A9~");
    }

    #[test]
    fn parameters_are_decoded_and_blanks_skipped() {
        let url = Url::parse("http://h/?a=&a=x+y%2B&b&%63=%ff").expect("a URL");
        assert_eq!(url.first_parameter("a").as_deref(), Some("x y+"));
        assert_eq!(url.first_parameter("b"), None);
        assert_eq!(url.first_parameter("c").as_deref(), Some("\u{fffd}"));
    }
}
