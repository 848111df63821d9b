//! The container engine of the commands that make and move images.

use camino::Utf8Path;
use container_images::{Engine, Error};

use crate::failure::Failure;

/// Connects to this user's engine; the failure says what to do.
pub(crate) async fn connect() -> Result<Engine, Failure> {
    Ok(Engine::connect().await.map_err(Error::Engine)?)
}

/// The failure of a folder of images that has none.
pub(crate) fn no_recipe(images: &Utf8Path) -> Failure {
    Failure::Input(format!(
        "failed to find an image in {images}: no folder in it has a Dockerfile; name another with --images"
    ))
}
