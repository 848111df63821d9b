//! The host part of a SURT key.

use super::{escape, unescape};

/// Lower-case host and port of an authority. User and password are dropped. `None` if the port is
/// not a number.
pub(super) fn and_port(authority: &[u8]) -> Option<(Option<Vec<u8>>, Option<u16>)> {
    let colons = authority.iter().rev().take_while(|b| **b == b':').count();
    let authority = &authority[..authority.len() - colons];
    let start = authority.iter().rposition(|b| *b == b'@').map_or(0, |at| at + 1);
    let address = &authority[start..];
    let (host, port) = match address.iter().position(|b| *b == b'[') {
        Some(open) => {
            let (host, rest) = cut(&address[open + 1..], b']');
            (host, cut(rest, b':').1)
        }
        None => cut(address, b':'),
    };
    let port = match port {
        b"" => None,
        digits if digits.iter().all(u8::is_ascii_digit) => {
            // Leading zeros are ignored, and port 0 means no port.
            let digits = std::str::from_utf8(digits).ok()?.trim_start_matches('0');
            if digits.is_empty() { None } else { Some(digits.parse().ok()?) }
        }
        _ => return None,
    };
    if host.is_empty() {
        return Some((None, port));
    }
    // A zone follows a percent sign and keeps its case.
    let zone = host.iter().position(|b| *b == b'%').unwrap_or(host.len());
    Some((Some([&host[..zone].to_ascii_lowercase(), &host[zone..]].concat()), port))
}

/// The parts before and after the first `at`.
fn cut(bytes: &[u8], at: u8) -> (&[u8], &[u8]) {
    match bytes.iter().position(|b| *b == at) {
        Some(index) => (&bytes[..index], &bytes[index + 1..]),
        None => (bytes, &[]),
    }
}

pub(super) fn canonical(host: &[u8], scheme: &[u8]) -> Vec<u8> {
    let mut host = unescape(host);
    if !host.is_ascii() {
        host = ascii(&host).unwrap_or(host);
    }
    let host = without_double_dots(&host);
    let dots = |b: &u8| *b == b'.';
    let start = host.iter().position(|b| !dots(b)).unwrap_or(host.len());
    let end = host.iter().rposition(|b| !dots(b)).map_or(start, |at| at + 1);
    let host = &host[start..end];
    let host = address(host).unwrap_or_else(|| escape(&host.to_ascii_lowercase()));
    let host = host.to_ascii_lowercase();
    if scheme == b"dns" { host } else { without_www(&host).to_vec() }
}

/// The labels from last to first, separated by commas. IP addresses are reversed too.
pub(super) fn reversed(host: &[u8]) -> Vec<u8> {
    let labels: Vec<&[u8]> = host.rsplit(|b| *b == b'.').collect();
    labels.join(&b","[..])
}

fn without_www(host: &[u8]) -> &[u8] {
    let Some(rest) = host.strip_prefix(b"www") else { return host };
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    rest[digits..].strip_prefix(b".").unwrap_or(host)
}

fn without_double_dots(host: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(host.len());
    let mut at = 0;
    while at < host.len() {
        out.push(host[at]);
        at += if host[at..].starts_with(b"..") { 2 } else { 1 };
    }
    out
}

/// The ASCII form of an internationalised host by IDNA 2003, which the reference follows. `None`
/// for an invalid host, which is percent-escaped then.
fn ascii(host: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(host).replace('\u{fffd}', "");
    let mut labels: Vec<&str> = text.split(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']).collect();
    // A trailing dot is accepted.
    let rooted = labels.len() > 1 && labels.last().is_some_and(|label| label.is_empty());
    if rooted {
        labels.pop();
    }
    if text.is_empty() {
        return Some(Vec::new());
    }
    let mut out = Vec::with_capacity(host.len());
    for label in labels {
        let label = if label.is_ascii() { label.to_owned() } else { ascii_label(label)? };
        if label.is_empty() || label.len() > 63 {
            return None;
        }
        out.extend_from_slice(label.as_bytes());
        out.push(b'.');
    }
    if !rooted {
        out.pop();
    }
    Some(out)
}

/// Current IDNA rules keep some characters that IDNA 2003 maps. They are mapped first.
fn ascii_label(label: &str) -> Option<String> {
    let mut mapped = String::with_capacity(label.len());
    for c in label.chars() {
        match c {
            'ß' | 'ẞ' => mapped.push_str("ss"),
            'ς' => mapped.push('σ'),
            '\u{200c}' | '\u{200d}' => {}
            c => mapped.push(c),
        }
    }
    match url::Host::parse(&mapped) {
        Ok(url::Host::Domain(domain)) => Some(domain),
        _ => None,
    }
}

/// The dotted form of an IP address that is written as one number, in parts, or in octal.
fn address(host: &[u8]) -> Option<Vec<u8>> {
    let dotted = |n: u32| std::net::Ipv4Addr::from(n).to_string().into_bytes();
    if !host.is_empty() && host.iter().all(u8::is_ascii_digit) {
        let number = host
            .iter()
            .fold(0_u32, |n, digit| n.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')));
        return Some(dotted(number));
    }
    let text = std::str::from_utf8(host).ok()?;
    let parts: Vec<&str> = text.split('.').collect();
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if parts.len() > 4 || !parts.iter().all(digits) {
        return None;
    }
    if parts[0].starts_with('0') && !parts.iter().all(|part| part.bytes().all(|b| b < b'8')) {
        return None;
    }
    let numbers: Vec<u32> = parts.iter().map(|part| number(part)).collect::<Option<_>>()?;
    let (last, first) = numbers.split_last()?;
    if first.iter().any(|n| *n > 255) || u64::from(*last) >= 1_u64 << (8 * (4 - first.len())) {
        return None;
    }
    let high = first.iter().enumerate().fold(0, |sum, (index, n)| sum | n << (24 - 8 * index));
    Some(dotted(high | last))
}

/// A number; octal if it starts with a zero.
fn number(digits: &str) -> Option<u32> {
    let radix = if digits.len() > 1 && digits.starts_with('0') { 8 } else { 10 };
    u32::from_str_radix(digits, radix).ok()
}
