//! Converts the folder of a recording into a snapshot.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::BufReader;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::folder::{DATA, PAGES};
use super::left_out::is_left_out;
use super::read_back::verify;
use super::{Progress, Recording, RecordingReport};
use crate::ops::pages;
use crate::wacz::{Description, PageLines, SnapshotWriter, WriteReport};
use crate::{Archive, Error, Record, RecordKind, Timestamp};

impl Recording {
    /// Creates the snapshot: digests, one copy of each payload, compression, index, pages. It is
    /// written beside its target, verified, and moved there. Then the folder is deleted. If
    /// anything fails, the folder stays and [`Recording::recover`] can resume it.
    pub fn finish(self, progress: &dyn Fn(Progress)) -> Result<RecordingReport, Error> {
        let part = Utf8PathBuf::from(format!("{}.part", self.out));
        if part.exists() {
            fs::remove_file(&part).map_err(|e| Error::io("remove", &part, e))?;
        }
        let written = write(&self, &part, progress)
            .and_then(|written| verify(&part, &written).map(|()| written));
        let written = match written {
            Ok(written) => written,
            Err(error) => {
                // The data is safe in the folder. A snapshot that does not read back is useless.
                let _ = fs::remove_file(&part);
                return Err(error);
            }
        };
        publish(&part, &self.out, self.options.replace)?;
        sync_folder(&self.out)?;
        let bytes = fs::metadata(&self.out).map_err(|e| Error::io("read", &self.out, e))?.len();
        fs::remove_dir_all(&self.folder).map_err(|e| Error::io("remove", &self.folder, e))?;
        let count = |kind: RecordKind| written.records.get(kind.name()).copied().unwrap_or(0);
        let revisits = count(RecordKind::Revisit);
        Ok(RecordingReport {
            path: self.out,
            bytes,
            responses: count(RecordKind::Response) + revisits,
            revisits,
            pages: written.pages,
            digest: written.digest,
        })
    }
}

fn write(
    recording: &Recording,
    part: &Utf8Path,
    progress: &dyn Fn(Progress),
) -> Result<WriteReport, Error> {
    let mut writer = SnapshotWriter::create(part)?;
    let data = recording.folder.join(DATA);
    recording.append_left_over(&Archive::open(&data)?)?;
    recording.trim()?;
    let total = recording.bytes();
    let archive = Archive::open(&data)?;
    let periods = Recording::left_out_in(&recording.folder)?;
    let by_hand = recording.by_hand(&archive)?;
    for record in archive.records() {
        match record {
            Ok((at, record)) => {
                if !is_left_out(&record, &periods) && !by_hand.is_wall(&record) {
                    writer.add(record)?;
                }
                progress(Progress { done: at.offset + at.length, total });
            }
            // A bad sector must not cost the rest of the recording.
            Err(error) if error.is_damage() => {
                tracing::warn!(%error, "a record is left out of the snapshot")
            }
            Err(error) => return Err(error),
        }
    }
    let path = recording.folder.join(PAGES);
    let pages = files::open(&path).map_err(|e| Error::io("open", &path, e))?;
    let mut listed = HashSet::new();
    for page in PageLines::new(PAGES, BufReader::new(pages)) {
        let page = page?;
        writer.add_page(&page)?;
        listed.insert(page.url);
    }
    // There is no page list if the recording served any proxy client, or a person with a browser.
    let since = if listed.is_empty() { Some(Timestamp::from_millis(0)) } else { by_hand.since };
    if let Some(from) = since {
        let is_kept = |record: &Record| {
            record.date().is_some_and(|at| at >= from)
                && !is_left_out(record, &periods)
                && !by_hand.is_wall(record)
        };
        let found = pages::find(&archive, is_kept);
        found
            .iter()
            .filter(|page| !listed.contains(&page.url))
            .try_for_each(|page| writer.add_page(page))?;
    }
    progress(Progress { done: total, total });
    let description = Description {
        title: recording.options.title.clone(),
        description: recording.options.description.clone(),
        rules: recording.rules()?,
        browser_state: Recording::browser_state_in(&recording.folder)?,
        ..Description::default()
    };
    writer.finish(description)
}

/// Moves the finished file to its target, where another file may have appeared meanwhile.
fn publish(part: &Utf8Path, out: &Utf8Path, replace: bool) -> Result<(), Error> {
    if replace {
        return fs::rename(part, out).map_err(|e| Error::io("create", out, e));
    }
    let exists = || Error::Exists { path: out.to_owned() };
    match renameat_with(CWD, part.as_std_path(), CWD, out.as_std_path(), RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(exists()),
        // Not every file system supports a rename that refuses to replace.
        Err(Errno::INVAL | Errno::NOSYS) if out.symlink_metadata().is_ok() => Err(exists()),
        Err(Errno::INVAL | Errno::NOSYS) => {
            fs::rename(part, out).map_err(|e| Error::io("create", out, e))
        }
        Err(error) => Err(Error::io("create", out, error.into())),
    }
}

fn sync_folder(file: &Utf8Path) -> Result<(), Error> {
    let folder = match file.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent,
        _ => Utf8Path::new("."),
    };
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|e| Error::io("sync", folder, e))
}
