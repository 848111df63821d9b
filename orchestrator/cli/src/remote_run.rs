//! A run whose `--output` is an address (`s3://...`): played in a folder of this machine, and
//! uploaded episode by episode.

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use camino::{Utf8Path, Utf8PathBuf};
use parking_lot::Mutex;
use results::EpisodeId;
use results::mirror::{Error, Mirror};
use runs::{Event, Progress};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::options::DataFolder;
use crate::terminal::out;
use crate::terminal::progress;

/// A run that is uploaded while it is played.
pub(crate) struct RemoteRun {
    mirror: Arc<Mirror>,
    /// Told of each episode that has ended; gone when no more will.
    ended: Mutex<Option<Sender<EpisodeId>>>,
    uploading: JoinHandle<()>,
}

/// Fails for an address that is only read from.
///
/// # Errors
/// When it is none of an object store.
pub(crate) fn written_to(address: &Utf8Path) -> Result<(), Failure> {
    if address.as_str().starts_with("s3://") {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "failed to write to {address}: only s3:// can be written to; web servers are read from"
    )))
}

/// Downloads what is at the address of a run and not here, with a progress bar. It blocks.
pub(crate) fn pull(mirror: &Mirror, stop: &CancellationToken) -> Result<(), Failure> {
    if !mirror.is_there()? {
        return Err(Failure::Input(format!(
            "failed to open the run: there is none at {}",
            mirror.address()
        )));
    }
    let bar = progress::unknown("downloading");
    let pulled =
        mirror.pull(stop, &|done, total| progress::advance(&bar, done as u64, total as u64));
    bar.finish_and_clear();
    Ok(pulled?)
}

impl RemoteRun {
    /// Begins the run at an address, or goes on with it: what is there is downloaded first. With
    /// `resume` a run that is neither there nor here begins. Gives the folder to play in, and
    /// whether there is something to go on with. It blocks.
    ///
    /// # Errors
    /// When there is a run that was not to be continued, or the server does not answer.
    pub(crate) fn begin(
        address: &Utf8Path,
        resume: bool,
        data: &DataFolder,
        stop: &CancellationToken,
    ) -> Result<(RemoteRun, Utf8PathBuf, bool), Failure> {
        written_to(address)?;
        let mirror = Arc::new(Mirror::of(address.as_str(), &data.path()?.join("runs"))?);
        let folder = mirror.folder().to_owned();
        let (there, here) = (mirror.is_there()?, folder.join("run.json").exists());
        if !resume && there {
            return Err(Failure::Input(format!(
                "failed to start the run: {address} has one already; continue it with --resume, or name another \
                 --output"
            )));
        }
        if !resume && here {
            return Err(Failure::Input(format!(
                "failed to start the run: {folder} has one that did not get to {address}; continue it with --resume, \
                 or remove the folder"
            )));
        }
        match there {
            true => pull(&mirror, stop)?,
            // Whatever was there once.
            false => mirror.forget(),
        }
        let (sender, receiver) = mpsc::channel();
        let uploads = Arc::clone(&mirror);
        let uploading = std::thread::spawn(move || {
            let mut told = false;
            while let Ok(episode) = receiver.recv() {
                let pushed = uploads.push_episode(&episode);
                if let (Err(error), false) = (&pushed, told) {
                    let text = error_text::with_causes(error);
                    out::warn(&format!(
                        "failed to {text}; playing goes on, and what is missing follows"
                    ));
                }
                told = pushed.is_err();
            }
        });
        let run = RemoteRun { mirror, ended: Mutex::new(Some(sender)), uploading };
        Ok((run, folder, there || here))
    }

    /// Uploads after each episode.
    pub(crate) fn progress(self: &Arc<Self>) -> Progress {
        let run = Arc::clone(self);
        Arc::new(move |event| {
            if let (Event::Ended { episode, .. }, Some(ended)) = (&event, &*run.ended.lock()) {
                // The thread is there until this is gone.
                let _ = ended.send(EpisodeId::clone(episode));
            }
        })
    }

    /// Uploads what is left. It blocks.
    ///
    /// # Errors
    /// When the server does not take it. All results are in the folder then.
    pub(crate) fn end(self: Arc<Self>) -> Result<(), Failure> {
        self.ended.lock().take();
        let mirror = Arc::clone(&self.mirror);
        if let Some(run) = Arc::into_inner(self) {
            // Its only errors are those that it has told.
            let _ = run.uploading.join();
        }
        let bar = progress::unknown("uploading");
        let pushed = mirror.push(&|done, total| progress::advance(&bar, done as u64, total as u64));
        bar.finish_and_clear();
        pushed.map_err(|error| {
            Failure::Environment(format!(
                "failed to {}; all results are in {}, and the same command with --resume uploads the rest",
                error_text::with_causes(&error),
                mirror.folder()
            ))
        })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Remote(error) => error.into(),
            Error::Interrupted => {
                Failure::Interrupted("interrupted; what was downloaded stays".to_owned())
            }
            error @ (Error::Name { .. } | Error::NoRun { .. }) => {
                Failure::Input(format!("failed to {}", error_text::with_causes(&error)))
            }
            error @ Error::Local { .. } => {
                Failure::Environment(format!("failed to {}", error_text::with_causes(&error)))
            }
        }
    }
}
