//! The folder for everything that a user's commands keep for a while: browsers, copies of packed
//! runs, what programs are given.
//!
//! There is one for each user, so that a program that must not see any of it can have all of it
//! covered, what comes later included. Nobody else can look into it. It goes with the last of what
//! is in it. A program for which it is covered has something of ours in it as long as it runs: a
//! browser or its certificate.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use tempfile::TempDir;

/// How often a folder is made again that another process has just removed.
const ATTEMPTS: usize = 100;
/// What the names of such folders begin with; the number of the user follows.
const NAME: &str = "sandbox-";
/// For its owner alone.
const MODE: u32 = 0o700;

/// The folder, which is made if it is not there.
///
/// # Errors
/// When it cannot be made.
pub fn folder() -> io::Result<PathBuf> {
    folder_in(&std::path::absolute(std::env::temp_dir())?)
}

/// A folder that is removed with all that is in it.
#[derive(Debug)]
pub struct Temporary(Option<TempDir>);

impl Temporary {
    /// Its path, from the root.
    pub fn path(&self) -> &Path {
        self.0.as_ref().map_or(Path::new(""), TempDir::path)
    }

    /// Leaves it there.
    pub fn keep(mut self) -> PathBuf {
        self.0.take().map(TempDir::keep).unwrap_or_default()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let above = self.path().parent().map(Path::to_owned);
        drop(self.0.take());
        above.iter().for_each(|above| remove_if_empty(above));
    }
}

/// A new folder in it. Its name begins with `prefix`.
///
/// # Errors
/// When it cannot be made.
pub fn new(prefix: &str) -> io::Result<Temporary> {
    new_in(&std::path::absolute(std::env::temp_dir())?, prefix)
}

fn new_in(temporary: &Path, prefix: &str) -> io::Result<Temporary> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).permissions(Permissions::from_mode(MODE));
    let made = again(|| builder.tempdir_in(folder_in(temporary)?))?;
    Ok(Temporary(Some(made)))
}

/// Does it again for as long as a folder is gone that was there: another process has removed it.
fn again<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut done = attempt();
    for _ in 0..ATTEMPTS {
        if !done.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            break;
        }
        done = attempt();
    }
    done
}

/// Removes such a folder where nothing is in it.
pub fn remove_if_empty(folder: &Path) {
    // That something is in it is no failure.
    let _ = fs::remove_dir(folder);
}

/// All such folders of this user that there are, for a program that must see none of them.
pub fn all() -> Vec<PathBuf> {
    let usual = format!("{NAME}{}", user());
    let others = format!("{usual}-");
    let entries = fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    let named = entries.filter(|entry| {
        let name = entry.file_name();
        name == *usual || name.to_string_lossy().starts_with(&others)
    });
    let paths = named.filter_map(|entry| std::path::absolute(entry.path()).ok());
    paths.filter(|path| is_own(path)).collect()
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn folder_in(temporary: &Path) -> io::Result<PathBuf> {
    let usual = temporary.join(format!("{NAME}{}", user()));
    let is_usable = again(|| {
        match DirBuilder::new().mode(MODE).create(&usual) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| true),
        }
        let found = usual.symlink_metadata()?;
        let is_own = found.is_dir() && found.uid() == user();
        if is_own && found.mode() & 0o777 != MODE {
            fs::set_permissions(&usual, Permissions::from_mode(MODE))?;
        }
        Ok(is_own)
    })?;
    if is_usable { Ok(usual) } else { other_in(temporary) }
}

/// Where somebody else has taken the name: another one for this process.
fn other_in(temporary: &Path) -> io::Result<PathBuf> {
    static OTHER: Mutex<Option<PathBuf>> = Mutex::new(None);
    let mut other = OTHER.lock();
    if let Some(other) =
        other.as_ref().filter(|other| other.starts_with(temporary) && is_own(other))
    {
        return Ok(other.clone());
    }
    let mut builder = tempfile::Builder::new();
    let prefix = format!("{NAME}{}-", user());
    let made =
        builder.prefix(&prefix).permissions(Permissions::from_mode(MODE)).tempdir_in(temporary)?;
    let path = made.keep();
    *other = Some(path.clone());
    Ok(path)
}

/// Whether it is a folder of this user, and no link.
fn is_own(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir() && found.uid() == user())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_for_its_owner_alone() -> io::Result<()> {
        let temporary = tempfile::tempdir()?;
        let folder = folder_in(temporary.path())?;
        assert_eq!(folder.metadata()?.mode() & 0o777, MODE);
        // Its mode is mended.
        fs::set_permissions(&folder, Permissions::from_mode(0o777))?;
        assert_eq!(folder_in(temporary.path())?, folder);
        assert_eq!(folder.metadata()?.mode() & 0o777, MODE);
        Ok(())
    }

    #[test]
    fn it_goes_with_the_last_of_what_is_in_it() -> io::Result<()> {
        let temporary = tempfile::tempdir()?;
        let (one, other) = (new_in(temporary.path(), "a-")?, new_in(temporary.path(), "b-")?);
        fs::write(one.path().join("file"), "")?;
        let above = one.path().parent().map(Path::to_owned).unwrap_or_default();
        assert_eq!(above.parent(), Some(temporary.path()));
        drop(one);
        assert!(other.path().is_dir());
        drop(other);
        assert!(!above.exists() && temporary.path().read_dir()?.next().is_none());
        Ok(())
    }

    /// Another user could have made a folder, or a link to one, of this name.
    #[test]
    fn what_is_not_ours_is_not_used() -> io::Result<()> {
        let (temporary, elsewhere) = (tempfile::tempdir()?, tempfile::tempdir()?);
        let taken = temporary.path().join(format!("{NAME}{}", user()));
        std::os::unix::fs::symlink(elsewhere.path(), &taken)?;
        let folder = folder_in(temporary.path())?;
        assert!(
            folder != taken && folder.parent() == Some(temporary.path()),
            "{}",
            folder.display()
        );
        assert_eq!(folder.metadata()?.mode() & 0o777, MODE);
        assert_eq!(folder_in(temporary.path())?, folder);
        // It may have been removed, because nothing was in it.
        remove_if_empty(&folder);
        let kept = new_in(temporary.path(), "a-")?;
        assert!(kept.path().is_dir() && kept.path().parent() != Some(taken.as_path()));
        Ok(())
    }

    #[test]
    fn folders_are_made_while_others_go() -> io::Result<()> {
        let temporary = tempfile::tempdir()?;
        std::thread::scope(|scope| {
            let makers: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        (0..200).try_for_each(|_| new_in(temporary.path(), "a-").map(drop))
                    })
                })
                .collect();
            makers.into_iter().try_for_each(|maker| {
                maker.join().unwrap_or_else(|_| Err(io::Error::other("it panicked")))
            })
        })?;
        assert!(temporary.path().read_dir()?.next().is_none());
        Ok(())
    }
}
