//! A run that is given as its folder, as a packed file, or as an address.

use camino::{Utf8Path, Utf8PathBuf};
use processes::temporary::{self, Temporary};
use results::mirror::Mirror;
use results::pack::{Manifest, Part};
use snapshots::is_address;
use tokio_util::sync::CancellationToken;

use crate::failure::{Failure, OrFail as _};
use crate::options::cache;
use crate::remote_run;
use crate::terminal::interrupt;
use crate::terminal::progress;

/// The folder of a run. That of a packed one is temporary.
pub(crate) struct OpenRun {
    path: Utf8PathBuf,
    /// Removed when this is dropped.
    _unpacked: Option<Temporary>,
    is_copy: bool,
}

impl OpenRun {
    /// A folder as it is; a file unpacked into a temporary folder; what is at an address downloaded
    /// into the user's folder of caches.
    pub(crate) async fn open(run: &Utf8Path) -> Result<OpenRun, Failure> {
        if is_address(run) {
            let mirror = Mirror::copy_of(run.as_str(), &cache()?.join("runs"))?;
            let path = mirror.folder().to_owned();
            let stop = CancellationToken::new();
            let _stopped = stop.clone().drop_guard();
            let pulling = tokio::task::spawn_blocking(move || remote_run::pull(&mirror, &stop));
            let pulled = async { pulling.await.or_environment("download the run")? };
            interrupt::unless_interrupted(pulled, "interrupted; what was downloaded stays").await?;
            return Ok(OpenRun { path, _unpacked: None, is_copy: true });
        }
        if !results::pack::is_packed(run) {
            return Ok(OpenRun { path: run.to_owned(), _unpacked: None, is_copy: false });
        }
        let (folder, path) = temporary_folder()?;
        let stop = CancellationToken::new();
        // The thread that unpacks ends soon after an interrupt, and the folder goes.
        let _stopped = stop.clone().drop_guard();
        let (file, to) = (run.to_owned(), path.clone());
        let unpacking = tokio::task::spawn_blocking(move || unpack(&file, &to, Part::Run, &stop));
        let unpacked = async { unpacking.await.or_environment("unpack the run")? };
        interrupt::unless_interrupted(unpacked, "interrupted; nothing was shown").await?;
        Ok(OpenRun { path: path.join("run"), _unpacked: Some(folder), is_copy: true })
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Whether what is written there gets nowhere else.
    pub(crate) fn is_copy(&self) -> bool {
        self.is_copy
    }
}

/// A temporary folder, and its path.
pub(crate) fn temporary_folder() -> Result<(Temporary, Utf8PathBuf), Failure> {
    let folder = temporary::new("packed-");
    let folder = folder.or_environment("create a temporary folder")?;
    let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).map_err(|path| {
        Failure::Environment(format!(
            "failed to create a temporary folder: {} is not UTF-8; name another one with TMPDIR",
            path.display()
        ))
    })?;
    Ok((folder, path))
}

/// Unpacks a file with a progress bar. It blocks.
pub(crate) fn unpack(
    file: &Utf8Path,
    to: &Utf8Path,
    part: Part,
    stop: &CancellationToken,
) -> Result<Manifest, Failure> {
    let bar = progress::bytes(0, file.as_str());
    let unpacked = results::pack::unpack(file, to, part, stop, &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    Ok(unpacked?)
}
