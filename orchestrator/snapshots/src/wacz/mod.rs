//! WACZ: the ZIP file that contains records, index, page list and checksums.
//!
//! ```text
//! x.wacz
//! ├── archive/*.warc.gz            stored, never deflated: records are read by their offset in the file
//! ├── indexes/index.cdx.gz + .idx  CDXJ in blocks (see `zipnum`)
//! ├── pages/pages.jsonl
//! ├── rules/changing.yaml          volatile request parts, if any are known
//! ├── datapackage.json             every file with its sha256
//! └── datapackage-digest.json      the sha256 of datapackage.json, perhaps signed
//! ```
//!
//! Read: versions 1.0 to 1.2, with or without an index. Written: 1.1.1.

mod check;
mod compress;
mod container;
mod entry_lines;
mod index;
mod originals;
mod package;
mod pages;
mod signature;
#[cfg(test)]
mod tests;
mod write;

pub use check::{FileCheck, FileState};
pub use container::{ContainerWriter, Description, WACZ_VERSION};
pub use package::{Entry, Package, RULES_NAME};
pub(crate) use package::{MAX_RULES, check_zip, is_warc_name, stays_inside};
pub use pages::PageLines;
pub(crate) use pages::{PageBudget, PageLists, line as page_line};
pub use signature::signature_holds;
pub use write::{SnapshotWriter, WARC_NAME, WriteReport};
