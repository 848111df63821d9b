//! The end of every recording: what passed becomes a snapshot, and what is not in it is named.

use camino::{Utf8Path, Utf8PathBuf};
use counted::counted;
use error_text::with_causes;
use gateway::RecorderReport;
use snapshots::matching::ChangingParts;
use snapshots::{Load, Progress, Recording, RecordingReport, ops};

/// What is told of a recording that ends.
#[derive(Debug, Clone, Copy)]
pub enum FinishEvent<'a> {
    /// So much of the snapshot is written.
    Progress(Progress),
    /// Something was learned; a sentence.
    Learned(&'a str),
    /// Something is lost, or must not get to others; a sentence.
    Warning(&'a str),
}

/// Takes events of a recording that ends.
pub type Listener<'a> = dyn Fn(FinishEvent<'_>) + 'a;

/// Why a recording has become no snapshot, or none of everything.
#[derive(Debug, thiserror::Error)]
pub enum FinishError {
    /// It is empty, and cannot be removed.
    #[error("remove the recording of {output}")]
    Discard {
        /// The snapshot.
        output: Utf8PathBuf,
        /// Why not.
        source: snapshots::Error,
    },
    /// It is empty, and is removed.
    #[error("make {output}: nothing was recorded")]
    Nothing {
        /// The snapshot.
        output: Utf8PathBuf,
    },
    /// The snapshot is there, without what could not be written.
    #[error("record everything: {lost}; all else is in {snapshot}")]
    Lost {
        /// How much, and why.
        lost: String,
        /// The snapshot, as [`summary`] has it.
        snapshot: String,
    },
    /// The snapshot could not be made, but what was recorded is on disk.
    #[error(
        "finish {output}: {why}; everything recorded is in {folder}: make room, then run `sandbox snapshot repair \
         {output}`, with -o to write it to another disk"
    )]
    Unfinished {
        /// The snapshot.
        output: Utf8PathBuf,
        /// Why not.
        why: String,
        /// Where the recording is.
        folder: Utf8PathBuf,
    },
}

/// What a recording without any answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyRecording {
    /// A snapshot like any other: nobody asked for anything.
    Snapshot,
    /// A failure that leaves no file.
    Failure,
    /// A snapshot that is removed before the command ends.
    Temporary,
}

/// Makes the snapshot of a recording whose gateways are closed. Whatever was lost is named, whether
/// that works or not. It blocks.
///
/// `twice` says when pages were loaded for the second time; what that teaches goes into the
/// snapshot.
///
/// # Errors
/// When there is no snapshot, or it lacks what could not be written.
pub fn finish(
    recording: Recording,
    report: &RecorderReport,
    output: &Utf8Path,
    twice: &[[Load; 2]],
    empty: EmptyRecording,
    tell: &Listener<'_>,
) -> Result<RecordingReport, FinishError> {
    for (url, why) in &report.lost {
        tell(FinishEvent::Warning(&format!("not recorded: {url}: {why}")));
    }
    if empty == EmptyRecording::Failure && report.recorded == 0 && report.failed == 0 {
        let output = output.to_owned();
        return Err(match recording.discard() {
            Ok(()) => FinishError::Nothing { output },
            Err(source) => FinishError::Discard { output, source },
        });
    }
    match recording.learn(twice) {
        Ok(learned) => tell_learned(output, &learned, twice.len(), tell),
        // It is still a recording.
        Err(error) => tell(FinishEvent::Warning(&format!(
            "no rules were learned: failed to {}",
            with_causes(&error)
        ))),
    }
    let finished = match recording.finish(&|at| tell(FinishEvent::Progress(at))) {
        Ok(finished) => finished,
        Err(error) => {
            if let Some(lost) = lost(report) {
                tell(FinishEvent::Warning(&lost));
            }
            let (output, folder) = (output.to_owned(), Recording::folder_of(output));
            return Err(FinishError::Unfinished { output, why: with_causes(&error), folder });
        }
    };
    if empty != EmptyRecording::Temporary {
        warn_of_credentials(&finished.path, tell);
    }
    match lost(report) {
        Some(lost) => Err(FinishError::Lost { lost, snapshot: summary(&finished) }),
        None => Ok(finished),
    }
}

/// Says what changes by itself in the requests of pages that were loaded twice.
fn tell_learned(output: &Utf8Path, learned: &ChangingParts, pages: usize, tell: &Listener<'_>) {
    if pages > 0 {
        tell(FinishEvent::Learned(&format!(
            "{} learned from {} loaded twice; `sandbox snapshot rules {output}` shows what changes by itself",
            counted(learned.rules.len() as u64, "rule"),
            counted(pages as u64, "page"),
        )));
    }
}

/// A snapshot in one line.
pub fn summary(made: &RecordingReport) -> String {
    format!(
        "{}: {} ({} of them repeats), {}, {} bytes",
        made.path,
        counted(made.responses, "response"),
        made.revisits,
        counted(made.pages, "page"),
        made.bytes
    )
}

/// Says what would let the finder of a snapshot in, and how it is taken out.
fn warn_of_credentials(path: &Utf8Path, tell: &Listener<'_>) {
    let found = match ops::count_credentials(path) {
        Ok(found) => found,
        Err(error) => {
            return tell(FinishEvent::Warning(&format!(
                "{path} was not searched for passwords and cookies: failed to {}",
                with_causes(&error)
            )));
        }
    };
    if found.any() {
        tell(FinishEvent::Warning(&format!(
            "{path} holds {} with Authorization, {} with cookies and {} with passwords or tokens{}; before you share it, run\n  \
             sandbox snapshot redact {path} --credentials -o {}",
            counted(found.authorization, "record"),
            counted(found.cookies, "record"),
            counted(found.passwords, "record"),
            match found.kept {
                0 => String::new(),
                kept => format!(", and {} that pages had kept", counted(kept, "cookie or token")),
            },
            path.with_extension("redacted.wacz"),
        )));
    }
}

/// How much could not be written, and why.
fn lost(report: &RecorderReport) -> Option<String> {
    let error = report.first_error.as_ref()?;
    Some(format!("{} passed without being recorded: {error}", counted(report.failed, "exchange")))
}
