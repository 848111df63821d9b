//! SURT keys: URLs with the host labels reversed, so that an index sorted by them keeps sites
//! together.
//!
//! `https://www.Example.test:8080/Path/?b=2&a=1#top` becomes `test,example:8080)/path?a=1&b=2`. The
//! rules are those of the Python `surt` package, including its quirks, because pywb, cdxj-indexer
//! and py-wacz use them to look up records. Session ids are removed, arguments are sorted,
//! everything is lower case, and percent escapes are normalised.

mod host;
mod session;

/// The SURT key of `url`. A URL that the reference rejects (a port that is not a number) is its own
/// key.
pub fn surt(url: &str) -> String {
    if url.is_empty() {
        return "-".to_owned();
    }
    if url.starts_with("filedesc") {
        return url.to_owned();
    }
    canonical(url.as_bytes())
        .and_then(|key| String::from_utf8(key).ok())
        .unwrap_or_else(|| url.to_owned())
}

/// The parts of a URL, not yet canonical.
struct Parts<'a> {
    scheme: &'a [u8],
    authority: &'a [u8],
    path: &'a [u8],
    query: Option<&'a [u8]>,
}

fn canonical(url: &[u8]) -> Option<Vec<u8>> {
    let url: Vec<u8> =
        strip(url).iter().copied().filter(|b| !matches!(b, b'\n' | b'\r' | b'\t')).collect();
    let url = with_scheme(url)?;
    let url = one_protocol(&url);
    let parts = split(url);
    let default_port = match parts.scheme.to_ascii_lowercase().as_slice() {
        b"http" => 80,
        b"https" => 443,
        _ => 0,
    };
    let (mut host, port) = host::and_port(parts.authority)?;
    let mut path = parts.path;
    let rest;
    if parts.scheme.starts_with(b"http") && host.is_none() && !path.is_empty() {
        // `http:////host/path` and `http:host/path` still name a host.
        let start = path.iter().position(|b| *b != b'/').unwrap_or(path.len());
        let name = &path[start..];
        let end = name.iter().position(|b| *b == b'/');
        host = Some(name[..end.unwrap_or(name.len())].to_vec());
        rest = [b"/", &name[end.map_or(name.len(), |at| at + 1)..]].concat();
        path = &rest;
    }
    let host =
        host.map(|host| host::canonical(&host, parts.scheme)).filter(|host| !host.is_empty());

    let mut key = Vec::with_capacity(url.len() + 8);
    match &host {
        Some(host) => {
            key.extend(host::reversed(host));
            if let Some(port) = port.filter(|port| *port != default_port) {
                key.extend(format!(":{port}").bytes());
            }
            key.push(b')');
        }
        None => {
            key.extend_from_slice(parts.scheme);
            key.push(b':');
        }
    }
    let path = canonical_path(path, host.is_some());
    let query = parts.query.map(canonical_query).filter(|query| !query.is_empty());
    if path.is_empty() && query.is_some() {
        key.push(b'/');
    }
    key.extend(path);
    if let Some(query) = query {
        key.push(b'?');
        key.extend(query);
    }
    Some(key)
}

fn canonical_path(path: &[u8], has_host: bool) -> Vec<u8> {
    let path = unescape(path);
    let path = if has_host { without_dots(&path) } else { path };
    let path = session::strip_path(&escape(&path).to_ascii_lowercase());
    match path.strip_suffix(b"/") {
        Some(shorter) if !shorter.is_empty() => shorter.to_vec(),
        _ => path,
    }
}

fn canonical_query(query: &[u8]) -> Vec<u8> {
    let query = session::strip_query(&escape(&unescape(query))).to_ascii_lowercase();
    if query.len() <= 1 {
        return query;
    }
    let mut arguments: Vec<(&[u8], Option<&[u8]>)> = query
        .split(|b| *b == b'&')
        .map(|argument| match argument.iter().position(|b| *b == b'=') {
            Some(at) => (&argument[..at], Some(&argument[at + 1..])),
            None => (argument, None),
        })
        .collect();
    arguments.sort();
    let mut sorted = Vec::with_capacity(query.len());
    for (name, value) in arguments {
        sorted.extend_from_slice(name);
        if let Some(value) = value {
            sorted.push(b'=');
            sorted.extend_from_slice(value);
        }
        sorted.push(b'&');
    }
    sorted.pop();
    sorted
}

/// The path with `.` and `..` resolved, and without empty segments except a trailing slash. A
/// superfluous `..` is kept.
fn without_dots(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|b| *b == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    let mut out = vec![b'/'];
    if let Some((last, others)) = kept.split_last() {
        for segment in others.iter().filter(|segment| !segment.is_empty()) {
            out.extend_from_slice(segment);
            out.push(b'/');
        }
        out.extend_from_slice(last);
    }
    out
}

/// Prepends `http://` to a URL without a scheme. An empty URL gives `None`.
fn with_scheme(url: Vec<u8>) -> Option<Vec<u8>> {
    let name = url.iter().take_while(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b)).count();
    let has_scheme = url.first()?.is_ascii_alphabetic() && url.get(name) == Some(&b':');
    Some(if has_scheme { url } else { [b"http://", url.as_slice()].concat() })
}

/// Of `http://https://...`, keeps the last scheme.
fn one_protocol(url: &[u8]) -> &[u8] {
    let mut last = url;
    let mut rest = url;
    while let Some(next) = rest.strip_prefix(b"http://").or_else(|| rest.strip_prefix(b"https://"))
    {
        last = rest;
        rest = next;
    }
    last
}

/// Scheme, authority, path and query; the fragment is dropped. The URL must have a scheme.
fn split(url: &[u8]) -> Parts<'_> {
    let until = |bytes: &[u8], ends: &[u8]| {
        bytes.iter().position(|b| ends.contains(b)).unwrap_or(bytes.len())
    };
    let colon = until(url, b":");
    let (scheme, rest) = (&url[..colon], url.get(colon + 1..).unwrap_or_default());
    let rest = &rest[..until(rest, b"#")];
    let (authority, rest) = match rest.strip_prefix(b"//") {
        Some(rest) => rest.split_at(until(rest, b"/?")),
        None => (&rest[..0], rest),
    };
    let (path, query) = rest.split_at(until(rest, b"?"));
    Parts { scheme, authority, path, query: query.strip_prefix(b"?") }
}

fn strip(bytes: &[u8]) -> &[u8] {
    let white = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c);
    let start = bytes.iter().position(|b| !white(b)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|b| !white(b)).map_or(start, |at| at + 1);
    &bytes[start..end]
}

/// Decodes percent escapes until there are none left.
fn unescape(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    // Each round makes the text shorter, so this terminates.
    while let Some(first) = (0..bytes.len()).find(|at| escaped(&bytes[*at..]).is_some()) {
        let mut out = bytes[..first].to_vec();
        let mut at = first;
        while at < bytes.len() {
            match escaped(&bytes[at..]) {
                Some(byte) => {
                    out.push(byte);
                    at += 3;
                }
                None => {
                    out.push(bytes[at]);
                    at += 1;
                }
            }
        }
        bytes = out;
    }
    bytes
}

fn escaped(bytes: &[u8]) -> Option<u8> {
    let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
    match bytes {
        [b'%', high, low, ..] => Some(digit(*high)? * 16 + digit(*low)?),
        _ => None,
    }
}

/// Escapes controls, space, `#`, `%` and everything beyond ASCII.
fn escape(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_graphic() && !matches!(byte, b'#' | b'%') {
            out.push(*byte);
        } else {
            out.extend(format!("%{byte:02X}").bytes());
        }
    }
    out
}

#[cfg(test)]
mod tests;
