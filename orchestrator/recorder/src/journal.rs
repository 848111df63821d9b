//! The journal of a crawl: one line for each visit that is over, beside the recording. A crawl that
//! was killed reads it and goes on where it was.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use browser::{AccessBarrier, Survey};
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use snapshots::Load;
use url::Url;

use crate::Error;

/// The file, in the recording's folder.
const FILE: &str = "crawl.jsonl";
/// Its maximum size.
const MAX_SIZE: u64 = 1 << 30;

/// How a visit ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// The page is in the page list, and leads to this.
    Page(Survey),
    /// robots.txt disallows it.
    Robots,
    /// Something stands in front of it.
    Wall(AccessBarrier),
    /// It did not load.
    Failed(String),
}

#[derive(Serialize, Deserialize)]
struct Line {
    /// The index of the profile, from 0.
    vantage: usize,
    url: String,
    outcome: Outcome,
    /// When the page was loaded, where it was loaded twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    twice: Option<[Load; 2]>,
}

/// The visits so far.
#[derive(Debug)]
pub(crate) struct Journal {
    path: Utf8PathBuf,
    /// `None` where nothing is written: addresses may hold what is redacted.
    file: Option<File>,
    visits: HashMap<(usize, String), Outcome>,
    /// The times of pages that were loaded twice.
    twice: Vec<[Load; 2]>,
}

impl Journal {
    /// Opens the journal of a recording's folder, and reads what is there. A last line that is not
    /// whole is cut off.
    pub(crate) fn open(folder: &Utf8Path) -> Result<Journal, Error> {
        let path = folder.join(FILE);
        let failed = |source| Error::Journal { path: path.clone(), source };
        let text = match files::read(&path, MAX_SIZE) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed(error)),
        };
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let lines = text[..whole].split(|&byte| byte == b'\n');
        let lines = lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok());
        let (mut visits, mut twice) = (HashMap::new(), Vec::new());
        for line in lines {
            twice.extend(line.twice);
            // What did not load may do so now.
            if !matches!(line.outcome, Outcome::Failed(_)) {
                visits.insert((line.vantage, line.url), line.outcome);
            }
        }
        let file = OpenOptions::new().append(true).create(true).open(&path).map_err(failed)?;
        file.set_len(whole as u64).map_err(failed)?;
        Ok(Journal { path, file: Some(file), visits, twice })
    }

    /// A journal that keeps nothing on disk.
    pub(crate) fn in_memory() -> Journal {
        Journal { path: Utf8PathBuf::new(), file: None, visits: HashMap::new(), twice: Vec::new() }
    }

    /// How a visit ended that was over before.
    pub(crate) fn outcome(&self, vantage: usize, url: &Url) -> Option<&Outcome> {
        self.visits.get(&(vantage, url.as_str().to_owned()))
    }

    /// The times of pages that were loaded twice, once.
    pub(crate) fn take_twice(&mut self) -> Vec<[Load; 2]> {
        std::mem::take(&mut self.twice)
    }

    /// Adds a visit. The recording has all of it already.
    pub(crate) fn add(
        &mut self,
        vantage: usize,
        url: &Url,
        outcome: Outcome,
        twice: Option<[Load; 2]>,
    ) -> Result<(), Error> {
        let line = Line { vantage, url: url.as_str().to_owned(), outcome, twice };
        if let Some(file) = &mut self.file {
            let failed = |source| Error::Journal { path: self.path.clone(), source };
            let mut text = serde_json::to_vec(&line).map_err(|error| failed(error.into()))?;
            text.push(b'\n');
            file.write_all(&text).map_err(failed)?;
        }
        self.visits.insert((vantage, line.url), line.outcome);
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_again_but_for_half_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let url = |path: &str| Url::parse("https://a.test/").unwrap().join(path).unwrap();
        let mut journal = Journal::open(folder).unwrap();
        journal.add(0, &url("1"), Outcome::Page(Survey::default()), None).unwrap();
        journal.add(1, &url("2"), Outcome::Wall(AccessBarrier::Captcha), None).unwrap();
        let mut file = OpenOptions::new().append(true).open(folder.join(FILE)).unwrap();
        file.write_all(br#"{"vantage":0,"url":"https://a.test/3","#).unwrap();
        let mut journal = Journal::open(folder).unwrap();
        assert_eq!(journal.outcome(0, &url("1")), Some(&Outcome::Page(Survey::default())));
        assert_eq!(journal.outcome(1, &url("2")), Some(&Outcome::Wall(AccessBarrier::Captcha)));
        assert_eq!(journal.outcome(0, &url("2")), None, "another vantage");
        assert_eq!(journal.outcome(0, &url("3")), None);
        journal.add(0, &url("3"), Outcome::Robots, None).unwrap();
        journal.add(0, &url("4"), Outcome::Failed("no network".to_owned()), None).unwrap();
        let journal = Journal::open(folder).unwrap();
        assert_eq!(journal.outcome(0, &url("3")), Some(&Outcome::Robots));
        assert_eq!(journal.outcome(0, &url("4")), None, "it is tried again");
    }
}
