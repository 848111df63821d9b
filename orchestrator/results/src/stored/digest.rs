//! SHA-256 digests over lines.

use sha2::{Digest as _, Sha256};

/// A digest in progress.
#[derive(Default)]
pub(crate) struct Lines(Sha256);

impl Lines {
    /// Adds a line. The text must not contain line feeds; JSON does not.
    pub(crate) fn add(&mut self, line: &[u8]) {
        self.0.update(line);
        self.0.update(b"\n");
    }

    /// The digest in lower-case hexadecimal.
    pub(crate) fn finish(self) -> String {
        hex::encode(self.0.finalize())
    }
}
