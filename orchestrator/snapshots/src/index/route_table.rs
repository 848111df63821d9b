//! A table that maps a key to the archives of a set that may have it.
//!
//! A row is four bytes: a tag, which is two bytes of the key, and the number of an archive. Rows
//! are grouped into slots by the first bits of the key. Only the fan-out of the slots is in memory,
//! as in [`super::table`]. An archive that does not have the key is named for about one key in two
//! thousand. Asking it costs time, and changes no answer.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use super::table::{KeyScan, ReadError};
use crate::matching::Key;

/// The size of a row, in bytes.
const ROW: usize = 4;
/// The average number of rows per slot.
const PER_SLOT: u64 = 32;
/// How many rows are read at once.
const AT_ONCE: u64 = 64;
/// The maximum number of bits that select the slot.
const MAX_BITS: u32 = 27;
/// Keys are collected and sorted in ranges, so that few are in memory. This many bits select the
/// range, but not more than select the slot: a slot is sorted as a whole.
const RANGE_BITS: u32 = 8;

/// The location of a table in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RoutePlace {
    /// Offset of the first row.
    pub(super) offset: u64,
    /// Number of rows.
    pub(super) rows: u64,
    /// How many bits of the key select the slot.
    pub(super) bits: u32,
    /// CRC-32 of the rows and of the fan-out, which follows them.
    pub(super) crc: u32,
}

impl RoutePlace {
    /// The offset after the table; `None` if it is too large for any file.
    pub(super) fn end(&self) -> Option<u64> {
        let rows = self.rows.checked_mul(ROW as u64)?;
        self.offset.checked_add(rows)?.checked_add(fan_bytes(self.bits))
    }
}

#[derive(Debug)]
pub(super) struct RouteTable {
    place: RoutePlace,
    /// `fan[slot]` is the first row of the slot, with one extra element at the end.
    fan: Vec<u32>,
}

impl RouteTable {
    /// Checks all bytes of the table, and reads the fan-out.
    pub(super) fn open(file: &File, place: RoutePlace) -> Result<RouteTable, ReadError> {
        // Before these numbers decide how much memory is taken.
        if place.bits > MAX_BITS || place.rows > u64::from(u32::MAX) {
            return Err(ReadError::Damaged);
        }
        let mut crc = flate2::Crc::new();
        let mut buffer = vec![0; 1 << 18];
        let (mut at, rows_end) = (place.offset, place.offset + place.rows * ROW as u64);
        while at < rows_end {
            let part = &mut buffer[..(rows_end - at).min(1 << 18) as usize];
            file.read_exact_at(part, at)?;
            crc.update(part);
            at += part.len() as u64;
        }
        let mut bytes = vec![0; fan_bytes(place.bits) as usize];
        file.read_exact_at(&mut bytes, rows_end)?;
        crc.update(&bytes);
        let fan: Vec<u32> =
            bytes.as_chunks::<4>().0.iter().map(|four| u32::from_le_bytes(*four)).collect();
        let whole =
            // A fan-out that is out of order would lead look-ups out of the table.
            fan.is_sorted() && fan.last().is_some_and(|last| u64::from(*last) == place.rows);
        if crc.sum() != place.crc || !whole {
            return Err(ReadError::Damaged);
        }
        Ok(RouteTable { place, fan })
    }

    /// The numbers of the archives that may have `key`, in order.
    pub(super) fn archives(&self, file: &File, key: &Key) -> Result<Vec<u16>, ReadError> {
        let slot = slot(key, self.place.bits);
        let (mut low, end) = (u64::from(self.fan[slot]), u64::from(self.fan[slot + 1]));
        let tag = tag(key);
        let mut found = Vec::new();
        let mut buffer = [0; AT_ONCE as usize * ROW];
        while low < end {
            let bytes = &mut buffer[..(end - low).min(AT_ONCE) as usize * ROW];
            file.read_exact_at(bytes, self.place.offset + low * ROW as u64)?;
            for [a, b, c, d] in bytes.as_chunks::<ROW>().0 {
                match u16::from_be_bytes([*a, *b]).cmp(&tag) {
                    std::cmp::Ordering::Less => {}
                    std::cmp::Ordering::Equal => found.push(u16::from_be_bytes([*c, *d])),
                    std::cmp::Ordering::Greater => return Ok(found),
                }
            }
            low += AT_ONCE;
        }
        Ok(found)
    }
}

/// Why a table could not be written.
#[derive(Debug)]
pub(super) enum WriteError {
    /// The keys of the archive with this number cannot be read.
    Keys(usize, ReadError),
    /// The table cannot be written.
    Io(io::Error),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        WriteError::Io(error)
    }
}

/// Writes the table for the keys of some archives, each in order, at `offset`.
pub(super) fn write(
    mut keys: Vec<KeyScan<'_>>,
    offset: u64,
    out: &mut impl Write,
) -> Result<RoutePlace, WriteError> {
    let expected: u64 = keys.iter().map(KeyScan::left).sum();
    let bits = (expected / PER_SLOT).max(1).next_power_of_two().trailing_zeros().min(MAX_BITS);
    let mut place = RoutePlace { offset, bits, ..RoutePlace::default() };
    let mut fan: Vec<u32> = Vec::with_capacity((1 << bits) + 1);
    let mut crc = flate2::Crc::new();
    let mut range: Vec<u64> = Vec::new();
    let mut bytes = Vec::new();
    let range_bits = bits.min(RANGE_BITS);
    for number in 0..1 << range_bits {
        range.clear();
        for (archive, keys) in keys.iter_mut().enumerate() {
            loop {
                let next = keys.peek().map_err(|error| WriteError::Keys(archive, error))?;
                let Some(key) = next.filter(|key| slot(key, range_bits) <= number) else { break };
                let low = u64::from(tag(&key)) << 16 | archive as u64;
                range.push((slot(&key, bits) as u64) << 32 | low);
                keys.pass();
            }
        }
        range.sort_unstable();
        // One request that an archive has many times.
        range.dedup();
        bytes.clear();
        for row in &range {
            let first = u32::try_from(place.rows)
                .map_err(|_| io::Error::other("too many keys for one set"))?;
            fill(&mut fan, (row >> 32) as usize, first);
            place.rows += 1;
            bytes.extend_from_slice(&(*row as u32).to_be_bytes());
        }
        crc.update(&bytes);
        out.write_all(&bytes)?;
    }
    fill(&mut fan, 1 << bits, place.rows as u32);
    let bytes: Vec<u8> = fan.iter().flat_map(|first| first.to_le_bytes()).collect();
    crc.update(&bytes);
    out.write_all(&bytes)?;
    place.crc = crc.sum();
    Ok(place)
}

fn fill(fan: &mut Vec<u32>, slot: usize, first: u32) {
    while fan.len() <= slot {
        fan.push(first);
    }
}

fn fan_bytes(bits: u32) -> u64 {
    ((1_u64 << bits.min(MAX_BITS)) + 1) * 4
}

fn slot(key: &Key, bits: u32) -> usize {
    let first = u32::from_be_bytes([key.0[0], key.0[1], key.0[2], key.0[3]]);
    (u64::from(first) >> (32 - bits)) as usize
}

/// The bytes after those that select the slot.
fn tag(key: &Key) -> u16 {
    u16::from_be_bytes([key.0[4], key.0[5]])
}
