//! Repeatable randomness: SplitMix64.

#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    /// A stream of its own for each number.
    pub(super) fn new(seed: u64, number: u32) -> Random {
        let mut start = Random(seed ^ u64::from(number).wrapping_mul(0xd6e8_feb8_6659_fd93));
        Random(start.next())
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 up to, not including, `limit`, which is not 0.
    pub(super) fn below(&mut self, limit: u32) -> u32 {
        (self.next() % u64::from(limit.max(1))) as u32
    }

    pub(super) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(length + 8);
        while bytes.len() < length {
            bytes.extend_from_slice(&self.next().to_le_bytes());
        }
        bytes.truncate(length);
        bytes
    }
}
