//! The resident memory of this process and of those that it has started.

use std::collections::HashMap;
use std::fs;

/// One process: its parent, and its resident memory in bytes.
struct Process {
    parent: u32,
    resident: u64,
}

/// Resident memory in bytes: of this process, and of it with all its descendants.
///
/// Pages that processes share count for each of them. Both are 0 where there is no `/proc`.
pub(super) fn resident() -> (u64, u64) {
    let id = std::process::id();
    let processes = all();
    let own = processes.get(&id).map_or(0, |process| process.resident);
    let family = processes.iter().filter(|(one, _)| descends(&processes, **one, id));
    (own, family.map(|(_, process)| process.resident).sum())
}

fn all() -> HashMap<u32, Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return HashMap::new() };
    let process = |entry: fs::DirEntry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let status = fs::read_to_string(entry.path().join("status")).ok()?;
        let field =
            |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        // A process that ends has no memory any more.
        let kilobytes: u64 = match field("VmRSS:") {
            Some(size) => size.strip_suffix(" kB")?.parse().ok()?,
            None => 0,
        };
        Some((id, Process { parent: field("PPid:")?.parse().ok()?, resident: kilobytes << 10 }))
    };
    entries.flatten().filter_map(process).collect()
}

/// Whether a process is `root` or descends from it.
fn descends(processes: &HashMap<u32, Process>, mut id: u32, root: u32) -> bool {
    // Ids are used again while the list is read, so that a circle is possible.
    for _ in 0..=processes.len() {
        if id == root {
            return true;
        }
        let Some(process) = processes.get(&id) else { return false };
        id = process.parent;
    }
    false
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn what_a_process_has_started_counts() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let processes = all();
        assert!(descends(&processes, child.id(), std::process::id()));
        assert!(!descends(&processes, std::process::id(), child.id()));
        let (own, all) = resident();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(own > 1 << 20 && all > own, "{own} of {all}");
    }

    #[test]
    fn a_circle_of_parents_has_an_end() {
        let process = |parent| Process { parent, resident: 1 };
        let circle = HashMap::from([(1, process(2)), (2, process(1))]);
        assert!(!descends(&circle, 1, 3));
    }
}
