//! The index of recorded pages, whose checksums do not count here.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| search::fuzz_segment(bytes));
