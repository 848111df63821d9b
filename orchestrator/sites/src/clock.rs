//! The wall clock of one instance.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use parking_lot::Mutex;

use crate::Error;

/// The name of the clock file, below the clock folder of an instance. Applications outside our
/// process read their time from it.
pub(crate) const FILE: &str = "now";

/// The source of an instance's time.
#[derive(Debug)]
pub(crate) enum Clock {
    /// The system clock: the manifest sets no clock.
    Real,
    /// A file in this folder, which the application reads repeatedly.
    File(Utf8PathBuf),
    /// A value in our own process.
    Shared(Arc<Mutex<Timestamp>>),
}

impl Clock {
    pub(crate) fn set(&self, now: Timestamp) -> Result<(), Error> {
        match self {
            Clock::Real => {}
            Clock::Shared(shared) => *shared.lock() = now,
            Clock::File(folder) => {
                // The file is replaced atomically, because the application may read it at any
                // moment. The folder is mounted instead of the file, because a mounted file cannot
                // be replaced.
                let (part, file) = (folder.join("now.part"), folder.join(FILE));
                let text = now.strftime("%Y-%m-%d %H:%M:%S\n").to_string();
                // Users of containers read it.
                let readable = std::fs::Permissions::from_mode(0o644);
                std::fs::write(&part, text)
                    .and_then(|()| std::fs::set_permissions(&part, readable))
                    .and_then(|()| std::fs::rename(&part, &file))
                    .map_err(Error::of_file("write", &file))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_file_holds_one_line_in_utc() {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(keep.path().to_owned()).unwrap();
        let clock = Clock::File(folder.clone());
        clock.set("2023-06-15T11:00:00+02:00".parse().unwrap()).unwrap();
        assert_eq!(std::fs::read_to_string(folder.join("now")).unwrap(), "2023-06-15 09:00:00\n");
        assert_eq!(folder.read_dir_utf8().unwrap().count(), 1);
    }
}
