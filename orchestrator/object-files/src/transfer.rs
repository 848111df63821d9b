//! Whole objects from and to files.

use std::fs::File;
use std::io::{Read as _, Write};

use camino::Utf8Path;
use futures_util::TryStreamExt as _;
use object_store::{ObjectMeta, ObjectStoreExt as _, PutPayload, WriteMultipart};
use tokio::sync::mpsc;

use crate::store::Place;
use crate::{Address, Error, Reason, wait};

/// Larger files are uploaded in parts of this size.
const PART: usize = 8 << 20;
/// Parts on their way at once.
const PARTS: usize = 2;

/// Downloads an object into a new file. The file appears when it is whole.
///
/// # Errors
/// When there is no such object, its server does not answer or allow it, or the file cannot be
/// written.
pub fn download(address: &Address, to: &Utf8Path) -> Result<(), Error> {
    let place = Place::of(address)?;
    let folder =
        to.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    std::fs::create_dir_all(folder).map_err(Error::local("create", folder))?;
    let mut file =
        tempfile::NamedTempFile::new_in(folder).map_err(Error::local("write into", folder))?;
    fetch_into(&place, &mut file, u64::MAX)?;
    file.persist(to).map_err(|error| Error::local("write", to)(error.error))?;
    Ok(())
}

/// Writes the bytes of an object as they come, at most `most`.
///
/// # Errors
/// See [`download`]; also when there are more.
pub fn download_into(address: &Address, to: &mut impl Write, most: u64) -> Result<(), Error> {
    fetch_into(&Place::of(address)?, to, most).map(drop)
}

pub(crate) fn fetch_into(
    place: &Place,
    to: &mut impl Write,
    most: u64,
) -> Result<ObjectMeta, Error> {
    let (sender, mut receiver) = mpsc::channel(4);
    let (metas, meta) = std::sync::mpsc::channel();
    let mut written = 0;
    let asked = place.clone();
    // Its end is that of the channel.
    let fetching = wait::spawn(async move {
        let fetched = async {
            let got = asked.store.get(&asked.path).await?;
            // The receiver is there until this ends.
            let _ = metas.send(got.meta.clone());
            let mut stream = got.into_stream();
            while let Some(chunk) = stream.try_next().await? {
                if sender.send(Ok(chunk)).await.is_err() {
                    break;
                }
            }
            Ok(())
        };
        if let Err(error) = fetched.await {
            let _ = sender.send(Err(error)).await;
        }
    });
    fetching.map_err(Error::local("start", "a request"))?;
    loop {
        // Here, because a thread of the caller's runtime must not wait for a channel of tokio's.
        let next = wait::block_on(async move { (receiver.recv().await, receiver) });
        let (chunk, rest) = next.map_err(Error::local("start", "a request"))?;
        receiver = rest;
        let lost = |_| Error::local("start", "a request")(std::io::Error::other("it has ended"));
        let Some(chunk) = chunk else { return meta.try_recv().map_err(lost) };
        let chunk = chunk.map_err(place.failed("read"))?;
        written += chunk.len() as u64;
        if written > most {
            let why = Reason::Other(format!("it has more than {most} bytes"));
            return Err(Error::Server { doing: "read", address: place.address.to_string(), why });
        }
        to.write_all(&chunk)
            .map_err(Error::local("write what was read of", place.address.to_string()))?;
    }
}

/// The length of an object in bytes; `None` if there is none.
///
/// # Errors
/// When its server does not answer or allow it.
pub fn length(address: &Address) -> Result<Option<u64>, Error> {
    let place = Place::of(address)?;
    let asked = wait::block_on(async move {
        match place.store.head(&place.path).await {
            Ok(meta) => Ok(Some(meta.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(place.failed("look for")(error)),
        }
    });
    asked.map_err(Error::local("start", "a request"))?
}

/// Uploads a file. The object appears, or is replaced, when all of it has arrived. `sent` is told
/// of bytes that were handed to the server. Gives the object's entity tag, if the server tells it.
///
/// # Errors
/// When the file cannot be read, or the server does not take it.
pub fn upload(
    from: &Utf8Path,
    address: &Address,
    sent: &mut dyn FnMut(u64),
) -> Result<Option<String>, Error> {
    let place = Place::of(address)?;
    let mut file = File::open(from).map_err(Error::local("open", from))?;
    let length = file.metadata().map_err(Error::local("read", from))?.len();
    if length <= PART as u64 {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Error::local("read", from))?;
        let asked = place.clone();
        let put = wait::block_on(async move {
            asked
                .store
                .put(&asked.path, PutPayload::from(bytes))
                .await
                .map_err(asked.failed("write"))
        });
        let put = put.map_err(Error::local("start", "a request"))??;
        sent(length);
        return Ok(put.e_tag);
    }
    upload_in_parts(&place, file, from, sent)
}

fn upload_in_parts(
    place: &Place,
    mut file: File,
    from: &Utf8Path,
    sent: &mut dyn FnMut(u64),
) -> Result<Option<String>, Error> {
    let asked = place.clone();
    let begin = wait::block_on(async move { asked.store.put_multipart(&asked.path).await });
    let begun =
        begin.map_err(Error::local("start", "a request"))?.map_err(place.failed("write"))?;
    let mut writing = WriteMultipart::new_with_chunk_size(begun, PART);
    let mut part = vec![0; PART];
    loop {
        let read = match file.read(&mut part) {
            Ok(read) => read,
            Err(error) => {
                // What the server has of it would cost its owner.
                let _ = wait::block_on(async move { writing.abort().await });
                return Err(Error::local("read", from)(error));
            }
        };
        if read == 0 {
            let done = wait::block_on(async move { writing.finish().await });
            let done = done.map_err(Error::local("start", "a request"))?;
            return done.map(|put| put.e_tag).map_err(place.failed("write"));
        }
        let bytes = bytes::Bytes::copy_from_slice(&part[..read]);
        let step = wait::block_on(async move {
            if let Err(error) = writing.wait_for_capacity(PARTS).await {
                let _ = writing.abort().await;
                return Err(error);
            }
            writing.put(bytes);
            Ok(writing)
        });
        writing =
            step.map_err(Error::local("start", "a request"))?.map_err(place.failed("write"))?;
        sent(read as u64);
    }
}
