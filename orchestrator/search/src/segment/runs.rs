//! Sorted runs: the postings of some pages, gathered in memory, written to a temporary file, and
//! merged at the end. So the memory of building does not grow with the archive.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use super::postings::{ListWriter, put, take};
use super::{hash_of, tf_code, weight_at};
use crate::words::{Stems, makes_pairs, spans};

/// The bytes of postings in memory.
pub(super) const MEMORY: usize = 128 << 20;
/// What a word costs in memory besides its postings.
const WORD: usize = 200;
/// The size of a run's entry before its bytes: hash, pages, and the sizes of both parts.
const ENTRY: usize = 20;

/// The postings of one word in a run.
#[derive(Debug, Default)]
struct RunPostings {
    hash: u64,
    pairs: bool,
    count: u32,
    last: u32,
    pages: Vec<u8>,
    places: Vec<u8>,
}

/// Gathers the words of pages.
#[derive(Default)]
pub(super) struct Gatherer {
    stems: Stems,
    /// Words as they are written.
    written: HashMap<Box<str>, u32>,
    /// Words of the index, by their hash.
    known: HashMap<u64, u32>,
    pairs: HashMap<(u32, u32), u32>,
    words: Vec<RunPostings>,
    memory: usize,
    limit: usize,
    /// The words of the page at hand, each with its place.
    found: Vec<(u32, u32)>,
    last: Option<(u32, u32)>,
}

impl Gatherer {
    /// Keeps about `limit` bytes in memory.
    pub(super) fn new(limit: usize) -> Gatherer {
        Gatherer { limit, ..Gatherer::default() }
    }

    /// Adds the words of a part of the page at hand, counted from `place`, at most `most`. Returns
    /// their number.
    pub(super) fn read(&mut self, text: &str, place: u32, most: usize) -> u32 {
        self.last = None;
        let mut count = 0u32;
        spans(text, |span| {
            if (count as usize) < most {
                self.add(&text[span], place + count);
                count += 1;
            }
        });
        count
    }

    fn add(&mut self, written: &str, place: u32) {
        let word = match self.written.get(written) {
            Some(word) => *word,
            None => {
                let word = self.stems.of(written).into_owned();
                let number = self.number_of(hash_of("word", &word), makes_pairs(&word));
                self.memory += WORD + written.len();
                self.written.insert(written.into(), number);
                number
            }
        };
        self.found.push((word, place));
        let in_pairs = self.words[word as usize].pairs;
        if let Some((before, at)) = self.last.take().filter(|_| in_pairs) {
            let pair = self.pair_of(before, word);
            self.found.push((pair, at));
        }
        self.last = in_pairs.then_some((word, place));
    }

    fn number_of(&mut self, hash: u64, pairs: bool) -> u32 {
        let words = &mut self.words;
        *self.known.entry(hash).or_insert_with(|| {
            words.push(RunPostings { hash, pairs, ..RunPostings::default() });
            words.len() as u32 - 1
        })
    }

    fn pair_of(&mut self, first: u32, second: u32) -> u32 {
        if let Some(pair) = self.pairs.get(&(first, second)) {
            return *pair;
        }
        let hashes = [first, second].map(|word| self.words[word as usize].hash);
        let pair = self.number_of(pair_hash(hashes[0], hashes[1]), false);
        self.memory += WORD;
        self.pairs.insert((first, second), pair);
        pair
    }

    /// Ends the page at hand. Returns whether the run is full.
    pub(super) fn end_page(&mut self, page: u32) -> bool {
        self.found.sort_unstable();
        let mut places = Vec::new();
        for group in self.found.chunk_by(|a, b| a.0 == b.0) {
            let word = &mut self.words[group[0].0 as usize];
            let (mut last, mut frequency) = (0, 0u32);
            places.clear();
            for (_, place) in group {
                put(&mut places, place - last);
                last = *place;
                frequency = frequency.saturating_add(weight_at(*place));
            }
            let before = word.pages.len() + word.places.len();
            put(&mut word.pages, page - word.last);
            word.pages.push(tf_code(frequency));
            put(&mut word.places, places.len() as u32);
            word.places.extend_from_slice(&places);
            self.memory += word.pages.len() + word.places.len() - before;
            (word.last, word.count) = (page, word.count + 1);
        }
        self.found.clear();
        self.memory >= self.limit
    }

    /// Writes the run, and forgets its words.
    pub(super) fn flush(&mut self) -> io::Result<Run> {
        // These maps name words by their numbers, which begin again in the next run.
        self.written.clear();
        self.known.clear();
        self.pairs.clear();
        self.memory = 0;
        let mut words = std::mem::take(&mut self.words);
        words.sort_unstable_by_key(|word| word.hash);
        let mut out = BufWriter::new(tempfile::tempfile()?);
        for word in words {
            out.write_all(&word.hash.to_le_bytes())?;
            for number in [word.count, word.pages.len() as u32, word.places.len() as u32] {
                out.write_all(&number.to_le_bytes())?;
            }
            out.write_all(&word.pages)?;
            out.write_all(&word.places)?;
        }
        let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        let mut run = Run { file: BufReader::with_capacity(1 << 18, file), ..Run::empty()? };
        run.advance()?;
        Ok(run)
    }
}

/// The hash of two words in a row.
pub(crate) fn pair_hash(first: u64, second: u64) -> u64 {
    (first.rotate_left(23) ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(second | 1)
}

/// A written run, read from its beginning. The word at hand is in memory.
pub(super) struct Run {
    file: BufReader<File>,
    hash: Option<u64>,
    count: u32,
    pages: Vec<u8>,
    places: Vec<u8>,
}

impl Run {
    fn empty() -> io::Result<Run> {
        let file = BufReader::with_capacity(1, tempfile::tempfile()?);
        Ok(Run { file, hash: None, count: 0, pages: Vec::new(), places: Vec::new() })
    }

    fn advance(&mut self) -> io::Result<()> {
        let mut entry = [0; ENTRY];
        self.hash = None;
        match self.file.read_exact(&mut entry) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            outcome => outcome?,
        }
        let number = |at: usize| {
            u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]])
        };
        self.hash = Some(u64::from(number(0)) | u64::from(number(4)) << 32);
        self.count = number(8);
        self.pages.resize(number(12) as usize, 0);
        self.file.read_exact(&mut self.pages)?;
        self.places.resize(number(16) as usize, 0);
        self.file.read_exact(&mut self.places)
    }

    fn copy_to(&self, list: &mut ListWriter) -> io::Result<()> {
        let short = || io::Error::new(io::ErrorKind::InvalidData, "a temporary file has changed");
        let (mut pages, mut places) = (self.pages.as_slice(), self.places.as_slice());
        let mut page = 0u32;
        for _ in 0..self.count {
            page = page.wrapping_add(take(&mut pages).ok_or_else(short)?);
            let (tf, rest) = pages.split_first().ok_or_else(short)?;
            pages = rest;
            let length = take(&mut places).ok_or_else(short)? as usize;
            let (own, rest) = places.split_at_checked(length).ok_or_else(short)?;
            places = rest;
            list.add(page, *tf, own);
        }
        Ok(())
    }
}

/// Merges runs: calls `each` with every word's hash and postings, in order of hashes.
pub(super) fn merge(
    mut runs: Vec<Run>,
    mut each: impl FnMut(u64, &mut ListWriter) -> io::Result<()>,
) -> io::Result<()> {
    let mut list = ListWriter::default();
    while let Some(hash) = runs.iter().filter_map(|run| run.hash).min() {
        for run in runs.iter_mut().filter(|run| run.hash == Some(hash)) {
            run.copy_to(&mut list)?;
            run.advance()?;
        }
        each(hash, &mut list)?;
    }
    Ok(())
}
