//! Opens files and folders below a run's folder by name, without following links.

use std::fs::File;
use std::io::Error;

use camino::Utf8Path;
use rustix::fs::{Mode, OFlags, open, openat};

/// Opens a regular file by the names of its folders and its own name.
///
/// # Errors
/// When one of them is missing or a link, or the file is not regular.
pub(super) fn file(run: &Utf8Path, names: &[&str]) -> Result<File, Error> {
    let Some((name, folders)) = names.split_last() else {
        return Err(Error::other("no file is named"));
    };
    // Without NONBLOCK, opening a FIFO would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(folder(run, folders)?, *name, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(Error::other("it is no regular file")) }
}

/// Opens a folder by the names that lead to it.
///
/// # Errors
/// When one of them is missing, a link, or not a folder. The run's own folder may be a link,
/// because the user named it.
pub(super) fn folder(run: &Utf8Path, names: &[&str]) -> Result<File, Error> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut handle = open(run.as_std_path(), flags, Mode::empty())?;
    for name in names {
        handle = openat(&handle, *name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(File::from(handle))
}
