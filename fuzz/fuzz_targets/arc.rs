//! ARC: the input stands behind a file header, so that it is taken for one.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let header = b"filedesc://x.arc 0.0.0.0 20080430204825 text/plain 20\n1 0 Alexa Internet\n\n\n\n";
    fuzz::with_file(&[header, bytes].concat(), fuzz::walk);
    fuzz::with_file(bytes, fuzz::walk);
});
