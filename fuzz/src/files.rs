//! What targets share: a file for the bytes, since archives are opened by path, and a walk over
//! everything in one.

use std::fs;
use std::io::{Read, copy, sink};

use camino::Utf8Path;
use snapshots::{Archive, Progress, ops};

/// Most bytes of a block that are read, so that a small input with a large block does not take all
/// the time.
const ENOUGH: u64 = 1 << 20;

/// Writes the input to a file, in memory where there is such a place, and hands out its path. The
/// file's folder goes afterwards, with what else is in it.
pub(crate) fn with_file(bytes: &[u8], use_it: impl FnOnce(&Utf8Path)) {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    let folder = in_memory.or_else(|_| tempfile::tempdir()).expect("a folder for temporary files");
    let path = folder.path().join("input");
    let path = Utf8Path::from_path(&path).expect("names of temporary folders are UTF-8");
    fs::write(path, bytes).expect("space for an input");
    use_it(path);
}

/// Reads every record in order and again by position, with its HTTP head, then the pages; and lets
/// the operations that read everything have it.
pub(crate) fn walk(path: &Utf8Path) {
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
