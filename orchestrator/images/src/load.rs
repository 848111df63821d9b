//! `FILE.tar` into the engine, as `docker save` writes it. The engine unpacks gzip, bzip2 and xz itself.

use bollard::query_parameters::ImportImageOptions;
use camino::Utf8Path;
use futures_util::StreamExt;
use tokio_util::io::ReaderStream;

use crate::engine::UNHURRIED;
use crate::{Engine, Error, Event, OnEvent};

/// How much of the file is in memory at a time, times the few pieces on their way.
const PIECE: usize = 256 * 1024;

/// Sends the file to the engine piece by piece; the names, or where there are none the ids, of the images in it.
///
/// # Errors
/// When the file cannot be read or is no archive of images, or the engine's disk is full.
pub async fn load(engine: &Engine, path: &Utf8Path, on: &OnEvent) -> Result<Vec<String>, Error> {
    let file = tokio::fs::File::open(path).await.map_err(Error::of_file("read", path))?;
    let (told, mut sent) = (on.clone(), 0);
    let pieces = ReaderStream::with_capacity(file, PIECE).inspect(move |piece| {
        sent += piece.as_ref().map_or(0, |bytes| bytes.len() as u64);
        told(Event::Bytes(sent));
    });
    let options = ImportImageOptions { quiet: false, ..ImportImageOptions::default() };
    let docker = engine.docker().clone().with_timeout(UNHURRIED);
    let mut answer = std::pin::pin!(docker.import_image_stream(options, pieces, None));
    let mut loaded = Vec::new();
    while let Some(said) = answer.next().await {
        let said = said.map_err(Error::of_engine(format!("load {path}")))?;
        let line = said.stream.unwrap_or_default();
        for prefix in ["Loaded image: ", "Loaded image ID: "] {
            loaded.extend(line.trim().strip_prefix(prefix).map(str::to_owned));
        }
    }
    if loaded.is_empty() {
        let why = "it holds no image; `sandbox save` and `docker save` write files that do".to_owned();
        return Err(Error::Malformed { path: path.to_owned(), why });
    }
    Ok(loaded)
}
