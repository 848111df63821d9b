//! Uploads a run whose `--output` is an address (`s3://...`), episode by episode, while it is
//! played in a folder of this machine.

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use camino::{Utf8Path, Utf8PathBuf};
use parking_lot::Mutex;
use results::EpisodeId;
use results::mirror::{Error, Mirror, check_writable};
use tokio_util::sync::CancellationToken;

use crate::{Event, Progress};

/// A run that is uploaded while it is played.
#[derive(Debug)]
pub struct UploadedRun {
    mirror: Arc<Mirror>,
    /// Receives the id of each episode that has ended; absent once the last has.
    ended: Mutex<Option<Sender<EpisodeId>>>,
    uploading: JoinHandle<()>,
}

impl UploadedRun {
    /// Begins the run at an address, or goes on with it: what is there is downloaded first, to a
    /// folder below `folders`. With `resume` a run that is neither there nor here begins. Gives the
    /// folder to play in, and whether there is something to go on with. It blocks.
    ///
    /// `on` is told how many files are downloaded, of how many; `warn` of each upload that fails
    /// after one that did not.
    ///
    /// # Errors
    /// When there is a run that was not to be continued, or the server does not answer.
    pub fn begin(
        address: &Utf8Path,
        resume: bool,
        folders: &Utf8Path,
        stop: &CancellationToken,
        on: &(dyn Fn(usize, usize) + Sync),
        warn: impl Fn(&Error) + Send + 'static,
    ) -> Result<(UploadedRun, Utf8PathBuf, bool), Error> {
        check_writable(address)?;
        let mirror = Arc::new(Mirror::of(address.as_str(), folders)?);
        let folder = mirror.folder().to_owned();
        let (there, here) = (mirror.is_there()?, folder.join("run.json").exists());
        if !resume && there {
            return Err(Error::HasRun { address: address.to_owned() });
        }
        if !resume && here {
            return Err(Error::NotUploaded { folder, address: address.to_owned() });
        }
        match there {
            true => mirror.pull_there(stop, on)?,
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
                    warn(error);
                }
                told = pushed.is_err();
            }
        });
        let run = UploadedRun { mirror, ended: Mutex::new(Some(sender)), uploading };
        Ok((run, folder, there || here))
    }

    /// The local folder in which it is played.
    pub fn folder(&self) -> &Utf8Path {
        self.mirror.folder()
    }

    /// Returns a listener that uploads after each episode.
    pub fn progress(self: &Arc<Self>) -> Progress {
        let run = Arc::clone(self);
        Arc::new(move |event| {
            if let (Event::Ended { episode, .. }, Some(ended)) = (&event, &*run.ended.lock()) {
                // The thread is there until this is gone.
                let _ = ended.send(EpisodeId::clone(episode));
            }
        })
    }

    /// Uploads the rest. `on` receives how many files are done, of how many. It blocks.
    ///
    /// # Errors
    /// When the server does not take it. All results are in the folder then.
    pub fn end(self: Arc<Self>, on: &(dyn Fn(usize, usize) + Sync)) -> Result<(), Error> {
        self.ended.lock().take();
        let mirror = Arc::clone(&self.mirror);
        if let Some(run) = Arc::into_inner(self) {
            // Its only errors are those that it has told.
            let _ = run.uploading.join();
        }
        mirror.push(on)
    }
}
