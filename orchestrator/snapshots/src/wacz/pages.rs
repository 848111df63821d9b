//! `pages.jsonl`: a header line, then one page a line.

use std::io::{BufRead, Read, Write};

use crate::{Error, Page};

/// The maximum line length; page texts are long.
const MAX_LINE: u64 = 64 << 20;

/// Reads the pages of one list. The header line and lines that are not pages are skipped.
pub struct PageLines<R> {
    name: String,
    reader: R,
    line: u64,
    done: bool,
}

impl<R: BufRead> PageLines<R> {
    /// Reads the list called `name` (for error texts) from `reader`.
    pub fn new(name: impl Into<String>, reader: R) -> PageLines<R> {
        PageLines { name: name.into(), reader, line: 0, done: false }
    }

    fn next_line(&mut self) -> Result<Option<Vec<u8>>, String> {
        let mut bytes = Vec::new();
        self.reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes).map_err(|e| e.to_string())?;
        self.line += 1;
        if bytes.len() as u64 == MAX_LINE {
            return Err(format!("it is longer than {MAX_LINE} bytes"));
        }
        Ok((!bytes.is_empty()).then_some(bytes))
    }
}

impl<R: BufRead> Iterator for PageLines<R> {
    type Item = Result<Page, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            let found = match self.next_line() {
                Ok(None) => return None,
                Ok(Some(line)) => parse(&line),
                Err(reason) => {
                    self.done = true;
                    Err(reason)
                }
            };
            match found {
                Ok(None) => {}
                Ok(Some(page)) => return Some(Ok(page)),
                Err(reason) => {
                    return Some(Err(Error::Line { name: self.name.clone(), line: self.line, reason }));
                }
            }
        }
        None
    }
}

fn parse(line: &[u8]) -> Result<Option<Page>, String> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    formats::check_values(line).map_err(|e| e.to_string())?;
    let value: serde_json::Value = serde_json::from_slice(line).map_err(|e| e.to_string())?;
    if value.get("url").is_none() {
        return Ok(None);
    }
    serde_json::from_value(value).map(Some).map_err(|e| e.to_string())
}

/// Writes the header line of the main list.
pub(crate) fn write_header(out: &mut impl Write, has_text: bool) -> std::io::Result<()> {
    let header = serde_json::json!({"format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": has_text});
    writeln!(out, "{header}")
}

/// The line of one page, including its line feed.
pub(crate) fn line(page: &Page) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(page)?;
    line.push(b'\n');
    Ok(line)
}
