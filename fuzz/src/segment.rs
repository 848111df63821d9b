//! The index of recorded pages, whose checksums do not count here.

/// Any bytes are an input; a panic is a defect.
pub fn check(bytes: &[u8]) {
    search::fuzz_segment(bytes);
}
