//! The golden state of an image: the content of its folder `/seed`, extracted once and kept on this
//! machine.

use std::io;

use bollard::errors::Error as Api;
use bollard::models::ContainerCreateBody;
use bollard::query_parameters::{
    DownloadFromContainerOptionsBuilder, RemoveContainerOptionsBuilder,
};
use camino::{Utf8Path, Utf8PathBuf};
use futures_util::TryStreamExt;
use tokio_util::io::{StreamReader, SyncIoBridge};

use crate::Error;
use crate::content::blocking;
use crate::engine::Monitor;
use crate::owner::Owner;

/// The folder of the golden state in an image.
const SEED: &str = "/seed";

/// Returns the folder with the golden state of an image. It is extracted below `folder` if it does
/// not exist yet. Returns `None` if the image has no state.
pub(crate) async fn of_image(
    monitor: &Monitor,
    image: &str,
    site: &str,
    folder: &Utf8Path,
) -> Result<Option<Utf8PathBuf>, Error> {
    let id = id_of_image(monitor, image, site).await?;
    let id: String = id.trim_start_matches("sha256:").chars().take(16).collect();
    let golden = folder.join(id).join(site);
    if golden.is_dir() {
        return Ok(Some(golden));
    }
    // This container never runs: files can be extracted only from containers, not from images.
    let body = ContainerCreateBody {
        image: Some(image.to_owned()),
        cmd: Some(vec![SEED.to_owned()]),
        labels: Some(Owner::this().labels("golden")),
        ..Default::default()
    };
    let docker = monitor.docker();
    let container = docker.create_container(None, body);
    let container = monitor.attend(format!("open the image {image}"), container).await?.id;
    let extracted = extract(monitor, &container, &golden).await;
    let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
    monitor
        .attend("remove a container", docker.remove_container(&container, Some(options)))
        .await?;
    Ok(extracted?.then_some(golden))
}

/// The id of the image of a site.
pub(crate) async fn id_of_image(
    monitor: &Monitor,
    image: &str,
    site: &str,
) -> Result<String, Error> {
    match monitor.attend_raw(monitor.docker().inspect_image(image)).await? {
        Ok(inspected) => Ok(inspected.id.unwrap_or_default()),
        Err(Api::DockerResponseServerError { status_code: 404, .. }) => {
            Err(Error::NoImage { site: site.to_owned(), image: image.to_owned() })
        }
        Err(error) => Err(Error::of_engine(format!("look for the image {image}"))(error)),
    }
}

/// Extracts the golden state. Returns whether the image has one.
async fn extract(monitor: &Monitor, container: &str, golden: &Utf8Path) -> Result<bool, Error> {
    let options = DownloadFromContainerOptionsBuilder::default().path(SEED).build();
    let tar = monitor.docker().download_from_container(container, Some(options));
    let mut tar = Box::pin(tar).into_stream();
    let first = match tar.try_next().await {
        Ok(first) => first,
        Err(Api::DockerResponseServerError { status_code: 404, .. }) => return Ok(false),
        Err(error) => return Err(Error::of_engine("read the golden state of an image")(error)),
    };
    let first = futures_util::stream::iter(first.map(Ok));
    let whole = futures_util::StreamExt::chain(first, tar.map_err(io::Error::other));
    let reader = SyncIoBridge::new(StreamReader::new(whole));
    let golden = golden.to_owned();
    let unpack = move || {
        let parent = golden.parent().unwrap_or(Utf8Path::new("."));
        std::fs::create_dir_all(parent).map_err(Error::of_file("create", parent))?;
        // The target gets its name only when it is complete. In the archive, the content is below
        // the name of the seed folder.
        let part =
            parent.join(format!(".{}.{}", golden.file_name().unwrap_or_default(), Owner::this()));
        let unpacked = tar::Archive::new(reader).unpack(&part).and_then(|()| {
            match std::fs::rename(part.join(SEED.trim_start_matches('/')), &golden) {
                // Another process was faster, with the same content.
                Err(_) if golden.is_dir() => Ok(()),
                other => other,
            }
        });
        let cleared = std::fs::remove_dir_all(&part);
        unpacked.map_err(Error::of_file("unpack the golden state to", &golden))?;
        cleared.map_err(Error::of_file("remove", &part))?;
        Ok(true)
    };
    blocking(unpack).await
}
