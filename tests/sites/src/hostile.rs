//! What a site does that would have files of the machine overwritten when its state is put back.

use std::fs::{remove_file, rename};
use std::os::unix::fs::symlink;

/// Plants links that lead to files in a folder outside, over and over, in the middle of whatever is
/// being done.
pub(crate) fn plant_links(state: &str, outside: &str) -> ! {
    let mine = |name: &str| format!("{state}/{name}");
    let theirs = |name: &str| format!("{outside}/{name}");
    loop {
        // What fails was put back, or taken away, by somebody else in the same moment.
        let _ = symlink(theirs("all"), mine("lines/.sandbox-part"));
        let _ = symlink(theirs("all"), mine("lines/all.sandbox-part"));
        let _ = remove_file(mine("lines/all"));

        let _ = rename(mine("lines"), mine("aside"));
        let _ = symlink(outside, mine("lines"));
        let _ = remove_file(mine("lines"));
        let _ = rename(mine("aside"), mine("lines"));

        let _ = rename(mine("db.sqlite3"), mine("aside.sqlite3"));
        let _ = symlink(theirs("db.sqlite3"), mine("db.sqlite3"));
        let _ = remove_file(mine("db.sqlite3"));
        let _ = rename(mine("aside.sqlite3"), mine("db.sqlite3"));

        for ending in ["journal", "wal", "shm"] {
            let _ = symlink(theirs("all"), mine(&format!("db.sqlite3-{ending}")));
            let _ = remove_file(mine(&format!("db.sqlite3-{ending}")));
        }
    }
}
