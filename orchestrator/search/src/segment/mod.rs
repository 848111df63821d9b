//! The index of the pages of one archive: one file, written once.
//!
//! ```text
//!  header | texts ........... | postings ............... | words ...... | places | resident
//!           title, URL, text    of each word: the pages,   hash of the    where    for each page:
//!           of each page, in    how often, and where       word -> its    a text   hash of the
//! URL,
//!           chunks                                         postings       lies     host, length
//! ```
//!
//! Only `resident` is in memory: 13 bytes for each page, and a 32nd of the words. A segment is a
//! cache: if it is missing, damaged, or belongs to another version or state of its archive, it is
//! built again. Nothing in a file can make its reader panic.

mod codes;
mod header;
mod postings;
mod reader;
mod runs;
mod texts;
mod writer;

#[cfg(test)]
mod tests;

use std::io::Write;

pub(crate) use codes::{LENGTH_CODES, TF_CODES, length_of, tf_code, tf_of};
pub(crate) use postings::{List, frequency};
pub(crate) use reader::Segment;
pub(crate) use runs::pair_hash;
pub(crate) use writer::SegmentWriter;

/// A page to be indexed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Document {
    pub(crate) url: String,
    /// In lower case.
    pub(crate) host: String,
    pub(crate) title: String,
    pub(crate) text: String,
}

/// Where the words of a part of a page are counted from. Phrases do not cross the gaps between the
/// parts.
pub(crate) const TITLE_AT: u32 = 0;
pub(crate) const ADDRESS_AT: u32 = 1024;
pub(crate) const TEXT_AT: u32 = 2048;
/// Words of a title and of an address that are indexed.
const MOST_SHORT: usize = 1000;

/// The weights of a word in title, URL and text.
pub(crate) fn weight_at(position: u32) -> u32 {
    match position {
        ..ADDRESS_AT => 5,
        ADDRESS_AT..TEXT_AT => 2,
        _ => 1,
    }
}

/// Why a segment cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SegmentError {
    /// It is not what the writer wrote.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Reads everything in a file that may be hostile, as if its checksums were right.
pub(crate) fn read_hostile(bytes: &[u8]) -> Result<(), SegmentError> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    let segment = Segment::read_as(file, false)?;
    for word in 0..segment.words().min(200) {
        let Some(list) = segment.list_at(word)? else { continue };
        let mut pages = Vec::new();
        list.for_each(|page, _| pages.push(page))?;
        pages.sort_unstable();
        let read = |range| segment.places(range);
        list.occurrences(&pages, &mut u64::MAX.clone(), read, |_, _| ())?;
        list.retain(&mut pages)?;
    }
    for page in 0..segment.pages().min(200) {
        let head = segment.text(page)?;
        segment.chunk(&head, 0)?;
    }
    Ok(())
}

/// The number that stands for a word, or for a URL.
pub(crate) fn hash_of(kind: &str, text: &str) -> u64 {
    let key = snapshots::matching::Key::of(kind, &[text.as_bytes()]).to_string();
    u64::from_str_radix(key.get(..16).unwrap_or_default(), 16).unwrap_or_default()
}
