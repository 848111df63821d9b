//! Looks a query up in all segments.
//!
//! Every page has a score, to which every word adds its part, the rarest word first. All postings
//! of a word are read, so that the number of matches is exact, and further result pages cost no
//! more than the first. Words that are in most pages are left out when the rarer ones have used up
//! a budget. They would hardly change the order.

use super::phrase::{self, Lists, units};
use super::snippet::{self, Match};
use super::{Index, IndexError};
use crate::query::{Phrase, Query};
use crate::segment::{List, Segment, SegmentError, hash_of};
use crate::{Results, SearchHit};

/// Postings that are read for one query, but at least all of its rarest word.
const BUDGET: u64 = 1_500_000;
/// Into how many steps scores are divided to find the best.
const STEPS: usize = 1 << 12;
/// Scores that are looked at together.
const CHUNK: usize = 256;

/// A word or phrase of a query, in every segment.
struct Item {
    /// The number of pages.
    count: u64,
    words: u32,
    found: Vec<TermPostings>,
}

/// A word or phrase in one segment.
enum TermPostings {
    Nowhere,
    List(List),
    Phrase { lists: Lists, pages: Vec<(u32, u8)> },
}

impl TermPostings {
    fn of(
        segment: &Segment,
        phrase: &Phrase,
        budget: &mut u64,
    ) -> Result<TermPostings, SegmentError> {
        if let [word] = &phrase[..] {
            return Ok(segment
                .list(hash_of("word", word))?
                .map_or(TermPostings::Nowhere, TermPostings::List));
        }
        let lists = match Lists::of(segment, &units(phrase))?.single() {
            Ok(list) => return Ok(TermPostings::List(list)),
            Err(lists) => lists,
        };
        let pages = lists.pages(segment, budget)?;
        Ok(if pages.is_empty() {
            TermPostings::Nowhere
        } else {
            TermPostings::Phrase { lists, pages }
        })
    }

    fn count(&self) -> u64 {
        match self {
            TermPostings::Nowhere => 0,
            TermPostings::List(list) => list.len().into(),
            TermPostings::Phrase { pages, .. } => pages.len() as u64,
        }
    }

    fn for_each(&self, mut each: impl FnMut(u32, u8)) -> Result<(), SegmentError> {
        match self {
            TermPostings::Nowhere => Ok(()),
            TermPostings::List(list) => list.for_each(each),
            TermPostings::Phrase { pages, .. } => {
                pages.iter().for_each(|(page, tf)| each(*page, *tf));
                Ok(())
            }
        }
    }

    fn places(&self, segment: &Segment, page: u32) -> Result<Vec<u32>, SegmentError> {
        let mut places = Vec::new();
        match self {
            TermPostings::Nowhere => {}
            TermPostings::Phrase { lists, .. } => places = lists.places(segment, page)?,
            TermPostings::List(list) => {
                let read = |range| segment.places(range);
                list.occurrences(&[page], &mut u64::MAX.clone(), read, |_, found| {
                    places.extend(found)
                })?;
            }
        }
        Ok(places)
    }
}

impl Index {
    pub(super) fn look_up(
        &self,
        query: &Query,
        first: u64,
        count: u64,
    ) -> Result<Results, IndexError> {
        let mut bounded = false;
        let mut items = Vec::new();
        for phrase in &query.any {
            items.push(self.find(phrase, &mut bounded)?);
        }
        let mut scores = vec![0u32; self.pages];
        let order = affordable(&items);
        // Where phrases are required, other words only affect the rank.
        bounded |= order.len() < items.len() && query.required == 0;
        for item in order.iter().map(|number| &items[*number]) {
            let weight = self.ranking.weight(item.count);
            self.each(item, &mut scores, |segment, score, page, tf| {
                let length = segment.lengths.get(page as usize).copied().unwrap_or_default();
                *score = score.saturating_add(self.ranking.score(weight, tf, length));
            })?;
        }
        for item in &items[..query.required] {
            let mut marks = vec![0u8; self.pages];
            self.each(item, &mut marks, |_, mark, _, _| *mark = 1)?;
            scores.iter_mut().zip(marks).for_each(|(score, mark)| *score *= u32::from(mark));
        }
        for phrase in &query.without {
            let item = self.find(phrase, &mut bounded)?;
            self.each(&item, &mut scores, |_, score, _, _| *score = 0)?;
        }
        self.hidden.iter().for_each(|page| scores[*page as usize] = 0);
        if !query.hosts.is_empty() {
            self.keep_hosts(&query.hosts, &mut scores);
        }
        let (total, best) = best(&scores, first, count);
        let hits = best.into_iter().map(|page| self.hit(&items, page)).collect::<Result<_, _>>()?;
        Ok(Results { total, at_least: bounded && total > 0, found: hits })
    }

    fn find(&self, phrase: &Phrase, bounded: &mut bool) -> Result<Item, IndexError> {
        let mut budget = phrase::BUDGET;
        let mut found = Vec::with_capacity(self.segments.len());
        for (number, member) in self.segments.iter().enumerate() {
            found.push(
                TermPostings::of(&member.segment, phrase, &mut budget)
                    .map_err(IndexError::of(number))?,
            );
        }
        *bounded |= budget == 0;
        let count = found.iter().map(TermPostings::count).sum();
        Ok(Item { count, words: phrase.len() as u32, found })
    }

    /// Calls `each` with every page of an item, and the page's entry in `table`.
    #[inline]
    fn each<T>(
        &self,
        item: &Item,
        table: &mut [T],
        mut each: impl FnMut(&Segment, &mut T, u32, u8),
    ) -> Result<(), IndexError> {
        for (number, (member, found)) in self.segments.iter().zip(&item.found).enumerate() {
            let own = table.get_mut(member.pages.clone()).unwrap_or_default();
            let outcome = found.for_each(|page, tf| {
                if let Some(entry) = own.get_mut(page as usize) {
                    each(&member.segment, entry, page, tf);
                }
            });
            outcome.map_err(IndexError::of(number))?;
        }
        Ok(())
    }

    fn keep_hosts(&self, hosts: &[String], scores: &mut [u32]) {
        for member in &self.segments {
            let within = |own: &String| {
                hosts.iter().any(|host| {
                    // A host stands for its subdomains, and not for hosts that only end alike.
                    own.strip_suffix(host)
                        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
                })
            };
            let kept: Vec<bool> = member.segment.host_names.iter().map(within).collect();
            let own = scores.get_mut(member.pages.clone()).unwrap_or_default();
            for (score, host) in own.iter_mut().zip(&member.segment.hosts) {
                if !kept.get(*host as usize).copied().unwrap_or_default() {
                    *score = 0;
                }
            }
        }
    }

    fn hit(&self, items: &[Item], page: u32) -> Result<SearchHit, IndexError> {
        let number = self.segments.partition_point(|member| member.pages.end <= page as usize);
        let member = &self.segments[number];
        let page = page - member.pages.start as u32;
        let of = || -> Result<SearchHit, SegmentError> {
            let mut matches = Vec::new();
            for (place_of_item, item) in items.iter().enumerate() {
                let (words, weight) = (item.words, self.ranking.weight(item.count));
                let places = item.found[number].places(&member.segment, page)?;
                matches.extend(places.into_iter().map(|place| Match {
                    place,
                    words,
                    item: place_of_item,
                    weight,
                }));
            }
            let (url, title, snippet) = snippet::shown(&member.segment, page, matches)?;
            Ok(SearchHit { url, title, snippet })
        };
        of().map_err(IndexError::of(number))
    }
}

/// The numbers of the items that are read, the rarest first.
fn affordable(items: &[Item]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|number| items[*number].count);
    let mut spent = 0;
    let within = order.iter().enumerate().take_while(|(place, number)| {
        spent += items[**number].count;
        *place == 0 || spent <= BUDGET
    });
    let within = within.count();
    order.truncate(within);
    order
}

/// The number of pages with a score, and those from rank `first` on, at most `count`. Equal scores
/// are in order of pages.
fn best(scores: &[u32], first: u64, count: u64) -> (u64, Vec<u32>) {
    // What every chunk has at most: all bits of its scores. It is found faster than the highest.
    let bits: Vec<u32> =
        scores.chunks(CHUNK).map(|chunk| chunk.iter().fold(0, |all, score| all | score)).collect();
    let chunks = || scores.chunks(CHUNK).zip(&bits);
    let total = chunks()
        .filter(|(_, bits)| **bits != 0)
        .map(|(chunk, _)| u64::from(chunk.iter().map(|score| u32::from(*score != 0)).sum::<u32>()));
    let total = total.sum();
    let highest = bits.iter().fold(0, |all, bits| all | bits);
    let shift = (u32::BITS - highest.leading_zeros()).saturating_sub(STEPS.ilog2());
    let mut steps = vec![0u32; STEPS];
    for score in chunks().filter(|(_, bits)| **bits != 0).flat_map(|(chunk, _)| chunk) {
        if let Some(step) = steps.get_mut((score >> shift) as usize) {
            *step += u32::from(*score != 0);
        }
    }
    let end = first.saturating_add(count).min(total);
    if first >= end {
        return (total, Vec::new());
    }
    // The steps in which the wanted ranks lie, and the number of pages above them.
    let (mut above, mut before, mut top, mut bottom) = (0, 0, None, 0);
    for step in (0..STEPS).rev() {
        above += u64::from(steps[step]);
        if top.is_none() {
            if above > first {
                top = Some(step);
            } else {
                before = above;
            }
        }
        if above >= end {
            bottom = step;
            break;
        }
    }
    let lowest = ((bottom as u32) << shift).max(1);
    let top = top.unwrap_or(bottom) as u32;
    let mut pages: Vec<(u32, u32)> = Vec::new();
    for (number, (chunk, _)) in chunks().enumerate().filter(|(_, (_, bits))| **bits >= lowest) {
        for (place, score) in chunk.iter().enumerate() {
            if *score >= lowest && score >> shift <= top {
                pages.push((u32::MAX - score, (number * CHUNK + place) as u32));
            }
        }
    }
    let (from, to) = ((first - before) as usize, (end - before) as usize);
    if to < pages.len() {
        pages.select_nth_unstable(to);
        pages.truncate(to);
    }
    pages.sort_unstable();
    (total, pages.into_iter().skip(from).map(|(_, page)| page).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_those_of_a_whole_sort() {
        let mut number = 7u32;
        let mut next = |below: u32| {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (number >> 8) % below
        };
        for below in [2, 5, 1000, 1 << 24] {
            let scores: Vec<u32> = (0..3000).map(|_| next(below) * (1 + next(2))).collect();
            let mut all: Vec<u32> = (0..3000).filter(|page| scores[*page as usize] > 0).collect();
            all.sort_by_key(|page| (u32::MAX - scores[*page as usize], *page));
            for (first, count) in
                [(0, 10), (0, 0), (10, 10), (995, 7), (0, 9999), (2990, 100), (u64::MAX, 9)]
            {
                let (total, found) = best(&scores, first, count);
                let from = usize::try_from(first).unwrap().min(all.len());
                let to = from.saturating_add(usize::try_from(count).unwrap()).min(all.len());
                assert_eq!(
                    (total, &found[..]),
                    (all.len() as u64, &all[from..to]),
                    "{below} {first} {count}"
                );
            }
        }
        assert_eq!(best(&[], 0, 10), (0, Vec::new()));
    }
}
