//! A keyed table: entries sorted by key, and a fan-out that maps the first bits of a key to a few
//! dozen entries.
//!
//! Only the fan-out is in memory (four bytes for every 32 entries). A look-up is one `pread` of
//! about a kilobyte.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use super::row::{ENTRY, Entry, crc};
use crate::matching::Key;

/// The average number of entries per slot of the fan-out.
const PER_SLOT: u64 = 32;
/// How many entries are read at once. A slot holds more only if one request was recorded many
/// times.
const AT_ONCE: u64 = 128;
/// Of a request that was recorded more often, only the first captures are replayed.
pub(super) const MAX_GROUP: usize = 1 << 14;

/// The location of a table in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TablePlace {
    /// Offset of the first entry.
    pub(super) offset: u64,
    /// Number of entries.
    pub(super) entries: u64,
    /// Offset of the fan-out.
    pub(super) fan: u64,
    /// How many bits of the key select the slot.
    pub(super) bits: u32,
    /// CRC-32 of the fan-out.
    pub(super) fan_crc: u32,
}

#[derive(Debug)]
pub(super) struct Table {
    place: TablePlace,
    /// `fan[slot]` is the first entry of the slot, with one extra element at the end.
    fan: Vec<u32>,
}

/// Why an entry could not be read.
#[derive(Debug)]
pub(super) enum ReadError {
    Io(io::Error),
    Damaged,
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadError::Io(error)
    }
}

impl Table {
    /// Reads the fan-out.
    pub(super) fn open(file: &File, place: TablePlace) -> Result<Table, ReadError> {
        // Before these numbers decide how much memory is taken.
        if place.bits > 27 || place.entries > u64::from(u32::MAX) {
            return Err(ReadError::Damaged);
        }
        let mut bytes = vec![0; fan_bytes(place.bits)];
        file.read_exact_at(&mut bytes, place.fan)?;
        if crc(&bytes) != place.fan_crc {
            return Err(ReadError::Damaged);
        }
        let fan: Vec<u32> =
            bytes.as_chunks::<4>().0.iter().map(|four| u32::from_le_bytes(*four)).collect();
        if !fan.is_sorted() || fan.last().is_none_or(|last| u64::from(*last) != place.entries) {
            return Err(ReadError::Damaged);
        }
        Ok(Table { place, fan })
    }

    /// All entries of `key`, in recorded order.
    pub(super) fn group(&self, file: &File, key: &Key) -> Result<Vec<Entry>, ReadError> {
        let slot = slot(key, self.place.bits);
        let (mut low, end) = (u64::from(self.fan[slot]), u64::from(self.fan[slot + 1]));
        let mut high = end;
        while high - low > AT_ONCE {
            let middle = low + (high - low) / 2;
            let mut row = [0; ENTRY];
            file.read_exact_at(&mut row, self.place.offset + middle * ENTRY as u64)?;
            if row[..16] < key.0[..] {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // The remaining rows are read at once, which costs less than further steps of the search.
        let mut found = Vec::new();
        let mut buffer = [0; AT_ONCE as usize * ENTRY];
        while low < end {
            let count = (end - low).min(AT_ONCE);
            let bytes = &mut buffer[..count as usize * ENTRY];
            file.read_exact_at(bytes, self.place.offset + low * ENTRY as u64)?;
            for row in bytes.as_chunks::<ENTRY>().0 {
                match row[..16].cmp(&key.0[..]) {
                    std::cmp::Ordering::Less => {}
                    std::cmp::Ordering::Equal if found.len() < MAX_GROUP => {
                        found.push(Entry::from_bytes(row).ok_or(ReadError::Damaged)?);
                    }
                    _ => return Ok(found),
                }
            }
            low += count;
        }
        Ok(found)
    }
}

impl Table {
    /// Iterates over the keys of all entries.
    pub(super) fn keys<'a>(&self, file: &'a File) -> KeyScan<'a> {
        let (at, left) = (self.place.offset, self.place.entries);
        KeyScan { file, at, left, buffer: Vec::new(), next: 0 }
    }
}

/// Reads the keys of a table in order. A key is repeated for each of its entries.
#[derive(Debug)]
pub(super) struct KeyScan<'a> {
    file: &'a File,
    /// Where the entries after the buffer are.
    at: u64,
    /// How many entries have not been passed.
    left: u64,
    buffer: Vec<u8>,
    /// The next entry in the buffer.
    next: usize,
}

impl KeyScan<'_> {
    /// How many keys have not been passed.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// The next key.
    pub(super) fn peek(&mut self) -> Result<Option<Key>, ReadError> {
        if self.left == 0 {
            return Ok(None);
        }
        if self.next * ENTRY == self.buffer.len() {
            self.buffer.resize(self.left.min(AT_ONCE) as usize * ENTRY, 0);
            self.file.read_exact_at(&mut self.buffer, self.at)?;
            self.at += self.buffer.len() as u64;
            self.next = 0;
        }
        let row = self.buffer.as_chunks::<ENTRY>().0.get(self.next).ok_or(ReadError::Damaged)?;
        Ok(Some(Entry::from_bytes(row).ok_or(ReadError::Damaged)?.key))
    }

    /// Passes the key that [`KeyScan::peek`] returned.
    pub(super) fn pass(&mut self) {
        self.left -= 1;
        self.next += 1;
    }
}

/// Writes sorted entries as they come, then the fan-out.
#[derive(Debug)]
pub(super) struct TableWriter {
    place: TablePlace,
    fan: Vec<u32>,
}

impl TableWriter {
    /// A table at `offset` for `expected` entries.
    pub(super) fn new(offset: u64, expected: u64) -> TableWriter {
        let bits = (expected / PER_SLOT).max(1).next_power_of_two().trailing_zeros().min(27);
        let place = TablePlace { offset, bits, ..TablePlace::default() };
        TableWriter { place, fan: Vec::with_capacity((1 << bits) + 1) }
    }

    pub(super) fn push(&mut self, row: &[u8], out: &mut impl Write) -> io::Result<()> {
        let key: [u8; 16] =
            row.first_chunk().copied().ok_or_else(|| io::Error::other("a row without a key"))?;
        let number = u32::try_from(self.place.entries)
            .map_err(|_| io::Error::other("too many records for one index"))?;
        self.fill(slot(&Key(key), self.place.bits), number);
        self.place.entries += 1;
        out.write_all(row)
    }

    /// Writes the fan-out and returns the location of the table.
    pub(super) fn finish(mut self, out: &mut impl Write) -> io::Result<TablePlace> {
        self.place.fan = self.place.offset + self.place.entries * ENTRY as u64;
        self.fill(1 << self.place.bits, self.place.entries as u32);
        let bytes: Vec<u8> = self.fan.iter().flat_map(|first| first.to_le_bytes()).collect();
        self.place.fan_crc = crc(&bytes);
        out.write_all(&bytes)?;
        Ok(self.place)
    }

    fn fill(&mut self, slot: usize, number: u32) {
        while self.fan.len() <= slot {
            self.fan.push(number);
        }
    }
}

impl TablePlace {
    /// The offset after the table.
    pub(super) fn end(&self) -> u64 {
        self.fan + fan_bytes(self.bits) as u64
    }
}

fn fan_bytes(bits: u32) -> usize {
    ((1 << bits) + 1) * 4
}

fn slot(key: &Key, bits: u32) -> usize {
    let first = u32::from_be_bytes([key.0[0], key.0[1], key.0[2], key.0[3]]);
    (u64::from(first) >> (32 - bits)) as usize
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_whatever_their_size() {
        let key = |n: u32| Key::of("t", &[&n.to_le_bytes()]);
        let sizes: Vec<(u32, u32)> =
            (0..2_000).map(|n| (n, if n == 77 { 5_000 } else { n % 3 })).collect();
        let mut entries = Vec::new();
        for (n, size) in &sizes {
            for capture in 0..*size {
                entries.push(Entry { key: key(*n), at_millis: 1, capture, status: 200 }.to_bytes());
            }
        }
        entries.sort_unstable();
        let mut bytes = vec![0; 64];
        let mut writer = TableWriter::new(64, entries.len() as u64);
        entries.iter().for_each(|row| writer.push(row, &mut bytes).unwrap());
        let place = writer.finish(&mut bytes).unwrap();
        assert_eq!(place.end(), bytes.len() as u64);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let table = Table::open(&file, place).unwrap();
        for (n, size) in sizes {
            let group = table.group(&file, &key(n)).unwrap();
            assert_eq!(group.len(), size as usize, "{n}");
            assert!(
                group
                    .iter()
                    .enumerate()
                    .all(|(at, entry)| entry.capture == at as u32 && entry.key == key(n))
            );
        }
        assert!(table.group(&file, &Key::of("other", &[])).unwrap().is_empty());
    }

    #[test]
    fn an_empty_table_has_nothing() {
        let mut bytes = Vec::new();
        let place = TableWriter::new(0, 0).finish(&mut bytes).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let table = Table::open(&file, place).unwrap();
        assert!(table.group(&file, &Key([255; 16])).unwrap().is_empty());
    }
}
