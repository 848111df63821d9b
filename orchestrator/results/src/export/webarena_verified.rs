//! Exports a run in the layout of the package `webarena-verified`.

use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};

use crate::Error;
use crate::stored::{EpisodeRecord, RunFolder, files};

/// The result of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportSummary {
    /// The folders that were created.
    pub folders: Vec<Utf8PathBuf>,
    /// Episodes that were left out, with the reason.
    pub left_out: Vec<(String, &'static str)>,
}

/// Writes one repeat of a run for the package `webarena-verified`. Each task has a folder, named by
/// its number, with the agent's answer in `agent_response.json` and all traffic in `network.har`.
///
/// # Errors
/// When the run cannot be read, or the folder exists or cannot be written.
pub fn webarena_verified(
    run: &Utf8Path,
    out: &Utf8Path,
    repeat: u32,
) -> Result<ExportSummary, Error> {
    let folder = RunFolder::open(run)?;
    if out.symlink_metadata().is_ok() {
        return Err(Error::OutputExists { path: out.to_owned() });
    }
    let mut exported = ExportSummary::default();
    for record in folder.episodes()?.iter().filter(|record| record.repeat == repeat) {
        let network = folder.episode(&record.id()).path().join("network.har");
        match number(&record.task) {
            None => {
                exported.left_out.push((record.task.clone(), "its id does not end with a number"))
            }
            Some(_) if network.symlink_metadata().is_err() => {
                exported.left_out.push((
                    record.task.clone(),
                    "its network was not kept: run with --keep-network",
                ));
            }
            Some(number) => exported.folders.push(write(record, &network, &out.join(number))?),
        }
    }
    Ok(exported)
}

fn write(
    record: &EpisodeRecord,
    network: &Utf8Path,
    folder: &Utf8Path,
) -> Result<Utf8PathBuf, Error> {
    let failed = |path: &Utf8Path| {
        let path = path.to_owned();
        |source| Error::Write { path, source }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let answer = folder.join("agent_response.json");
    // The answer is written unchanged. The package decides whether it is valid.
    fs::write(&answer, record.answer.as_deref().unwrap_or_default()).map_err(failed(&answer))?;
    let har = folder.join("network.har");
    // The run may be of somebody else, so no link is followed.
    let mut from =
        files::open(network).map_err(|source| Error::Read { path: network.to_owned(), source })?;
    fs::File::create(&har).and_then(|mut to| io::copy(&mut from, &mut to)).map_err(failed(&har))?;
    Ok(folder.to_owned())
}

/// The benchmark's own number of an imported task.
fn number(task: &str) -> Option<&str> {
    let number = task.rsplit('-').next().unwrap_or_default();
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}
