//! A run for other programs: in the layout of a benchmark's own package, or as a table with a row for each episode.

mod columns;
mod csv;
mod json;
mod parquet;
mod webarena_verified;

use std::fs::File;
use std::io::{BufWriter, Write as _};

use camino::Utf8Path;

use crate::Error;
use crate::results::{EpisodeRecord, RunFolder, RunRecord};
use columns::Row;
pub use webarena_verified::{Exported, webarena_verified};

/// What a table is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// With a line of names; what is absent is empty, lists are joined by `;`, times as RFC 3339.
    Csv,
    /// Apache Parquet, with lists and times as such.
    Parquet,
    /// One array of objects.
    Json,
}

/// Writes a table with a row for each episode; gives how many there are.
///
/// # Errors
/// When the run cannot be read, or the file is there already or cannot be written.
pub fn table(run: &Utf8Path, file: &Utf8Path, format: Format) -> Result<usize, Error> {
    let folder = RunFolder::open(run)?;
    let (record, episodes) = (folder.run()?, folder.episodes()?);
    let rows = rows(&record, &episodes);
    if file.symlink_metadata().is_ok() {
        return Err(Error::Exists { path: file.to_owned() });
    }
    let failed = |source| Error::Write { path: file.to_owned(), source };
    // Whole or not at all.
    let beside = file.with_file_name(format!(".{}.new", file.file_name().unwrap_or("table")));
    let write = || -> std::io::Result<()> {
        let mut out = BufWriter::new(File::create(&beside)?);
        match format {
            Format::Csv => csv::write(&rows, &mut out)?,
            Format::Parquet => parquet::write(&rows, &mut out)?,
            Format::Json => json::write(&rows, &mut out)?,
        }
        out.flush()?;
        std::fs::rename(&beside, file)
    };
    write().map_err(|source| {
        let _ = std::fs::remove_file(&beside);
        failed(source)
    })?;
    Ok(rows.len())
}

fn rows<'a>(run: &'a RunRecord, episodes: &'a [EpisodeRecord]) -> Vec<Row<'a>> {
    let row = |record: &'a EpisodeRecord| {
        let task = run.tasks.iter().find(|task| task.id == record.task);
        Row { run, task, record }
    };
    episodes.iter().map(row).collect()
}
