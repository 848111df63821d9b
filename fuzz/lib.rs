//! What targets share: a file for the bytes, since archives are opened by path, and a walk over
//! everything in one.

use std::fs;
use std::io::{Read, copy, sink};

use camino::{Utf8Path, Utf8PathBuf};
use snapshots::{Archive, Progress, ops};

/// Most bytes of a block that are read, so that a small input with a large block does not take all
/// the time.
const ENOUGH: u64 = 1 << 20;

/// Writes the input to a file in memory and hands out its path.
pub fn with_file(bytes: &[u8], use_it: impl FnOnce(&Utf8Path)) {
    let folder = if fs::metadata("/dev/shm").is_ok() { "/dev/shm".into() } else { std::env::temp_dir() };
    let name = format!("snapshots-fuzz-{}", std::process::id());
    let Ok(path) = Utf8PathBuf::from_path_buf(folder.join(name)) else { return };
    if fs::write(&path, bytes).is_ok() {
        use_it(&path);
    }
}

/// Reads every record in order and again by position, with its HTTP head, then the pages; and lets
/// the operations that read everything have it.
pub fn walk(path: &Utf8Path) {
    let quiet = &mut |_: Progress| ();
    let _ = ops::verify(path, quiet);
    let _ = ops::inspect(path, quiet);
    let Ok(archive) = Archive::open(path) else { return };
    for (at, mut record) in archive.records().flatten() {
        let _ = (record.kind(), record.date(), record.target_uri().map(|uri| uri.into_owned()));
        let _ = record.response_head();
        let _ = copy(&mut record.block.take(ENOUGH), &mut sink());
        let Ok(mut again) = archive.read_at(at) else { continue };
        let _ = again.request_head();
        let _ = again.read_block(ENOUGH);
    }
    let _ = archive.pages();
    archive.index().for_each(drop);
}
