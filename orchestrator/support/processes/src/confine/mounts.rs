//! The mounts of this process, and under which other paths a file is there because of them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// One line of `/proc/self/mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    /// The file system, as `major:minor`.
    device: String,
    /// The folder of the file system that is mounted.
    root: PathBuf,
    /// Where it is.
    pub(super) at: PathBuf,
    /// The name of the kind of file system.
    pub(super) kind: String,
}

/// All mounts, in the order in which they were made.
pub(super) fn all() -> io::Result<Vec<Mount>> {
    Ok(fs::read("/proc/self/mountinfo")?.split(|byte| *byte == b'\n').filter_map(read).collect())
}

/// `36 35 98:0 /root /at options optional... - kind source options`
fn read(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let mut text = |n| fields.nth(n).map(unescaped);
    let (device, root, at) = (text(2)?, text(0)?, text(0)?);
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(Mount {
        device: device.to_string_lossy().into_owned(),
        root: root.into(),
        at: at.into(),
        kind: lossy(kind),
    })
}

/// Blanks and backslashes are written as three octal digits.
fn unescaped(field: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        let code = (*first == b'\\').then(|| tail.get(..3)).flatten();
        let code =
            code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    OsString::from_vec(bytes)
}

/// The other paths of a file or folder, and those of parts of it. `path` has no links in it.
pub(super) fn other_paths(mounts: &[Mount], path: &Path) -> Vec<PathBuf> {
    let holds = |mount: &&Mount| path.starts_with(&mount.at);
    // The last of several at one place is the one that is seen.
    let longest = |mount: &&Mount| mount.at.components().count();
    let Some(mount) = mounts.iter().filter(holds).max_by_key(longest) else { return Vec::new() };
    let Ok(below) = path.strip_prefix(&mount.at) else { return Vec::new() };
    let inside = joined(&mount.root, below);
    let same = mounts.iter().filter(|other| other.device == mount.device);
    let elsewhere = same.filter_map(|other| match inside.strip_prefix(&other.root) {
        Ok(rest) => Some(joined(&other.at, rest)),
        // Only a part of it is mounted there.
        Err(_) => other.root.starts_with(&inside).then(|| other.at.clone()),
    });
    elsewhere.filter(|other| other != path).collect()
}

/// Joining an empty path would add a slash, by which a file is looked for as a folder.
fn joined(folder: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { folder.to_owned() } else { folder.join(below) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bound_folders_are_found_under_all_their_names() {
        let text = "22 1 254:0 / / rw - ext4 /dev/vda rw\n\
            23 22 0:5 / /tmp rw shared:1 - tmpfs tmpfs rw\n\
            24 22 254:0 /home/me /srv/a\\040b rw - ext4 /dev/vda rw\n\
            25 22 254:0 /home/me/suite/gold /mnt rw - ext4 /dev/vda rw\n";
        let mounts: Vec<Mount> = text.lines().filter_map(|line| read(line.as_bytes())).collect();
        assert_eq!(mounts.len(), 4);
        let other = |path: &str| other_paths(&mounts, Path::new(path));
        assert_eq!(other("/home/me/suite"), [Path::new("/srv/a b/suite"), Path::new("/mnt")]);
        assert_eq!(other("/srv/a b/suite"), [Path::new("/home/me/suite"), Path::new("/mnt")]);
        assert_eq!(
            other("/mnt/x"),
            [Path::new("/home/me/suite/gold/x"), Path::new("/srv/a b/suite/gold/x")]
        );
        assert_eq!(other("/tmp/x"), [] as [&Path; 0]);
    }
}
