//! WACZ: the container as it is, and what can be salvaged of it.

use snapshots::{Progress, ops};

use crate::files::{walk, with_file};

/// Any bytes are an input; a panic is a defect.
pub fn check(bytes: &[u8]) {
    with_file(bytes, |path| {
        walk(path);
        let out = camino::Utf8PathBuf::from(format!("{path}.repaired.wacz"));
        let _ = ops::repair(path, &out, &mut |_: Progress| ());
    });
}
