//! WARC and ARC records: reads them one by one, and writes WARC 1.1.
//!
//! A record is a header of named fields and a block of bytes. In a compressed file each record is
//! its own gzip member, so that it can be accessed by its offset. ARC records get WARC field names,
//! so that code above this module need not distinguish the formats.

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

/// The maximum size of a record header, in bytes. Real ones are below a kilobyte, but with cookies
/// 70 kB have been observed.
pub const MAX_HEAD: usize = 1 << 20;
/// The field of a request record that names its [`visit`](crate::Exchange::visit). No other program
/// knows it.
pub(crate) const VISIT: &str = "Sandbox-Visit";
/// What follows the name of the visit where the recorder asked, not the browser.
const AGAIN: &str = "; again";

/// The value of [`VISIT`].
pub(crate) fn visit_field(name: &str, asked_again: bool) -> String {
    format!("{name}{}", if asked_again { AGAIN } else { "" })
}

/// The name of a visit in a value of [`VISIT`], and whether the recorder asked.
pub(crate) fn visit_of(field: &str) -> (&str, bool) {
    let name = field.trim();
    name.strip_suffix(AGAIN).map_or((name, false), |name| (name, true))
}
