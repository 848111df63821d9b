//! `pages.jsonl`: a header line, then one page a line.

use std::io::{BufRead, Write};

use crate::lines::read_line;
use crate::{Error, Page};

/// The maximum line length; page texts are long.
const MAX_LINE: u64 = 64 << 20;

/// How many pages and values are read from the lists of one file. A page and a value each take much
/// more memory than their text.
#[derive(Debug, Clone)]
pub(crate) struct PageBudget {
    pages: usize,
    values: usize,
    /// Whether there was not enough.
    spent: bool,
}

impl Default for PageBudget {
    fn default() -> PageBudget {
        PageBudget { pages: 1_000_000, values: 10_000_000, spent: false }
    }
}

impl PageBudget {
    /// For lists of our own.
    fn none() -> PageBudget {
        PageBudget { pages: usize::MAX, values: usize::MAX, spent: false }
    }

    /// Takes a line. When there is nothing left for it, there is nothing left for any.
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let values = self.values.checked_sub(file_version::count_values(line));
        match (self.pages.checked_sub(1), values) {
            (Some(pages), Some(values)) if !self.spent => {
                (self.pages, self.values) = (pages, values);
                Ok(())
            }
            _ => {
                self.spent = true;
                Err("the lists of the file have too many pages or values".to_owned())
            }
        }
    }
}

/// Reads the pages of one list. The header line and lines that are not pages are skipped.
pub struct PageLines<R> {
    name: String,
    reader: R,
    line: u64,
    done: bool,
    budget: PageBudget,
}

impl<R: BufRead> PageLines<R> {
    /// Reads the list called `name` (for error texts) from `reader`. It is as long as it is.
    pub fn new(name: impl Into<String>, reader: R) -> PageLines<R> {
        PageLines::within(name, reader, PageBudget::none())
    }

    /// Reads a list that somebody else may have made.
    pub(crate) fn within(name: impl Into<String>, reader: R, budget: PageBudget) -> PageLines<R> {
        PageLines { name: name.into(), reader, line: 0, done: false, budget }
    }

    /// What is left for further lists of the file.
    pub(crate) fn budget(&self) -> PageBudget {
        self.budget.clone()
    }

    fn next_line(&mut self) -> Result<Option<Vec<u8>>, String> {
        self.line += 1;
        read_line(&mut self.reader, MAX_LINE)
    }
}

impl<R: BufRead> Iterator for PageLines<R> {
    type Item = Result<Page, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            let found = match self.next_line() {
                Ok(None) => return None,
                Ok(Some(line)) => match self.budget.take(&line) {
                    Ok(()) => parse(&line),
                    Err(reason) => {
                        self.done = true;
                        Err(reason)
                    }
                },
                Err(reason) => {
                    self.done = true;
                    Err(reason)
                }
            };
            match found {
                Ok(None) => {}
                Ok(Some(page)) => return Some(Ok(page)),
                Err(reason) => {
                    return Some(Err(Error::Line {
                        name: self.name.clone(),
                        line: self.line,
                        reason,
                    }));
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
    file_version::check_values(line).map_err(|e| e.to_string())?;
    let value: serde_json::Value = serde_json::from_slice(line).map_err(|e| e.to_string())?;
    if value.get("url").is_none() {
        return Ok(None);
    }
    serde_json::from_value(value).map(Some).map_err(|e| e.to_string())
}

/// The pages of several lists, which have one budget.
pub(crate) struct PageLists<R, L> {
    lists: L,
    current: Option<PageLines<R>>,
    budget: PageBudget,
}

impl<R: BufRead, L: Iterator<Item = (String, R)>> PageLists<R, L> {
    /// Reads the lists, each with its name, one after the other.
    pub(crate) fn new(lists: L) -> PageLists<R, L> {
        PageLists { lists, current: None, budget: PageBudget::default() }
    }
}

impl<R: BufRead, L: Iterator<Item = (String, R)>> Iterator for PageLists<R, L> {
    type Item = Result<Page, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(list) = &mut self.current {
                let page = list.next();
                self.budget = list.budget();
                if page.is_some() {
                    return page;
                }
            }
            let (name, reader) = self.lists.next().filter(|_| !self.budget.spent)?;
            self.current = Some(PageLines::within(name, reader, self.budget.clone()));
        }
    }
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const PAGE: &str = "{\"url\":\"a\",\"ts\":\"2026-01-02T03:04:05Z\"}\n";

    fn read(lists: &[String], budget: PageBudget) -> (usize, usize) {
        let lists = lists.iter().map(|list| ("pages".to_owned(), list.as_bytes()));
        let read = PageLists { lists, current: None, budget };
        let (mut pages, mut errors) = (0, 0);
        for page in read {
            match page {
                Ok(_) => pages += 1,
                Err(_) => errors += 1,
            }
        }
        (pages, errors)
    }

    #[test]
    fn the_lists_of_a_file_have_one_budget() {
        let budget = || PageBudget { pages: 10, values: 40, spent: false };
        let lists = |line: &str| vec![line.repeat(4), line.repeat(4), line.repeat(4)];
        // A page has four values, and the eleventh line of all is too many.
        assert_eq!(read(&lists(PAGE), budget()), (10, 1));
        assert_eq!(read(&lists(PAGE)[..2], budget()), (8, 0));
        assert_eq!(read(&lists("no page\n"), budget()), (0, 11));
        assert_eq!(read(&lists("\n"), budget()), (0, 0));
        let extra = PAGE.replace('}', ",\"a\":1,\"b\":2}");
        assert_eq!(read(&lists(&extra), budget()), (5, 1));
    }

    #[test]
    fn what_is_in_a_text_does_not_count() {
        let long =
            PAGE.replace("\"url\"", &format!("\"text\":\"{}\",\"url\"", "[{,:".repeat(200_000)));
        let budget = PageBudget { pages: 2, values: 20, spent: false };
        assert_eq!(read(&[long], budget), (1, 0));
    }
}
