//! `sandbox snapshot inspect --states`: what was done on each site of a snapshot, and what changed.

use camino::Utf8Path;
use snapshots::index::ReplaySet;
use snapshots::ops;

use crate::commands::snapshot::show;
use crate::failure::{OrFail, Outcome};

/// Prints the writes of the sites of a snapshot.
pub(crate) fn run(file: &Utf8Path, json: bool) -> Outcome {
    let set = ReplaySet::open(&[file.to_owned()], None, &mut |_, _| {})
        .or_input(format!("open {file}"))?;
    let report = ops::states(&set).or_input(format!("read the writes of {file}"))?;
    show(&report, json);
    Ok(())
}
