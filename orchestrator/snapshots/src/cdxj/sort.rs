//! Sorts the lines of an index that may be larger than memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};

/// Collects lines and gives them back sorted by bytes. Beyond `memory` bytes, sorted runs go to unnamed temporary
/// files and are merged at the end.
#[derive(Debug)]
pub(crate) struct Sorter {
    memory: usize,
    held: usize,
    lines: Vec<Vec<u8>>,
    runs: Vec<File>,
}

/// The sorted lines, without their ends.
pub(crate) struct Sorted {
    last: std::vec::IntoIter<Vec<u8>>,
    runs: Vec<BufReader<File>>,
    heap: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
}

impl Sorter {
    pub(crate) fn new(memory: usize) -> Sorter {
        Sorter { memory, held: 0, lines: Vec::new(), runs: Vec::new() }
    }

    /// Adds a line, which must not contain a line feed.
    pub(crate) fn push(&mut self, line: Vec<u8>) -> io::Result<()> {
        self.held += line.len() + size_of::<Vec<u8>>();
        self.lines.push(line);
        if self.held > self.memory { self.spill() } else { Ok(()) }
    }

    pub(crate) fn finish(mut self) -> io::Result<Sorted> {
        self.lines.sort_unstable();
        let mut sorted = Sorted { last: self.lines.into_iter(), runs: Vec::new(), heap: BinaryHeap::new() };
        for mut run in self.runs {
            run.seek(SeekFrom::Start(0))?;
            sorted.runs.push(BufReader::with_capacity(64 << 10, run));
        }
        for source in 0..=sorted.runs.len() {
            sorted.refill(source)?;
        }
        Ok(sorted)
    }

    fn spill(&mut self) -> io::Result<()> {
        self.lines.sort_unstable();
        let mut run = BufWriter::new(tempfile::tempfile()?);
        for line in self.lines.drain(..) {
            run.write_all(&line)?;
            run.write_all(b"\n")?;
        }
        self.runs.push(run.into_inner().map_err(io::IntoInnerError::into_error)?);
        self.held = 0;
        Ok(())
    }
}

impl Sorted {
    /// Takes the next line of a source; the one behind the last run is what stayed in memory.
    fn refill(&mut self, source: usize) -> io::Result<()> {
        let line = match self.runs.get_mut(source) {
            None => self.last.next(),
            Some(run) => {
                let mut line = Vec::new();
                run.read_until(b'\n', &mut line)?;
                if line.pop().is_some() { Some(line) } else { None }
            }
        };
        self.heap.extend(line.map(|line| Reverse((line, source))));
        Ok(())
    }
}

impl Iterator for Sorted {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((line, source)) = self.heap.pop()?;
        Some(self.refill(source).map(|()| line))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn runs_merge_into_one_order() {
        for memory in [0, 100, 2_000, 1 << 20] {
            let mut sorter = Sorter::new(memory);
            let lines: Vec<Vec<u8>> =
                (0..500_u32).map(|n| (n * 7919 % 500).to_string().into_bytes()).collect();
            lines.iter().for_each(|line| sorter.push(line.clone()).unwrap());
            let sorted: Vec<_> = sorter.finish().unwrap().map(Result::unwrap).collect();
            let mut expect = lines;
            expect.sort();
            assert_eq!(sorted, expect, "{memory}");
        }
    }
}
