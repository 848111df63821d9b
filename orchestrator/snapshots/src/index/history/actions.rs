//! Requests for pages that may do something, such as a link that takes a ticket.
//!
//! Such a request says so by its address, or leads to another page. But `/start` may be a page, and
//! many pages lead on. So it is a write where the recording shows that something changed across it
//! and nothing else was done there. Only what shows itself to be constant counts: a content that
//! was captured twice. Where the bytes of a page are never the same twice, the words that it shows
//! count, without those that have digits.

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
            if comes_again(same) {
                constant.push(same.clone());
            } else if same.marks.len() <= left {
                left -= same.marks.len();
                let mut by_words = same.clone();
                for mark in &mut by_words.marks {
                    mark.content = words_of(set, mark.hit);
                }
                constant.extend(comes_again(&by_words).then_some(by_words));
            }
        }
        Contents(constant)
    }
}

/// Whether one content of an address was captured twice.
fn comes_again(same: &SeveralCaptures) -> bool {
    let mut known: Vec<Key> = same.marks.iter().filter_map(|mark| mark.content).collect();
    known.sort_unstable();
    known.windows(2).any(|two| two[0] == two[1])
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
