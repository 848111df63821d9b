//! The folder of a run and its episodes: layout, completeness and locking.

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use observation::Download;
use scoring::{Assessment, Scorer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use snapshots::{Exchange, har};
use world_spec::StorageState;

use super::lines::{read_json, read_lines, read_versioned, replace_json, write_json, write_lines};
use super::{
    EpisodeId, EpisodeRecord, Request, RunInputs, RunRecord, SavedFile, Step, StepCall, StepMessage,
};
use crate::Error;
use crate::counted;
use crate::stored::files;

/// The maximum length of `run.json`, `episode.json` and similar files. A run of 100,000 tasks has
/// less.
const LARGEST_RECORD: u64 = 64 << 20;
/// The maximum length of `inputs.json`.
const LARGEST_INPUTS: u64 = 1 << 20;

/// `EBADF`, by which an NFS client refuses an exclusive lock on what is not open for writing.
const BAD_DESCRIPTOR: i32 = rustix::io::Errno::BADF.raw_os_error();

/// The folder of a run.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: Utf8PathBuf,
    /// Held while episodes are added. The system releases it when the process ends.
    _lock: Option<Arc<Lock>>,
}

/// A lock on a folder. It is unlocked explicitly, because a child process that is being started
/// holds copies of all open files for a moment.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // If unlocking fails, closing the file releases the lock.
        let _ = self.0.unlock();
    }
}

impl RunFolder {
    /// Creates a run in a folder that has none.
    pub fn create(path: &Utf8Path, run: &RunRecord) -> Result<RunFolder, Error> {
        create_dir(path)?;
        let folder = RunFolder::lock(path)?;
        if path.join("run.json").exists() {
            return Err(Error::Occupied { path: path.to_owned() });
        }
        create_dir(&folder.path.join("episodes"))?;
        replace_json(&path.join("run.json"), run)?;
        Ok(folder)
    }

    /// Continues the same run in a folder. Removes what unfinished episodes left there.
    pub fn resume(path: &Utf8Path, run: &RunRecord) -> Result<RunFolder, Error> {
        RunFolder::open(path)?;
        let folder = RunFolder::lock(path)?;
        let there = folder.run()?;
        let part = |run: &RunRecord| {
            run.shard.map_or_else(|| "all of it".to_owned(), |shard| shard.to_string())
        };
        let other_part = (there.shard != run.shard)
            .then(|| ("part of the run (--shard)", part(&there), part(run)));
        if let Some((what, there, here)) = there.differs_from(run).or(other_part) {
            let what = what.to_owned();
            return Err(Error::DifferentRun { path: path.to_owned(), what, there, here });
        }
        if there.episodes != run.episodes {
            return Err(Error::DifferentRun {
                path: path.to_owned(),
                what: "list of episodes".to_owned(),
                there: counted(there.planned().len(), "episode"),
                here: counted(run.planned().len(), "episode"),
            });
        }
        if let Some((what, there, here)) = there.differs_in_machine(run) {
            return Err(Error::DifferentRun { path: path.to_owned(), what, there, here });
        }
        let mut world = there.world;
        world.chromium = world.chromium.or_else(|| run.world.chromium.clone());
        world.images.extend(run.world.images.clone());
        // More repeats may be added. With fewer, episodes that are there would be none of the run.
        let mut resumed = RunRecord { repeat: run.repeat.max(there.repeat), world, ..there };
        resumed.weaken(run);
        replace_json(&path.join("run.json"), &resumed)?;
        for name in folder.episode_names()?.into_iter().filter(|name| name.starts_with('.')) {
            remove_dir(&folder.path.join("episodes").join(name))?;
        }
        Ok(folder)
    }

    /// Opens a run for reading.
    pub fn open(path: &Utf8Path) -> Result<RunFolder, Error> {
        if !path.join("run.json").is_file() {
            return Err(Error::NotARun { path: path.to_owned() });
        }
        Ok(RunFolder { path: path.to_owned(), _lock: None })
    }

    /// Locks the folder for adding episodes: two writers would delete each other's unfinished
    /// episodes.
    fn lock(path: &Utf8Path) -> Result<RunFolder, Error> {
        let failed = |source| Error::Write { path: path.to_owned(), source };
        let mut lock = File::open(path).map_err(failed)?;
        let locked = match lock.try_lock() {
            // Over NFS, a lock has to be on a file that is open for writing.
            Err(TryLockError::Error(error)) if error.raw_os_error() == Some(BAD_DESCRIPTOR) => {
                lock = File::options()
                    .write(true)
                    .create(true)
                    .truncate(false)
                    .open(path.join(".lock"))
                    .map_err(failed)?;
                lock.try_lock()
            }
            locked => locked,
        };
        match locked {
            Ok(()) => Ok(RunFolder { path: path.to_owned(), _lock: Some(Arc::new(Lock(lock))) }),
            Err(TryLockError::WouldBlock) => Err(Error::InUse { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Removes the run. Other files in the folder stay.
    pub fn discard(self) -> Result<(), Error> {
        let record = self.path.join("run.json");
        remove_dir(&self.path.join("episodes"))?;
        std::fs::remove_file(&record).map_err(|source| Error::Write { path: record, source })?;
        let _ = std::fs::remove_file(self.path.join("inputs.json"));
        // The folder stays if it is not empty.
        let _ = std::fs::remove_dir(&self.path);
        Ok(())
    }

    /// The path of the folder.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Reads `run.json`.
    pub fn run(&self) -> Result<RunRecord, Error> {
        let path = self.path.join("run.json");
        read_versioned(&path, LARGEST_RECORD)
    }

    /// Replaces `run.json`.
    pub fn rewrite(&self, record: &RunRecord) -> Result<(), Error> {
        replace_json(&self.path.join("run.json"), record)
    }

    /// Writes `inputs.json`, unless the run has it.
    pub fn write_inputs(&self, inputs: &RunInputs) -> Result<(), Error> {
        let path = self.path.join("inputs.json");
        if path.exists() { Ok(()) } else { replace_json(&path, inputs) }
    }

    /// Reads `inputs.json`. `None` for a run of an earlier version, or one of a client's.
    pub fn inputs(&self) -> Result<Option<RunInputs>, Error> {
        let path = self.path.join("inputs.json");
        if !path.is_file() {
            return Ok(None);
        }
        read_versioned(&path, LARGEST_INPUTS).map(Some)
    }

    /// The complete episodes, in the order of the run's tasks, then by repeat.
    pub fn episodes(&self) -> Result<Vec<EpisodeRecord>, Error> {
        let tasks = self.run()?.tasks;
        let mut episodes = Vec::new();
        for name in self.episode_names()?.into_iter().filter(|name| !name.starts_with('.')) {
            episodes.push(self.record_named(&name)?);
        }
        let place =
            |task: &str| tasks.iter().position(|known| known.id == task).unwrap_or(usize::MAX);
        episodes.sort_by_cached_key(|episode| {
            (place(&episode.task), episode.task.clone(), episode.repeat)
        });
        Ok(episodes)
    }

    /// The record of the episode in the folder of this name.
    pub fn record_named(&self, name: &str) -> Result<EpisodeRecord, Error> {
        let path = self.path.join("episodes").join(name);
        let record = EpisodeFolder { path: path.clone() }.record()?;
        if record.id().folder_name() != name {
            return Err(Error::Misplaced { path, belongs: record.id().folder_name() });
        }
        Ok(record)
    }

    /// The folder of an episode, which may not exist.
    pub fn episode(&self, id: &EpisodeId) -> EpisodeFolder {
        EpisodeFolder { path: self.path.join("episodes").join(id.folder_name()) }
    }

    /// Creates an empty folder for a new episode. [`Self::keep`] gives it its final name when the
    /// episode has ended.
    pub fn begin_episode(&self, id: &EpisodeId) -> Result<EpisodeFolder, Error> {
        let path = self.path.join("episodes").join(format!(".{}", id.folder_name()));
        if path.exists() {
            remove_dir(&path)?;
        }
        create_dir(&path)?;
        Ok(EpisodeFolder { path })
    }

    /// Writes the result of an episode and renames its folder, so that it counts. Replaces an
    /// earlier attempt with the same id.
    pub fn keep(
        &self,
        folder: EpisodeFolder,
        record: &EpisodeRecord,
        steps: &[Step],
        requests: &[Request],
    ) -> Result<EpisodeFolder, Error> {
        write_lines(&folder.path.join("trace.jsonl"), steps)?;
        write_lines(&folder.path.join("ledger.jsonl"), requests)?;
        write_json(&folder.path.join("episode.json"), record)?;
        let whole = self.episode(&record.id());
        if whole.path.exists() {
            remove_dir(&whole.path)?;
        }
        std::fs::rename(&folder.path, &whole.path)
            .map_err(|source| Error::Write { path: whole.path.clone(), source })?;
        Ok(whole)
    }

    fn episode_names(&self) -> Result<Vec<String>, Error> {
        let path = self.path.join("episodes");
        let failed = |source| Error::Read { path: path.clone(), source };
        let mut names = Vec::new();
        for entry in path.read_dir_utf8().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // Through a link, results would be written elsewhere.
            if entry.file_type().map_err(failed)?.is_dir() {
                names.push(entry.file_name().to_owned());
            }
        }
        names.sort();
        Ok(names)
    }
}

/// The folder of one episode.
#[derive(Debug, Clone)]
pub struct EpisodeFolder {
    path: Utf8PathBuf,
}

impl EpisodeFolder {
    /// The folder at this path, which may not exist.
    pub fn at(path: Utf8PathBuf) -> EpisodeFolder {
        EpisodeFolder { path }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Removes the folder with its content.
    pub fn discard(self) -> Result<(), Error> {
        remove_dir(&self.path)
    }

    /// Whether the episode has ended and is written.
    pub fn is_whole(&self) -> bool {
        self.path.join("episode.json").is_file()
    }

    /// The folder in which a program of attach mode leaves its answer, from the root. It is made if
    /// it is not there. Nothing else of the episode is in it, because the program may write there.
    pub fn program_folder(&self) -> Result<std::path::PathBuf, Error> {
        let path = self.path.join("program");
        create_dir(&path)?;
        path.as_std_path().canonicalize().map_err(|source| Error::Read { path, source })
    }

    /// Writes a screenshot and returns its file name.
    pub fn write_screenshot(&self, step: u32, png: &[u8]) -> Result<String, Error> {
        let name = format!("step-{step:02}.png");
        let path = self.path.join(&name);
        files::write(&path, png).map_err(|source| Error::Write { path, source })?;
        Ok(name)
    }

    /// Writes an image of the goal, with the extension from its URL. Returns its path.
    pub fn write_goal_image(
        &self,
        number: usize,
        url: &str,
        bytes: &[u8],
    ) -> Result<Utf8PathBuf, Error> {
        let end =
            url.split(['?', '#']).next().and_then(|path| path.rsplit('/').next()?.rsplit_once('.'));
        let kind = end
            .map(|(_, kind)| kind)
            .filter(|kind| kind.chars().all(|c| c.is_ascii_alphanumeric()));
        let path = self.path.join(format!("goal-{number}.{}", kind.unwrap_or("image")));
        files::write(&path, bytes).map_err(|source| Error::Write { path: path.clone(), source })?;
        Ok(path)
    }

    /// Writes the model calls, if there are any.
    pub fn write_calls(&self, calls: &[StepCall]) -> Result<(), Error> {
        self.write_some("calls.jsonl", calls)
    }

    /// Reads `calls.jsonl`. Empty if no model was called.
    pub fn calls(&self) -> Result<Vec<StepCall>, Error> {
        self.read_some("calls.jsonl")
    }

    /// Writes the console messages, if there are any.
    pub fn write_console(&self, messages: &[StepMessage]) -> Result<(), Error> {
        self.write_some("console.jsonl", messages)
    }

    /// Reads `console.jsonl`. Empty if pages wrote nothing, and in runs of format 2.1.
    pub fn console(&self) -> Result<Vec<StepMessage>, Error> {
        self.read_some("console.jsonl")
    }

    /// Writes a file of lines, if there are any.
    fn write_some<T: Serialize>(&self, name: &str, lines: &[T]) -> Result<(), Error> {
        if lines.is_empty() {
            return Ok(());
        }
        write_lines(&self.path.join(name), lines)
    }

    /// Reads a file of lines. Empty if there is no such file.
    fn read_some<T: DeserializeOwned>(&self, name: &str) -> Result<Vec<T>, Error> {
        let path = self.path.join(name);
        if path.is_file() { read_lines(&path) } else { Ok(Vec::new()) }
    }

    /// Writes the inputs of the score, so that it can be computed again.
    pub fn write_score_state(&self, assessment: &Assessment) -> Result<(), Error> {
        replace_json(&self.path.join("score_state.json"), assessment)
    }

    /// Reads `score_state.json`, for this scorer to take up.
    pub fn score_state(&self, scorer: &Scorer) -> Result<Assessment, Error> {
        let path = self.path.join("score_state.json");
        scorer.restore(&read_json(&path, LARGEST_RECORD)?).map_err(|source| Error::Malformed {
            path,
            line: 1,
            source,
        })
    }

    /// Replaces `episode.json`.
    pub fn rewrite(&self, record: &EpisodeRecord) -> Result<(), Error> {
        replace_json(&self.path.join("episode.json"), record)
    }

    /// Writes cookies and storage, readable only by the owner.
    pub fn write_storage(&self, state: &StorageState) -> Result<(), Error> {
        let path = self.path.join("storage_state.json");
        let text = serde_json::to_vec_pretty(state).map_err(|source| Error::Encode { source })?;
        let mut file = own(&path)?;
        file.write_all(&text).map_err(|source| Error::Write { path, source })
    }

    /// Writes the traffic as HAR, readable only by the owner. Also returns it.
    pub fn write_network(&self, exchanges: &[Exchange]) -> Result<Vec<u8>, Error> {
        let path = self.path.join("network.har");
        let made = || {
            let mut writer = har::Writer::new(Vec::new(), env!("CARGO_PKG_VERSION"))?;
            for exchange in exchanges {
                writer.entry(exchange, None, None)?;
            }
            writer.finish()
        };
        let har = made().map_err(|error| Error::Write {
            path: path.clone(),
            source: std::io::Error::other(error),
        })?;
        // For the owner alone, because it may contain log-ins.
        let mut file = own(&path)?;
        file.write_all(&har).map_err(|source| Error::Write { path, source })?;
        Ok(har)
    }

    /// Moves downloads into the folder and updates their paths.
    pub fn keep_downloads(&self, downloads: &mut [Download]) -> Result<Vec<SavedFile>, Error> {
        let folder = self.path.join("downloads");
        let mut kept = Vec::with_capacity(downloads.len());
        for Download { name, url, path } in downloads {
            if let Some(path) = path {
                create_dir(&folder)?;
                let place = folder.join(&*name);
                copy_unlinked(path, &place)
                    .map_err(|source| Error::Write { path: place.clone(), source })?;
                *path = place.into();
            }
            kept.push(SavedFile { name: name.clone(), url: url.clone(), whole: path.is_some() });
        }
        Ok(kept)
    }

    /// Reads `episode.json`.
    pub fn record(&self) -> Result<EpisodeRecord, Error> {
        let path = self.path.join("episode.json");
        read_versioned(&path, LARGEST_RECORD)
    }

    /// Reads `trace.jsonl`.
    pub fn steps(&self) -> Result<Vec<Step>, Error> {
        read_lines(&self.path.join("trace.jsonl"))
    }

    /// Reads `ledger.jsonl`.
    pub fn requests(&self) -> Result<Vec<Request>, Error> {
        read_lines(&self.path.join("ledger.jsonl"))
    }
}

/// Creates a file that only its owner may read.
fn own(path: &Utf8Path) -> Result<File, Error> {
    files::create(path, 0o600).map_err(|source| Error::Write { path: path.to_owned(), source })
}

/// Copies a regular file. A program that drives the browser could put a link into its place.
fn copy_unlinked(from: &std::path::Path, to: &Utf8Path) -> std::io::Result<u64> {
    let from =
        Utf8Path::from_path(from).ok_or_else(|| std::io::Error::other("its path is no UTF-8"))?;
    std::io::copy(&mut ::files::unlinked(from)?, &mut File::create(to)?)
}

fn create_dir(path: &Utf8Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(|source| Error::Write { path: path.to_owned(), source })
}

fn remove_dir(path: &Utf8Path) -> Result<(), Error> {
    std::fs::remove_dir_all(path).map_err(|source| Error::Write { path: path.to_owned(), source })
}
