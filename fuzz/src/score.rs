//! Inputs of the published scorers: any line is scored, has an error, or is none.

use crate::files::with_file;

/// Any bytes are an input; a panic is a defect.
pub fn check(bytes: &[u8]) {
    with_file(bytes, |path| drop(scoring::vectors::score_vectors(path, |_| {})));
}
