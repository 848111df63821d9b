//! The properties of a benchmark besides its rule: an entry of the table
//! [`BENCHMARKS`](super::BENCHMARKS).

use camino::Utf8Path;

use super::{Import, ImportError};

/// A benchmark whose tasks follow from the text of one file, and whose attempts can be scored
/// without a browser.
#[derive(Debug, Clone, Copy)]
pub struct Benchmark {
    /// Its name on the command line, such as `mind2web-live`.
    pub name: &'static str,
    /// The prefixes of imported tasks' ids, in front of the benchmark's own ids.
    pub id_prefixes: &'static [&'static str],
    /// Reads its tasks from the text of the file at this path.
    pub read: fn(&str, &Utf8Path) -> Result<Import, ImportError>,
    /// How `sandbox tasks import` makes its suite; nothing if it has a command of its own there.
    pub live: Option<LiveWeb>,
    /// The line of `sandbox score`: which parts of saved attempts are scored.
    pub scores: &'static str,
    /// The answer is all that counts, so that another system's can stand in for a missing one.
    pub answer_alone: bool,
}

/// A benchmark of the live web, whose file of tasks is all that it has.
#[derive(Debug, Clone, Copy)]
pub struct LiveWeb {
    /// The line of `sandbox tasks import`: the benchmark, and which of its files is read.
    pub about: &'static str,
    /// Width and height of its browser window.
    pub viewport: (u32, u32),
}
