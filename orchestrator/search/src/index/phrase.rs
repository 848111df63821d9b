//! Pages that have several words in a row.

use super::IndexError;
use crate::query::Phrase;
use crate::segment::{List, Segment, SegmentError, frequency, hash_of, pair_hash, tf_code};
use crate::words::makes_pairs;

/// What the look-up of one phrase may cost: bytes of places, and three for each posting. Beyond it,
/// further archives, and the rest of the last, are not examined.
pub(super) const BUDGET: u64 = 2_000_000;
/// What a posting costs: it is decoded to find the pages, and again to find the places.
const POSTING: u64 = 3;
/// The bytes of places that are read in the archive that uses up the budget.
const LAST: u64 = 500_000;

/// A word of the index, or a pair of common ones, with its place in the phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    hash: u64,
    offset: u32,
}

/// The units that cover a phrase.
pub(super) fn units(phrase: &Phrase) -> Vec<Unit> {
    let hashes: Vec<u64> = phrase.iter().map(|word| hash_of("word", word)).collect();
    let pairs: Vec<bool> = phrase.iter().map(|word| makes_pairs(word)).collect();
    let mut units = Vec::new();
    let mut covered = false;
    for at in 0..phrase.len() {
        let offset = at as u32;
        if at + 1 < phrase.len() && pairs[at] && pairs[at + 1] {
            units.push(Unit { hash: pair_hash(hashes[at], hashes[at + 1]), offset });
            covered = true;
        } else if !std::mem::take(&mut covered) {
            units.push(Unit { hash: hashes[at], offset });
        }
    }
    units
}

/// A phrase in one segment.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The units' postings, the shortest first. Empty if the segment lacks one of them.
    lists: Vec<(List, u32)>,
}

/// Where a phrase begins in some pages.
#[derive(Debug, Default)]
struct PhraseStarts {
    /// Each page, and the end of its part of `places`.
    pages: Vec<(u32, usize)>,
    places: Vec<u32>,
}

impl Lists {
    pub(super) fn of(segment: &Segment, units: &[Unit]) -> Result<Lists, SegmentError> {
        let mut lists = Vec::new();
        for unit in units {
            let Some(list) = segment.list(unit.hash)? else { return Ok(Lists::default()) };
            lists.push((list, unit.offset));
        }
        lists.sort_by_key(|(list, offset)| (list.len(), *offset));
        Ok(Lists { lists })
    }

    /// The postings, if the phrase is one unit. They need no look at places.
    pub(super) fn single(mut self) -> Result<List, Lists> {
        match self.lists.len() {
            1 => Ok(self.lists.swap_remove(0).0),
            _ => Err(self),
        }
    }

    /// The pages with the phrase, each with the code of its frequency.
    pub(super) fn pages(
        &self,
        segment: &Segment,
        budget: &mut u64,
    ) -> Result<Vec<(u32, u8)>, SegmentError> {
        let Some(((shortest, _), others)) = self.lists.split_first() else { return Ok(Vec::new()) };
        if *budget == 0 {
            return Ok(Vec::new());
        }
        let postings: u64 = self.lists.iter().map(|(list, _)| u64::from(list.len())).sum();
        let left = budget.saturating_sub(postings * POSTING);
        // The archive that uses up the budget is still examined for a part.
        let mut places = if left == 0 { LAST } else { left };
        let mut pages = Vec::with_capacity(shortest.len() as usize);
        shortest.for_each(|page, _| pages.push(page))?;
        for (list, _) in others {
            list.retain(&mut pages)?;
        }
        let starts = self.starts(segment, &pages, &mut places)?;
        *budget = if left == 0 { 0 } else { places };
        let mut from = 0;
        let pages = starts.pages.iter().map(|(page, end)| {
            let places = &starts.places[std::mem::replace(&mut from, *end)..*end];
            (*page, tf_code(frequency(places)))
        });
        Ok(pages.collect())
    }

    /// The places at which the phrase begins in a page.
    pub(super) fn places(&self, segment: &Segment, page: u32) -> Result<Vec<u32>, SegmentError> {
        Ok(self.starts(segment, &[page], &mut u64::MAX.clone())?.places)
    }

    fn starts(
        &self,
        segment: &Segment,
        pages: &[u32],
        budget: &mut u64,
    ) -> Result<PhraseStarts, SegmentError> {
        let mut starts = PhraseStarts::default();
        let mut wanted = pages.to_vec();
        for (number, (list, offset)) in self.lists.iter().enumerate() {
            let mut next = PhraseStarts::default();
            let (mut at, mut from) = (0, 0);
            let read = |range| segment.places(range);
            list.occurrences(&wanted, budget, read, |page, places| {
                let begin = next.places.len();
                let own = places.iter().filter_map(|place| place.checked_sub(*offset));
                if number == 0 {
                    next.places.extend(own);
                } else {
                    // Both are ordered by page and place, so that one pass over each is enough.
                    while starts.pages.get(at).is_some_and(|(known, _)| *known < page) {
                        from = starts.pages[at].1;
                        at += 1;
                    }
                    let Some((_, end)) = starts.pages.get(at).filter(|(known, _)| *known == page)
                    else {
                        return;
                    };
                    let mut known = starts.places[from..*end].iter().copied().peekable();
                    next.places.extend(own.filter(|place| {
                        while known.next_if(|known| known < place).is_some() {}
                        known.peek() == Some(place)
                    }));
                }
                if next.places.len() > begin {
                    next.pages.push((page, next.places.len()));
                }
            })?;
            starts = next;
            wanted = starts.pages.iter().map(|(page, _)| *page).collect();
        }
        Ok(starts)
    }
}

impl From<SegmentError> for IndexError {
    fn from(source: SegmentError) -> IndexError {
        IndexError { segment: None, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_in_a_row_are_looked_for_as_pairs() {
        let check = |typed: &str, offsets: &[u32]| {
            let phrase = crate::words::words(typed);
            let found: Vec<u32> = units(&phrase).iter().map(|unit| unit.offset).collect();
            assert_eq!(found, offsets, "{typed}");
        };
        check("tower of the king", &[0, 1, 3]);
        check("of the", &[0]);
        check("of rome", &[0, 1]);
        check("how is it done on a day", &[0, 1, 3, 4, 6]);
        check("東京都の人口", &[0, 1, 2, 3, 4]);
        check("the", &[0]);
    }
}
