//! Removes session ids from paths and queries. They differ between two captures of one page.

/// Removes the ASP.NET session from a path: `/(S(24 characters))/` or `/(24 characters)/` before a
/// name that ends in `.aspx`.
pub(super) fn strip_path(path: &[u8]) -> Vec<u8> {
    let path = strip_segment(path, cookieless);
    strip_segment(&path, |bytes| {
        let inner = id(bytes.strip_prefix(b"(")?)?;
        inner.strip_prefix(b")/")
    })
}

/// Matches `(`, one or more `x(24 characters)`, `)/`; returns the rest.
fn cookieless(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes.strip_prefix(b"(")?;
    let mut count = 0;
    while let [letter, b'(', inner @ ..] = rest {
        let Some(inner) = letter.is_ascii_alphabetic().then(|| id(inner)).flatten() else { break };
        let Some(behind) = inner.strip_prefix(b")") else { break };
        rest = behind;
        count += 1;
    }
    if count == 0 { None } else { rest.strip_prefix(b")/") }
}

fn id(bytes: &[u8]) -> Option<&[u8]> {
    let (id, rest) = bytes.split_at_checked(24)?;
    id.iter().all(u8::is_ascii_alphanumeric).then_some(rest)
}

/// Removes the last part that comes after a slash, is matched by `session`, and is followed by an
/// `.aspx` name.
fn strip_segment(path: &[u8], session: impl Fn(&[u8]) -> Option<&[u8]>) -> Vec<u8> {
    for slash in (0..path.len()).rev().filter(|at| path[*at] == b'/') {
        if let Some(rest) = session(&path[slash + 1..]) {
            let name = rest.iter().position(|b| *b == b'?').unwrap_or(rest.len());
            let aspx =
                rest[..name].windows(5).skip(1).any(|window| window.eq_ignore_ascii_case(b".aspx"));
            if aspx {
                return [&path[..=slash], rest].concat();
            }
        }
    }
    path.to_vec()
}

/// Removes session arguments from a query: of each kind only the last one.
pub(super) fn strip_query(query: &[u8]) -> Vec<u8> {
    let mut query = query.to_vec();
    for kind in [jsession, phpsession, sid, asp, coldfusion] {
        let found = (0..query.len()).rev().find_map(|start| {
            let end = query.len() - kind(&query[start..])?.len();
            let behind = match query.get(end) {
                None => end,
                Some(b'&') => end + 1,
                Some(_) => return None,
            };
            Some((start, behind))
        });
        if let Some((start, behind)) = found {
            query.drain(start..behind);
        }
    }
    query
}

fn jsession(bytes: &[u8]) -> Option<&[u8]> {
    word(name(bytes, b"jsessionid=")?, 32, u8::is_ascii_alphanumeric)
}

fn phpsession(bytes: &[u8]) -> Option<&[u8]> {
    word(name(bytes, b"phpsessid=")?, 32, u8::is_ascii_alphanumeric)
}

fn sid(bytes: &[u8]) -> Option<&[u8]> {
    word(name(bytes, b"sid=")?, 32, u8::is_ascii_alphanumeric)
}

fn asp(bytes: &[u8]) -> Option<&[u8]> {
    let rest = word(name(bytes, b"aspsessionid")?, 8, u8::is_ascii_alphabetic)?;
    word(name(rest, b"=")?, 24, u8::is_ascii_alphabetic)
}

fn coldfusion(bytes: &[u8]) -> Option<&[u8]> {
    let rest = value(name(bytes, b"cfid=")?)?;
    value(name(rest, b"&cftoken=")?)
}

fn name<'a>(bytes: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = bytes.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then_some(rest)
}

fn word(bytes: &[u8], length: usize, allowed: impl Fn(&u8) -> bool) -> Option<&[u8]> {
    let (word, rest) = bytes.split_at_checked(length)?;
    word.iter().all(allowed).then_some(rest)
}

fn value(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|b| *b == b'&').unwrap_or(bytes.len());
    (end > 0).then(|| &bytes[end..])
}
