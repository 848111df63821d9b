//! Opens files that somebody else may have made: suites, snapshots, runs and packs.
//!
//! - [`open`] and [`read`] are for a file that the user has named. Links lead where they lead.
//! - [`unlinked`] is for a file at the end of a path that others may have made.
//! - [`below`] is for files of a folder that others may have filled: whatever is in it, nothing
//!   outside of it is opened.
//! - [`room`] looks whether a disk has space for what is about to be written.
//!
//! All of them open regular files only. A pipe, a device or a socket is an error at once: opening
//! it could wait for ever, and reading it may never end.

pub mod below;
pub mod room;

use std::fs::File;
use std::io::{Error, Read as _, Seek as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::OFlags;

/// Opens a regular file for reading. Links are followed.
///
/// # Errors
/// When it is missing or not regular.
pub fn open(path: &Utf8Path) -> Result<File, Error> {
    // Without NONBLOCK, opening a pipe would wait for a writer. Without NOCTTY, a terminal could
    // become ours.
    open_with(path, OFlags::NONBLOCK | OFlags::NOCTTY)
}

/// Opens a regular file for reading. It must not be a link, though the folders above it may be.
///
/// # Errors
/// When it is missing, a link, or not regular.
pub fn unlinked(path: &Utf8Path) -> Result<File, Error> {
    open_with(path, OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW)
}

/// Reads a regular file of at most `limit` bytes. Links are followed.
///
/// # Errors
/// As [`open`], and when it is larger.
pub fn read(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, Error> {
    read_within(&open(path)?, limit)
}

/// Reads a regular file of at most `limit` bytes as UTF-8. Links are followed.
///
/// # Errors
/// As [`read`], and when it is no UTF-8.
pub fn read_text(path: &Utf8Path, limit: u64) -> Result<String, Error> {
    read_text_within(&open(path)?, limit)
}

/// Reads the rest of an opened file of at most `limit` bytes as UTF-8.
///
/// # Errors
/// As [`read_within`], and when it is no UTF-8.
pub fn read_text_within(file: &File, limit: u64) -> Result<String, Error> {
    String::from_utf8(read_within(file, limit)?).map_err(|_| Error::other("it is no text in UTF-8"))
}

/// Reads the rest of an opened file of at most `limit` bytes.
///
/// # Errors
/// When it is larger or cannot be read.
pub fn read_within(file: &File, limit: u64) -> Result<Vec<u8>, Error> {
    let too_large = || Error::other(format!("it is larger than {limit} bytes"));
    let begun = (&*file).stream_position().unwrap_or(0);
    if file.metadata()?.len().saturating_sub(begun) > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// Where an opened file lies now, by what the system knows of it: a path from the root without
/// links. So a check of it is a check of what is read, whatever has become of the path that it was
/// opened by.
///
/// # Errors
/// When it was removed, or the system does not tell.
pub fn real_path(file: &File) -> Result<Utf8PathBuf, Error> {
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let path = Utf8PathBuf::from_path_buf(std::fs::read_link(link)?)
        .map_err(|_| Error::other("its path is not UTF-8"))?;
    let there = std::fs::symlink_metadata(&path)?;
    let own = file.metadata()?;
    if (there.dev(), there.ino()) != (own.dev(), own.ino()) {
        return Err(Error::other("it was moved or removed while it was opened"));
    }
    Ok(path)
}

fn open_with(path: &Utf8Path, flags: OFlags) -> Result<File, Error> {
    regular(File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?)
}

/// The file, if it is a regular one.
fn regular(file: File) -> Result<File, Error> {
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    Err(Error::other(if kind.is_dir() {
        "it is a folder, no regular file"
    } else {
        "it is no regular file"
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    /// Each kind of thing that is no regular file, and a link to one.
    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let pipe = path.join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            pipe.as_std_path(),
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        let socket = path.join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        symlink(&pipe, path.join("link")).unwrap();
        std::fs::create_dir(path.join("folder")).unwrap();
        for name in ["pipe", "socket", "link", "folder"] {
            let path = path.join(name);
            assert!(open(&path).is_err(), "{name}");
            assert!(unlinked(&path).is_err(), "{name}");
            assert!(below::file(path.parent().unwrap(), name).is_err(), "{name}");
        }
        for device in ["/dev/zero", "/dev/tty", "/dev/random"] {
            assert!(read(device.into(), 1 << 20).is_err(), "{device}");
        }
    }

    #[test]
    fn an_opened_file_says_where_it_lies() {
        let kept = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(kept.path().canonicalize().unwrap()).unwrap();
        std::fs::create_dir(folder.join("elsewhere")).unwrap();
        let target = folder.join("elsewhere/file");
        std::fs::write(&target, "theirs").unwrap();
        symlink("elsewhere", folder.join("link")).unwrap();
        let file = open(&folder.join("link/file")).unwrap();
        assert_eq!(real_path(&file).unwrap(), target);
        // The link leads to another place now; the file lies where it lay.
        std::fs::remove_file(folder.join("link")).unwrap();
        assert_eq!(real_path(&file).unwrap(), target);
        std::fs::remove_file(&target).unwrap();
        assert!(real_path(&file).is_err());
        std::fs::write(&target, "another").unwrap();
        assert!(real_path(&file).is_err());
    }

    #[test]
    fn a_limit_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().join("four")).unwrap();
        std::fs::write(&path, "four").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"four");
        assert_eq!(read_text(&path, u64::MAX).unwrap(), "four");
        assert!(read(&path, 3).unwrap_err().to_string().contains("larger than 3 bytes"));
        std::fs::write(&path, [0xff]).unwrap();
        assert!(read_text(&path, 4).is_err());
    }
}
