//! The file of the data folder that keeps the user's agreements.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};

use camino::{Utf8Path, Utf8PathBuf};
use file_version::Version;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::NeedList;
use crate::Error;

/// The version of the file.
const FORMAT: Version = Version::FIRST;
/// The most answers that are kept. The oldest are dropped first.
const MOST: usize = 1_000;

/// The file with the answers. It is read and written as a whole each time, because other processes
/// use it, too.
#[derive(Debug, Clone)]
pub struct Agreements {
    path: Utf8PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Written {
    #[serde(default, skip_serializing_if = "Version::is_first")]
    format: Version,
    agreed: Vec<Answer>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    when: Timestamp,
    /// The suite, or the file of settings, for people who read the file.
    of: String,
    /// The list in words, for people.
    list: Vec<String>,
    /// The digests of the entries of the list.
    digests: BTreeSet<String>,
}

impl Agreements {
    /// Uses the answers in this file, which need not exist yet.
    pub fn in_file(path: Utf8PathBuf) -> Agreements {
        Agreements { path }
    }

    /// Returns whether all of a list was agreed to in one answer. Agreements to two suites do not
    /// add up, because one may read what the other may send.
    ///
    /// # Errors
    /// When the file cannot be read, or is of a newer version.
    pub fn have(&self, list: &NeedList) -> Result<bool, Error> {
        let digests = list.digests();
        let answers = self.read().map_err(self.failed())?.agreed;
        Ok(list.is_empty() || answers.iter().any(|answer| digests.is_subset(&answer.digests)))
    }

    /// Stores that the user has agreed to a list. An empty one needs no answer.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn add(&self, of: &str, list: &NeedList) -> Result<(), Error> {
        if self.have(list)? {
            return Ok(());
        }
        self.append(of, list).map_err(self.failed())
    }

    fn append(&self, of: &str, list: &NeedList) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Utf8Path::new("."));
        fs::create_dir_all(folder)?;
        // Two processes that have asked at the same time both keep their answers.
        let lock =
            File::options().create(true).append(true).open(self.path.with_extension("lock"))?;
        lock.lock()?;
        let mut written = self.read()?;
        written.agreed.push(Answer {
            when: Timestamp::now(),
            of: of.to_owned(),
            list: list.needs().iter().map(ToString::to_string).collect(),
            digests: list.digests(),
        });
        let surplus = written.agreed.len().saturating_sub(MOST);
        written.agreed.drain(..surplus);
        // Readable by its owner alone, as every temporary file is.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut file, &written)?;
        file.flush()?;
        file.persist(&self.path)?;
        Ok(())
    }

    fn read(&self) -> io::Result<Written> {
        let text = match fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Written::default()),
            Err(error) => return Err(error),
        };
        let value: serde_json::Value = serde_json::from_slice(&text)?;
        Version::of(&value)?.check(FORMAT).map_err(io::Error::other)?;
        Ok(serde_json::from_value(value)?)
    }

    fn failed(&self) -> impl Fn(io::Error) -> Error + '_ {
        |source| Error::Agreements { path: self.path.clone(), source }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::super::{Need, NeedKind};
    use super::*;

    fn list(what: &[&str]) -> NeedList {
        NeedList::new(what.iter().map(|what| Need::new(NeedKind::Start, *what, "x")).collect())
    }

    #[test]
    fn an_answer_is_for_its_list_and_what_is_less() {
        let keep = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(keep.path()).unwrap().join("deep/consent.json");
        let answers = Agreements::in_file(path.clone());
        assert!(answers.have(&list(&[])).unwrap() && !path.exists());
        assert!(!answers.have(&list(&["a"])).unwrap());
        answers.add("suite", &list(&["a", "b"])).unwrap();
        answers.add("other", &list(&["c"])).unwrap();
        for (what, expect) in [
            (&["a"][..], true),
            (&["b", "a"], true),
            (&["c"], true),
            (&["a", "b", "c"], false),
            (&["a", "c"], false),
            (&["d"], false),
        ] {
            assert_eq!(answers.have(&list(what)).unwrap(), expect, "{what:?}");
        }
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_newer_file_is_refused_and_left_as_it_is() {
        let keep = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(keep.path()).unwrap().join("consent.json");
        let text = r#"{"format":2,"agreed":[]}"#;
        fs::write(&path, text).unwrap();
        let answers = Agreements::in_file(path.clone());
        let error = answers.add("suite", &list(&["a"])).unwrap_err().to_string();
        assert!(error.contains("use a newer sandbox"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}
