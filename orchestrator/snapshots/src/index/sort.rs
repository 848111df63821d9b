//! Sorting more rows than memory should hold: runs of bounded size go to temporary files and are merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

/// Bytes of rows kept in memory before a run is written.
const RUN: usize = 24 << 20;
/// More runs than this are merged into one before the next is written, so that open files stay few.
const MAX_RUNS: usize = 64;

/// Collects byte strings and gives them back in order of their bytes. Equal ones all stay.
#[derive(Debug)]
pub(super) struct Sorter {
    limit: usize,
    bytes: Vec<u8>,
    rows: Vec<(u32, u32)>,
    runs: Vec<File>,
}

impl Sorter {
    pub(super) fn new() -> Sorter {
        Sorter::with_limit(RUN)
    }

    fn with_limit(limit: usize) -> Sorter {
        Sorter { limit, bytes: Vec::new(), rows: Vec::new(), runs: Vec::new() }
    }

    /// Adds a row of less than `u32::MAX` bytes.
    pub(super) fn push(&mut self, row: &[u8]) -> io::Result<()> {
        if !self.rows.is_empty() && self.bytes.len() + row.len() + self.rows.len() * 8 > self.limit {
            self.spill()?;
        }
        let place =
            |n: usize| u32::try_from(n).map_err(|_| io::Error::other("a row of the index is too long"));
        self.rows.push((place(self.bytes.len())?, place(row.len())?));
        self.bytes.extend_from_slice(row);
        Ok(())
    }

    /// Gives every row to `take`, in order.
    pub(super) fn drain(mut self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        if self.runs.is_empty() {
            self.sort();
            return self.rows.iter().try_for_each(|row| take(slice(&self.bytes, *row)));
        }
        self.spill()?;
        self.bytes = Vec::new();
        self.rows = Vec::new();
        merge(self.runs, take)
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.rows.sort_unstable_by(|a, b| slice(bytes, *a).cmp(slice(bytes, *b)));
    }

    fn spill(&mut self) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        if self.runs.len() >= MAX_RUNS {
            let merged = write_run(|put| merge(std::mem::take(&mut self.runs), put))?;
            self.runs.push(merged);
        }
        self.sort();
        let run = write_run(|put| self.rows.iter().try_for_each(|row| put(slice(&self.bytes, *row))))?;
        self.runs.push(run);
        self.bytes.clear();
        self.rows.clear();
        Ok(())
    }
}

fn slice(bytes: &[u8], (start, length): (u32, u32)) -> &[u8] {
    &bytes[start as usize..start as usize + length as usize]
}

type Put<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

/// A run: each row behind its length, in an unnamed file rewound to its start.
fn write_run(fill: impl FnOnce(Put<'_>) -> io::Result<()>) -> io::Result<File> {
    let mut out = BufWriter::with_capacity(1 << 18, tempfile::tempfile()?);
    fill(&mut |row| {
        out.write_all(&(row.len() as u32).to_le_bytes())?;
        out.write_all(row)
    })?;
    let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.rewind()?;
    Ok(file)
}

fn merge(runs: Vec<File>, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut readers: Vec<_> = runs.into_iter().map(|run| BufReader::with_capacity(1 << 17, run)).collect();
    let mut heap = BinaryHeap::with_capacity(readers.len());
    for (at, reader) in readers.iter_mut().enumerate() {
        let mut row = Vec::new();
        if read_row(reader, &mut row)? {
            heap.push(Reverse((row, at)));
        }
    }
    while let Some(Reverse((mut row, at))) = heap.pop() {
        take(&row)?;
        if read_row(&mut readers[at], &mut row)? {
            heap.push(Reverse((row, at)));
        }
    }
    Ok(())
}

fn read_row(reader: &mut impl Read, row: &mut Vec<u8>) -> io::Result<bool> {
    let mut length = [0; 4];
    match reader.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
        Err(error) => return Err(error),
    }
    row.resize(u32::from_le_bytes(length) as usize, 0);
    reader.read_exact(row)?;
    Ok(true)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sorts_whatever_the_size_of_a_run(
            rows in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..12), 0..400),
            limit in 16..2000_usize,
        ) {
            let mut sorter = Sorter::with_limit(limit);
            rows.iter().for_each(|row| sorter.push(row).unwrap());
            let mut sorted = Vec::new();
            sorter.drain(|row| { sorted.push(row.to_vec()); Ok(()) }).unwrap();
            let mut expect = rows;
            expect.sort();
            prop_assert_eq!(sorted, expect);
        }
    }
}
