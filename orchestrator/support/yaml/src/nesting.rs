//! Finds aliases that become too large, and brackets that are nested too deeply, before the reader
//! sees them.
//!
//! For each token the reader looks at every open bracket, so its time grows with the square of the
//! depth: 100 KB of `[` took it minutes. This scan follows the reader's own rules for what is text
//! and what is a bracket, within brackets. There the rules do not depend on the indentation.
//! Outside of brackets they do, so every bracket after a blank, a colon or at the start of a line
//! is taken for one that may open a list, also one within a text. Nothing is lost by that: the scan
//! from there only says how deep it would go.

use std::collections::HashMap;

/// How deep lists and maps may be nested. The types of our files need five levels; the reader has a
/// limit of its own behind this one.
pub(crate) const DEEPEST: usize = 100;

/// Bytes that the scans of a text may look at together: this much, or so many times its length.
const WORK: usize = 32 << 20;
const TIMES: usize = 32;

/// Bytes that aliases may stand for, all together.
const MOST_COPIED: u64 = 32 << 20;

/// A place in a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Counted from 1.
    pub(crate) line: usize,
    /// Counted from 1, in bytes.
    pub(crate) column: usize,
}

/// Checks that no list or map in brackets is nested too deeply.
pub(crate) fn check(text: &str) -> Result<(), Place> {
    let bytes = text.as_bytes();
    let mut work = WORK.max(bytes.len().saturating_mul(TIMES));
    for start in (0..bytes.len()).filter(|at| may_open(bytes, *at)) {
        let end = Scan { bytes, at: start }.end().map_err(|at| place(bytes, at))?;
        // Brackets that never close, again and again: no file of a person has them.
        work = work.checked_sub(end - start).ok_or_else(|| place(bytes, start))?;
    }
    check_aliases(bytes)
}

/// Checks that what stands for other parts (`*name`) does not become too large. The content of an
/// anchor lies between it and its aliases; with those in it, that bounds what each of them adds.
fn check_aliases(bytes: &[u8]) -> Result<(), Place> {
    let mut anchors: HashMap<&[u8], Anchor> = HashMap::new();
    let mut all: u64 = 0;
    for (at, byte) in bytes.iter().enumerate().filter(|(_, byte)| matches!(byte, b'&' | b'*')) {
        let rest = &bytes[at + 1..];
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let name = &rest[..rest.iter().position(|byte| !is_name(byte)).unwrap_or(rest.len())];
        if *byte == b'&' {
            anchors.entry(name).or_insert(Anchor { at, before: all, own: 0 });
        } else if let Some(anchor) = anchors.get_mut(name) {
            // An alias within its own anchor is an error of the reader.
            let size = ((at - anchor.at) as u64).saturating_add(all - anchor.before - anchor.own);
            anchor.own += size;
            all += size;
            if all > MOST_COPIED {
                return Err(place(bytes, at));
            }
        }
    }
    Ok(())
}

/// The first anchor of a name.
struct Anchor {
    at: usize,
    /// What the aliases before it add.
    before: u64,
    /// What its own aliases add.
    own: u64,
}

fn place(bytes: &[u8], at: usize) -> Place {
    let before = &bytes[..at];
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    Place { line: before.iter().filter(|byte| **byte == b'\n').count() + 1, column: at - start + 1 }
}

/// Whether a list or map may open here, seen from outside of brackets.
fn may_open(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| bytes[at]);
    // The last bytes of the other line ends, and of the mark at the start of a file, are not ASCII.
    matches!(bytes[at], b'[' | b'{')
        && before.is_none_or(|byte| {
            matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b':') || !byte.is_ascii()
        })
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    /// Where the brackets that open here end, or the text; an error with the place if they are too
    /// deep.
    fn end(mut self) -> Result<usize, usize> {
        let mut depth = 0;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'[' | b'{' => {
                    depth += 1;
                    if depth > DEEPEST {
                        return Err(self.at);
                    }
                    self.at += 1;
                }
                b']' | b'}' => {
                    depth -= 1;
                    self.at += 1;
                    if depth == 0 {
                        break;
                    }
                }
                b'#' => self.skip(|scan| scan.break_length() == 0),
                b'\'' => self.single_quoted(),
                b'"' => self.double_quoted(),
                b'!' => self.tag(),
                b'*' | b'&' => {
                    self.at += 1;
                    self.skip(|scan| {
                        scan.peek(0).is_some_and(|byte| {
                            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
                        })
                    });
                }
                b',' | b'?' | b':' => self.at += 1,
                b'-' if self.is_blank(1) => self.at += 1,
                _ if self.is_blank(0) => self.at += 1,
                _ => self.plain(),
            }
        }
        Ok(self.at)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn skip(&mut self, while_true: impl Fn(&Self) -> bool) {
        while self.at < self.bytes.len() && while_true(self) {
            self.at += 1;
        }
    }

    /// The length of a line end: besides those of ASCII, NEL, LS and PS are some.
    fn break_length(&self) -> usize {
        break_length(&self.bytes[self.at.min(self.bytes.len())..])
    }

    /// Whether there is a space, a tab, a line end or the end.
    fn is_blank(&self, ahead: usize) -> bool {
        let rest = &self.bytes[(self.at + ahead).min(self.bytes.len())..];
        matches!(rest.first(), None | Some(b' ' | b'\t' | 0)) || break_length(rest) > 0
    }

    fn single_quoted(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            if byte == b'\'' {
                if self.peek(0) != Some(b'\'') {
                    return;
                }
                self.at += 1;
            }
        }
    }

    fn double_quoted(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'"' => return,
                b'\\' => self.at += 1,
                _ => {}
            }
        }
        self.at = self.at.min(self.bytes.len());
    }

    fn tag(&mut self) {
        self.at += 1;
        if self.peek(0) == Some(b'<') {
            self.skip(|scan| !scan.is_blank(0) && scan.peek(0) != Some(b'>'));
            return;
        }
        let ends = |byte| matches!(byte, Some(b',' | b'[' | b']' | b'{' | b'}' | b'"'));
        self.skip(|scan| !scan.is_blank(0) && !ends(scan.peek(0)));
    }

    /// A text without quotes. It goes on over blanks and line ends.
    fn plain(&mut self) {
        loop {
            if self.peek(0) == Some(b'#') {
                return;
            }
            let word = self.at;
            while !self.is_blank(0) {
                match self.peek(0) {
                    Some(b':') if self.is_blank(1) => return,
                    Some(b',' | b'[' | b']' | b'{' | b'}') => return,
                    _ => self.at += 1,
                }
            }
            self.skip(|scan| scan.peek(0) != Some(0) && scan.is_blank(0));
            if self.at == word || self.at == self.bytes.len() || self.peek(0) == Some(0) {
                self.at = (self.at + 1).min(self.bytes.len());
                return;
            }
        }
    }
}

fn break_length(rest: &[u8]) -> usize {
    match rest {
        [b'\r' | b'\n', ..] => 1,
        [0xc2, 0x85, ..] => 2,
        [0xe2, 0x80, 0xa8 | 0xa9, ..] => 3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;
    use serde_yaml::Value;

    use super::*;

    /// What stands between brackets, such that the reader takes none of it for brackets.
    const BETWEEN: [&str; 22] = [
        "",
        " ",
        "\n",
        "\t",
        "\r\n",
        "# ]\n",
        "']', ",
        "\"]\", ",
        "\"\\\"]\", ",
        "'it''s ]', ",
        "a b: ",
        "don't, ",
        "x\"], \n[",
        "!t ",
        "!<a]> ",
        "&a ",
        "*a , ",
        "- ",
        "? ",
        "a#]: [b], ",
        "\u{85}",
        "a\n b 'c\n, ",
    ];
    /// What may stand before the first one.
    const BEFORE: [&str; 14] = [
        "",
        "a: ",
        "- ",
        "? ",
        "\n\n",
        "--- ",
        "a: !t ",
        "a: &x ",
        "\u{feff}",
        "a:\t",
        "a: |\n ]\nb: ",
        "%YAML 1.1\n--- ",
        "'a':\n  ",
        "a: >-\n  it's [\n\nb: ",
    ];

    #[test]
    fn brackets_too_deep_are_found_whatever_stands_between_them() {
        let mut found = 0;
        for before in BEFORE {
            for between in BETWEEN {
                for (open, close) in [("[", "]"), ("{", "}"), ("[{", "}]")] {
                    let text = format!(
                        "{before}{}{}",
                        format!("{open}{between}").repeat(300),
                        close.repeat(300)
                    );
                    if check(&text).is_err() {
                        found += 1;
                        continue;
                    }
                    // The reader ended early, as the text is wrong; or it saw how deep the text is.
                    let error =
                        serde_yaml::from_str::<Value>(&text).err().map(|error| error.to_string());
                    let saw = error.as_ref().is_none_or(|error| error.contains("recursion"));
                    assert!(!saw, "{before:?} {open:?} {between:?}: {error:?}");
                }
            }
        }
        assert!(found > 700, "{found}");
    }

    #[test]
    fn the_place_is_told() {
        let deep = format!("a: 1\nb: {}", "[".repeat(200));
        assert_eq!(check(&deep), Err(Place { line: 2, column: 4 + DEEPEST }));
    }

    /// Texts with many brackets, of which none is a list.
    #[test]
    fn brackets_in_texts_are_no_levels() {
        let many = "[".repeat(2000);
        for text in [
            format!("a: '{many}'"),
            format!("a: \"{many}\""),
            format!("a: x{many}"),
            format!("a: [x{}]", "[a], ".repeat(2000)),
            format!(
                "a: |\n  if (x[1]) {{\n    y = [']'];\n  }}\n{}",
                "  z = { a: [1, 2] }\n".repeat(3000)
            ),
        ] {
            assert_eq!(check(&text), Ok(()), "{}", text.chars().take(40).collect::<String>());
        }
    }

    /// What else could keep the reader busy. Quadratic time would show at this size.
    #[test]
    fn other_deep_texts_are_read_or_refused_soon() {
        let long = |part: &str| part.repeat(60_000 / part.len());
        let steps: String = (0..300).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
        let cases = [
            long("- "),
            long("? "),
            long("- ? "),
            long("&a "),
            long("a: b\n"),
            long("[]\n"),
            long("'a' "),
            long("["),
            long("- [\n"),
            long("- [ \"\n"),
            long("[ '"),
            long("{a: "),
            format!("a: &a [{}]\nb: [{}]", long("x,"), long("*a,")),
            long("\n"),
            long("# [\n"),
            long("!t "),
            long("--- [\n"),
            long(": "),
            long("\t["),
            steps,
        ];
        for text in cases {
            let begin = Instant::now();
            if check(&text).is_ok() {
                let _ = serde_yaml::from_str::<Value>(&text);
            }
            let took = begin.elapsed();
            let start: String = text.chars().take(20).collect();
            assert!(took < Duration::from_secs(20), "{start:?}: {took:?}");
        }
    }

    /// The depth of what the reader has read, and whether it is in brackets does not matter.
    fn depth(value: &Value) -> usize {
        match value {
            Value::Sequence(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
            Value::Mapping(map) => {
                1 + map.iter().map(|(key, value)| depth(key).max(depth(value))).max().unwrap_or(0)
            }
            Value::Tagged(tagged) => depth(&tagged.value),
            _ => 0,
        }
    }

    proptest! {
        /// Any text that the reader understands: if the scan finds it shallow, it is.
        #[test]
        fn what_passes_is_shallow(text in r#"[\[\]{},:?#'"!&*a \n\\|>-]{0,200}"#) {
            if check(&text).is_ok() && let Ok(value) = serde_yaml::from_str::<Value>(&text) {
                prop_assert!(depth(&value) <= DEEPEST + 28);
            }
        }
    }
}
