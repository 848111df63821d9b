//! File trees: copied, and put back file by file where they differ.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use camino::{Utf8Path, Utf8PathBuf};

use super::StateError;

/// The name under which a file is written before it takes its place.
const PART: &str = ".sandbox-part";

/// Copies a folder with all that is in it. Everybody may write to the copy: the application in a container has another user id.
pub(super) fn copy(from: &Utf8Path, to: &Utf8Path) -> Result<(), StateError> {
    let metadata = fs::symlink_metadata(from).map_err(StateError::io("read", from))?;
    put(from, &metadata, to)?;
    if metadata.is_dir() {
        for entry in entries(from)?.keys() {
            copy(&from.join(entry), &to.join(entry))?;
        }
    }
    Ok(())
}

/// Makes `live` like `golden` but for what `keep` names.
pub(super) fn restore(
    golden: &Utf8Path,
    live: &Utf8Path,
    keep: &dyn Fn(&Utf8Path) -> bool,
) -> Result<(), StateError> {
    if keep(live) {
        return Ok(());
    }
    let Some(wanted) = existing(golden)? else { return remove(live) };
    let there = existing(live)?;
    let same_kind = there.as_ref().is_some_and(|there| there.file_type() == wanted.file_type());
    if there.is_some() && !same_kind {
        remove(live)?;
    }
    if !wanted.is_dir() {
        if !same_kind || !same_content(golden, live)? {
            put(golden, &wanted, live)?;
        }
        return Ok(());
    }
    if !same_kind {
        put(golden, &wanted, live)?;
    }
    let wanted = entries(golden)?;
    for name in entries(live)?.keys().filter(|name| !wanted.contains_key(*name)) {
        let extra = live.join(name);
        if !keep(&extra) {
            remove(&extra)?;
        }
    }
    for name in wanted.keys() {
        restore(&golden.join(name), &live.join(name), keep)?;
    }
    Ok(())
}

/// What stands in a folder, by name.
pub(super) fn entries(folder: &Utf8Path) -> Result<BTreeMap<String, Metadata>, StateError> {
    let mut found = BTreeMap::new();
    for entry in folder.read_dir_utf8().map_err(StateError::io("list", folder))? {
        let entry = entry.map_err(StateError::io("list", folder))?;
        // What vanishes between being listed and being looked at is not there.
        match fs::symlink_metadata(entry.path()) {
            Ok(metadata) => drop(found.insert(entry.file_name().to_owned(), metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StateError::io("read", entry.path())(error)),
        }
    }
    Ok(found)
}

fn existing(path: &Utf8Path) -> Result<Option<Metadata>, StateError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StateError::io("read", path)(error)),
    }
}

/// Writes one entry: a folder without what is in it, a link, or a file, which takes its place at once and whole.
fn put(from: &Utf8Path, metadata: &Metadata, to: &Utf8Path) -> Result<(), StateError> {
    let writing = || StateError::io("write", to);
    if metadata.is_dir() {
        match fs::create_dir(to) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(writing()(error)),
            _ => {}
        }
        return fs::set_permissions(to, fs::Permissions::from_mode(0o777)).map_err(writing());
    }
    let part = Utf8PathBuf::from(format!("{to}{PART}"));
    if metadata.is_symlink() {
        let target = fs::read_link(from).map_err(StateError::io("read", from))?;
        std::os::unix::fs::symlink(target, &part).map_err(writing())?;
    } else {
        fs::copy(from, &part).map_err(writing())?;
        let executable = metadata.mode() & 0o111;
        fs::set_permissions(&part, fs::Permissions::from_mode(0o666 | executable)).map_err(writing())?;
        let file = File::options().write(true).open(&part).map_err(writing())?;
        let modified = metadata.modified().map_err(StateError::io("read", from))?;
        file.set_modified(modified).map_err(writing())?;
    }
    fs::rename(&part, to).map_err(writing())
}

fn remove(path: &Utf8Path) -> Result<(), StateError> {
    let gone = |result: io::Result<()>| match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StateError::io("remove", path)(error)),
        _ => Ok(()),
    };
    match existing(path)? {
        None => Ok(()),
        Some(metadata) if metadata.is_dir() => gone(fs::remove_dir_all(path)),
        Some(_) => gone(fs::remove_file(path)),
    }
}

fn same_content(golden: &Utf8Path, live: &Utf8Path) -> Result<bool, StateError> {
    let link = |path: &Utf8Path| fs::read_link(path).map_err(StateError::io("read", path));
    let (a, b) = (existing(golden)?, existing(live)?);
    let (Some(a), Some(b)) = (a, b) else { return Ok(false) };
    if a.is_symlink() {
        return Ok(link(golden)? == link(live)?);
    }
    Ok(a.len() == b.len() && equal_files(golden, live).map_err(StateError::io("compare", live))?)
}

fn equal_files(a: &Utf8Path, b: &Utf8Path) -> io::Result<bool> {
    let (mut a, mut b) = (File::open(a)?, File::open(b)?);
    let (mut from_a, mut from_b) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let count = a.read(&mut from_a)?;
        if count == 0 {
            return Ok(b.read(&mut from_b[..1])? == 0);
        }
        if b.read_exact(&mut from_b[..count]).is_err() || from_a[..count] != from_b[..count] {
            return Ok(false);
        }
    }
}
