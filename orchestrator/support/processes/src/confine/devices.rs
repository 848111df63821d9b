//! What is hidden from every program that is confined, whatever it is: the ways around mounts.

use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, mount};
use rustix::process::geteuid;

use super::{cover, mounts};

/// The memory of the machine, and the files of the kernel that are like it.
const MEMORY: [&str; 4] = ["/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore"];
/// Files of the kernel that root may write, by which programs are started outside.
const OF_ROOT: [&str; 5] = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/sys"];
/// Places from which daemons of root start programs.
const STARTED: [&str; 6] =
    ["/etc/cron.d", "/etc/crontab", "/var/spool/cron", "/etc/systemd", "/run/systemd", "/run/udev"];
/// How deep devices are looked for.
const DEPTH: usize = 3;

/// The memory of the machine, and the devices that hold file systems.
pub(super) fn hidden() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = MEMORY.iter().map(PathBuf::from).collect();
    block_devices(Path::new("/dev"), DEPTH, &mut found);
    found
}

fn block_devices(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_block_device() => found.push(entry.path()),
            Ok(kind) if kind.is_dir() && depth > 1 => {
                block_devices(&entry.path(), depth - 1, found)
            }
            _ => {}
        }
    }
}

/// Gives this process and its children a `/proc` of their own namespace, and takes from root what
/// it could start programs outside by. Inside of a container, whose own is covered in part, an
/// ordinary user keeps the old one. What an ordinary user sees there are command lines of others,
/// and nothing that leads into them.
pub(super) fn own_proc() -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let others = mounts::all()?;
    match mount("proc", "/proc", "proc", flags, c"") {
        Ok(()) => {}
        Err(rustix::io::Errno::PERM) if !geteuid().is_root() => {}
        Err(error) => return Err(cover::naming("mount", Path::new("/proc"), &error.into())),
    }
    if geteuid().is_root() {
        for path in OF_ROOT.iter().chain(&STARTED).map(Path::new).filter(|path| path.exists()) {
            cover::freeze(path).map_err(|error| cover::naming("protect", path, &error))?;
        }
        // Mounts below are not of the one above.
        for mount in others
            .iter()
            .filter(|mount| mount.at.starts_with("/sys") && mount.at != Path::new("/sys"))
        {
            if mount.at.exists() {
                // A part that cannot be written anyway may refuse.
                let _ = cover::read_only(&mount.at);
            }
        }
    }
    for mount in
        others.iter().filter(|mount| mount.kind == "proc" && !mount.at.starts_with("/proc"))
    {
        if mount.at.is_dir() {
            rustix::mount::mount("tmpfs", &mount.at, "tmpfs", flags, c"size=4k,mode=755")?;
        }
    }
    Ok(())
}
