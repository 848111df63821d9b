//! The two kinds of fixed-size rows of the index file: the location of a capture, and a capture
//! under a key.
//!
//! Each row ends with its CRC-32. A damaged index is detected when a row is read, without reading
//! the whole file at opening.

use crate::RecordRef;
use crate::matching::{Key, Rules};

/// The size of a capture row, in bytes.
pub(super) const CAPTURE: usize = 104;
/// The size of an entry of a keyed table, in bytes.
pub(super) const ENTRY: usize = 32;

/// The kind of record that holds the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureKind {
    /// A response with its own body.
    Response,
    /// A file without an HTTP head (`resource` record).
    Resource,
    /// The frames of a WebSocket connection.
    Socket,
    /// A response whose body is in another record, named by [`Capture::body`].
    Revisit,
    /// A response whose body is in no record of this archive.
    Dangling,
}

/// One recorded response: its location and its request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capture {
    /// What kind of record it is.
    pub kind: CaptureKind,
    /// The record with the status and the headers.
    pub response: RecordRef,
    /// The record with the body; the same as `response` unless this is a revisit.
    pub body: RecordRef,
    /// The request record, if there is one.
    pub request: Option<RecordRef>,
    /// `WARC-Date`, in milliseconds since 1970.
    pub at_millis: i64,
    /// The status; 0 if there is none.
    pub status: u16,
    /// The rules that changed the recorded request when its normalised key was computed.
    pub rules: Rules,
    /// The first bytes of the SHA-256 of the request's body; zero without a body.
    pub request_body: [u8; 8],
    /// The visit that it belongs to, as a number of this archive; 0 where it is not known.
    pub visit: u32,
    /// Whether the recorder asked for it by itself, to see what is there after a write.
    pub asked_again: bool,
    /// The location of method and URL in the text section.
    pub(super) text: Text,
}

/// The greatest number of a visit. A row has two bytes for it.
pub(super) const MOST_VISITS: u32 = (1 << 16) - 1;

/// A location in the text section.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Text {
    pub(super) offset: u64,
    pub(super) length: u32,
    pub(super) crc: u32,
}

const NO_REQUEST: RecordRef = RecordRef { segment: u32::MAX, offset: u64::MAX, length: 0 };

impl Capture {
    pub(super) fn to_bytes(self) -> [u8; CAPTURE] {
        let mut out = Writer { bytes: [0; CAPTURE], at: 0 };
        for record in [self.response, self.body, self.request.unwrap_or(NO_REQUEST)] {
            out.put(&record.segment.to_le_bytes());
            out.put(&record.offset.to_le_bytes());
            out.put(&record.length.to_le_bytes());
        }
        out.put(&self.at_millis.to_le_bytes());
        out.put(&self.text.offset.to_le_bytes());
        out.put(&self.text.length.to_le_bytes());
        out.put(&self.text.crc.to_le_bytes());
        out.put(&self.request_body);
        out.put(&self.status.to_le_bytes());
        out.put(&self.rules.bits().to_le_bytes());
        let [low, high, ..] = self.visit.to_le_bytes();
        out.put(&[self.kind as u8, low, high, u8::from(self.asked_again)]);
        seal(out.bytes)
    }

    /// `None` if the row is damaged.
    pub(super) fn from_bytes(bytes: &[u8; CAPTURE]) -> Option<Capture> {
        let mut row = Reader { bytes: unseal(bytes)?, at: 0 };
        let [response, body, request] = std::array::from_fn(|_| RecordRef {
            segment: u32::from_le_bytes(row.take()),
            offset: u64::from_le_bytes(row.take()),
            length: u64::from_le_bytes(row.take()),
        });
        Some(Capture {
            response,
            body,
            request: (request.segment != u32::MAX).then_some(request),
            at_millis: i64::from_le_bytes(row.take()),
            text: Text {
                offset: u64::from_le_bytes(row.take()),
                length: u32::from_le_bytes(row.take()),
                crc: u32::from_le_bytes(row.take()),
            },
            request_body: row.take(),
            status: u16::from_le_bytes(row.take()),
            rules: Rules::from_bits(u16::from_le_bytes(row.take())),
            kind: match row.take::<1>() {
                [0] => CaptureKind::Response,
                [1] => CaptureKind::Resource,
                [2] => CaptureKind::Socket,
                [3] => CaptureKind::Revisit,
                [4] => CaptureKind::Dangling,
                _ => return None,
            },
            visit: u32::from(u16::from_le_bytes(row.take())),
            asked_again: row.take::<1>() == [1],
        })
    }
}

/// One capture under a key. Rows sort by key, then by time, then by position in the archive:
/// recorded order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: Key,
    /// Milliseconds since 1970, 48 bits.
    pub(super) at_millis: u64,
    /// Number of the capture.
    pub(super) capture: u32,
    /// The status; 0 if it must be read from the capture.
    pub(super) status: u16,
}

impl Entry {
    pub(super) fn to_bytes(self) -> [u8; ENTRY] {
        let mut out = Writer { bytes: [0; ENTRY], at: 0 };
        out.put(&self.key.0);
        out.put(&self.at_millis.min((1 << 48) - 1).to_be_bytes()[2..]);
        out.put(&self.capture.to_be_bytes());
        out.put(&self.status.to_be_bytes());
        seal(out.bytes)
    }

    /// `None` if the row is damaged.
    pub(super) fn from_bytes(bytes: &[u8; ENTRY]) -> Option<Entry> {
        let mut row = Reader { bytes: unseal(bytes)?, at: 0 };
        let key = Key(row.take());
        let at: [u8; 6] = row.take();
        let at_millis = at.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let capture = u32::from_be_bytes(row.take());
        Some(Entry { key, at_millis, capture, status: u16::from_be_bytes(row.take()) })
    }
}

/// The CRC-32 at the end of rows and texts.
pub(super) fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn seal<const N: usize>(mut bytes: [u8; N]) -> [u8; N] {
    let sum = crc(&bytes[..N - 4]).to_le_bytes();
    bytes[N - 4..].copy_from_slice(&sum);
    bytes
}

fn unseal<const N: usize>(bytes: &[u8; N]) -> Option<&[u8]> {
    (crc(&bytes[..N - 4]).to_le_bytes() == bytes[N - 4..]).then_some(&bytes[..N - 4])
}

struct Writer<const N: usize> {
    bytes: [u8; N],
    at: usize,
}

impl<const N: usize> Writer<N> {
    fn put(&mut self, field: &[u8]) {
        self.bytes[self.at..self.at + field.len()].copy_from_slice(field);
        self.at += field.len();
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut field = [0; N];
        field.copy_from_slice(&self.bytes[self.at..self.at + N]);
        self.at += N;
        field
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_and_damage_is_found() {
        let at = |n: u64| RecordRef { segment: n as u32, offset: n << 33, length: n };
        let capture = Capture {
            kind: CaptureKind::Revisit,
            response: at(1),
            body: at(2),
            request: Some(at(3)),
            at_millis: -5,
            status: 206,
            rules: Rules::from_bits(5),
            request_body: [9; 8],
            visit: 0x02_03,
            asked_again: true,
            text: Text { offset: 1 << 40, length: 77, crc: 1 },
        };
        let bytes = capture.to_bytes();
        assert_eq!(Capture::from_bytes(&bytes), Some(capture));
        let entry =
            Entry { key: Key([7; 16]), at_millis: 1_767_225_600_123, capture: 9, status: 200 };
        let row = entry.to_bytes();
        assert_eq!(Entry::from_bytes(&row), Some(entry));
        for bit in 0..CAPTURE * 8 {
            let mut bad = bytes;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Capture::from_bytes(&bad), None);
        }
        for bit in 0..ENTRY * 8 {
            let mut bad = row;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Entry::from_bytes(&bad), None);
        }
    }
}
