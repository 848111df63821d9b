//! Rounds of a suite's recording: somebody plays the suite in its snapshot, what the snapshot lacks
//! is recorded into a part beside it, and in the end all parts are one snapshot.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use snapshots::{Archive, Progress, Recording, RecordingOptions, ops};
use tasks::Suite;

use crate::Error;

/// The snapshot of what was missed in a round.
pub fn part_of(output: &Utf8Path, round: u32) -> Utf8PathBuf {
    output.with_extension(format!("round-{round}.wacz"))
}

/// Begins the recording of what somebody misses in a round.
///
/// # Errors
/// When it cannot be written.
pub fn begin(part: &Utf8Path, agent: &str, round: u32) -> Result<Recording, Error> {
    let options = RecordingOptions {
        title: Some(format!("Round {round} of {agent}")),
        info: vec![("description".to_owned(), format!("what {agent} missed in round {round}"))],
        replace: true,
        ..RecordingOptions::default()
    };
    Ok(Recording::create(part, options)?)
}

/// Has a suite play in its snapshot and the parts of the rounds before, in place of what its world
/// has at that path. A world without a time has that of the snapshot.
///
/// # Errors
/// When the snapshot cannot be opened.
pub fn play_in(
    suite: &mut Suite,
    output: &Utf8Path,
    parts: &[Utf8PathBuf],
) -> Result<(), snapshots::Error> {
    let is_ours =
        |path: &Utf8PathBuf| path.canonicalize_utf8().ok() == output.canonicalize_utf8().ok();
    let with_ours = |snapshots: &mut Vec<Utf8PathBuf>| {
        snapshots.retain(|path| !is_ours(path));
        snapshots.push(output.to_owned());
        snapshots.extend_from_slice(parts);
    };
    with_ours(&mut suite.world.snapshots);
    suite.tasks.iter_mut().filter_map(|task| task.snapshots.as_mut()).for_each(with_ours);
    if suite.world.clock == tasks::UNDATED {
        let recorded = Archive::open(output)?.recorded();
        suite.world.clock = recorded.map_or_else(Timestamp::now, |time| time.inner());
    }
    Ok(())
}

/// The parts of rounds that were killed before all was joined. What a round was recording when it
/// was killed becomes one of them.
///
/// # Errors
/// When such a recording cannot be finished.
pub fn left_over(output: &Utf8Path) -> Result<Vec<Utf8PathBuf>, Error> {
    let mut parts = Vec::new();
    for part in (1..).map(|round| part_of(output, round)) {
        if Recording::is_left_over(&part) {
            let options = RecordingOptions { replace: true, ..RecordingOptions::default() };
            let (recording, _) = Recording::recover(&part, options)?;
            recording.finish(&|_| {})?;
        }
        if !part.exists() {
            break;
        }
        parts.push(part);
    }
    Ok(parts)
}

/// Makes one snapshot of all parts. They are removed once it is whole. It blocks.
///
/// # Errors
/// When a part cannot be read, or the snapshot not be written.
pub fn join(
    output: &Utf8Path,
    parts: &[Utf8PathBuf],
    on: &mut dyn FnMut(Progress),
) -> Result<(), Error> {
    if parts.is_empty() {
        return Ok(());
    }
    let file = |doing: String| move |source| Error::File { doing, source };
    let joined = output.with_extension("joined.wacz");
    if joined.exists() {
        fs::remove_file(&joined).map_err(file(format!("remove {joined}")))?;
    }
    let inputs = [&[output.to_owned()], parts].concat();
    ops::merge(&inputs, &joined, on)
        .map_err(|source| Error::Join { output: output.to_owned(), source })?;
    fs::rename(&joined, output).map_err(file(format!("replace {output}")))?;
    parts.iter().try_for_each(fs::remove_file).map_err(file("remove the parts".to_owned()))
}
