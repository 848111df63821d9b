//! Texts as Python's `repr` writes them: in actions, in observations, and in what scorers compare.

use std::fmt::Write as _;

/// `repr(text)`
pub fn repr(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_repr(text, &mut out);
    out
}

/// Appends `repr(text)`: in single quotes, unless the text has some and no double ones.
pub fn write_repr(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c if is_printable(c) => out.push(c),
            c => write_code(u32::from(c), out),
        }
    }
    out.push(quote);
}

fn write_code(code: u32, out: &mut String) {
    // Writing to a String does not fail.
    let _ = match code {
        0..=0xff => write!(out, "\\x{code:02x}"),
        0x100..=0xffff => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

/// `c.isprintable()`. Rust's debug form of text goes by the same categories; combining marks it
/// escapes only in front. Characters that are newer than Python's own tables are printable, too.
fn is_printable(c: char) -> bool {
    // Nearly every character, without the work of the general case.
    if matches!(c, ' '..='~') {
        return true;
    }
    let shown: String = ['x', c].iter().collect();
    !shown.escape_debug().any(|escaped| escaped == '\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_written_as_python_writes_them() {
        for (text, expected) in [
            ("plain", "'plain'"),
            ("it's", "\"it's\""),
            ("it's \"so\"", "'it\\'s \"so\"'"),
            ("a\nb\t\\", "'a\\nb\\t\\\\'"),
            ("naïve – 漢", "'naïve – 漢'"),
            ("\u{a0}\u{200b}\u{7f}", "'\\xa0\\u200b\\x7f'"),
            ("e\u{301}\u{61c}\u{378}", "'e\u{301}\\u061c\\u0378'"),
            ("\u{e0001}\u{1f600}", "'\\U000e0001\u{1f600}'"),
        ] {
            assert_eq!(repr(text), expected);
        }
    }
}
