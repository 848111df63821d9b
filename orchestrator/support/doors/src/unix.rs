//! Unix sockets at paths of any length.
//!
//! The kernel takes at most 107 bytes of path. A longer one is reached through a handle on its
//! folder. A listening socket has mode 0600: with its folder, that is what keeps others away.

use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{Mode, OFlags};
use tokio::net::UnixStream;

/// The longest path that is given to the kernel as it is.
const LONGEST: usize = 100;

/// Listens at a path, for this user alone. The path must not exist.
///
/// # Errors
/// When it exists, or its folder cannot be written.
pub fn bind(path: &Path) -> io::Result<UnixListener> {
    let (short, _folder) = shorten(path)?;
    let listener = UnixListener::bind(short)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Connects to the socket at a path.
///
/// # Errors
/// When nobody listens there.
pub async fn connect(path: &Path) -> io::Result<UnixStream> {
    let (short, _folder) = shorten(path)?;
    UnixStream::connect(short).await
}

/// A path that the kernel takes, and what must stay open as long as it is used.
fn shorten(path: &Path) -> io::Result<(PathBuf, Option<rustix::fd::OwnedFd>)> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    if path.as_os_str().len() <= LONGEST {
        return Ok((path.to_owned(), None));
    }
    let folder = rustix::fs::open(folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let short = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
    Ok((short, Some(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sockets_have_paths_of_any_length_and_one_owner() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("d".repeat(80)).join("e".repeat(80));
        fs::create_dir_all(&deep).unwrap();
        for folder in [folder.path(), &deep] {
            let path = folder.join("80.sock");
            let listener = bind(&path).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            let connected = connect(&path).await.unwrap();
            drop(listener.accept().unwrap());
            drop(connected);
            assert!(bind(&path).is_err(), "a socket is never taken over");
        }
        assert!(connect(&deep.join("none")).await.is_err());
        assert!(bind(Path::new("/")).is_err());
    }
}
