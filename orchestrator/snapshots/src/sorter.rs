//! External sorting of rows that do not fit into memory.
//!
//! ```text
//! push -> rows in memory --(memory is full)--> runs --(many files)--> merge pass -> fewer runs
//!                |                              |                                      |
//! drain <--------+------ merged in order -------+--------------------------------------+
//! ```
//!
//! A run is sorted rows in an unnamed temporary file. A merge pass merges the runs with the fewest
//! passes so far. Each row is therefore copied about as often as the logarithm of the number of
//! runs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

/// The maximum number of open files per sorter, including the output. The index builder uses five
/// sorters at a time, which is far below a limit of 1,024 files.
const MAX_OPEN_FILES: usize = 64;

/// Collects byte strings and returns them in byte order. Duplicates are kept.
#[derive(Debug)]
pub(crate) struct Sorter {
    /// How many bytes of rows are held in memory before a run is written.
    memory: usize,
    max_open_files: usize,
    bytes: Vec<u8>,
    rows: Vec<(u32, u32)>,
    runs: Vec<Run>,
}

/// Sorted rows, each prefixed with its length, in an unnamed file that is rewound to its start.
#[derive(Debug)]
struct Run {
    file: File,
    /// How many merge passes its rows have been through.
    passes: u32,
}

impl Sorter {
    /// Holds at most `memory` bytes of rows in memory, but always at least one row.
    pub(crate) fn new(memory: usize) -> Sorter {
        Sorter::with_max_open_files(memory, MAX_OPEN_FILES)
    }

    /// A merge reads at least two runs and writes one, so at least three files are needed.
    fn with_max_open_files(memory: usize, max_open_files: usize) -> Sorter {
        let max_open_files = max_open_files.max(3);
        Sorter { memory, max_open_files, bytes: Vec::new(), rows: Vec::new(), runs: Vec::new() }
    }

    /// Adds a row of less than `u32::MAX` bytes.
    pub(crate) fn push(&mut self, row: &[u8]) -> io::Result<()> {
        if !self.rows.is_empty() && self.bytes.len() + row.len() + self.rows.len() * 8 > self.memory
        {
            self.spill()?;
        }
        let place = |n: usize| {
            u32::try_from(n).map_err(|_| io::Error::other("a row is too long to be sorted"))
        };
        self.rows.push((place(self.bytes.len())?, place(row.len())?));
        self.bytes.extend_from_slice(row);
        Ok(())
    }

    /// Passes every row to `take`, in order.
    pub(crate) fn drain(mut self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
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

    /// Writes the rows in memory as a run.
    fn spill(&mut self) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        self.sort();
        let file =
            write_run(|put| self.rows.iter().try_for_each(|row| put(slice(&self.bytes, *row))))?;
        self.runs.push(Run { file, passes: 0 });
        self.bytes.clear();
        self.rows.clear();
        // One file is reserved for the next run.
        if self.runs.len() + 1 >= self.max_open_files { self.merge_pass() } else { Ok(()) }
    }

    /// Merges the runs with the fewest passes, at least two, into one.
    fn merge_pass(&mut self) -> io::Result<()> {
        // The order of runs does not matter: equal rows are equal bytes.
        self.runs.sort_unstable_by_key(|run| run.passes);
        let passes = self.runs.get(1).map_or(0, |second| second.passes);
        let rest = self.runs.partition_point(|run| run.passes <= passes);
        let merged = self.runs.drain(..rest).collect();
        let file = write_run(|put| merge(merged, put))?;
        self.runs.push(Run { file, passes: passes + 1 });
        Ok(())
    }
}

fn slice(bytes: &[u8], (start, length): (u32, u32)) -> &[u8] {
    &bytes[start as usize..start as usize + length as usize]
}

type Put<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

/// Writes the file of a run.
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

fn merge(runs: Vec<Run>, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut readers: Vec<_> =
        runs.into_iter().map(|run| BufReader::with_capacity(1 << 17, run.file)).collect();
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

    fn sorted(sorter: Sorter) -> Vec<Vec<u8>> {
        let mut sorted = Vec::new();
        sorter
            .drain(|row| {
                sorted.push(row.to_vec());
                Ok(())
            })
            .unwrap();
        sorted
    }

    #[test]
    fn more_runs_than_open_files_are_merged_in_passes() {
        for (max_open_files, rows) in [(3, 500), (4, 500), (16, 1_000), (MAX_OPEN_FILES, 2_500_u32)]
        {
            // Without memory each row is a run.
            let mut sorter = Sorter::with_max_open_files(0, max_open_files);
            let (mut most, mut passes) = (0, 0);
            for n in 0..rows {
                sorter.push(&(n.wrapping_mul(2_654_435_761)).to_be_bytes()).unwrap();
                most = most.max(sorter.runs.len());
                passes = passes.max(sorter.runs.iter().map(|run| run.passes).max().unwrap_or(0));
            }
            assert!(
                most < max_open_files,
                "{most} runs, and one being written, of {max_open_files}"
            );
            let mut expect: Vec<_> =
                (0..rows).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes().to_vec()).collect();
            expect.sort();
            assert_eq!(sorted(sorter), expect, "{max_open_files}");
            if max_open_files >= 16 {
                assert!(
                    passes <= 4,
                    "each row was copied {passes} times with {max_open_files} files"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn sorts_whatever_the_size_of_a_run(
            rows in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..12), 0..400),
            memory in 0..2000_usize,
            max_open_files in 0..9_usize,
        ) {
            let mut sorter = Sorter::with_max_open_files(memory, max_open_files);
            rows.iter().for_each(|row| sorter.push(row).unwrap());
            let mut expect = rows;
            expect.sort();
            prop_assert_eq!(sorted(sorter), expect);
        }
    }
}
