//! Identifies the process that owns a container, a network or a folder, and whether that process
//! still lives.
//!
//! Process ids are reused. So an owner is identified by the process id, the start time of the
//! process, and the boot id of the system.

use std::collections::HashMap;
use std::str::FromStr;
use std::{fmt, fs};

/// Container labels.
pub(crate) const GROUP: &str = "sandbox.instance";
pub(crate) const OWNER: &str = "sandbox.owner";
pub(crate) const PID: &str = "sandbox.pid";
pub(crate) const SITE: &str = "sandbox.site";
pub(crate) const INSTANCE: &str = "sandbox.copy";

/// The file in the folder of an instance that names the instance's process.
pub(crate) const PROCESS: &str = "process";

/// A process identity that stays unique when its id is reused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    pid: u32,
    /// The start time, in clock ticks since the system's boot.
    since: u64,
    /// The first digits of the system's boot id.
    boot: String,
}

impl Owner {
    /// This process.
    pub(crate) fn this() -> Owner {
        Owner::of(std::process::id())
    }

    /// The process that currently has this id.
    pub(crate) fn of(pid: u32) -> Owner {
        Owner { pid, since: start_of(pid).unwrap_or(0), boot: boot() }
    }

    /// Kills the process and its group, if the process still has this identity.
    pub(crate) fn kill(&self) {
        if self.is_alive() {
            kill_group(self.pid);
        }
    }

    /// Sends a signal to the process: to make it exit with its own clean-up if it is one of ours,
    /// or to kill it.
    pub(crate) fn end(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid.filter(|_| self.is_alive()) {
            // The process may have exited in the meantime.
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    /// The owner of a resource with these labels.
    pub(crate) fn labelled(labels: &HashMap<String, String>) -> Option<Owner> {
        labels.get(OWNER)?.parse().ok()
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.boot == boot() && start_of(self.pid) == Some(self.since)
    }

    /// The labels of all resources of a group.
    pub(crate) fn labels(&self, group: &str) -> HashMap<String, String> {
        [(GROUP, group.to_owned()), (OWNER, self.to_string()), (PID, self.pid.to_string())]
            .map(|(key, value)| (key.to_owned(), value))
            .into()
    }

    /// Whether others may remove a resource with these labels: it is ours, and its owner is gone.
    pub(crate) fn has_left(labels: &HashMap<String, String>) -> bool {
        Owner::labelled(labels).is_some_and(|owner| !owner.is_alive())
    }
}

/// `pid-since-boot`, valid in file names.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.pid, self.since, self.boot)
    }
}

impl FromStr for Owner {
    type Err = ();

    fn from_str(text: &str) -> Result<Owner, ()> {
        let mut parts = text.splitn(3, '-');
        let mut next = || parts.next().ok_or(());
        let pid = next()?.parse().map_err(drop)?;
        let since = next()?.parse().map_err(drop)?;
        Ok(Owner { pid, since, boot: next()?.to_owned() })
    }
}

/// Kills a process and its process group.
pub(crate) fn kill_group(pid: u32) {
    // The process may be gone already.
    let group = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let _ = group
        .map(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
}

/// The memory in bytes that a process and its group use.
pub(crate) fn memory_of(pid: u32) -> Option<u64> {
    let of = |entry: fs::DirEntry| {
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let group: u32 = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(2)?.parse().ok()?;
        let status = fs::read_to_string(entry.path().join("status")).ok()?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: u64 = resident.trim().strip_suffix(" kB")?.parse().ok()?;
        (group == pid).then_some(kilobytes << 10)
    };
    let sizes: Vec<u64> = fs::read_dir("/proc").ok()?.flatten().filter_map(of).collect();
    (!sizes.is_empty()).then(|| sizes.iter().sum())
}

fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.chars().filter(char::is_ascii_hexdigit).take(8).collect()
}

/// The start time of a process, if it exists.
pub(crate) fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name is in brackets and may contain anything. The start time is the 22nd field,
    // the 20th after the name.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let dead = matches!(fields.clone().next(), Some("Z" | "X"));
    if dead { None } else { fields.nth(19)?.parse().ok() }
}

/// Whether a process is ending or has ended. The kernel says so before it closes the sockets of the
/// process: whoever saw one of them closed by the end gets `true` here (`PF_EXITING` in the field
/// `flags` of proc_pid_stat(5)).
pub(crate) fn is_exiting(pid: u32) -> bool {
    const EXITING: u32 = 4;
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace();
    let dead = matches!(fields.next(), None | Some("Z" | "X"));
    let flags = fields.nth(5).and_then(|flags| flags.parse().ok());
    dead || flags.is_some_and(|flags: u32| flags & EXITING != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_alive_until_it_ends_and_its_id_does_not_stand_for_it() {
        let this = Owner::this();
        assert_eq!(this.to_string().parse(), Ok(this.clone()));
        assert!(this.is_alive());
        assert!(!Owner { since: this.since + 1, ..this.clone() }.is_alive());
        assert!(!Owner { boot: "0".to_owned(), ..this.clone() }.is_alive());
        assert!(!Owner::has_left(&this.labels("x")));
        assert!(!Owner::has_left(&HashMap::new()), "what is not ours is left alone");

        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let pid = child.id();
        let other = Owner { pid, since: start_of(pid).unwrap(), boot: boot() };
        assert!(other.is_alive());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!other.is_alive());
        assert!(Owner::has_left(&other.labels("x")));
    }
}
