//! A draft on disk: `.annotate/` in the folder of the suite.
//!
//! ```text
//! draft.json          the draft, replaced as a whole by each change
//! 3.png, 3.html       the picture and the page of step 3
//! ```
//!
//! Whoever works on a draft has the folder of the suite locked, so that no other process does. The
//! lock ends with the process, however that ends.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use file_version::Version;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Draft, Step, VERSION};
use crate::Error;

const FOLDER: &str = ".annotate";
const DRAFT: &str = "draft.json";
/// The largest draft, page or picture that is read again, in bytes.
const LARGEST: u64 = 64 << 20;

/// The folder of a draft, which nobody else works on as long as this is there.
#[derive(Debug, Clone)]
pub struct Journal {
    suite: Utf8PathBuf,
    folder: Utf8PathBuf,
    _lock: Arc<File>,
}

#[derive(Serialize, Deserialize)]
struct DraftFile<D> {
    format: Version,
    #[serde(flatten)]
    draft: D,
}

impl Journal {
    /// Begins the journal of this draft in the folder of a suite, which is made where it is
    /// missing.
    ///
    /// # Errors
    /// When there is an unfinished one, another process works on one, or the folder cannot be
    /// written.
    pub fn begin(suite: &Utf8Path, draft: &Draft) -> Result<Journal, Error> {
        fs::create_dir_all(suite).map_err(Error::write(suite))?;
        let journal = Journal::lock(suite)?;
        journal.write_first(draft)?;
        Ok(journal)
    }

    /// The journal in the folder of a suite, and its unfinished draft to go on with.
    ///
    /// # Errors
    /// When there is none, another process works on it, or it cannot be read.
    pub fn resume(suite: &Utf8Path) -> Result<(Journal, Draft), Error> {
        let nothing = || Error::NothingToResume { folder: suite.to_owned() };
        if !suite.is_dir() {
            return Err(nothing());
        }
        let journal = Journal::lock(suite)?;
        let draft = journal.left_over()?.ok_or_else(nothing)?;
        Ok((journal, draft))
    }

    /// Locks the folder of a suite: two writers would replace each other's drafts.
    fn lock(suite: &Utf8Path) -> Result<Journal, Error> {
        loop {
            let lock = File::open(suite).map_err(Error::read(suite))?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::InUse { folder: suite.to_owned() });
                }
                Err(TryLockError::Error(source)) => return Err(Error::write(suite)(source)),
            }
            // Who had it until now may have removed the folder: then the lock is of no folder.
            let named = fs::metadata(suite).map_err(Error::read(suite))?;
            let locked = lock.metadata().map_err(Error::read(suite))?;
            if (named.dev(), named.ino()) == (locked.dev(), locked.ino()) {
                let folder = suite.join(FOLDER);
                return Ok(Journal { suite: suite.to_owned(), folder, _lock: Arc::new(lock) });
            }
        }
    }

    fn write_first(&self, draft: &Draft) -> Result<(), Error> {
        if let Some(left) = self.left_over()? {
            return Err(Error::Unfinished { folder: self.suite.clone(), task: left.task_id });
        }
        // What was typed and shown is of nobody else's concern.
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(&self.folder).map_err(Error::write(&self.folder))?;
        self.keep(draft)
    }

    /// The unfinished draft, if there is one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn left_over(&self) -> Result<Option<Draft>, Error> {
        let path = self.folder.join(DRAFT);
        let text = match read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(Error::read(&path))?,
        };
        let malformed = |error: serde_json::Error| Error::Malformed {
            path: path.clone(),
            why: error.to_string(),
        };
        let value: Value = serde_json::from_slice(&text).map_err(malformed)?;
        let version = Version::of(&value).map_err(malformed)?;
        version
            .check(VERSION)
            .map_err(|source| Error::NewerFormat { path: path.clone(), source })?;
        let DraftFile { draft, .. } =
            serde_json::from_value::<DraftFile<Draft>>(value).map_err(malformed)?;
        Ok(Some(draft))
    }

    /// Replaces the draft on disk.
    pub(crate) fn keep(&self, draft: &Draft) -> Result<(), Error> {
        let path = self.folder.join(DRAFT);
        let text = serde_json::to_vec_pretty(&DraftFile { format: VERSION, draft });
        let text =
            text.map_err(|error| Error::Encode { what: path.to_string(), why: error.to_string() })?;
        replace_with_mode(&path, &text, 0o600)
    }

    /// Keeps the page of a step.
    pub(crate) fn keep_page(&self, step: &Step, html: &str) -> Result<(), Error> {
        replace_with_mode(&self.folder.join(page_name(step.number)), html.as_bytes(), 0o600)
    }

    /// Keeps the picture of a step.
    pub(crate) fn keep_picture(&self, step: &Step, png: &[u8]) -> Result<(), Error> {
        replace_with_mode(&self.folder.join(picture_name(step.number)), png, 0o600)
    }

    /// The page of a step; empty where there is none.
    pub(crate) fn page(&self, step: &Step) -> String {
        let page = read(&self.folder.join(page_name(step.number))).unwrap_or_default();
        String::from_utf8_lossy(&page).into_owned()
    }

    /// The picture of the step with this number.
    pub(crate) fn picture(&self, number: u32) -> Option<Vec<u8>> {
        read(&self.folder.join(picture_name(number))).ok()
    }

    /// Removes the draft and all that belongs to it.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self) -> Result<(), Error> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::write(&self.folder)(error))
            }
            _ => {
                // An annotation that was thrown away leaves no empty folder.
                let _ = fs::remove_dir(&self.suite);
                Ok(())
            }
        }
    }
}

fn picture_name(number: u32) -> String {
    format!("{number}.png")
}

fn page_name(number: u32) -> String {
    format!("{number}.html")
}

/// Writes a file beside its place and moves it there: whoever reads finds the old one or the new
/// one, whole.
pub(crate) fn replace(path: &Utf8Path, bytes: &[u8]) -> Result<(), Error> {
    replace_with_mode(path, bytes, 0o644)
}

fn replace_with_mode(path: &Utf8Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let folder =
        path.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let failed = |source| Error::Write { path: path.to_owned(), source };
    let mut file = tempfile::Builder::new().prefix(".part-").tempfile_in(folder).map_err(failed)?;
    io::Write::write_all(&mut file, bytes).map_err(failed)?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
    file.as_file().set_permissions(mode).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Reads a regular file; a link is not followed.
fn read(path: &Utf8Path) -> io::Result<Vec<u8>> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    if metadata.len() > LARGEST {
        return Err(io::Error::other(format!("it is larger than {LARGEST} bytes")));
    }
    fs::read(path)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Source;

    #[test]
    fn a_draft_is_found_again_and_never_begun_over() {
        let folder = tempfile::tempdir().unwrap();
        let suite = Utf8Path::from_path(folder.path()).unwrap().join("suite");
        assert!(matches!(Journal::resume(&suite), Err(Error::NothingToResume { .. })));
        assert!(!suite.exists());
        let clock = jiff::Timestamp::UNIX_EPOCH;
        let mut draft = Draft::new(
            Source::Live("a.wacz".into()),
            "one".to_owned(),
            "https://a.test/".to_owned(),
            clock,
        );
        let journal = Journal::begin(&suite, &draft).unwrap();
        // Nobody else begins or goes on meanwhile.
        for error in
            [Journal::begin(&suite, &draft).unwrap_err(), Journal::resume(&suite).unwrap_err()]
        {
            assert!(matches!(error, Error::InUse { .. }), "{error}");
        }
        draft.goal = "Do <it>".to_owned();
        draft.options.redact_credentials = true;
        journal.keep(&draft).unwrap();
        drop(journal);
        let (journal, resumed) = Journal::resume(&suite).unwrap();
        assert_eq!(resumed, draft);
        let mode = |path: &str| {
            let metadata = fs::metadata(suite.join(path)).unwrap();
            std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777
        };
        assert_eq!((mode(".annotate"), mode(".annotate/draft.json")), (0o700, 0o600));
        drop(journal);
        let error = Journal::begin(&suite, &draft).unwrap_err().to_string();
        assert!(
            error.contains("unfinished annotation of `one`") && error.contains("--resume"),
            "{error}"
        );
        let path = suite.join(".annotate/draft.json");
        let newer = fs::read_to_string(&path).unwrap().replace("\"major\": 1", "\"major\": 2");
        fs::write(&path, newer).unwrap();
        let error = Journal::resume(&suite).unwrap_err().to_string();
        assert!(error.contains("use a newer sandbox"), "{error}");
        fs::write(&path, "{").unwrap();
        assert!(matches!(Journal::resume(&suite), Err(Error::Malformed { .. })));
        fs::remove_file(&path).unwrap();
        Journal::begin(&suite, &draft).unwrap().remove().unwrap();
        assert!(!suite.exists());
    }
}
