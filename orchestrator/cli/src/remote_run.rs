//! Progress bars of a run whose `--output` is an address (`s3://...`), and what its errors ask of
//! the user.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use play::UploadedRun;
use results::mirror::{Error, Mirror};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::options::DataFolder;
use crate::terminal::out;
use crate::terminal::progress;

/// Downloads what is at the address of a run and not here, with a progress bar. It blocks.
pub(crate) fn pull(mirror: &Mirror, stop: &CancellationToken) -> Result<(), Failure> {
    let bar = progress::unknown("downloading");
    let pulled =
        mirror.pull_there(stop, &|done, total| progress::advance(&bar, done as u64, total as u64));
    bar.finish_and_clear();
    Ok(pulled?)
}

/// See [`UploadedRun::begin`].
pub(crate) fn begin(
    address: &Utf8Path,
    resume: bool,
    data: &DataFolder,
    stop: &CancellationToken,
) -> Result<(UploadedRun, Utf8PathBuf, bool), Failure> {
    let bar = progress::unknown("downloading");
    let begun = UploadedRun::begin(
        address,
        resume,
        &data.path()?.join("runs"),
        stop,
        &|done, total| progress::advance(&bar, done as u64, total as u64),
        |error| {
            let text = error_text::with_causes(error);
            out::warn(&format!("failed to {text}; playing goes on, and what is missing follows"));
        },
    );
    bar.finish_and_clear();
    Ok(begun?)
}

/// Uploads what is left. It blocks.
pub(crate) fn end(run: Arc<UploadedRun>) -> Result<(), Failure> {
    let folder = run.folder().to_owned();
    let bar = progress::unknown("uploading");
    let pushed = run.end(&|done, total| progress::advance(&bar, done as u64, total as u64));
    bar.finish_and_clear();
    pushed.map_err(|error| {
        Failure::Environment(format!(
            "failed to {}; all results are in {folder}, and the same command with --resume uploads the rest",
            error_text::with_causes(&error)
        ))
    })
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Remote(error) => error.into(),
            Error::Interrupted => {
                Failure::Interrupted("interrupted; what was downloaded stays".to_owned())
            }
            error @ (Error::Name { .. }
            | Error::NoRun { .. }
            | Error::NothingToOpen { .. }
            | Error::ReadOnly { .. }
            | Error::HasRun { .. }
            | Error::NotUploaded { .. }) => {
                Failure::Input(format!("failed to {}", error_text::with_causes(&error)))
            }
            error @ Error::Local { .. } => {
                Failure::Environment(format!("failed to {}", error_text::with_causes(&error)))
            }
        }
    }
}
