//! The digest of the files that would be started.
//!
//! A command names a program, and the program reads others that it does not name: modules, scripts,
//! settings. So all files of the folder that it runs in count, also behind links, but for those
//! that are data by what they are: the tasks, recordings, cookies of the world, results of runs,
//! and what Git keeps for itself. What Python keeps of a module (`__pycache__`) counts: Python
//! starts it without a look at the module. A file that the command itself names counts in any case.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest as _, Sha256};

use crate::Error;

/// A folder that holds no program of the suite and is skipped.
const PASSED_OVER: &str = ".git";
/// Endings of the files of runs.
const RESULTS: [&str; 12] = [
    ".json", ".jsonl", ".html", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".txt", ".har",
    ".csv",
];
/// The folder of an episode with files that the agent chose.
const DOWNLOADS: &str = "downloads";
/// Endings of recordings.
const RECORDINGS: [&str; 9] = [
    ".wacz",
    ".warc",
    ".warc.gz",
    ".arc",
    ".arc.gz",
    ".har",
    ".cdxj",
    ".warc.open",
    ".cassette.jsonl",
];
/// The most files of a folder that are read.
const MOST_FILES: usize = 100_000;
/// A larger file counts by its length and the time of its last change.
const LARGE: u64 = 256 << 20;

/// The digests of folders, each made once.
pub(super) struct Roots {
    /// Full paths of files and folders that are data.
    data: Vec<Utf8PathBuf>,
    known: RefCell<BTreeMap<Utf8PathBuf, String>>,
}

impl Roots {
    pub(super) fn new(data: Vec<Utf8PathBuf>) -> Roots {
        Roots { data, known: RefCell::default() }
    }

    /// Returns the digest for a command that runs in `folder`: of the files below `root`, and of
    /// those that its words name.
    pub(super) fn digest(
        &self,
        root: &Utf8Path,
        folder: &Utf8Path,
        words: &[String],
    ) -> Result<String, Error> {
        let mut hash = Sha256::new();
        hash.update(self.of_folder(root)?);
        for path in named(folder, words) {
            hash.update(path.strip_prefix(folder).unwrap_or(&path).as_str());
            hash.update(of_file(&path).map_err(unread(&path))?);
        }
        Ok(hex::encode(hash.finalize()))
    }

    fn of_folder(&self, root: &Utf8Path) -> Result<String, Error> {
        let known = self.known.borrow().get(root).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let mut hash = Sha256::new();
        for path in self.files(root)? {
            let name = path.strip_prefix(root).unwrap_or(&path).as_str();
            // With its length, so that no name can pass for the beginning of a file.
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name);
            hash.update(of_file(&path).map_err(unread(&path))?);
        }
        let digest = hex::encode(hash.finalize());
        self.known.borrow_mut().insert(root.to_owned(), digest.clone());
        Ok(digest)
    }

    /// Returns the files below a folder that may be a part of a program, in a fixed order.
    fn files(&self, root: &Utf8Path) -> Result<Vec<Utf8PathBuf>, Error> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut rest = VecDeque::from([Folder { path: root.to_owned(), of_run: false }]);
        while let Some(Folder { path: folder, of_run }) = rest.pop_front() {
            // Links can make a circle.
            if !seen.insert(folder.canonicalize_utf8().map_err(unread(&folder))?) {
                continue;
            }
            let entries: io::Result<Vec<_>> = folder.read_dir_utf8().and_then(Iterator::collect);
            let mut entries = entries.map_err(unread(&folder))?;
            entries.sort_by(|one, other| one.file_name().cmp(other.file_name()));
            for entry in entries {
                let path = entry.path();
                let kind = entry.file_type().map_err(unread(path))?;
                if self.data.iter().any(|data| data == path) {
                    continue;
                }
                if path.is_dir() && entry.file_name() != PASSED_OVER {
                    let is_run = path.join("run.json").is_file() && path.join("episodes").is_dir();
                    let next = Folder { path: path.to_owned(), of_run: of_run || is_run };
                    // A folder goes by its own name before it goes by that of a link.
                    match kind.is_symlink() {
                        true => rest.push_back(next),
                        false => rest.push_front(next),
                    }
                }
                let is_file = kind.is_file() || kind.is_symlink();
                if is_file && !is_data(root, path) && !(of_run && is_result(path)) {
                    found.push(path.to_owned());
                }
                if found.len() > MOST_FILES {
                    let source = io::Error::other(format!(
                        "it has more than {MOST_FILES} files; move what is no program elsewhere"
                    ));
                    return Err(Error::Started { path: root.to_owned(), source });
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

/// Returns whether a file is no part of a program: a task or manifest, which is read strictly, or a
/// recording.
fn is_data(root: &Utf8Path, path: &Utf8Path) -> bool {
    let is_yaml = matches!(path.extension(), Some("yaml" | "yml"));
    let is_task = is_yaml && path.parent() == Some(root);
    let is_manifest = path.file_name() == Some("site.yaml");
    is_task || is_manifest || RECORDINGS.iter().any(|ending| path.as_str().ends_with(ending))
}

/// A folder to walk.
struct Folder {
    path: Utf8PathBuf,
    /// It is the folder of a run, or below one.
    of_run: bool,
}

/// Returns whether a file in the folder of a run is one that a run has.
fn is_result(path: &Utf8Path) -> bool {
    let folder = path.parent().and_then(Utf8Path::file_name);
    folder == Some(DOWNLOADS) || RESULTS.iter().any(|ending| path.as_str().ends_with(ending))
}

/// Returns the files that the words of a command name, also within a word that a shell reads.
fn named(folder: &Utf8Path, words: &[String]) -> BTreeSet<Utf8PathBuf> {
    let inner = words.iter().filter_map(|word| shlex::split(word)).flatten();
    let all = words.iter().cloned().chain(inner);
    all.map(|word| folder.join(word)).filter(|path| path.is_file()).collect()
}

/// Returns the digest of a file: of a link's target, or of the bytes.
fn of_file(path: &Utf8Path) -> io::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    let there = path.symlink_metadata()?;
    if there.is_symlink() {
        hash.update(path.as_std_path().read_link()?.as_os_str().as_encoded_bytes());
    }
    // A link that leads nowhere is its text alone.
    let Ok(metadata) = fs::metadata(path) else { return Ok(hash.finalize().into()) };
    hash.update([u8::from(metadata.permissions().mode() & 0o111 != 0)]);
    if metadata.is_file() && metadata.len() <= LARGE {
        io::copy(&mut File::open(path)?, &mut Hashing(&mut hash))?;
    } else if metadata.is_file() {
        hash.update(metadata.len().to_le_bytes());
        let changed =
            metadata.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        hash.update(changed.as_nanos().to_le_bytes());
    }
    Ok(hash.finalize().into())
}

struct Hashing<'a>(&'a mut Sha256);

impl io::Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn unread(path: &Utf8Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Started { path, source }
}

/// Returns the links below a folder, which may lead out of it. An unreadable folder is reported by
/// the caller that needs it.
pub(super) fn links(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let mut rest = vec![folder.to_owned()];
    while let Some(folder) = rest.pop() {
        for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => found.push(entry.into_path()),
                Ok(kind) if kind.is_dir() => rest.push(entry.into_path()),
                Ok(_) | Err(_) => {}
            }
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_is_made_of_counts_and_data_does_not() {
        let keep = tempfile::tempdir().unwrap();
        let suite = Utf8Path::from_path(keep.path()).unwrap();
        for folder in ["lib", ".git", "lib/__pycache__", "out/episodes/a-1/downloads"] {
            fs::create_dir_all(suite.join(folder)).unwrap();
        }
        let data = vec![suite.join("upload")];
        let write = |name: &str, text: &str| fs::write(suite.join(name), text).unwrap();
        let digest = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            Roots::new(data.clone()).digest(suite, suite, &words).unwrap()
        };
        let files = ["verify.py", "lib/help.py", "task.yaml", "web.wacz", ".git/index", "upload"];
        let more = ["lib/__pycache__/help.pyc", "out/run.json", "out/report.html", "settings.json"];
        let results = ["out/episodes/a-1/trace.jsonl", "out/episodes/a-1/downloads/x.pdf"];
        results.iter().for_each(|name| write(name, "1"));
        files.iter().chain(&more).for_each(|name| write(name, "1"));
        let changes = |name: &str, words: &[&str]| {
            let before = digest(words);
            write(name, "2");
            let is_other = digest(words) != before;
            write(name, "1");
            assert_eq!(digest(words), before, "{name}");
            is_other
        };
        let command = ["python3", "-m", "verify"];
        for name in ["verify.py", "lib/help.py", "settings.json", "lib/__pycache__/help.pyc"] {
            assert!(changes(name, &command), "{name}");
        }
        for name in ["task.yaml", "web.wacz", ".git/index", "upload"] {
            assert!(!changes(name, &command), "{name}");
            // What the command names counts in any case.
            assert!(changes(name, &["sh", "-c", &format!("sh {name} x")]), "{name}");
        }
        for name in results.iter().chain(&["out/report.html"]) {
            assert!(!changes(name, &command), "{name}");
        }
        // What looks like a run may be a module.
        write("out/__init__.py", "1");
        assert!(changes("out/__init__.py", &command));
        write("new.py", "");
        let before = digest(&command);
        fs::remove_file(suite.join("new.py")).unwrap();
        assert_ne!(digest(&command), before, "a file that comes or goes");
    }

    #[test]
    fn what_is_behind_a_link_to_a_folder_counts_and_circles_end() {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(keep.path()).unwrap();
        let (suite, other) = (folder.join("suite"), folder.join("benchmark"));
        fs::create_dir_all(suite.join("lib")).unwrap();
        fs::create_dir_all(other.join("app")).unwrap();
        let server = other.join("app/server.py");
        fs::write(&server, "1").unwrap();
        for (to, name) in [(&other, "apps"), (&suite, "benchmark/back"), (&suite, "suite/lib/up")] {
            let link = if name == "apps" { suite.join(name) } else { folder.join(name) };
            std::os::unix::fs::symlink(to, link).unwrap();
        }
        let digest = || Roots::new(Vec::new()).digest(&suite, &suite, &[]).unwrap();
        let before = digest();
        fs::write(&server, "2").unwrap();
        assert_ne!(digest(), before);
        fs::write(&server, "1").unwrap();
        assert_eq!(digest(), before);
    }

    #[test]
    fn where_a_link_leads_counts_and_what_is_there() {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(keep.path()).unwrap();
        let (suite, other) = (folder.join("suite"), folder.join("other.py"));
        fs::create_dir(&suite).unwrap();
        fs::write(&other, "1").unwrap();
        std::os::unix::fs::symlink(&other, suite.join("verify.py")).unwrap();
        let digest = || Roots::new(Vec::new()).digest(&suite, &suite, &[]).unwrap();
        let before = digest();
        fs::write(&other, "2").unwrap();
        assert_ne!(digest(), before);
    }
}
