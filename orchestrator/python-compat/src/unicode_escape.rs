//! `codecs.decode(text, 'unicode_escape')`.

/// The treatment of characters that are no part of an escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// As in Python: each byte of their UTF-8 is a character of Latin-1, so `é` comes out as two.
    Bytes,
    /// They stay.
    Kept,
}

/// The text with its escapes decoded; nothing where Python raises `UnicodeDecodeError`. Halves of
/// surrogate pairs, which Rust's text cannot hold, become U+FFFD. Names as in `\N{BULLET}` are not
/// known here: they count as errors.
pub fn decode(text: &str, others: Others) -> Option<String> {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(escape) = rest.find('\\') {
        push(&rest[..escape], others, &mut decoded);
        let mut after = rest[escape + 1..].chars();
        let kind = after.next()?;
        rest = after.as_str();
        let plain = match kind {
            '\n' => continue,
            '\\' | '\'' | '"' => kind,
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'x' => hex(&mut rest, 2)?,
            'u' => hex(&mut rest, 4)?,
            'U' => hex(&mut rest, 8)?,
            'N' => return None,
            '0'..='7' => octal(kind, &mut rest)?,
            // No escape: the backslash stays, and what is behind it is like any other character.
            _ => {
                decoded.push('\\');
                push(kind.encode_utf8(&mut [0; 4]), others, &mut decoded);
                continue;
            }
        };
        decoded.push(plain);
    }
    push(rest, others, &mut decoded);
    Some(decoded)
}

fn push(text: &str, others: Others, decoded: &mut String) {
    match others {
        Others::Bytes => decoded.extend(text.bytes().map(char::from)),
        Others::Kept => decoded.push_str(text),
    }
}

/// Takes exactly so many digits.
fn hex(rest: &mut &str, digits: usize) -> Option<char> {
    let found =
        rest.get(..digits).filter(|found| found.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    *rest = &rest[digits..];
    character(u32::from_str_radix(found, 16).ok()?)
}

/// Takes up to two digits more.
fn octal(first: char, rest: &mut &str) -> Option<char> {
    let more = rest.bytes().take(2).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let (digits, behind) = rest.split_at(more);
    *rest = behind;
    let start = first.to_digit(8)?;
    character(
        digits
            .chars()
            .filter_map(|digit| digit.to_digit(8))
            .fold(start, |code, digit| code * 8 + digit),
    )
}

fn character(code: u32) -> Option<char> {
    match code {
        0xd800..=0xdfff => Some(char::REPLACEMENT_CHARACTER),
        _ => char::from_u32(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_as_python_does() {
        for (text, expect) in [
            ("plain", Some("plain")),
            ("St. Barthélemy", Some("St. BarthÃ©lemy")),
            (r"St. Barth\u00e9lemy", Some("St. Barthélemy")),
            (r"a\nb\tc\\d\'e\x41\101\0\7778", Some("a\nb\tc\\d'eAA\0\u{1ff}8")),
            (r"\d \é", Some("\\d \\Ã©")),
            ("a\\\nb", Some("ab")),
            (r"\U0001f600\ud83d\ude00", Some("😀\u{fffd}\u{fffd}")),
            ("end\\", None),
            (r"\x4", None),
            (r"\u12g4", None),
            (r"\U00110000", None),
            ("\\x4é", None),
        ] {
            assert_eq!(decode(text, Others::Bytes).as_deref(), expect, "{text}");
        }
        assert_eq!(decode(r"é\u00e9", Others::Kept).as_deref(), Some("éé"));
    }
}
