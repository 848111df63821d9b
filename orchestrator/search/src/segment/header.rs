//! The beginning of a segment's file: its format, its archive's state, and where its parts lie.

use sha2::{Digest, Sha256};

/// The size of the header in bytes.
pub(super) const HEADER: usize = 256;
const MAGIC: &[u8; 8] = b"SBXPAGES";
/// Change it with the format, with the words, and with the choice of pages.
const VERSION: u64 = 3;

/// The contents of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// A digest of the archive's state.
    pub(super) state: [u8; 32],
    /// The number of pages.
    pub(super) pages: u64,
    /// The number of different words.
    pub(super) words: u64,
    /// The number of words of all pages together.
    pub(super) length: u64,
    /// Where the postings begin.
    pub(super) postings_at: u64,
    /// Where the table of words begins; the postings end there.
    pub(super) words_at: u64,
    pub(super) places_at: u64,
    pub(super) resident_at: u64,
    pub(super) resident_crc: u64,
    /// The size of the file.
    pub(super) end: u64,
}

/// The digest of a state in words.
pub(super) fn digest_of(state: &str) -> [u8; 32] {
    Sha256::digest(state.as_bytes()).into()
}

impl Header {
    pub(super) fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..40].copy_from_slice(&self.state);
        let numbers = [
            VERSION,
            self.pages,
            self.words,
            self.length,
            self.postings_at,
            self.words_at,
            self.places_at,
            self.resident_at,
            self.resident_crc,
            self.end,
        ];
        for (slot, number) in bytes[40..HEADER - 32].as_chunks_mut::<8>().0.iter_mut().zip(numbers)
        {
            *slot = number.to_le_bytes();
        }
        let seal = Sha256::digest(&bytes[..HEADER - 32]);
        bytes[HEADER - 32..].copy_from_slice(&seal);
        bytes
    }

    /// `None` unless this is a header of this version for a file of `length` bytes.
    pub(super) fn from_bytes(bytes: &[u8; HEADER], length: u64) -> Option<Header> {
        let seal: [u8; 32] = Sha256::digest(&bytes[..HEADER - 32]).into();
        if bytes[HEADER - 32..] == seal { Header::unsealed(bytes, length) } else { None }
    }

    /// The same, whatever the checksum says.
    pub(super) fn unsealed(bytes: &[u8; HEADER], length: u64) -> Option<Header> {
        if bytes[..8] != MAGIC[..] {
            return None;
        }
        let mut state = [0; 32];
        state.copy_from_slice(&bytes[8..40]);
        let mut numbers = bytes[40..HEADER - 32]
            .as_chunks::<8>()
            .0
            .iter()
            .map(|eight| u64::from_le_bytes(*eight));
        let mut next = || numbers.next();
        if next()? != VERSION {
            return None;
        }
        let header = Header {
            state,
            pages: next()?,
            words: next()?,
            length: next()?,
            postings_at: next()?,
            words_at: next()?,
            places_at: next()?,
            resident_at: next()?,
            resident_crc: next()?,
            end: next()?,
        };
        let ordered = [
            HEADER as u64,
            header.postings_at,
            header.words_at,
            header.places_at,
            header.resident_at,
        ]
        .is_sorted()
            && header.resident_at <= header.end;
        (ordered && header.end == length && u32::try_from(header.pages).is_ok()).then_some(header)
    }
}
