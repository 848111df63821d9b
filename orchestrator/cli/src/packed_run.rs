//! A run that is given as its folder or as a packed file.

use camino::{Utf8Path, Utf8PathBuf};
use runs::pack::{Manifest, Part};
use tokio_util::sync::CancellationToken;

use crate::failure::{Failure, OrFail as _};
use crate::{interrupt, progress};

/// The folder of a run. That of a packed one is temporary.
pub(crate) struct OpenRun {
    path: Utf8PathBuf,
    unpacked: Option<tempfile::TempDir>,
}

impl OpenRun {
    /// A folder as it is; a file unpacked into a temporary folder.
    pub(crate) async fn open(run: &Utf8Path) -> Result<OpenRun, Failure> {
        if !runs::pack::is_packed(run) {
            return Ok(OpenRun { path: run.to_owned(), unpacked: None });
        }
        let (folder, path) = temporary()?;
        let stop = CancellationToken::new();
        // The thread that unpacks ends soon after an interrupt, and the folder goes.
        let _stopped = stop.clone().drop_guard();
        let (file, to) = (run.to_owned(), path.clone());
        let unpacking = tokio::task::spawn_blocking(move || unpack(&file, &to, Part::Run, &stop));
        let unpacked = async { unpacking.await.or_environment("unpack the run")? };
        interrupt::unless_interrupted(unpacked, "interrupted; nothing was shown").await?;
        Ok(OpenRun { path: path.join("run"), unpacked: Some(folder) })
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Whether nothing that is written there stays.
    pub(crate) fn is_temporary(&self) -> bool {
        self.unpacked.is_some()
    }
}

/// A temporary folder, and its path.
pub(crate) fn temporary() -> Result<(tempfile::TempDir, Utf8PathBuf), Failure> {
    let folder = tempfile::Builder::new().prefix("sandbox-packed-").tempdir();
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
    let unpacked = runs::pack::unpack(file, to, part, stop, &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    Ok(unpacked?)
}
