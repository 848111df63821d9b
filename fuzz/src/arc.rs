//! ARC: the input stands behind a file header, so that it is taken for one.

use crate::files::{walk, with_file};

/// Any bytes are an input; a panic is a defect.
pub fn check(bytes: &[u8]) {
    let header =
        b"filedesc://x.arc 0.0.0.0 20080430204825 text/plain 20\n1 0 Alexa Internet\n\n\n\n";
    with_file(&[header, bytes].concat(), walk);
    with_file(bytes, walk);
}
