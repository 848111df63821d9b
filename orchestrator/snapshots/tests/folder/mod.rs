//! The folder of real captures, which `make conformance` names.

use camino::{Utf8Path, Utf8PathBuf};

/// The files below it whose names end in one of `endings`, in order.
pub(crate) fn captures(endings: &[&str]) -> (Utf8PathBuf, Vec<Utf8PathBuf>) {
    let folder = std::env::var("SANDBOX_CAPTURES").map(Utf8PathBuf::from).unwrap_or_else(|_| {
        panic!("SANDBOX_CAPTURES does not name the captures folder; call this through `make conformance`")
    });
    let mut found = Vec::new();
    find(&folder, endings, &mut found);
    found.sort();
    (folder, found)
}

fn find(folder: &Utf8Path, endings: &[&str], found: &mut Vec<Utf8PathBuf>) {
    for entry in folder.read_dir_utf8().unwrap() {
        let path = entry.unwrap().into_path();
        if path.is_dir() {
            find(&path, endings, found);
        } else if endings.iter().any(|end| path.as_str().ends_with(end)) {
            found.push(path);
        }
    }
}
