//! The parts of a `multipart/form-data` body as named fields.

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// The maximum number of parts.
const MAX_PARTS: usize = 10_000;

/// Name and content of each part; `None` without a usable boundary.
pub(super) fn fields(content_type: &str, body: &[u8]) -> Option<Fields> {
    let boundary = parameter(content_type, "boundary").filter(|b| is_boundary(b))?;
    let (next, last) =
        (format!("--{boundary}").into_bytes(), format!("--{boundary}--").into_bytes());
    let mut fields = Vec::new();
    let mut part: Option<Vec<&[u8]>> = None;
    for line in body.split_inclusive(|b| *b == b'\n') {
        let bare = line.trim_ascii_end();
        if bare == next.as_slice() || bare == last.as_slice() {
            if let Some(lines) = part.take() {
                fields.extend(field(&lines));
            }
            if bare == last.as_slice() || fields.len() >= MAX_PARTS {
                return Some(fields);
            }
            part = Some(Vec::new());
        } else if let Some(lines) = &mut part {
            lines.push(line);
        }
    }
    // A body that was cut has no last boundary.
    if let Some(lines) = part {
        fields.extend(field(&lines));
    }
    Some(fields)
}

fn field(lines: &[&[u8]]) -> Option<(Vec<u8>, Vec<u8>)> {
    let blank = lines.iter().position(|line| line.trim_ascii().is_empty());
    let head = &lines[..blank.unwrap_or(lines.len())];
    let mut content = lines[blank.map_or(lines.len(), |at| at + 1)..].concat();
    // The line end before a boundary belongs to the boundary.
    for end in [&b"\r\n"[..], b"\n"] {
        if content.ends_with(end) {
            content.truncate(content.len() - end.len());
            break;
        }
    }
    let disposition = head.iter().find_map(|line| {
        let line = String::from_utf8_lossy(line);
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-disposition").then(|| value.trim().to_owned())
    });
    let disposition = disposition.unwrap_or_default();
    let name = parameter(&disposition, "name").unwrap_or_else(|| "None".to_owned());
    // A file is kept as bytes, a field as text.
    let text = parameter(&disposition, "filename").is_none();
    let content =
        if text { String::from_utf8_lossy(&content).into_owned().into_bytes() } else { content };
    Some((name.into_bytes(), content))
}

/// A parameter of a header value, unquoted.
pub(crate) fn parameter(value: &str, name: &str) -> Option<String> {
    let mut found = None;
    for part in split_parameters(value).into_iter().skip(1) {
        if let Some((key, value)) = part.split_once('=')
            && key.trim().eq_ignore_ascii_case(name)
        {
            let value = value.trim();
            let quoted = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
            found = Some(match quoted {
                Some(inner) => inner.replace("\\\\", "\\").replace("\\\"", "\""),
                None => value.to_owned(),
            });
        }
    }
    found
}

/// Splits at semicolons outside of quotes.
fn split_parameters(value: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (at, byte) in value.bytes().enumerate() {
        match byte {
            b'"' if !escaped => quoted = !quoted,
            b';' if !quoted => {
                parts.push(&value[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
    }
    parts.push(&value[start..]);
    parts
}

fn is_boundary(text: &str) -> bool {
    let allowed = text.bytes().all(|b| (b' '..=b'~').contains(&b));
    allowed && (1..=201).contains(&text.len()) && !text.ends_with(' ')
}
