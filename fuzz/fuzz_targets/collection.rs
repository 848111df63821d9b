//! Collections of WACZ files: no path leads out of the folder.
#![no_main]

use snapshots::collection::Collection;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(collection) = Collection::parse(bytes) else { return };
    for member in collection.resources {
        let inside = !member.path.starts_with('/') && member.path.split('/').all(|part| part != "..");
        assert!(inside && !member.path.is_empty(), "{:?}", member.path);
    }
});
