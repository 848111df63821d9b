//! The memory that a run may take on this machine: nine tenths of what is free, of what its control
//! group has left, and of what Slurm has given to the job, whichever is least.
//!
//! The containers of a system's engine are in none of these groups. They count towards the bound
//! all the same, because a job may take no more of a node than it was given.

use std::path::{Path, PathBuf};

/// The share of the free memory that a run may take.
const SHARE: f64 = 0.9;

/// Returns the free memory in bytes, if the machine tells it.
pub(super) fn free() -> Option<u64> {
    let variable = |name: &str| std::env::var(name).ok();
    let bounds = [available(), group_left(), of_job(variable)];
    let least = bounds.into_iter().flatten().min()?;
    Some((least as f64 * SHARE) as u64)
}

/// Returns the memory that the kernel expects to be free for new programs, in bytes.
fn available() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib << 10)
}

/// Returns the memory that Slurm has given to the job on this node: `--mem`, or `--mem-per-cpu` for
/// its CPUs there. The variables are in MiB; 0 stands for all of the node.
fn of_job(variable: impl Fn(&str) -> Option<String>) -> Option<u64> {
    let number =
        |name: &str| variable(name)?.trim().parse::<u64>().ok().filter(|number| *number > 0);
    let per_cpu = || number("SLURM_MEM_PER_CPU")?.checked_mul(number("SLURM_CPUS_ON_NODE")?);
    number("SLURM_MEM_PER_NODE").or_else(per_cpu)?.checked_mul(1 << 20)
}

/// Returns the memory that the control groups of this process have left, in bytes.
fn group_left() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    left_below(Path::new("/sys/fs/cgroup"), &groups)
}

/// The limit of a group holds for all groups below it. Page cache that can be dropped counts as
/// left.
fn left_below(root: &Path, groups: &str) -> Option<u64> {
    let left = |line: &str| {
        // Lines are `ID:CONTROLLERS:PATH`. In version 2 no controllers are named.
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (root, files) = match controllers {
            "" => (root.to_owned(), ["memory.max", "memory.current", "inactive_file "]),
            own if own.split(',').any(|one| one == "memory") => {
                let files =
                    ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "];
                (root.join("memory"), files)
            }
            _ => return None,
        };
        let own: PathBuf = root.join(path.trim_start_matches('/'));
        let all = own.ancestors().take_while(|folder| folder.starts_with(&root));
        all.filter_map(|folder| left_of(folder, files)).min()
    };
    groups.lines().filter_map(left).min()
}

fn left_of(folder: &Path, [limit, usage, cache]: [&str; 3]) -> Option<u64> {
    let number =
        |file: &str| std::fs::read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
    let limit = number(limit)?;
    let stat = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cache = stat.lines().find_map(|line| line.strip_prefix(cache)?.trim().parse::<u64>().ok());
    let used = number(usage).unwrap_or(0).saturating_sub(cache.unwrap_or(0));
    Some(limit.saturating_sub(used))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_slurm_has_given_is_read() {
        let given = |variables: &[(&str, &str)]| {
            of_job(|name| {
                variables
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(given(&[]), None);
        assert_eq!(given(&[("SLURM_MEM_PER_NODE", "4096")]), Some(4 << 30));
        assert_eq!(given(&[("SLURM_MEM_PER_NODE", "0")]), None, "all of the node");
        assert_eq!(given(&[("SLURM_MEM_PER_CPU", "1024")]), None);
        let both = [("SLURM_MEM_PER_CPU", "1024"), ("SLURM_CPUS_ON_NODE", "3")];
        assert_eq!(given(&both), Some(3 << 30));
        assert_eq!(given(&[("SLURM_MEM_PER_NODE", "18446744073709551615")]), None);
    }

    #[test]
    fn the_least_limit_of_a_group_and_those_above_it_counts() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        let write = |folder: &str, files: &[(&str, &str)]| {
            std::fs::create_dir_all(root.join(folder)).unwrap();
            for (name, text) in files {
                std::fs::write(root.join(folder).join(name), text).unwrap();
            }
        };
        assert_eq!(left_below(root, "0::/job/step\n"), None);
        write("job", &[("memory.max", "1000\n"), ("memory.current", "700\n")]);
        write("job/step", &[("memory.max", "max\n"), ("memory.current", "300\n")]);
        assert_eq!(left_below(root, "0::/job/step\n"), Some(300));
        write("job", &[("memory.stat", "anon 1\ninactive_file 200\n")]);
        assert_eq!(left_below(root, "0::/job/step\n"), Some(500));
        write("memory/old", &[("memory.limit_in_bytes", "90"), ("memory.usage_in_bytes", "100")]);
        assert_eq!(left_below(root, "0::/job/step\n8:cpu,memory:/old\n"), Some(0));
        assert_eq!(left_below(root, "8:cpu:/old\n"), None);
    }
}
