//! WARC and ARC records: reading them one by one, and writing WARC 1.1.
//!
//! A record is a header of named fields and a block of bytes. In a compressed file each record is a
//! gzip member of its own, so that it can be reached by its offset. ARC records are given the field
//! names of WARC, so that no reader above this module has to know the difference.

mod arc;
mod block;
mod digest;
mod header;
mod read;
mod record;
mod scan;
#[cfg(test)]
mod tests;
mod window;
mod write;

pub use block::Block;
pub use digest::{matches as digest_matches, same as same_digest, sha1_text, sha256_text};
pub use header::Version;
pub(crate) use read::read_at;
pub use record::{Record, RecordKind, RecordRef};
pub(crate) use scan::{Scanner, shares_first_member};
pub(crate) use window::Window;
pub(crate) use write::serialise;
pub use write::{RecordHead, new_record_id};

/// The longest record header that is read. Real ones are under a kilobyte; cookies in them have
/// been seen at 70.
pub const MAX_HEAD: usize = 1 << 20;
