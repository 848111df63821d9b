//! Tasks from the benchmarks' own files.
//!
//! Each benchmark has an importer of its name. It reads the text of the user's file and returns
//! an [`Import`], or a [`NewSuite`] if the suite has sites or files of its own. Nothing of the
//! files is kept here. A task that this version cannot score is left out and named. It is never
//! scored by half its rules.

mod assistantbench;
mod benchmark;
mod fanoutqa;
pub mod infinity;
pub mod live;
mod mind2web_live;
pub mod miniwob;
mod new_suite;
mod site_manifests;
pub mod turkingbench;
pub mod visualwebarena;
pub mod warcbench;
pub mod webarena;
mod webarena_lite;
pub mod webarena_verified;
mod webchorearena;
pub mod workarena;

use std::collections::{BTreeMap, HashSet};
use std::{fs, io};

pub use assistantbench::assistantbench;
pub use benchmark::{Benchmark, LiveWeb};
use camino::{Utf8Path, Utf8PathBuf};
pub use fanoutqa::fanoutqa;
pub use mind2web_live::{max_steps as mind2web_live_max_steps, mind2web_live};
pub use new_suite::{NewSuite, WriteError};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
pub use site_manifests::{SiteManifests, SiteSet};
use thiserror::Error;
pub use webarena_lite::only_lite;
pub use webchorearena::webchorearena;

use crate::Task;

/// The benchmarks whose tasks are in one file, in the order in which `sandbox score --help` lists
/// them. All that names such a benchmark follows from its entry.
pub const BENCHMARKS: &[Benchmark] = &[
    assistantbench::BENCHMARK,
    fanoutqa::BENCHMARK,
    mind2web_live::BENCHMARK,
    webarena::BENCHMARK,
    webchorearena::BENCHMARK,
    visualwebarena::BENCHMARK,
    warcbench::BENCHMARK,
];

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Import {
    /// Ready to run, in the file's order.
    pub tasks: Vec<Task>,
    /// Left out.
    pub skipped: Vec<SkippedTask>,
    /// The warnings where nothing was left out, and the number of tasks that each is about.
    pub warnings: BTreeMap<String, usize>,
}

impl Import {
    /// Takes what was made of another file.
    pub fn extend(&mut self, other: Import) {
        self.tasks.extend(other.tasks);
        self.skipped.extend(other.skipped);
        for (warning, tasks) in other.warnings {
            *self.warnings.entry(warning).or_default() += tasks;
        }
    }

    /// Warns of something in one more task.
    fn warn(&mut self, warning: impl Into<String>) {
        *self.warnings.entry(warning.into()).or_default() += 1;
    }

    /// Warns of keys that the published code never looks at, so that no score follows from them;
    /// `published` are those that its own files have.
    fn pass_over(&mut self, keys: &Map<String, Value>, published: &[&str]) {
        for key in keys.keys().filter(|key| !published.contains(&key.as_str())) {
            self.warn(format!("the key `{key}` is passed over: no score follows from it"));
        }
    }
}

/// A task that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedTask {
    /// The id it would have had.
    pub id: String,
    /// The missing part that it needs.
    pub reason: String,
}

/// The file is not what it should be.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Not the JSON of the benchmark.
    #[error("{}{source}", at(.line, .key))]
    Format {
        /// The line, from 1, where each line of the file is read on its own.
        line: Option<usize>,
        /// The key, as in `[3].eval.eval_types[0]`; empty for the whole.
        key: String,
        /// The error there.
        source: serde_json::Error,
    },
    /// It cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file or folder.
        path: Utf8PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// One of several files does not have the content that it should have.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: Utf8PathBuf,
        /// The error in it.
        source: Box<ImportError>,
    },
    /// The folder or file is not the benchmark's, or has nothing that can be imported.
    #[error("{0}")]
    Unusable(String),
    /// A table of the benchmark's is none.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// A folder of TurkingBench's cannot be read.
    #[error(transparent)]
    TurkingBench(#[from] ::turkingbench::Error),
    /// Another benchmark's, or another part of it.
    #[error("none of its tasks is one of {subset}'s")]
    NotOfSubset {
        /// The part that was wanted.
        subset: &'static str,
    },
}

impl ImportError {
    fn in_line(self, number: usize) -> ImportError {
        match self {
            ImportError::Format { key, source, .. } => {
                ImportError::Format { line: Some(number), key, source }
            }
            other => other,
        }
    }
}

fn at(line: &Option<usize>, key: &str) -> String {
    let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
    if key.is_empty() || key == "." { line } else { format!("{line}{key}: ") }
}

/// Reads a file by an importer.
///
/// # Errors
/// When it cannot be read, or the importer refuses it.
pub fn read_file<T>(
    path: &Utf8Path,
    import: impl FnOnce(&str) -> Result<T, ImportError>,
) -> Result<T, ImportError> {
    let text = fs::read_to_string(path).map_err(reading(path))?;
    import(&text)
        .map_err(|source| ImportError::File { path: path.to_owned(), source: Box::new(source) })
}

/// Reads files that are parts of one benchmark by an importer.
///
/// # Errors
/// When one cannot be read, or the importer refuses it.
pub fn read_files(
    paths: &[Utf8PathBuf],
    mut import: impl FnMut(&Utf8Path, &str) -> Result<Import, ImportError>,
) -> Result<Import, ImportError> {
    let mut all = Import::default();
    for path in paths {
        all.extend(read_file(path, |text| import(path, text))?);
    }
    Ok(all)
}

impl Import {
    /// The id of a task that is there twice.
    pub(crate) fn repeated_id(&self) -> Option<&str> {
        let mut ids = HashSet::new();
        self.tasks.iter().map(|task| task.id.as_str()).find(|id| !ids.insert(*id))
    }
}

/// Those of the texts that are addresses of pages, each once, in their order. The files are written
/// by people, and have other things in their places.
fn web_urls<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen = HashSet::new();
    let is_page = |text: &&str| text.starts_with("https://") || text.starts_with("http://");
    texts.filter(is_page).filter(|text| seen.insert(*text)).map(str::to_owned).collect()
}

/// For `map_err`: this cannot be read.
fn reading(path: &Utf8Path) -> impl FnOnce(io::Error) -> ImportError {
    let path = path.to_owned();
    move |source| ImportError::Read { path, source }
}

/// Reads JSON strictly.
pub(crate) fn read_json<T: DeserializeOwned>(json: &str) -> Result<T, ImportError> {
    let mut input = serde_json::Deserializer::from_str(json);
    let failed = |key: String, source| ImportError::Format { line: None, key, source };
    let value = serde_path_to_error::deserialize(&mut input)
        .map_err(|error| failed(error.path().to_string(), error.into_inner()))?;
    input.end().map_err(|source| failed(String::new(), source))?;
    Ok(value)
}

/// Reads a JSON list strictly, or one object that could be in such a list.
pub(crate) fn read_list<T: DeserializeOwned>(json: &str) -> Result<Vec<T>, ImportError> {
    if json.trim_start().starts_with('{') {
        read_json(json).map(|one| vec![one])
    } else {
        read_json(json)
    }
}

/// Reads JSON lines strictly; empty lines are none.
pub(crate) fn read_lines<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, ImportError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| read_json(line).map_err(|error| error.in_line(at + 1))).collect()
}

/// Makes an id of what benchmarks use as one: what an id may not hold becomes `-`.
fn task_id(prefix: &str, given: &str) -> String {
    format!("{prefix}-{}", id_characters(given))
}

/// The benchmark's own id as it stands in a task's id.
pub(crate) fn id_characters(given: &str) -> String {
    let keep =
        |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    given.chars().take(150).map(keep).collect()
}
