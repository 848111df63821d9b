//! The postings of a word: in which pages it is, how often, and where.
//!
//! ```text
//!  blocks, if there are several     | pages                        | places
//!  last page, end of pages, places  | distance to the last, tf ... | bytes, distances ...
//! ```
//!
//! 128 pages are a block. Only phrases and snippets need places, and they skip most of the blocks.

use super::{SegmentError, weight_at};

/// Pages of a block.
pub(super) const BLOCK: usize = 128;
/// The size of a block's entry in bytes: last page, end of its pages, end of its places.
const ENTRY: usize = 16;
const DAMAGED: SegmentError = SegmentError::Damaged("postings");

/// Appends a number in groups of seven bits.
pub(super) fn put(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the beginning of `bytes`. `None` if there is none.
#[inline(always)]
pub(super) fn take(bytes: &mut &[u8]) -> Option<u32> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    if *first < 0x80 {
        return Some(u32::from(*first));
    }
    let mut number = u32::from(first & 0x7f);
    for shift in [7, 14, 21, 28] {
        let (next, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(next & 0x7f) << shift;
        if *next < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Collects the postings of one word, page after page.
#[derive(Debug, Default)]
pub(super) struct ListWriter {
    entries: Vec<u8>,
    pages: Vec<u8>,
    places: Vec<u8>,
    count: u32,
    last: u32,
}

impl ListWriter {
    /// Adds a page with its frequency and the encoded places.
    pub(super) fn add(&mut self, page: u32, tf: u8, places: &[u8]) {
        if self.count > 0 && self.count.is_multiple_of(BLOCK as u32) {
            self.end_block();
        }
        put(&mut self.pages, page - self.last);
        self.pages.push(tf);
        put(&mut self.places, places.len() as u32);
        self.places.extend_from_slice(places);
        self.last = page;
        self.count += 1;
    }

    fn end_block(&mut self) {
        self.entries.extend(self.last.to_le_bytes());
        self.entries.extend((self.pages.len() as u32).to_le_bytes());
        self.entries.extend((self.places.len() as u64).to_le_bytes());
    }

    /// The number of pages, and the bytes: of blocks and pages, and of places. Empties the writer.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> (u32, usize) {
        let count = self.count;
        if count as usize > BLOCK {
            self.end_block();
        }
        out.extend_from_slice(&self.entries);
        out.extend_from_slice(&self.pages);
        let pages = self.entries.len() + self.pages.len();
        out.extend_from_slice(&self.places);
        self.entries.clear();
        self.pages.clear();
        self.places.clear();
        (self.count, self.last) = (0, 0);
        (count, pages)
    }
}

/// The pages of one word in one segment.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(super) count: u32,
    /// Blocks and pages.
    pub(super) bytes: Vec<u8>,
    /// Where the places are in the file.
    pub(super) places: std::ops::Range<u64>,
}

/// A block: the page before its first, its number of pages, and where it lies.
struct Block {
    before: u32,
    count: usize,
    pages: std::ops::Range<usize>,
    places: std::ops::Range<u64>,
}

impl List {
    /// The number of pages.
    pub(crate) fn len(&self) -> u32 {
        self.count
    }

    fn blocks(&self) -> usize {
        if self.count as usize > BLOCK { (self.count as usize).div_ceil(BLOCK) } else { 0 }
    }

    /// Calls `each` with every page and its frequency's code, in order of pages.
    #[inline]
    pub(crate) fn for_each(&self, mut each: impl FnMut(u32, u8)) -> Result<(), SegmentError> {
        let mut bytes = self.bytes.get(self.blocks() * ENTRY..).ok_or(DAMAGED)?;
        let mut page = 0u32;
        for _ in 0..self.count {
            page = page.wrapping_add(take(&mut bytes).ok_or(DAMAGED)?);
            let (tf, rest) = bytes.split_first().ok_or(DAMAGED)?;
            bytes = rest;
            each(page, *tf);
        }
        Ok(())
    }

    /// The end of a block: its last page, the end of its pages, the end of its places.
    fn entry(&self, block: usize) -> Option<(u32, usize, u64)> {
        let entry = self.bytes.get(block * ENTRY..(block + 1) * ENTRY)?;
        let (last, rest) = entry.split_first_chunk::<4>()?;
        let (pages, rest) = rest.split_first_chunk::<4>()?;
        let (places, _) = rest.split_first_chunk::<8>()?;
        let pages = u32::from_le_bytes(*pages) as usize;
        Some((u32::from_le_bytes(*last), pages, u64::from_le_bytes(*places)))
    }

    fn block(&self, number: usize) -> Option<Block> {
        let blocks = self.blocks();
        if blocks == 0 {
            let places = 0..self.places.end - self.places.start;
            return Some(Block {
                before: 0,
                count: self.count as usize,
                pages: 0..self.bytes.len(),
                places,
            });
        }
        let (before, pages, places) = if number == 0 { (0, 0, 0) } else { self.entry(number - 1)? };
        let (_, pages_end, places_end) = self.entry(number)?;
        let from = blocks * ENTRY;
        let count = (self.count as usize - number * BLOCK).min(BLOCK);
        Some(Block {
            before,
            count,
            pages: from + pages..from + pages_end,
            places: places..places_end,
        })
    }

    /// The number of the first block, from `from` on, that may have this page.
    fn block_of(&self, page: u32, from: usize) -> Option<usize> {
        let (mut low, mut high) = (from, self.blocks().max(1));
        if self.blocks() == 0 {
            return (from == 0).then_some(0);
        }
        let end = high;
        // Most often the next one is right.
        let mut step = 1;
        while low < high {
            let middle = (low + step - 1).min(low + (high - low) / 2);
            if self.entry(middle)?.0 < page {
                low = middle + 1;
                step *= 2;
            } else {
                high = middle;
            }
        }
        (low < end).then_some(low)
    }

    /// Keeps those of `pages`, which are sorted, that are in the list.
    pub(crate) fn retain(&self, pages: &mut Vec<u32>) -> Result<(), SegmentError> {
        let mut kept = 0;
        let mut at = 0;
        let mut from = 0;
        while at < pages.len() {
            let Some(number) = self.block_of(pages[at], from) else { break };
            let block = self.block(number).ok_or(DAMAGED)?;
            let mut bytes = self.bytes.get(block.pages).ok_or(DAMAGED)?;
            let mut page = block.before;
            for _ in 0..block.count {
                page = page.wrapping_add(take(&mut bytes).ok_or(DAMAGED)?);
                bytes = bytes.get(1..).ok_or(DAMAGED)?;
                while at < pages.len() && pages[at] < page {
                    at += 1;
                }
                if pages.get(at) == Some(&page) {
                    pages[kept] = page;
                    kept += 1;
                    at += 1;
                }
            }
            // What was not found in its block is nowhere.
            while at < pages.len() && pages[at] <= page {
                at += 1;
            }
            from = number + 1;
        }
        pages.truncate(kept);
        Ok(())
    }

    /// The places of the word in those of `pages`, which are sorted, that are in the list. Ends
    /// early when `budget` bytes of places have been read.
    pub(crate) fn occurrences(
        &self,
        pages: &[u32],
        budget: &mut u64,
        mut read: impl FnMut(std::ops::Range<u64>) -> Result<Vec<u8>, SegmentError>,
        mut each: impl FnMut(u32, &[u32]),
    ) -> Result<(), SegmentError> {
        let (mut at, mut from) = (0, 0);
        let mut decoded = Vec::new();
        // One read is cheaper than one for every block, if most of them are needed.
        let size = self.places.end.saturating_sub(self.places.start);
        let at_once = pages.len() > self.blocks() && size <= *budget;
        let whole = if at_once { read(self.places.clone())? } else { Vec::new() };
        *budget -= whole.len() as u64;
        while let Some(wanted) = pages.get(at) {
            let Some(number) = self.block_of(*wanted, from) else { return Ok(()) };
            let block = self.block(number).ok_or(DAMAGED)?;
            let own;
            let mut places = if at_once {
                let range = block.places.start as usize..block.places.end as usize;
                whole.get(range).ok_or(DAMAGED)?
            } else {
                let size = block.places.end.checked_sub(block.places.start).ok_or(DAMAGED)?;
                let start = self.places.start.checked_add(block.places.start).ok_or(DAMAGED)?;
                let range = start..start.checked_add(size).ok_or(DAMAGED)?;
                if range.end > self.places.end {
                    return Err(DAMAGED);
                }
                let Some(left) = budget.checked_sub(size) else {
                    *budget = 0;
                    return Ok(());
                };
                *budget = left;
                own = read(range)?;
                &own
            };
            let mut bytes = self.bytes.get(block.pages).ok_or(DAMAGED)?;
            let mut page = block.before;
            for _ in 0..block.count {
                page = page.wrapping_add(take(&mut bytes).ok_or(DAMAGED)?);
                bytes = bytes.get(1..).ok_or(DAMAGED)?;
                let length = take(&mut places).ok_or(DAMAGED)? as usize;
                let (own, rest) = places.split_at_checked(length).ok_or(DAMAGED)?;
                places = rest;
                while pages.get(at).is_some_and(|wanted| *wanted < page) {
                    at += 1;
                }
                if pages.get(at) == Some(&page) {
                    at += 1;
                    decode(own, &mut decoded)?;
                    each(page, &decoded);
                }
            }
            while pages.get(at).is_some_and(|wanted| *wanted <= page) {
                at += 1;
            }
            from = number + 1;
        }
        Ok(())
    }
}

fn decode(mut bytes: &[u8], places: &mut Vec<u32>) -> Result<(), SegmentError> {
    places.clear();
    let mut place = 0u32;
    while !bytes.is_empty() {
        place = place.wrapping_add(take(&mut bytes).ok_or(DAMAGED)?);
        places.push(place);
    }
    Ok(())
}

/// The weighted frequency of a word at these places.
pub(crate) fn frequency(places: &[u32]) -> u32 {
    places.iter().fold(0, |sum: u32, place| sum.saturating_add(weight_at(*place)))
}
