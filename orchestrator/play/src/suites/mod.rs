//! Loads suites as the command line names them: a folder, with or without a version. A suite's
//! world may take its time from its first snapshot.

pub mod scaffold;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use snapshots::Archive;
use snapshots::collection::files_of;
use tasks::{Suite, Task};

/// An error in loading a suite.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// There is no such folder.
    #[error("load the suite: there is no {folder}{meant}")]
    NotThere {
        /// The folder.
        folder: Utf8PathBuf,
        /// The name that may have been meant, in brackets.
        meant: String,
    },
    /// It cannot be read.
    #[error("load the suite: {source}")]
    Load {
        /// The cause.
        source: tasks::Error,
    },
    /// It has no snapshots of that version.
    #[error("load the suite: {folder} has no snapshots of {version}; there are: {there}")]
    NoVersion {
        /// The suite.
        folder: Utf8PathBuf,
        /// The version.
        version: String,
        /// The versions that exist.
        there: String,
    },
    /// Its world has no time, and there is no snapshot to take one from.
    #[error(
        "load the suite: its world has no `clock`, and no snapshot to take the time from; write one, such as \
         2026-03-14T09:00:00Z"
    )]
    NoTime,
    /// Its world has no time, and neither has its first snapshot.
    #[error(
        "load the suite: its world has no `clock`, and {snapshot} holds nothing with a time; write one, such as \
         2026-03-14T09:00:00Z"
    )]
    Undated {
        /// The snapshot.
        snapshot: Utf8PathBuf,
    },
    /// Its tasks have no snapshots.
    #[error("look at the snapshots of {folder}: it has none; record them with `{record}`")]
    NoSnapshots {
        /// The suite.
        folder: Utf8PathBuf,
        /// The command that records them.
        record: String,
    },
    /// The snapshot exists in no version.
    #[error("open {path}: no version of it is there; record one with `{record}`")]
    Unrecorded {
        /// The snapshot, with the place of its date.
        path: Utf8PathBuf,
        /// The command that records one.
        record: String,
    },
    /// Its first snapshot cannot be read.
    #[error("load the suite: {source}")]
    Snapshot {
        /// The cause.
        source: snapshots::Error,
    },
}

/// Reads a suite.
///
/// # Errors
/// Whatever is wrong with it.
pub fn load(folder: &Utf8Path) -> Result<Suite, SuiteError> {
    let mut suite = load_undated(folder)?;
    date(&mut suite)?;
    Ok(suite)
}

/// Reads a suite without opening its snapshots, which may be at an address of somebody else.
///
/// # Errors
/// As [`load`].
pub fn load_undated(folder: &Utf8Path) -> Result<Suite, SuiteError> {
    // `FOLDER@VERSION` is no folder.
    let is_there = folder.exists() || folder.as_str().contains('@');
    if !is_there {
        let meant = other_suite(folder).unwrap_or_default();
        return Err(SuiteError::NotThere { folder: folder.to_owned(), meant });
    }
    let suite = Suite::load(folder).map_err(|source| SuiteError::Load { source })?;
    if let Some(version) = suite.version.filter(|version| !suite.versions.contains(version)) {
        let there: Vec<String> = suite.versions.iter().map(ToString::to_string).collect();
        let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        let version = version.to_string();
        return Err(SuiteError::NoVersion { folder: suite.folder, version, there });
    }
    Ok(suite)
}

/// Sets the time of a world that has none to that of its first snapshot.
///
/// # Errors
/// When that has none.
pub fn date(suite: &mut Suite) -> Result<(), SuiteError> {
    if suite.world.clock == tasks::UNDATED {
        suite.world.clock = recorded(&suite.world.snapshots)?;
    }
    Ok(())
}

/// Returns the time for a world that has none: that of its first snapshot.
///
/// # Errors
/// When there is none, or it has no time.
pub fn recorded(snapshots: &[Utf8PathBuf]) -> Result<Timestamp, SuiteError> {
    let first = snapshots.first().ok_or(SuiteError::NoTime)?;
    match recorded_at(first).map_err(|source| SuiteError::Snapshot { source })? {
        Some(time) => Ok(time.inner()),
        None => Err(SuiteError::Undated { snapshot: first.clone() }),
    }
}

/// Returns the time of the first recording in a file or a collection.
///
/// # Errors
/// When it cannot be read.
pub fn recorded_at(snapshot: &Utf8Path) -> Result<Option<snapshots::Timestamp>, snapshots::Error> {
    let times = files_of(snapshot)?;
    let times = times.iter().map(|file| Ok(Archive::open(file)?.recorded()));
    Ok(times.collect::<Result<Vec<_>, snapshots::Error>>()?.into_iter().flatten().min())
}

/// Returns the snapshots in which these tasks are played.
///
/// # Errors
/// When there are none, or no version of them.
pub fn snapshots_of(suite: &Suite, tasks: &[&Task]) -> Result<Vec<Utf8PathBuf>, SuiteError> {
    let of_tasks =
        tasks.iter().flat_map(|task| task.snapshots.as_ref().unwrap_or(&suite.world.snapshots));
    let mut files: Vec<Utf8PathBuf> = Vec::new();
    for path in of_tasks {
        if !files.contains(path) {
            files.push(path.clone());
        }
    }
    let folder = shlex::try_quote(suite.folder.as_str()).unwrap_or(suite.folder.as_str().into());
    let record = format!("sandbox record --suite {folder}");
    if files.is_empty() {
        return Err(SuiteError::NoSnapshots { folder: suite.folder.clone(), record });
    }
    match files.iter().find(|path| path.as_str().contains(tasks::DATE)) {
        Some(path) => Err(SuiteError::Unrecorded { path: path.clone(), record }),
        None => Ok(files),
    }
}

/// Returns the snapshots of a suite's world and of all of its tasks.
pub fn all_snapshots(suite: &Suite) -> Vec<Utf8PathBuf> {
    let own = suite.tasks.iter().flat_map(|task| task.snapshots.iter().flatten());
    let mut files: Vec<Utf8PathBuf> = suite.world.snapshots.iter().chain(own).cloned().collect();
    files.sort();
    files.dedup();
    files
}

/// Returns a suite with a similar name beside a folder that does not exist, as an error proposes
/// it.
fn other_suite(folder: &Utf8Path) -> Option<String> {
    let beside =
        folder.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let entries = beside.read_dir_utf8().ok()?.filter_map(Result::ok);
    let suites = entries.filter(|entry| {
        ["yaml", "yml"].iter().any(|ending| entry.path().join(format!("suite.{ending}")).is_file())
    });
    let names: Vec<String> = suites.map(|entry| entry.file_name().to_owned()).collect();
    let near = suggestions::nearest(folder.file_name()?, names.iter().map(String::as_str))?;
    Some(format!(" (did you mean `{}`?)", folder.with_file_name(near)))
}
