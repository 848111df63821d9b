//! Saves images to `FILE.tar`, for machines without access to a registry.

use std::os::unix::fs::PermissionsExt;

use camino::Utf8Path;
use futures_util::StreamExt;
use tokio::io::AsyncWriteExt;

use crate::engine::UNHURRIED;
use crate::{Engine, Error, Event, OnEvent};

/// Writes images to a file atomically and returns its size in bytes. An existing file is replaced
/// only with `replace`.
///
/// # Errors
/// When the file exists, an image does not, or the disk is full.
pub async fn save(
    engine: &Engine,
    images: &[String],
    path: &Utf8Path,
    replace: bool,
    on: &OnEvent,
) -> Result<u64, Error> {
    if path.symlink_metadata().is_ok_and(|there| !replace || there.is_dir()) {
        return Err(Error::Exists(path.to_owned()));
    }
    let folder = path.parent().filter(|folder| *folder != "").unwrap_or(Utf8Path::new("."));
    // A temporary file beside the target. It is removed if we stop, and renamed when it is
    // complete.
    let part = tempfile::Builder::new()
        .prefix(&format!(".{}.", path.file_name().unwrap_or_default()))
        .suffix(".part")
        .permissions(PermissionsExt::from_mode(0o666)) // less the user's umask
        .tempfile_in(folder)
        .map_err(Error::of_file("create a file in", folder))?;
    let mut file = tokio::fs::File::from_std(part.reopen().map_err(Error::of_file("write", path))?);

    let docker = engine.docker().clone().with_timeout(UNHURRIED);
    let names: Vec<&str> = images.iter().map(String::as_str).collect();
    let mut tar = std::pin::pin!(docker.export_images(&names));
    let mut written = 0;
    while let Some(piece) = tar.next().await {
        let piece = piece.map_err(Error::of_engine(format!("save {}", images.join(", "))))?;
        file.write_all(&piece).await.map_err(Error::of_file("write", path))?;
        written += piece.len() as u64;
        on(Event::Bytes(written));
    }
    file.flush().await.map_err(Error::of_file("write", path))?;
    file.sync_all().await.map_err(Error::of_file("write", path))?;
    let kept = if replace { part.persist(path) } else { part.persist_noclobber(path) };
    match kept {
        Ok(_) => Ok(written),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(Error::Exists(path.to_owned()))
        }
        Err(error) => Err(Error::of_file("write", path)(error.error)),
    }
}

/// The full names of images and their total size in bytes. The name of a folder under `images/`
/// stands for the image that `sandbox images build` made of it.
///
/// # Errors
/// When the engine has no such image.
pub async fn resolve(engine: &Engine, names: &[String]) -> Result<(Vec<String>, u64), Error> {
    let (mut images, mut size) = (Vec::new(), 0);
    for name in names {
        let ours = format!("sandbox/{name}:1");
        let candidates =
            if name.contains(['/', ':']) { vec![name.clone()] } else { vec![ours, name.clone()] };
        let mut found = None;
        for candidate in candidates {
            if let Some(image) = engine.image(&candidate).await? {
                found = Some((candidate, image.size.unwrap_or_default()));
                break;
            }
        }
        let Some((image, bytes)) = found else {
            return Err(Error::Unknown { name: name.clone(), known: engine.tags().await? });
        };
        images.push(image);
        size += u64::try_from(bytes).unwrap_or_default();
    }
    Ok((images, size))
}
