//! The processes below another one.

use std::fs;

use anyhow::Result;

use crate::harness::text;

pub(crate) struct Process {
    pub(crate) id: u32,
    /// Its arguments, a space between them. Empty for one that is ending, or has none.
    pub(crate) line: String,
}

impl Process {
    /// `kill -9`. It may have ended already.
    pub(crate) fn kill(&self) {
        let id = rustix::process::Pid::from_raw(self.id.cast_signed());
        let _ = id.map(|id| rustix::process::kill_process(id, rustix::process::Signal::KILL));
    }
}

/// The processes that exist now; any of them may be gone when the list is read.
pub(crate) fn descendants(ancestor: u32) -> Result<Vec<Process>> {
    let mut processes = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Ok(id) = entry?.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = fs::read_to_string(format!("/proc/{id}/stat")) else { continue };
        // The name of a program stands in brackets, and may have any characters.
        let parent = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        processes.push((id, parent.unwrap_or(0u32)));
    }
    let (mut family, mut next) = (vec![ancestor], 0);
    while let Some(&parent) = family.get(next) {
        next += 1;
        family.extend(
            processes.iter().filter(|process| process.1 == parent).map(|process| process.0),
        );
    }
    let described = family.into_iter().skip(1).map(|id| {
        let arguments = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        Process { id, line: text(&arguments).replace('\0', " ").trim().to_owned() }
    });
    Ok(described.collect())
}

/// Whether a process is there and has not ended: whoever is to reap it may take a while.
pub(crate) fn is_alive(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}
