//! Loads images from `FILE.tar`, as `docker save` writes it. The engine itself unpacks gzip, bzip2
//! and xz.

use bollard::query_parameters::ImportImageOptions;
use camino::Utf8Path;
use futures_util::StreamExt;
use tokio_util::io::ReaderStream;

use crate::engine::UNHURRIED;
use crate::{Engine, Error, Event, OnEvent};

/// The file is read in pieces of this many bytes. A few of them are in memory at a time.
const PIECE: usize = 256 * 1024;

/// Sends the file to the engine piece by piece. Returns the names of its images, or ids of images
/// without a name.
///
/// # Errors
/// When the file cannot be read or is not an image archive, or the engine's disk is full.
pub async fn load(engine: &Engine, path: &Utf8Path, on: &OnEvent) -> Result<Vec<String>, Error> {
    let file = tokio::fs::File::open(path).await.map_err(Error::of_file("read", path))?;
    let (report, mut sent) = (on.clone(), 0);
    let pieces = ReaderStream::with_capacity(file, PIECE).inspect(move |piece| {
        sent += piece.as_ref().map_or(0, |bytes| bytes.len() as u64);
        report(Event::Bytes(sent));
    });
    let options = ImportImageOptions { quiet: false, ..ImportImageOptions::default() };
    let docker = engine.docker().clone().with_timeout(UNHURRIED);
    let mut answer = std::pin::pin!(docker.import_image_stream(options, pieces, None));
    let mut loaded = Vec::new();
    while let Some(progress) = answer.next().await {
        let progress = progress.map_err(|error| refused(path, error))?;
        let line = progress.stream.unwrap_or_default();
        for prefix in ["Loaded image: ", "Loaded image ID: "] {
            // Podman names all images in one line.
            let names =
                line.trim().strip_prefix(prefix).into_iter().flat_map(|names| names.split(','));
            loaded.extend(names.map(str::to_owned));
        }
    }
    if loaded.is_empty() {
        let why = "it holds no image; `sandbox images save` and `docker save` write files that do"
            .to_owned();
        return Err(Error::Malformed { path: path.to_owned(), why });
    }
    Ok(loaded)
}

/// Recognizes the engine's error about an invalid file among its other errors.
fn refused(path: &Utf8Path, error: bollard::errors::Error) -> Error {
    let error = Error::of_engine(format!("load {path}"))(error);
    let Error::Refused { why, .. } = &error else { return error };
    let malformed = |why: String| Error::Malformed { path: path.to_owned(), why };
    if is_zstd(path) {
        return malformed(format!(
            "this engine does not unpack zstd ({why}); unpack it with `zstd -d {path}`"
        ));
    }
    let of_archives = ["archive/tar", "unexpected EOF", "docker-import", "invalid archive"];
    if of_archives.iter().any(|word| why.contains(word)) { malformed(why.clone()) } else { error }
}

/// Whether the file is compressed with zstd. Engines before 23 report it as a broken tar.
fn is_zstd(path: &Utf8Path) -> bool {
    let mut magic = [0; 4];
    let read = std::fs::File::open(path)
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut magic));
    read.is_ok() && magic == [0x28, 0xb5, 0x2f, 0xfd]
}
