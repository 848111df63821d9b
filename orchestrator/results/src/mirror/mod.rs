//! A run in an object store: its folder on this machine, and the same files at an address.
//!
//! The run is played in the folder as any other. Each episode is uploaded when it has ended, so
//! that a machine that is lost costs the episodes under way. What cannot be uploaded stays in the
//! folder, and goes there the next time.
//!
//! ```text
//!   folder/                    s3://bucket/run/
//!     run.json        ──────>    run.json
//!     episodes/a-1/   ──────>    episodes/a-1/...   its episode.json last: without it, nothing counts
//!     .sent                      (what is there, as this machine left it)
//! ```

mod error;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};
pub use error::Error;
use object_files::{Address, Listed, RemoteFolder};
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use crate::stored::EpisodeId;

/// The number of uploads and downloads at once.
const AUTOMATIC_WITHIN: usize = 8;
/// The file that makes an episode complete.
const RECORD: &str = "episode.json";
/// The file that lists the files at the address.
const SENT: &str = ".sent";

/// Fails for an address that is read-only.
///
/// # Errors
/// When it is none of an object store.
pub fn check_writable(address: &Utf8Path) -> Result<(), Error> {
    if address.as_str().starts_with("s3://") {
        return Ok(());
    }
    Err(Error::ReadOnly { address: address.to_owned() })
}

/// A run's folder, and its address.
#[derive(Debug)]
pub struct Mirror {
    there: RemoteFolder,
    here: Utf8PathBuf,
    /// Whether the folder is a copy, in which nothing is played.
    is_copy: bool,
    /// The files that are at the address, as far as known.
    sent: Mutex<BTreeMap<String, Sent>>,
}

/// A file that was uploaded or downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sent {
    /// Its state here, at that time.
    here: Stamp,
    /// Its version at the address; empty if the server did not tell.
    version: String,
}

/// The stamp of a file's state: another stamp means another content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified_nanos: u128,
}

impl Mirror {
    /// Returns the mirror of a run that is played in a folder of its own below `folders`.
    ///
    /// # Errors
    /// When the address cannot be used, or the folder not be read.
    pub fn of(address: &str, folders: &Utf8Path) -> Result<Mirror, Error> {
        Mirror::new(address, folders, false)
    }

    /// Returns the mirror of a run that is only read. Its folder below `folders` is a copy of the
    /// address.
    ///
    /// # Errors
    /// When the address cannot be used, or the folder not be read.
    pub fn copy_of(address: &str, folders: &Utf8Path) -> Result<Mirror, Error> {
        Mirror::new(address, folders, true)
    }

    fn new(address: &str, folders: &Utf8Path, is_copy: bool) -> Result<Mirror, Error> {
        let address = Address::parse(address.trim_end_matches('/'))?;
        let text = address.to_string();
        let name = text.rsplit('/').next().unwrap_or_default();
        let name: String =
            name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let key = hex::encode(Sha256::digest(format!("{} {text}", object_files::server(&address))));
        let here = folders.join(format!("{name}-{}", &key[..12]));
        let sent = Mutex::new(read_sent(&here.join(SENT))?);
        Ok(Mirror { there: RemoteFolder::at(&address)?, here, is_copy, sent })
    }

    /// The folder.
    pub fn folder(&self) -> &Utf8Path {
        &self.here
    }

    /// The address, as users write it.
    pub fn address(&self) -> String {
        self.there.address().to_string()
    }

    /// Whether there is a run at the address.
    ///
    /// # Errors
    /// When the server does not answer or allow it.
    pub fn is_there(&self) -> Result<bool, Error> {
        Ok(object_files::length(&self.there.object("run.json")?)?.is_some())
    }

    /// Forgets the files at the address, so that everything is uploaded again.
    pub fn forget(&self) {
        self.sent.lock().clear();
    }

    /// As [`Mirror::pull`], of a run that has to be there.
    ///
    /// # Errors
    /// As there, and when there is no run.
    pub fn pull_there(
        &self,
        stop: &CancellationToken,
        on: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(), Error> {
        if !self.is_there()? {
            return Err(Error::NothingToOpen { address: self.address() });
        }
        self.pull(stop, on)
    }

    /// Downloads the files at the address that are not in the folder. `on` receives how many are
    /// done, of how many. Episodes without a record are skipped: a machine leaves such when it is
    /// lost during an upload. Files that are gone from the address are removed from a copy; where
    /// the run is played, they are uploaded again.
    ///
    /// # Errors
    /// When the server does not answer or allow it, the folder cannot be written, or it is stopped.
    pub fn pull(
        &self,
        stop: &CancellationToken,
        on: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(), Error> {
        let listed = self.there.list()?;
        // Some tools make an empty object that stands for a folder.
        let is_folder = |object: &Listed| {
            let inside = format!("{}/", object.path);
            object.path.is_empty()
                || object.length == 0 && listed.iter().any(|one| one.path.starts_with(&inside))
        };
        let whole: BTreeSet<String> = listed
            .iter()
            .filter_map(|object| object.path.strip_suffix(RECORD))
            .map(str::to_owned)
            .collect();
        let counts =
            |path: &str| match path.strip_prefix("episodes/").and_then(|rest| rest.split_once('/'))
            {
                Some((episode, _)) => whole.contains(&format!("episodes/{episode}/")),
                None => true,
            };
        let mut wanted = Vec::new();
        for object in listed.iter().filter(|object| counts(&object.path) && !is_folder(object)) {
            if !is_plain(&object.path) {
                return Err(Error::Name { address: self.address(), path: object.path.clone() });
            }
            let to = self.here.join(&object.path);
            let here = to.metadata().ok().map(|metadata| stamp(&metadata));
            if self.is_wanted(object, here) {
                wanted.push((object, to));
            }
        }
        std::fs::create_dir_all(&self.here).map_err(local("create", &self.here))?;
        let there: BTreeSet<&str> = listed.iter().map(|object| object.path.as_str()).collect();
        let gone: Vec<String> = self
            .sent
            .lock()
            .keys()
            .filter(|path| !there.contains(path.as_str()))
            .cloned()
            .collect();
        for path in gone {
            if self.is_copy {
                let file = self.here.join(&path);
                remove(&file)?;
                // A folder that is empty now is no episode. Another one stays.
                let _ = file.parent().map(std::fs::remove_dir);
            }
            self.sent.lock().remove(&path);
        }
        let pulled = each(&wanted, on, |(object, to)| {
            if stop.is_cancelled() {
                return Err(Error::Interrupted);
            }
            object_files::download(&self.there.object(&object.path)?, to)?;
            let here = stamp(&to.metadata().map_err(local("read", to))?);
            let sent = Sent { here, version: object.version.clone() };
            self.sent.lock().insert(object.path.clone(), sent);
            Ok(())
        });
        self.write_sent()?;
        pulled
    }

    /// Returns whether an object is to be downloaded: it is not here, or it has changed there and
    /// not here.
    fn is_wanted(&self, object: &Listed, here: Option<Stamp>) -> bool {
        let Some(here) = here else { return true };
        match self.sent.lock().get(&object.path) {
            Some(sent) if sent.here == here => {
                let is_known = sent.version.is_empty() || sent.version == object.version;
                !is_known || object.length != here.length
            }
            // Changed here, and not uploaded yet.
            Some(_) => false,
            // A machine that was stopped in the middle did not note what it had uploaded.
            None => object.length != here.length,
        }
    }

    /// Uploads new and changed files of the folder, and removes files from the address that the
    /// folder no longer has. `on` receives how many are done, of how many.
    ///
    /// # Errors
    /// When a file cannot be read, or the server does not take it. What was uploaded until then is
    /// not uploaded again.
    pub fn push(&self, on: &(dyn Fn(usize, usize) + Sync)) -> Result<(), Error> {
        let pushed = self.push_below("", on);
        if self.here.exists() {
            self.write_sent()?;
        }
        pushed
    }

    /// The same for one episode that has ended, and for the record of the run. If the process is
    /// killed before the whole is pushed, such an episode is uploaded once more.
    ///
    /// # Errors
    /// See [`Mirror::push`].
    pub fn push_episode(&self, episode: &EpisodeId) -> Result<(), Error> {
        self.push_below("run.json", &|_, _| {})?;
        self.push_below(&format!("episodes/{}", episode.folder_name()), &|_, _| {})
    }

    /// Uploads a file, or the files of a folder, by its path from the run's folder.
    fn push_below(&self, below: &str, on: &(dyn Fn(usize, usize) + Sync)) -> Result<(), Error> {
        let found = files(&self.here, below)?;
        let is_below = |path: &str| Utf8Path::new(path).starts_with(below);
        let changed: Vec<&String> = found
            .iter()
            .filter(|(path, stamp)| {
                self.sent.lock().get(*path).map(|sent| sent.here) != Some(**stamp)
            })
            .map(|(path, _)| path)
            .collect();
        let gone: Vec<String> = self
            .sent
            .lock()
            .keys()
            .filter(|path| is_below(path) && !found.contains_key(*path))
            .cloned()
            .collect();
        // A record that is replaced or removed goes first, so that what is left never counts.
        let (records, rest): (Vec<&String>, Vec<&String>) =
            changed.into_iter().partition(|path| path.ends_with(RECORD));
        for path in records.iter().copied().chain(&gone).filter(|path| path.ends_with(RECORD)) {
            if self.sent.lock().contains_key(path) {
                self.there.remove(path)?;
                self.sent.lock().remove(path);
            }
        }
        let total = rest.len() + records.len();
        let put = |path: &&String| -> Result<(), Error> {
            let version = match object_files::upload(
                &self.here.join(path),
                &self.there.object(path)?,
                &mut |_| {},
            ) {
                // Its episode is being replaced; what takes its place is told.
                Err(object_files::Error::Local { source, .. })
                    if source.kind() == ErrorKind::NotFound =>
                {
                    return Ok(());
                }
                uploaded => uploaded?,
            };
            let sent = Sent { here: found[*path], version: version.unwrap_or_default() };
            self.sent.lock().insert((*path).clone(), sent);
            Ok(())
        };
        each(&rest, &|done, _| on(done, total), put)
            .and_then(|()| each(&records, &|done, _| on(rest.len() + done, total), put))
            .and_then(|()| {
                for path in gone {
                    self.there.remove(&path)?;
                    self.sent.lock().remove(&path);
                }
                Ok(())
            })
    }

    fn write_sent(&self) -> Result<(), Error> {
        let path = self.here.join(SENT);
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(&self.here)?;
            for (name, Sent { here: Stamp { length, modified_nanos }, version }) in
                self.sent.lock().iter()
            {
                writeln!(file, "{length} {modified_nanos} {version}\t{name}")?;
            }
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(local("write", &path))
    }
}

/// The addresses of the runs at an address or below it, in the order of their numbers.
///
/// # Errors
/// When there are none, or the server does not answer or allow it.
pub fn runs_below(address: &str) -> Result<Vec<Utf8PathBuf>, Error> {
    let folder = RemoteFolder::at(&Address::parse(address.trim_end_matches('/'))?)?;
    let listed = folder.list()?;
    let mut found: Vec<&str> =
        listed.iter().filter_map(|object| object.path.strip_suffix("run.json")).collect();
    if found.is_empty() {
        return Err(Error::NoRun { address: address.to_owned() });
    }
    // `parts/10/` comes after `parts/9/`.
    found.sort_by_key(|path| (path.len(), *path));
    let base = folder.address();
    Ok(found
        .into_iter()
        .map(|path| format!("{base}/{path}").trim_end_matches('/').into())
        .collect())
}

/// Reads the list of uploaded files; empty without one. A damaged line costs one upload more.
fn read_sent(path: &Utf8Path) -> Result<BTreeMap<String, Sent>, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(local("read", path)(error)),
    };
    let read = |line: &str| {
        let (state, name) = line.split_once('\t')?;
        let mut words = state.splitn(3, ' ');
        let (length, modified_nanos) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let here = Stamp { length, modified_nanos };
        Some((name.to_owned(), Sent { here, version: words.next()?.to_owned() }))
    };
    Ok(text.lines().filter_map(read).collect())
}

/// The files of a run's folder, or below a path in it, but for those whose name or folder begins
/// with a dot: locks, and episodes that have not ended.
fn files(folder: &Utf8Path, below: &str) -> Result<BTreeMap<String, Stamp>, Error> {
    let mut found = BTreeMap::new();
    let start = folder.join(below);
    if let Ok(metadata) = start.metadata()
        && metadata.is_file()
    {
        found.insert(below.to_owned(), stamp(&metadata));
        return Ok(found);
    }
    let mut folders = vec![start];
    while let Some(next) = folders.pop() {
        let failed = |source| local("read", &next)(source);
        let entries = match next.read_dir_utf8() {
            // An episode that is being replaced.
            Err(error) if error.kind() == ErrorKind::NotFound && next != *folder => continue,
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            if entry.file_name().starts_with('.') || !entry.path().exists() {
                continue;
            }
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                folders.push(entry.into_path());
            } else if kind.is_file() {
                let Ok(metadata) = entry.metadata() else { continue };
                let stamp = stamp(&metadata);
                let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
                found.insert(path.to_string(), stamp);
            }
        }
    }
    Ok(found)
}

/// Removes a file, if it is there.
fn remove(file: &Utf8Path) -> Result<(), Error> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(local("remove", file)(error)),
        _ => Ok(()),
    }
}

fn stamp(metadata: &std::fs::Metadata) -> Stamp {
    let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
    let modified = metadata.modified().ok().and_then(since);
    Stamp { length: metadata.len(), modified_nanos: modified.map_or(0, |since| since.as_nanos()) }
}

/// Returns whether a path leads to a file below the folder that no reader skips.
fn is_plain(path: &str) -> bool {
    path.split('/')
        .all(|part| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', '\0']))
}

fn local(doing: &'static str, path: &Utf8Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Local { doing, path, source }
}

/// Does something with each item, several at once. The first error ends it.
fn each<T: Sync>(
    all: &[T],
    on: &(dyn Fn(usize, usize) + Sync),
    work: impl Fn(&T) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let first = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..AUTOMATIC_WITHIN.min(all.len()) {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // Uploads under way end by themselves; after an error none begins.
                    if first.lock().is_some() {
                        return;
                    }
                    match work(one) {
                        Ok(()) => on(done.fetch_add(1, Ordering::Relaxed) + 1, all.len()),
                        Err(error) => {
                            first.lock().get_or_insert(error);
                        }
                    }
                }
            });
        }
    });
    first.into_inner().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_no_files_of_a_run() {
        for path in ["../x", "/etc/passwd", "a/../b", "episodes/.x/a", "a//b", "", "a\\b", ".sent"]
        {
            assert!(!is_plain(path), "{path}");
        }
        assert!(is_plain("episodes/a%2Fb-1/step-01.png"));
    }
}
