//! Room on a disk, looked at before something large is written.
//!
//! A file that somebody else has made says how much it unpacks to. What it says must not fill the
//! disk of the machine: a reserve stays free.

use camino::{Utf8Path, Utf8PathBuf};

/// What stays free on a disk: this much, or a twentieth of a smaller disk.
const RESERVE: u64 = 512 << 20;

/// A disk has no room.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "find room: {needed} bytes are needed, and {folder} has {free} beside a reserve of {reserve}; make room, or name \
     another folder with TMPDIR"
)]
pub struct NoRoom {
    /// The folder.
    pub folder: Utf8PathBuf,
    /// Needed bytes.
    pub needed: u64,
    /// Free bytes less the reserve.
    pub free: u64,
    /// Bytes that stay free.
    pub reserve: u64,
}

/// How many bytes a user may write to the disk of a folder, and how many stay free; `None` if the
/// system does not tell.
pub fn free(folder: &Utf8Path) -> Option<(u64, u64)> {
    let disk = rustix::fs::statvfs(folder.as_std_path()).ok()?;
    let size = disk.f_blocks.saturating_mul(disk.f_frsize);
    let reserve = RESERVE.min(size / 20);
    Some((disk.f_bavail.saturating_mul(disk.f_frsize).saturating_sub(reserve), reserve))
}

/// Checks that a disk has room for so many bytes, and a reserve beside them.
///
/// # Errors
/// When it has not. A system that does not tell is asked by writing.
pub fn check(folder: &Utf8Path, needed: u64) -> Result<(), NoRoom> {
    match free(folder) {
        Some((free, reserve)) if needed > free => {
            Err(NoRoom { folder: folder.to_owned(), needed, free, reserve })
        }
        _ => Ok(()),
    }
}

/// The folder of temporary files.
pub fn temporary() -> Utf8PathBuf {
    Utf8PathBuf::from_path_buf(std::env::temp_dir()).unwrap_or_else(|_| "/tmp".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserve_stays_free() {
        let folder = temporary();
        let (free, reserve) = free(&folder).expect("the system tells");
        assert!(reserve > 0 && reserve <= RESERVE);
        assert_eq!(check(&folder, 0), Ok(()));
        // Another process may write at the same time: half is there for sure, all of a disk never.
        assert_eq!(check(&folder, free / 2), Ok(()));
        assert!(check(&folder, u64::MAX).is_err());
    }
}
