//! The text around matching words.

use crate::segment::{Segment, SegmentError, TEXT_AT};
use crate::words::spans;

/// Maximum length of a snippet in words, and in characters, because words may be long.
const WORDS: u32 = 40;
const CHARACTERS: usize = 1000;
/// Words before the first match.
const BEFORE: u32 = 8;
/// Matches that are considered.
const MOST: usize = 2000;

/// Marks around a matching word in [`crate::SearchHit::snippet`].
pub(crate) const MARKS: (char, char) = ('\u{2}', '\u{3}');

/// A matching word or phrase in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Match {
    /// The place of its first word.
    pub(super) place: u32,
    /// Its number of words.
    pub(super) words: u32,
    /// The number of the word or phrase in the query.
    pub(super) item: usize,
    /// How rare it is.
    pub(super) weight: u32,
}

/// The URL, the title and a snippet of a page.
pub(super) fn shown(
    segment: &Segment,
    page: u32,
    mut matches: Vec<Match>,
) -> Result<(String, String, String), SegmentError> {
    let head = segment.text(page)?;
    matches.retain(|found| found.place >= TEXT_AT);
    matches.sort_unstable();
    matches.truncate(MOST);
    let (best, last) = best(&matches);
    let (number, first) = head.chunk_of(best);
    let chunk = segment.chunk(&head, number)?;
    let mut words = Vec::new();
    spans(&chunk, |span| words.push(span));
    let count = words.len() as u32;
    let lead = (WORDS.saturating_sub(last.saturating_sub(best) + 1) / 2).min(BEFORE);
    let start = best.saturating_sub(first).saturating_sub(lead).min(count.saturating_sub(WORDS));
    let end = start.saturating_add(WORDS).min(count);
    // The text is whole where no word is left out.
    let from = if start == 0 { 0 } else { words[start as usize].start };
    let to = if end == count { chunk.len() } else { words[end as usize - 1].end };
    let mut snippet = String::new();
    if start > 0 || number > 0 {
        snippet.push('…');
    }
    let mut at = from;
    let local = matches.iter().filter_map(|found| {
        let begin = found.place.checked_sub(first).filter(|begin| (start..end).contains(begin))?;
        let end = (begin + found.words).min(end);
        Some(words.get(begin as usize)?.start..words.get(end as usize - 1)?.end)
    });
    for range in local {
        // A word may be in several phrases.
        if range.start < at {
            continue;
        }
        snippet.push_str(&chunk[at..range.start]);
        snippet.push(MARKS.0);
        snippet.push_str(&chunk[range.clone()]);
        snippet.push(MARKS.1);
        at = range.end;
    }
    snippet.push_str(&chunk[at..to]);
    if end < count || head.goes_on(number) {
        snippet.push('…');
    }
    let snippet = snippet.trim().chars().take(CHARACTERS).collect();
    Ok((head.url, head.title, snippet))
}

/// The places of the first and last match of the best window: with the rarest words, and the most.
fn best(matches: &[Match]) -> (u32, u32) {
    let mut best = (0, TEXT_AT, TEXT_AT);
    for (number, first) in matches.iter().enumerate() {
        let window = matches[number..]
            .iter()
            .take_while(|found| found.place < first.place.saturating_add(WORDS));
        let (mut score, mut seen, mut last) = (0u64, Vec::new(), first.place);
        for found in window {
            last = found.place;
            score += 1;
            if !seen.contains(&found.item) {
                seen.push(found.item);
                score += 16 * u64::from(found.weight);
            }
        }
        if score > best.0 {
            best = (score, first.place, last);
        }
    }
    (best.1, best.2)
}
