//! The part of a recording in which a person browsed: pages that were handed over, because
//! something stands in front of them.
//!
//! Its documents become pages, as nobody lists them. Of a page that was handed over, what was
//! loaded before the person got past the wall is left out: only its last response is content.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{self, Write as _};

use super::{MAX_LIST, Recording};
use crate::{Archive, Error, Record, Timestamp};

/// One page a line: the time at which it was handed over, a blank, and its URL.
const FILE: &str = "by-hand.txt";

/// What was handed over to a person.
#[derive(Debug, Default)]
pub(super) struct ByHand {
    /// When the first page was handed over.
    pub(super) since: Option<Timestamp>,
    /// For each page the time of its last response, if it is a success. All other responses and
    /// requests since then are left out.
    kept: HashMap<String, Option<Timestamp>>,
}

impl Recording {
    /// Notes that these pages are handed over to a person at this time.
    ///
    /// # Errors
    /// When the recording's folder cannot be written.
    pub fn hand_over(&self, time: Timestamp, urls: &[String]) -> Result<(), Error> {
        let path = self.folder.join(FILE);
        let failed = |error| Error::io("write", &path, error);
        let mut file = OpenOptions::new().append(true).create(true).open(&path).map_err(failed)?;
        // Half a line of a process that was killed ends here.
        let lines: String = urls.iter().map(|url| format!("{time} {url}\n")).collect();
        file.write_all(format!("\n{lines}").as_bytes()).map_err(failed)
    }

    /// What was handed over, and what was recorded of it. Half a line, of a process that was
    /// killed, is none.
    pub(super) fn by_hand(&self, archive: &Archive) -> Result<ByHand, Error> {
        let path = self.folder.join(FILE);
        let text = match files::read_text(&path, MAX_LIST) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ByHand::default()),
            Err(error) => return Err(Error::io("read", &path, error)),
        };
        let page = |line: &str| {
            let (time, url) = line.split_once(' ')?;
            Some((Timestamp::parse(time).ok()?, url.to_owned()))
        };
        let pages: Vec<(Timestamp, String)> = text.lines().filter_map(page).collect();
        let mut by_hand = ByHand {
            since: pages.iter().map(|(time, _)| *time).min(),
            kept: pages.into_iter().map(|(_, url)| (url, None)).collect(),
        };
        for record in archive.records() {
            let Ok((_, mut record)) = record else { continue };
            if let (Some(url), Some(at)) = (by_hand.page_of(&record), record.date())
                && let Ok(head) = record.response_head()
            {
                let is_success = (200..300).contains(&head.status);
                by_hand.kept.insert(url, is_success.then_some(at));
            }
        }
        Ok(by_hand)
    }
}

impl ByHand {
    /// The page that was handed over whose record this is.
    fn page_of(&self, record: &Record) -> Option<String> {
        let url = record.target_uri()?;
        let is_since = record.date().zip(self.since).is_some_and(|(at, since)| at >= since);
        (is_since && self.kept.contains_key(&*url)).then(|| url.into_owned())
    }

    /// Whether a record shows what stands in front of a page.
    pub(super) fn is_wall(&self, record: &Record) -> bool {
        self.page_of(record).is_some_and(|url| self.kept[&url] != record.date())
    }
}
