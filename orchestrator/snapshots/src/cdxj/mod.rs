//! CDXJ: an index of records as sorted lines of the form `<SURT key> <time> <JSON>`.

use std::fmt;
use std::io::BufRead;

use serde_json::{Map, Value};

use crate::lines::read_line;
use crate::{Error, Timestamp};

/// The maximum line length.
const MAX_LINE: u64 = 16 << 20;
/// The maximum number of values in a line.
const MOST_VALUES: usize = 100_000;

/// One line of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct CdxLine {
    /// The SURT key, possibly with a folded request (see [`crate::post_key`]).
    pub key: String,
    /// 14 or 17 digits.
    pub time: String,
    /// The other fields, in their order. Numbers are strings in most files and JSON numbers in
    /// some.
    pub fields: Map<String, Value>,
}

impl CdxLine {
    /// Parses one line.
    pub fn parse(line: &str) -> Result<CdxLine, String> {
        let mut words = line.trim_end_matches(['\r', '\n']).splitn(3, ' ');
        let (key, time, json) =
            (words.next().unwrap_or(""), words.next().unwrap_or(""), words.next().unwrap_or(""));
        if !(4..=17).contains(&time.len()) || !time.bytes().all(|b| b.is_ascii_digit()) {
            return Err(format!(
                "{:?} is no time of up to 17 digits",
                time.chars().take(32).collect::<String>()
            ));
        }
        if file_version::count_values(json.as_bytes()) > MOST_VALUES {
            return Err(format!("it has more than {MOST_VALUES} values"));
        }
        match serde_json::from_str(json) {
            Ok(Value::Object(fields)) => {
                Ok(CdxLine { key: key.to_owned(), time: time.to_owned(), fields })
            }
            Ok(_) => Err("what follows the time is no JSON object".to_owned()),
            Err(e) => Err(format!("what follows the time is no JSON: {e}")),
        }
    }

    /// A text field.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// A number, written as a JSON number or as a string.
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.fields.get(name)? {
            Value::String(text) => text.parse().ok(),
            value => value.as_u64(),
        }
    }

    /// The requested URL.
    pub fn url(&self) -> Option<&str> {
        self.text("url")
    }

    /// The name of the WARC that contains the record.
    pub fn filename(&self) -> Option<&str> {
        self.text("filename")
    }

    /// Offset of the record in that WARC.
    pub fn offset(&self) -> Option<u64> {
        self.number("offset")
    }

    /// The length of the record in that WARC.
    pub fn length(&self) -> Option<u64> {
        self.number("length")
    }

    /// Status of the response.
    pub fn status(&self) -> Option<u16> {
        self.number("status").and_then(|status| u16::try_from(status).ok())
    }

    /// When the record was made.
    pub fn timestamp(&self) -> Option<Timestamp> {
        Timestamp::parse(&self.time).ok()
    }
}

impl fmt::Display for CdxLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = serde_json::to_string(&self.fields).map_err(|_| fmt::Error)?;
        write!(f, "{} {} {json}", self.key, self.time)
    }
}

/// Reads the lines of an index. Blank lines and header lines, which start with `!` or a space, are
/// skipped. An invalid line is an error, and the next call continues after it.
pub struct CdxLines<R> {
    name: String,
    reader: R,
    line: u64,
    done: bool,
}

impl<R: BufRead> CdxLines<R> {
    /// Reads the index called `name` (for error texts) from `reader`.
    pub fn new(name: impl Into<String>, reader: R) -> CdxLines<R> {
        CdxLines { name: name.into(), reader, line: 0, done: false }
    }

    fn next_line(&mut self) -> Result<Option<String>, String> {
        self.line += 1;
        let line = read_line(&mut self.reader, MAX_LINE)?;
        Ok(line.map(|line| String::from_utf8_lossy(&line).into_owned()))
    }
}

impl<R: BufRead> Iterator for CdxLines<R> {
    type Item = Result<CdxLine, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            let found = match self.next_line() {
                Ok(None) => return None,
                // `!` begins metadata, and a space the first line of a CDX file.
                Ok(Some(line)) if line.trim().is_empty() || line.starts_with(['!', ' ']) => {
                    continue;
                }
                Ok(Some(line)) => CdxLine::parse(&line),
                Err(reason) => {
                    self.done = true;
                    Err(reason)
                }
            };
            let wrap = |reason| Error::Line { name: self.name.clone(), line: self.line, reason };
            return Some(found.map_err(wrap));
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_numbers_in_both_spellings_and_gives_the_line_back() {
        let line = r#"test,harbour)/tides?a=1 20261120101112 {"url":"https://harbour.test/tides?a=1","status":"200","length":12,"offset":"34","filename":"x.warc.gz"}"#;
        let cdx = CdxLine::parse(line).unwrap();
        assert_eq!((cdx.length(), cdx.offset(), cdx.status()), (Some(12), Some(34), Some(200)));
        assert_eq!(cdx.to_string(), line);
        for wrong in [
            "",
            "key",
            "key 2026 5",
            "key 2026 {",
            "key x {}",
            "key 202611201011121314 {}",
            &format!("key 2026 {{\"a\":[{}0]}}", "0,".repeat(MOST_VALUES)),
        ] {
            assert!(CdxLine::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_bad_line_does_not_end_the_reading() {
        let text = " CDX N b a\n!meta 0 {}\n\nbad\na 2026 {}\n";
        let lines: Vec<_> = CdxLines::new("index.cdx", text.as_bytes()).collect();
        assert!(matches!(&lines[0], Err(Error::Line { line: 4, .. })));
        assert_eq!(lines[1].as_ref().unwrap().key, "a");
        assert_eq!(lines.len(), 2);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}") {
            CdxLines::new("x", text.as_bytes()).for_each(drop);
        }
    }
}
