//! Removes the folders that dead sessions have left, and the processes that belong to them. Those
//! of other users stay.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io};

use processes::{Group, temporary};
use rustix::process::{Pid, geteuid, getpgid, test_kill_process};

use super::process::{HOME, PREFIX, PROFILE};

/// Removes the folder. Killed processes may still be writing a last file into it. So the removal is
/// repeated while it finds something new, for one second at most.
pub(super) fn remove_folder(folder: &Path) {
    let deadline = Instant::now() + Duration::from_secs(1);
    loop {
        match fs::remove_dir_all(folder) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) if Instant::now() > deadline => {
                tracing::warn!(folder = %folder.display(), %error, "a profile folder was left behind");
                return;
            }
            Err(_) => std::thread::park_timeout(std::time::Duration::from_millis(10)),
        }
    }
}

/// Removes what sessions of killed processes have left, running browsers included.
pub(super) fn remove_stale_sessions() {
    remove_sessions(|owner| test_kill_process(owner) == Err(rustix::io::Errno::SRCH));
}

/// Removes what the sessions of processes have left that are selected.
pub(super) fn remove_sessions(is_selected: impl Fn(Pid) -> bool) {
    for folder in temporary::all() {
        remove_sessions_in(&folder, &is_selected);
        temporary::remove_if_empty(&folder);
    }
}

fn remove_sessions_in(temp: &Path, is_selected: impl Fn(Pid) -> bool) {
    let Ok(entries) = fs::read_dir(temp) else { return };
    let own = geteuid();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else {
            continue;
        };
        let owner =
            owner.split('-').next().and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
        if !owner.is_some_and(&is_selected) {
            continue;
        }
        let folder = entry.path();
        // Another user's cannot be removed, and its processes not be ended.
        if !folder.symlink_metadata().is_ok_and(|found| found.uid() == own.as_raw()) {
            continue;
        }
        for mut group in session_process_groups(&folder) {
            group.kill();
        }
        remove_folder(&folder);
    }
}

/// The process groups of the session with this folder. Chromium, which leads one, may have ended
/// before its children.
fn session_process_groups(folder: &Path) -> Vec<Group> {
    let (Ok(folder), Ok(processes)) = (std::path::absolute(folder), fs::read_dir("/proc")) else {
        return Vec::new();
    };
    let leader = |process: fs::DirEntry| {
        let pid = Pid::from_raw(process.file_name().to_str()?.parse().ok()?)?;
        let environment = fs::read(process.path().join("environ")).ok()?;
        let line = fs::read(process.path().join("cmdline")).ok()?;
        belongs_to_session(&folder, &environment, &line).then(|| getpgid(Some(pid)).ok())?
    };
    let leaders: HashSet<Pid> = processes.flatten().filter_map(leader).collect();
    leaders.into_iter().map(|leader| Group::of(u32::try_from(leader.as_raw_pid()).ok())).collect()
}

/// Whether a process belongs to the session with this folder, and does not merely name it. Such a
/// process has the home that we have given it. Chromium overwrites its environment with its title,
/// which leaves it blank. Then its profile identifies it.
fn belongs_to_session(folder: &Path, environment: &[u8], line: &[u8]) -> bool {
    let word = |start: &str, path: &str| {
        [start.as_bytes(), folder.join(path).as_os_str().as_bytes()].concat()
    };
    let (home, profile) = (word("HOME=", HOME), word("--user-data-dir=", PROFILE));
    let is_blank = !environment.is_empty() && environment.iter().all(|&byte| byte == 0);
    let mut variables = environment.split(|&byte| byte == 0);
    // Spaces separate the words of a title.
    let mut words = line.split(|byte| matches!(byte, 0 | b' '));
    variables.any(|variable| variable == home) || is_blank && words.any(|word| word == profile)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_names_a_session_is_not_of_it() {
        let folder = Path::new("/tmp/sandbox-browser-1-a");
        let profile = b"--user-data-dir=/tmp/sandbox-browser-1-a/profile";
        let home = b"PATH=/bin\0HOME=/tmp/sandbox-browser-1-a/home\0";
        assert!(belongs_to_session(folder, home, b"chromium"));
        assert!(belongs_to_session(
            folder,
            &[0; 99],
            &[b"chromium --x ".as_slice(), profile, b" --y"].concat()
        ));
        for (environment, line) in [
            (b"PWD=/tmp/sandbox-browser-1-a/home\0".as_slice(), profile.as_slice()),
            (b"HOME=/tmp/sandbox-browser-1-a/home/x\0", b"sh"),
            (b"", profile),
            (&[0; 99], b"chromium --user-data-dir=/tmp/sandbox-browser-1-a/profile2"),
        ] {
            assert!(!belongs_to_session(folder, environment, line), "{line:?}");
        }
    }

    #[test]
    fn a_folder_of_another_user_is_left_alone() {
        // Only root can give a folder away.
        if !geteuid().is_root() {
            return;
        }
        let temp = tempfile::tempdir().unwrap();
        let [own, other, link] =
            ["own", "other", "link"].map(|name| temp.path().join(format!("{PREFIX}7-{name}")));
        fs::create_dir(&own).unwrap();
        fs::create_dir(&other).unwrap();
        std::os::unix::fs::chown(&other, Some(65534), None).unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(65534), None).unwrap();
        // Root could remove it.
        remove_sessions_in(temp.path(), |_| true);
        assert!(!own.exists() && other.exists() && link.exists());
    }
}
