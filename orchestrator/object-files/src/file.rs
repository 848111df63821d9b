//! One object, read by range.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use futures_util::TryStreamExt as _;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStoreExt as _};
use parking_lot::{Condvar, Mutex};
use sha2::{Digest as _, Sha256};

use crate::blocks::{BLOCK, Blocks};
use crate::store::Place;
use crate::{Address, Error, Reason, wait};

/// The most blocks of one request, when an object is read from start to end.
const MOST: u64 = 128;

/// How long a request for blocks may take, however slowly the server sends.
const WHOLE: Duration = Duration::from_secs(300);

/// How long reads fail at once after a request and its repetitions have failed. Otherwise each of
/// the many reads for one page would wait for a server that is gone.
const GONE: Duration = Duration::from_secs(5);

/// An opened object. It is read by position, from any number of threads.
#[derive(Debug)]
pub struct RemoteFile {
    place: Place,
    length: u64,
    version: Version,
    folder: Option<Utf8PathBuf>,
    blocks: Blocks,
    state: Mutex<State>,
    fetched: Condvar,
}

/// What identifies the state of an object.
#[derive(Debug, Clone)]
struct Version {
    etag: Option<String>,
    digest: [u8; 32],
}

impl Version {
    fn of(meta: &ObjectMeta) -> Version {
        let digest = version_digest(&meta.e_tag, meta.size, meta.last_modified.into());
        Version { etag: meta.e_tag.clone(), digest }
    }

    /// Whether a response is of this state of the object.
    fn is_of(&self, meta: &ObjectMeta) -> bool {
        Version::of(meta).digest == self.digest
    }
}

#[derive(Debug, Default)]
struct State {
    /// Blocks that were checked.
    there: HashSet<u64>,
    /// Blocks that a thread is fetching.
    under_way: HashSet<u64>,
    /// The block after the last fetched ones, and how many these were. Who reads on from there gets
    /// twice as many at once.
    last: (u64, u64),
    /// When and why a request has failed, if it was the last one.
    failed: Option<(Instant, Reason)>,
}

impl RemoteFile {
    /// Opens an object with the cache of the process ([`crate::use_cache`]). The process opens each
    /// object once, so that all of it sees one state of it.
    ///
    /// # Errors
    /// See [`RemoteFile::open_with`].
    pub fn open(address: &Address) -> Result<Arc<RemoteFile>, Error> {
        static OPENED: LazyLock<Mutex<HashMap<Address, Arc<RemoteFile>>>> =
            LazyLock::new(Mutex::default);
        if let Some(file) = OPENED.lock().get(address) {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(RemoteFile::open_with(address, crate::cache())?);
        // Another thread may have been faster.
        Ok(Arc::clone(OPENED.lock().entry(address.clone()).or_insert(file)))
    }

    /// Opens an object. What is read of it stays in a folder below `cache`; without one, for as
    /// long as it is open.
    ///
    /// # Errors
    /// When there is no such object, its server does not answer or allow it, or the cache cannot be
    /// written.
    pub fn open_with(address: &Address, cache: Option<&Utf8Path>) -> Result<RemoteFile, Error> {
        let place = Place::of(address)?;
        let asked = place.clone();
        let start =
            GetOptions { range: Some(GetRange::Bounded(0..BLOCK)), ..GetOptions::default() };
        let got =
            on_server(
                &place,
                "open",
                async move { collected(get(&asked, start).await?, BLOCK).await },
            );
        let (first, whole) = match got {
            Ok(first) => (first, false),
            Err(Error::Server { why: Reason::NoParts, .. }) => {
                let asked = place.clone();
                let meta = on_server(&place, "open", async move {
                    Ok((asked.store.head(&asked.path).await?, Bytes::new()))
                })?;
                (meta, true)
            }
            // No range lies in an object without bytes.
            Err(Error::Server { doing, address, why: Reason::Changed }) => {
                return Err(Error::Server {
                    doing,
                    address,
                    why: Reason::Other("it is empty".to_owned()),
                });
            }
            Err(error) => return Err(error),
        };
        let (meta, first) = first;
        if !whole && first.len() as u64 != meta.size.min(BLOCK) {
            let why =
                Reason::Other("the server has sent another part than the one asked for".to_owned());
            return Err(Error::Server { doing: "open", address: address.to_string(), why });
        }
        let version = Version::of(&meta);
        let folder = cache.map(|cache| folder_of(cache, address, &version.digest));
        let blocks = Blocks::open(folder.as_deref(), meta.size)?;
        let file = RemoteFile {
            place,
            length: meta.size,
            version,
            folder,
            blocks,
            state: Mutex::default(),
            fetched: Condvar::new(),
        };
        if whole {
            file.fetch_whole()?;
        } else if file.length > 0 {
            file.keep(0, &first)?;
        }
        Ok(file)
    }

    /// Its address.
    pub fn address(&self) -> &Address {
        &self.place.address
    }

    /// Its length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Identifies its state on the server: a digest over its entity tag, length and date.
    pub fn version(&self) -> [u8; 32] {
        self.version.digest
    }

    /// The folder of what was read of it, for more that belongs to this state of it.
    pub fn folder(&self) -> Option<&Utf8Path> {
        self.folder.as_deref()
    }

    /// Reads bytes at a position: at least one, unless it is the end.
    ///
    /// # Errors
    /// When they are not in the cache and the server does not give them.
    pub fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        if at >= self.length || bytes.is_empty() {
            return Ok(0);
        }
        let block = at / BLOCK;
        self.ensure(block)
            .map_err(|error| io::Error::other(Failed(error_text::with_causes(&error))))?;
        let most = (self.blocks.range(block, 1).end - at).min(bytes.len() as u64) as usize;
        self.blocks.read_at(&mut bytes[..most], at)
    }

    /// Reads small ranges that are wanted once, at the same time, past the cache.
    ///
    /// # Errors
    /// When the server does not give them.
    pub fn read_ranges(&self, ranges: Vec<Range<u64>>) -> Result<Vec<Bytes>, Error> {
        let place = self.place.clone();
        let read = wait::block_on(async move {
            place.store.get_ranges(&place.path, &ranges).await.map_err(place.failed("read"))
        });
        read.map_err(Error::local("start", "a request"))?
    }

    /// Waits until a block is in the cache; fetches it if nobody else does.
    fn ensure(&self, block: u64) -> Result<(), Error> {
        let mut state = self.state.lock();
        loop {
            if state.there.contains(&block) {
                return Ok(());
            }
            if let Some((_, why)) = state.failed.as_ref().filter(|(at, _)| at.elapsed() < GONE) {
                return Err(self.failed(why.clone()));
            }
            if !state.under_way.contains(&block) {
                break;
            }
            // Every fetch has a deadline.
            self.fetched.wait(&mut state);
        }
        if self.blocks.has(block) {
            state.there.insert(block);
            return Ok(());
        }
        let wanted = if state.last.0 == block { (state.last.1 * 2).min(MOST) } else { 1 };
        let is_missing = |next: &u64| {
            !state.there.contains(next)
                && !state.under_way.contains(next)
                && !self.blocks.has(*next)
        };
        let more = (block + 1..(block + wanted).min(self.blocks.count()))
            .take_while(is_missing)
            .count() as u64;
        let run = block..block + 1 + more;
        state.under_way.extend(run.clone());
        state.last = (run.end, run.end - run.start);
        drop(state);
        let fetched = self.fetch(&run);
        let mut state = self.state.lock();
        state.under_way.retain(|block| !run.contains(block));
        state.failed = match &fetched {
            Err(Error::Server { why, .. }) => Some((Instant::now(), why.clone())),
            _ => None,
        };
        drop(state);
        self.fetched.notify_all();
        fetched
    }

    fn fetch(&self, run: &Range<u64>) -> Result<(), Error> {
        let range = self.blocks.range(run.start, run.end - run.start);
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            if_match: self.version.etag.clone().filter(|etag| !etag.starts_with("W/")),
            ..GetOptions::default()
        };
        let place = self.place.clone();
        let asked = range.end - range.start;
        let (meta, bytes) = on_server(&self.place, "read", async move {
            collected(get(&place, options).await?, asked).await
        })?;
        if !self.version.is_of(&meta) || bytes.len() as u64 != asked {
            return Err(self.failed(Reason::Changed));
        }
        tracing::debug!(address = %self.place.address, from = range.start, bytes = asked, "fetched");
        self.keep(run.start, &bytes)
    }

    fn failed(&self, why: Reason) -> Error {
        Error::Server { doing: "read", address: self.place.address.to_string(), why }
    }

    /// Fetches all of it, from a server that gives no parts.
    fn fetch_whole(&self) -> Result<(), Error> {
        if (0..self.blocks.count()).all(|block| self.blocks.has(block)) {
            return Ok(());
        }
        // Beside the blocks, since there is room for all of it.
        let path = self
            .folder
            .clone()
            .unwrap_or_else(|| std::env::temp_dir().to_string_lossy().as_ref().into());
        let mut file = tempfile::tempfile_in(&path).map_err(Error::local("write into", &path))?;
        let meta = crate::transfer::fetch_into(&self.place, &mut file, self.length)?;
        let length =
            file.metadata().map_err(Error::local("read what was fetched for", &path))?.len();
        if !self.version.is_of(&meta) || length != self.length {
            return Err(self.failed(Reason::Changed));
        }
        let mut bytes = vec![0; BLOCK as usize];
        for block in 0..self.blocks.count() {
            let range = self.blocks.range(block, 1);
            let bytes = &mut bytes[..(range.end - range.start) as usize];
            std::os::unix::fs::FileExt::read_exact_at(&file, bytes, range.start)
                .map_err(Error::local("read what was fetched for", &path))?;
            self.keep(block, bytes)?;
        }
        Ok(())
    }

    fn keep(&self, first: u64, bytes: &[u8]) -> Result<(), Error> {
        self.blocks.put(first, bytes)?;
        let count = (bytes.len() as u64).div_ceil(BLOCK);
        self.state.lock().there.extend(first..first + count);
        Ok(())
    }
}

/// The text of an error inside an `io::Error`.
#[derive(Debug, thiserror::Error)]
#[error("failed to {0}")]
struct Failed(String);

type Got = (ObjectMeta, Bytes);

async fn get(place: &Place, options: GetOptions) -> object_store::Result<GetResult> {
    object_store::ObjectStore::get_opts(&*place.store, &place.path, options).await
}

/// At most `most` bytes of the body, and a little, whatever the server sends.
async fn collected(got: GetResult, most: u64) -> object_store::Result<Got> {
    let meta = got.meta.clone();
    let mut bytes = Vec::with_capacity(most as usize);
    let mut stream = got.into_stream();
    while let Some(chunk) = stream.try_next().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() as u64 > most {
            break;
        }
    }
    Ok((meta, bytes.into()))
}

fn on_server(
    place: &Place,
    doing: &'static str,
    request: impl Future<Output = object_store::Result<Got>> + Send + 'static,
) -> Result<Got, Error> {
    let late = Reason::Other(format!("the server has not sent it within {} s", WHOLE.as_secs()));
    let request = async move { tokio::time::timeout(WHOLE, request).await };
    match wait::block_on(request).map_err(Error::local("start", "a request"))? {
        Ok(done) => done.map_err(place.failed(doing)),
        Err(_) => Err(Error::Server { doing, address: place.address.to_string(), why: late }),
    }
}

fn version_digest(etag: &Option<String>, length: u64, modified: SystemTime) -> [u8; 32] {
    let seconds =
        modified.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Sha256::digest(format!("{etag:?} {length} {seconds}")).into()
}

/// The folder of one state of an object.
fn folder_of(cache: &Utf8Path, address: &Address, version: &[u8; 32]) -> Utf8PathBuf {
    let object = hex::encode(Sha256::digest(format!("{} {address}", crate::server(address))));
    cache.join(&object[..24]).join(&hex::encode(version)[..24])
}
