//! The processes of a container, as this machine sees them.

use std::fs;

use camino::Utf8PathBuf;

/// Says which processes are those of a container.
#[derive(Debug, Clone)]
pub(super) enum Members {
    /// Those that this file of its control group lists.
    Group(Utf8PathBuf),
    /// Those of this PID namespace. A rootless engine may leave a container in a control group of
    /// other processes.
    Namespace(Utf8PathBuf),
}

impl Members {
    /// Those of the container with this first process. `None` if we may not see them.
    pub(super) fn of(pid: u32) -> Option<Members> {
        let namespace = namespace_of(pid)?;
        // It must not be the one of this machine's other processes.
        if namespace_of(std::process::id()).as_ref() == Some(&namespace) {
            return None;
        }
        let is_own = |group: &Utf8PathBuf| {
            let listed = fs::read_to_string(group).unwrap_or_default();
            // A process that has ended in the meantime has no namespace.
            let is_other = |pid: u32| namespace_of(pid).is_some_and(|found| found != namespace);
            !listed.is_empty() && !listed.lines().filter_map(|line| line.parse().ok()).any(is_other)
        };
        let group = group_of(pid).filter(is_own);
        Some(group.map_or(Members::Namespace(namespace), Members::Group))
    }

    fn pids(&self) -> Vec<u32> {
        match self {
            Members::Group(file) => {
                let listed = fs::read_to_string(file).unwrap_or_default();
                listed.lines().filter_map(|line| line.parse().ok()).collect()
            }
            Members::Namespace(namespace) => {
                let all = fs::read_dir("/proc").into_iter().flatten().flatten();
                let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
                pids.filter(|pid| namespace_of(*pid).as_ref() == Some(namespace)).collect()
            }
        }
    }

    /// The processes, with their programs: the path of the executable if it is readable, otherwise
    /// its name.
    pub(super) fn processes(&self) -> Vec<(u32, String)> {
        let program = |pid: u32| {
            let file = fs::read_link(format!("/proc/{pid}/exe"));
            let file = file.map(|path| path.to_string_lossy().into_owned());
            let name = || {
                fs::read_to_string(format!("/proc/{pid}/comm")).map(|name| name.trim().to_owned())
            };
            file.or_else(|_| name()).ok()
        };
        // A process that has ended in the meantime has no program.
        self.pids().into_iter().filter_map(|pid| Some((pid, program(pid)?))).collect()
    }

    /// The memory in bytes that they have by themselves, if they are in no control group of their
    /// own, which would know.
    pub(super) fn memory(&self) -> Option<u64> {
        let Members::Namespace(_) = self else { return None };
        let of = |pid: u32| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            let resident = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
            let kib: u64 = resident.trim().strip_suffix(" kB")?.parse().ok()?;
            Some(kib << 10)
        };
        Some(self.pids().into_iter().filter_map(of).sum())
    }
}

/// The PID namespace of a process, if we may see it.
fn namespace_of(pid: u32) -> Option<Utf8PathBuf> {
    Utf8PathBuf::from_path_buf(fs::read_link(format!("/proc/{pid}/ns/pid")).ok()?).ok()
}

/// The file that lists the processes of a process's control group.
fn group_of(pid: u32) -> Option<Utf8PathBuf> {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let file = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let folder = match controllers {
            "" => Utf8PathBuf::from("/sys/fs/cgroup"),
            "pids" => Utf8PathBuf::from("/sys/fs/cgroup/pids"),
            _ => return None,
        };
        // It must be a control group of its own, not the root.
        let path = path.trim_start_matches('/');
        (!path.is_empty())
            .then(|| folder.join(path).join("cgroup.procs"))
            .filter(|file| file.is_file())
    };
    groups.lines().find_map(file)
}
