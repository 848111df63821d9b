//! Collections of WACZ files: no path leads out of the folder.

use snapshots::collection::Collection;

/// Any bytes are an input; a panic is a defect.
pub fn check(bytes: &[u8]) {
    let Ok(collection) = Collection::parse(bytes) else { return };
    for member in collection.resources {
        let inside =
            !member.path.starts_with('/') && member.path.split('/').all(|part| part != "..");
        assert!(inside && !member.path.is_empty(), "{:?}", member.path);
    }
}
