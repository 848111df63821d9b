//! Exports of runs for other programs: as a table with a row for each episode, or in the layout of
//! a benchmark's own package.

mod columns;
mod csv;
mod json;
mod parquet;
mod webarena_verified;

use camino::Utf8Path;
use columns::Row;
pub use webarena_verified::{ExportSummary, webarena_verified};

use crate::Error;
use crate::stored::{EpisodeRecord, RunFolder, RunRecord};

/// The file format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// With a header line. Absent values are empty, lists are joined by `;`, times are RFC 3339.
    Csv,
    /// Apache Parquet, with native lists and times.
    Parquet,
    /// One array of objects.
    Json,
}

/// The table of a run as bytes, and its number of rows.
///
/// # Errors
/// When the run cannot be read.
pub fn bytes(run: &Utf8Path, format: Format) -> Result<(Vec<u8>, usize), Error> {
    let folder = RunFolder::open(run)?;
    let (record, episodes) = (folder.run()?, folder.episodes()?);
    let rows = rows(&record, &episodes);
    let mut bytes = Vec::new();
    let written = match format {
        Format::Csv => csv::write(&rows, &mut bytes),
        Format::Parquet => parquet::write(&rows, &mut bytes),
        Format::Json => json::write(&rows, &mut bytes),
    };
    written.map_err(|source| Error::Write { path: "the table".into(), source })?;
    Ok((bytes, rows.len()))
}

/// Writes the table of a run to a file and returns its number of rows. An existing file is replaced
/// only with `replace`.
///
/// # Errors
/// As [`bytes`], and when the file exists or cannot be written.
pub fn table(
    run: &Utf8Path,
    file: &Utf8Path,
    format: Format,
    replace: bool,
) -> Result<usize, Error> {
    let (bytes, rows) = bytes(run, format)?;
    let is_there = file.symlink_metadata();
    if is_there.is_ok_and(|there| !replace || there.is_dir()) {
        return Err(Error::Exists { path: file.to_owned() });
    }
    let failed = |source| Error::Write { path: file.to_owned(), source };
    // Write atomically.
    let beside = file.with_file_name(format!(".{}.new", file.file_name().unwrap_or("table")));
    let write = || -> std::io::Result<()> {
        std::fs::write(&beside, &bytes)?;
        std::fs::rename(&beside, file)
    };
    write().map_err(|source| {
        let _ = std::fs::remove_file(&beside);
        failed(source)
    })?;
    Ok(rows)
}

fn rows<'a>(run: &'a RunRecord, episodes: &'a [EpisodeRecord]) -> Vec<Row<'a>> {
    let row = |record: &'a EpisodeRecord| {
        let task = run.tasks.iter().find(|task| task.id == record.task);
        Row { run, task, record }
    };
    episodes.iter().map(row).collect()
}
