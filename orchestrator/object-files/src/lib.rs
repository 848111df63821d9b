//! Files at an address: objects of S3 (`s3://bucket/key`) and files of web servers (`https://...`).
//!
//! A file is read by range. What was read stays in a cache on disk, in blocks, so that no block is
//! fetched twice. Everything here blocks: requests run on threads of this crate, and the caller
//! waits with a deadline. Credentials come from the environment, under the names that AWS's own
//! tools read.
//!
//! ```text
//!   read_at ── block in the cache? ── yes ──> bytes on disk
//!                     │ no
//!                     └── GET, range of missing blocks ──> cache ──> bytes on disk
//! ```

mod address;
mod blocks;
mod connector;
mod error;
mod file;
mod folder;
mod store;
mod transfer;
mod wait;

use std::sync::OnceLock;

pub use address::{Address, is_address};
use camino::{Utf8Path, Utf8PathBuf};
pub use error::{Error, Reason};
pub use file::RemoteFile;
pub use folder::{Listed, RemoteFolder};
pub use transfer::{download, download_into, length, upload};

/// The server that an object of S3 is on, where the environment names one; the same address means
/// another object at another server. Nothing for other addresses.
pub fn server(address: &Address) -> String {
    store::endpoint().filter(|_| address.is_s3()).unwrap_or_default()
}

static CACHE: OnceLock<Utf8PathBuf> = OnceLock::new();

/// Names the folder in which this process keeps what it reads of objects. The first call counts.
pub fn use_cache(folder: Utf8PathBuf) {
    let _ = CACHE.set(folder);
}

/// The folder in which this process keeps what it reads of objects, if one was named.
pub fn cache() -> Option<&'static Utf8Path> {
    CACHE.get().map(Utf8PathBuf::as_path)
}
