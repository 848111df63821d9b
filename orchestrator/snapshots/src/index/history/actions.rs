//! Requests for pages that may do something, such as a link that takes a ticket.
//!
//! Such a request says so by its address, or leads to another page. But `/start` may be a page, and
//! many pages lead on. So it is a write where the recording shows that something changed across it
//! and nothing else was done there. Only what shows itself to be constant counts: two contents that
//! were captured twice each, or the words of a page without those that have digits, if they were
//! the same twice.

use std::collections::BTreeSet;

use super::super::{IndexHit, ReplaySet};
use super::evidence::{Contents, SeveralCaptures};
use crate::matching::Key;

/// How many pages of a site are read for their words.
const MOST_READ: usize = 512;
/// The longest page that is read, in bytes.
const LONGEST: u64 = 1 << 20;

impl Contents {
    /// Those that a recording shows to be constant while nothing is done.
    pub(super) fn constant(&self, set: &ReplaySet) -> Contents {
        let (mut constant, mut left) = (Vec::new(), MOST_READ);
        for same in &self.0 {
            let again = repeated(same);
            if again.len() > 1 {
                let mut by_bytes = same.clone();
                by_bytes.marks.retain(|mark| mark.content.is_some_and(|key| again.contains(&key)));
                constant.push(by_bytes);
            }
            if same.marks.len() <= left {
                left -= same.marks.len();
                let mut by_words = same.clone();
                for mark in &mut by_words.marks {
                    mark.content = words_of(set, mark.hit);
                }
                constant.extend((!repeated(&by_words).is_empty()).then_some(by_words));
            }
        }
        Contents(constant)
    }
}

/// The contents of an address that were captured more than once.
fn repeated(same: &SeveralCaptures) -> BTreeSet<Key> {
    let mut known = BTreeSet::new();
    let all = same.marks.iter().filter_map(|mark| mark.content);
    all.filter(|content| !known.insert(*content)).collect()
}

/// What identifies the words that a page shows; `None` if it shows none, is too long or damaged.
fn words_of(set: &ReplaySet, hit: IndexHit) -> Option<Key> {
    let page = set.document(hit, LONGEST).ok().flatten()?;
    if !html_scan::is_html(&page.media_type) {
        return None;
    }
    let texts = html_scan::texts(&html_scan::decode(&page.media_type, &page.bytes));
    let words = texts.iter().flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric()));
    let lasting = words.filter(|word| !word.is_empty() && !word.contains(char::is_numeric));
    let lasting: Vec<&[u8]> = lasting.map(str::as_bytes).collect();
    (!lasting.is_empty()).then(|| Key::of("words", &lasting))
}
