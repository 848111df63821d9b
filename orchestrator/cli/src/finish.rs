//! The end of every recording, with a progress bar.

use camino::Utf8Path;
use gateway::RecorderReport;
use recorder::RecordingGateway;
use recorder::finish::FinishEvent;
pub(crate) use recorder::finish::{EmptyRecording, summary};
use snapshots::{Load, Recording, RecordingReport};

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

/// Lets what is under way end and makes the snapshot, as [`recorder::finish::finish`] does.
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
    let bar = progress::unknown("finishing");
    let tell = |event: FinishEvent<'_>| match event {
        FinishEvent::Progress(at) => progress::advance(&bar, at.done, at.total),
        FinishEvent::Learned(what) => bar.suspend(|| eprintln!("{what}")),
        FinishEvent::Warning(what) => bar.suspend(|| out::warn(&what)),
    };
    let finished = tokio::task::block_in_place(|| {
        recorder::finish::finish(recording, report, output, twice, empty, &tell)
    });
    bar.finish_and_clear();
    Ok(finished?)
}
