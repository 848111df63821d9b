//! The end of every recording: what passed becomes a snapshot, and what is not in it is named.

use camino::{Utf8Path, Utf8PathBuf};
use gateway::RecorderReport;
use recorder::RecordingGateway;
use results::counted;
use snapshots::matching::ChangingParts;
use snapshots::{Load, Recording, RecordingReport, ops};

use crate::failure::{Failure, OrFail, Outcome};
use crate::terminal::out;
use crate::terminal::progress;

/// Fails for a name that a snapshot cannot have.
pub(crate) fn check_name(output: &Utf8Path) -> Outcome {
    match output.extension() {
        Some("wacz") => Ok(()),
        _ => Err(Failure::Input(format!(
            "failed to write {output}: the name of a snapshot ends in .wacz; name {}",
            output.with_extension("wacz")
        ))),
    }
}

/// What a recording without any answer is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmptyRecording {
    /// A snapshot like any other: nobody asked for anything.
    Snapshot,
    /// A failure that leaves no file.
    Failure,
    /// A snapshot that is removed before the command ends.
    Temporary,
}

/// Lets what is under way end and makes the snapshot. Whatever was lost is named, whether that
/// works or not.
///
/// `twice` says when pages were loaded for the second time; what that teaches goes into the
/// snapshot.
pub(crate) async fn finish(
    studio: RecordingGateway,
    output: &Utf8Path,
    twice: &[[Load; 2]],
    empty: EmptyRecording,
) -> Result<RecordingReport, Failure> {
    let (recording, report) = studio.close().await.or_environment(format!("finish {output}"))?;
    finish_recording(recording, &report, output, twice, empty)
}

/// As [`finish`], for a recording whose gateways are closed.
pub(crate) fn finish_recording(
    recording: Recording,
    report: &RecorderReport,
    output: &Utf8Path,
    twice: &[[Load; 2]],
    empty: EmptyRecording,
) -> Result<RecordingReport, Failure> {
    for (url, why) in &report.lost {
        out::warn(&format!("not recorded: {url}: {why}"));
    }
    if empty == EmptyRecording::Failure && report.recorded == 0 && report.failed == 0 {
        recording.discard().or_environment(format!("remove the recording of {output}"))?;
        return Err(Failure::Negative(format!("failed to make {output}: nothing was recorded")));
    }
    let bar = progress::unknown("finishing");
    let finished = tokio::task::block_in_place(|| {
        match recording.learn(twice) {
            Ok(learned) => print_learned(output, &learned, twice.len()),
            // It is still a recording.
            Err(error) => out::warn(&format!(
                "no rules were learned: failed to {}",
                error_text::with_causes(&error)
            )),
        }
        recording.finish(&|at| progress::advance(&bar, at.done, at.total))
    });
    bar.finish_and_clear();
    let finished = match finished {
        Ok(finished) => finished,
        Err(error) => return Err(unfinished(output, &error, report)),
    };
    if empty != EmptyRecording::Temporary {
        warn_of_credentials(&finished.path);
    }
    match lost(report) {
        Some(lost) => Err(Failure::Environment(format!(
            "failed to record everything: {lost}; all else is in {}",
            summary(&finished)
        ))),
        None => Ok(finished),
    }
}

/// Says what changes by itself in the requests of pages that were loaded twice.
fn print_learned(output: &Utf8Path, learned: &ChangingParts, pages: usize) {
    if pages > 0 {
        eprintln!(
            "{} learned from {} loaded twice; `sandbox snapshot rules {output}` shows what changes by itself",
            counted(learned.rules.len() as u64, "rule"),
            counted(pages as u64, "page"),
        );
    }
}

/// A snapshot in one line.
pub(crate) fn summary(made: &RecordingReport) -> String {
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
fn warn_of_credentials(path: &Utf8Path) {
    let found = match tokio::task::block_in_place(|| ops::count_credentials(path)) {
        Ok(found) => found,
        Err(error) => {
            out::warn(&format!(
                "{path} was not searched for passwords and cookies: failed to {}",
                error_text::with_causes(&error)
            ));
            return;
        }
    };
    if found.any() {
        out::warn(&format!(
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
        ));
    }
}

/// How much could not be written, and why.
fn lost(report: &RecorderReport) -> Option<String> {
    let error = report.first_error.as_ref()?;
    Some(format!("{} passed without being recorded: {error}", counted(report.failed, "exchange")))
}

/// The snapshot could not be made, but what was recorded is on disk.
fn unfinished(output: &Utf8Path, error: &snapshots::Error, report: &RecorderReport) -> Failure {
    let folder: Utf8PathBuf = Recording::folder_of(output);
    if let Some(lost) = lost(report) {
        out::warn(&lost);
    }
    Failure::Environment(format!(
        "failed to finish {output}: {}; everything recorded is in {folder}: make room, then run \
         `sandbox snapshot repair {output}`, with -o to write it to another disk",
        error_text::with_causes(error)
    ))
}
