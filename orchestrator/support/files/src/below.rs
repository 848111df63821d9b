//! Files of a folder that somebody else may have filled, opened by handles.
//!
//! Each part of a name is opened in the folder before it, without following links. So a name never
//! leads out of the folder, even if somebody changes the folder at the same time.

use std::fs::File;
use std::io::Error;

use camino::Utf8Path;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, open, openat, statat};

/// More files than this below one folder are a mistake or an attack.
const MOST: usize = 2_000_000;
/// Folders within folders. Each open one is a handle.
const DEEPEST: usize = 64;

/// Opens a regular file by its path below a folder.
///
/// # Errors
/// When a part of the path is missing, a link, or leads upwards, or the file is not regular.
pub fn file(folder: &Utf8Path, path: &str) -> Result<File, Error> {
    let names: Vec<&str> = path.split('/').collect();
    let (name, above) = names.split_last().map_or(("", &[][..]), |(name, above)| (*name, above));
    check(name)?;
    // Without NONBLOCK, opening a pipe would wait for a writer.
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    super::regular(File::from(openat(walk(folder, above)?, name, flags, Mode::empty())?))
}

/// Opens a folder by its path below another one; an empty path is that folder itself.
///
/// # Errors
/// When a part of the path is missing, a link, leads upwards, or is not a folder. The folder above
/// may be a link, because the user named it.
pub fn folder(folder: &Utf8Path, path: &str) -> Result<File, Error> {
    let names: Vec<&str> = path.split('/').filter(|_| !path.is_empty()).collect();
    walk(folder, &names)
}

fn walk(folder: &Utf8Path, names: &[&str]) -> Result<File, Error> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut handle = open(folder.as_std_path(), flags, Mode::empty())?;
    for name in names {
        check(name)?;
        handle = openat(&handle, *name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(File::from(handle))
}

fn check(name: &str) -> Result<(), Error> {
    if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
        return Err(Error::other(format!("{name:?} is not the name of a file in a folder")));
    }
    Ok(())
}

/// What is below a folder.
#[derive(Debug, Default)]
pub struct Found {
    /// The paths of regular files, sorted.
    pub files: Vec<String>,
    /// The paths of what is neither a regular file nor a folder: links, pipes, devices, sockets.
    pub others: Vec<String>,
}

/// All files below a folder. Links are named and not followed.
///
/// # Errors
/// When a folder cannot be read, has a name that is not UTF-8, or there are too many or too deep
/// ones.
pub fn list(folder: &Utf8Path) -> Result<Found, Error> {
    let mut found = Found::default();
    let mut names = Vec::new();
    add(&walk(folder, &[])?, &mut names, &mut found)?;
    found.files.sort_unstable();
    found.others.sort_unstable();
    Ok(found)
}

fn add(handle: &File, names: &mut Vec<String>, found: &mut Found) -> Result<(), Error> {
    for entry in Dir::read_from(handle)? {
        let entry = entry?;
        let name =
            entry.file_name().to_str().map_err(|_| Error::other("a name in it is not UTF-8"))?;
        if name == "." || name == ".." {
            continue;
        }
        if found.files.len() + found.others.len() >= MOST {
            return Err(Error::other(format!("it has more than {MOST} files")));
        }
        names.push(name.to_owned());
        // Asked anew: some file systems do not tell the kind with the name.
        match FileType::from_raw_mode(statat(handle, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode) {
            FileType::RegularFile => found.files.push(names.join("/")),
            FileType::Directory if names.len() > DEEPEST => {
                return Err(Error::other(format!(
                    "{} is more than {DEEPEST} folders deep",
                    names.join("/")
                )));
            }
            FileType::Directory => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                add(&File::from(openat(handle, name, flags, Mode::empty())?), names, found)?;
            }
            _ => found.others.push(names.join("/")),
        }
        names.pop();
    }
    Ok(())
}

/// The path below a folder, if a path is below it by its words alone.
pub fn path_below<'a>(folder: &Utf8Path, path: &'a Utf8Path) -> Option<&'a str> {
    let rest = path.strip_prefix(folder).ok()?.as_str();
    rest.split('/').all(|name| check(name).is_ok()).then_some(rest)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::symlink;

    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn nothing_outside_of_the_folder_is_opened_or_listed() {
        let kept = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(kept.path().to_owned()).unwrap();
        std::fs::create_dir_all(path.join("outside")).unwrap();
        std::fs::write(path.join("outside/secret"), "theirs").unwrap();
        let inside = path.join("inside");
        std::fs::create_dir_all(inside.join("a/b")).unwrap();
        std::fs::write(inside.join("a/b/file"), "ours").unwrap();
        symlink(path.join("outside/secret"), inside.join("link")).unwrap();
        symlink(path.join("outside"), inside.join("a/folder")).unwrap();
        assert!(file(&inside, "a/b/file").is_ok());
        let absolute = path.join("outside/secret").to_string();
        for name in
            ["link", "a/folder/secret", "../outside/secret", "a/../../outside/secret", &absolute]
        {
            assert!(file(&inside, name).is_err(), "{name}");
        }
        for name in ["", ".", "a", "a/", "/a", "a//b/file", "a/./b/file"] {
            assert!(file(&inside, name).is_err(), "{name}");
        }
        assert!(folder(&inside, "a/folder").is_err());
        assert!(folder(&inside, "a/b").is_ok() && folder(&inside, "").is_ok());
        let found = list(&inside).unwrap();
        assert_eq!(
            (found.files, found.others),
            (vec!["a/b/file".into()], vec!["a/folder".into(), "link".into()])
        );
    }

    #[test]
    fn a_path_is_below_by_its_words() {
        let folder = Utf8Path::new("/a/b");
        assert_eq!(path_below(folder, "/a/b/c/d".into()), Some("c/d"));
        for path in ["/a/b", "/a/b/../c", "/a/bc", "/a", "c"] {
            assert_eq!(path_below(folder, path.into()), None, "{path}");
        }
    }
}
