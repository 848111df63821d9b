//! Inputs of the published scorers: any line is scored, has an error, or is none.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    fuzz::with_file(bytes, |path| drop(scoring::vectors::score_vectors(path, |_| {})));
});
