//! Parses the output of Slurm's programs.

use std::fmt::Write as _;

use crate::Error;

/// The output of a program, and its exit status.
#[derive(Debug, Clone, Default)]
pub(super) struct CommandOutput {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) status: String,
}

/// An element of a job array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The name of the job.
    pub name: String,
    /// The number of the array.
    pub array: String,
    /// The number of the element, which is that of the part. None for all elements that ended
    /// before they began, by a `scancel`: Slurm lists them as one, without their numbers.
    pub part: Option<u32>,
    /// Its state.
    pub state: JobState,
    /// Its node; empty if it has not begun.
    pub node: String,
    /// The reason why it waits, or its exit status.
    pub reason: String,
}

/// The state of a job, as far as decisions depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobState {
    /// It has not begun, or is suspended.
    Waiting,
    /// It runs, or is in an unknown state.
    Running,
    /// It has ended, or its node is gone, and Slurm waits for the node to say so.
    Completing,
    /// The user has cancelled it.
    Cancelled,
    /// It has ended, in this state of Slurm's.
    Ended(String),
}

/// Returns the output of a program that succeeded. Tells a controller that does not answer from
/// other failures.
pub(super) fn printed(
    program: &'static str,
    said: &CommandOutput,
    success: bool,
) -> Result<String, Error> {
    if success {
        return Ok(said.stdout.clone());
    }
    // The last line has the reason, those before it say where it arose.
    let mut lines = said.stderr.lines().chain(said.stdout.lines()).map(str::trim);
    let reason = lines.rfind(|line| !line.is_empty() && !line.starts_with("Try "));
    let reason = reason.map_or_else(|| format!("it ended with {}", said.status), str::to_owned);
    const AWAY: [&str; 6] = [
        "Unable to contact slurm controller",
        "Socket timed out",
        "Connection refused",
        "Connection timed out",
        "Zero Bytes were transmitted or received",
        "Transport endpoint is not connected",
    ];
    if AWAY.iter().any(|text| said.stderr.contains(text)) {
        return Err(Error::Unreachable { program, said: reason });
    }
    Err(Error::Refused { program, said: reason })
}

/// Returns the number that `sbatch --parsable` prints: `42`, or `42;cluster`.
pub(super) fn submitted(printed: &str) -> Result<String, Error> {
    let line = printed.lines().next_back().unwrap_or_default().trim();
    let number = line.split(';').next().unwrap_or_default();
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        let expected = "the number of a job";
        return Err(Error::Output { program: "sbatch", line: line.to_owned(), expected });
    }
    Ok(number.to_owned())
}

pub(super) fn jobs(printed: &str) -> Result<Vec<Job>, Error> {
    printed.lines().filter(|line| !line.trim().is_empty()).map(job).collect()
}

fn job(line: &str) -> Result<Job, Error> {
    // The reason is the last field, because it may contain the separator.
    let fields: Vec<&str> = line.splitn(6, '|').map(str::trim).collect();
    let read = || {
        let [name, array, part, state, node, reason] = *fields.as_slice() else { return None };
        let part = if part == "N/A" { None } else { Some(part.parse().ok()?) };
        let owned = str::to_owned;
        Some(Job {
            name: owned(name),
            array: owned(array),
            part,
            state: JobState::read(state),
            node: owned(node),
            reason: owned(reason),
        })
    };
    let expected = "a job with its part, state, node and reason";
    read().ok_or_else(|| Error::Output { program: "squeue", line: line.to_owned(), expected })
}

impl JobState {
    fn read(word: &str) -> JobState {
        match word {
            // These take no time of a part's: its node is being started, or something is before it.
            "CONFIGURING" | "SUSPENDED" | "STOPPED" | "PENDING" | "REQUEUED" | "REQUEUE_FED"
            | "REQUEUE_HOLD" | "RESV_DEL_HOLD" | "SPECIAL_EXIT" => JobState::Waiting,
            "COMPLETING" => JobState::Completing,
            "CANCELLED" => JobState::Cancelled,
            "COMPLETED" | "FAILED" | "TIMEOUT" | "NODE_FAIL" | "PREEMPTED" | "BOOT_FAIL"
            | "DEADLINE" | "OUT_OF_MEMORY" | "REVOKED" => JobState::Ended(word.to_owned()),
            // What may still run is not submitted again.
            _ => JobState::Running,
        }
    }
}

/// Returns the CPUs of a partition, or of the default one, whose name ends with a star.
pub(super) fn cpus(printed: &str, partition: Option<&str>) -> Result<usize, Error> {
    let mut sum = 0;
    for line in printed.lines().filter(|line| !line.trim().is_empty()) {
        let read = || {
            let (name, counts) = line.trim().split_once('|')?;
            // `sinfo` prints allocated/idle/other/total, and no job gets the others.
            let mut counts = counts.split('/').map(|count| count.parse::<usize>().ok());
            let (allocated, idle) = (counts.next()??, counts.next()??);
            Some(if is_wanted(name, partition) { allocated + idle } else { 0 })
        };
        let expected = "a partition with its CPUs";
        sum += read().ok_or_else(|| Error::Output {
            program: "sinfo",
            line: line.to_owned(),
            expected,
        })?;
    }
    Ok(sum)
}

/// Whether a partition, as `sinfo` prints it, is the wanted one.
fn is_wanted(name: &str, partition: Option<&str>) -> bool {
    match partition {
        Some(wanted) => wanted.split(',').any(|wanted| name.trim_end_matches('*') == wanted),
        None => name.ends_with('*'),
    }
}

/// Returns the nodes of a partition, or of the default one, that are up and take jobs.
pub(super) fn nodes(printed: &str, partition: Option<&str>) -> Result<Vec<String>, Error> {
    let mut nodes = Vec::new();
    for line in printed.lines().filter(|line| !line.trim().is_empty()) {
        let expected = "a partition with a node and its state";
        let words: Vec<&str> = line.trim().split('|').collect();
        let [name, node, state] = *words.as_slice() else {
            return Err(Error::Output { program: "sinfo", line: line.to_owned(), expected });
        };
        if is_wanted(name, partition) && is_up(state) {
            nodes.push(node.to_owned());
        }
    }
    Ok(nodes)
}

/// Returns whether a node takes jobs, now or once it has woken up. The state of one that does not
/// answer ends with a star.
fn is_up(state: &str) -> bool {
    const DOWN: [&str; 7] = ["down", "drain", "drng", "fail", "futr", "unk", "inval"];
    !state.ends_with('*') && !DOWN.iter().any(|down| state.starts_with(down))
}

/// Writes numbers in ascending order as `sbatch` takes them, such as `1-3,7`.
pub(super) fn ranges(numbers: &[u32]) -> String {
    let mut text = String::new();
    let mut rest = numbers.iter().copied().peekable();
    while let Some(first) = rest.next() {
        let mut last = first;
        while let Some(next) = rest.next_if(|next| *next == last + 1) {
            last = next;
        }
        let comma = if text.is_empty() { "" } else { "," };
        let _ = if first == last {
            write!(text, "{comma}{first}")
        } else {
            write!(text, "{comma}{first}-{last}")
        };
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// As `squeue` 22.05.8 has printed it, of a controller with three nodes.
    const JOBS: &str = include_str!("captured/squeue.txt");
    const PARTITIONS: &str = include_str!("captured/sinfo.txt");

    fn states(printed: &str) -> Vec<(u32, JobState)> {
        jobs(printed).unwrap().into_iter().map(|job| (job.part.unwrap(), job.state)).collect()
    }

    #[test]
    fn the_jobs_of_an_array_are_read() {
        let read = jobs(JOBS).unwrap();
        let of = |part: u32| read.iter().find(|job| job.part == Some(part)).unwrap();
        assert_eq!(
            (of(1).state.clone(), of(1).node.as_str()),
            (JobState::Ended("COMPLETED".to_owned()), "n1")
        );
        assert_eq!(
            (of(5).state.clone(), of(5).reason.as_str()),
            (JobState::Ended("FAILED".to_owned()), "NonZeroExitCode")
        );
        assert_eq!((of(6).state.clone(), of(6).node.as_str()), (JobState::Running, "n3"));
        assert_eq!((of(7).state.clone(), of(7).node.as_str()), (JobState::Waiting, ""));
        assert_eq!(of(7).reason, "ReqNodeNotAvail, UnavailableNodes:n3");
        assert_eq!(
            (of(8).state.clone(), of(8).reason.as_str()),
            (JobState::Ended("FAILED".to_owned()), "JobLaunchFailure")
        );
        assert_eq!(of(9).state, JobState::Cancelled);
        assert_eq!(of(6).array, "1");
        assert_eq!(jobs("\n").unwrap(), []);
        let rest = jobs("sandbox-35a160a0-1|1|N/A|CANCELLED||Resources\n").unwrap().remove(0);
        assert_eq!((rest.part, rest.state), (None, JobState::Cancelled));
    }

    #[test]
    fn a_state_that_nobody_knows_may_run() {
        assert_eq!(states("a|1|2|HIBERNATING|n1|None\n"), [(2, JobState::Running)]);
        assert_eq!(states("a|1|2|COMPLETING|n1|None\n"), [(2, JobState::Completing)]);
        for waits in ["PENDING", "CONFIGURING", "SUSPENDED"] {
            assert_eq!(
                states(&format!("a|1|2|{waits}||a|b\n")),
                [(2, JobState::Waiting)],
                "{waits}"
            );
        }
        for odd in ["a|1|2|RUNNING|n1", "a|1|[1-3]|PENDING||None", "slurm_load_jobs error"] {
            assert!(jobs(odd).unwrap_err().to_string().contains("is not a job"), "{odd}");
        }
    }

    #[test]
    fn the_number_of_a_job_is_read() {
        assert_eq!(submitted("42\n").unwrap(), "42");
        assert_eq!(submitted("42;cluster\n").unwrap(), "42");
        for odd in ["", "Submitted batch job 42", ";x"] {
            assert!(submitted(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn a_controller_that_is_away_is_told_from_a_refusal() {
        let failed = |stderr: &str| {
            let said = CommandOutput {
                stderr: stderr.to_owned(),
                status: "exit status: 1".to_owned(),
                ..CommandOutput::default()
            };
            printed("sbatch", &said, false).unwrap_err()
        };
        for away in [
            "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n",
            "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n",
            "scancel: error: Kill job error on job id 13: Unable to contact slurm controller (connect failure)\n",
            "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n",
        ] {
            assert!(matches!(failed(away), Error::Unreachable { .. }), "{away}");
        }
        for (refused, reason) in [
            (
                "sbatch: error: invalid partition specified: nowhere\n\
                 sbatch: error: Batch job submission failed: Invalid partition name specified\n",
                "sbatch: error: Batch job submission failed: Invalid partition name specified",
            ),
            (
                "sbatch: unrecognized option '--frobnicate'\nTry \"sbatch --help\" for more information\n",
                "sbatch: unrecognized option '--frobnicate'",
            ),
            ("", "it ended with exit status: 1"),
        ] {
            let error = failed(refused);
            assert!(matches!(&error, Error::Refused { said, .. } if said == reason), "{error}");
        }
    }

    #[test]
    fn cpus_of_nodes_that_are_up_count() {
        assert_eq!(cpus(PARTITIONS, None).unwrap(), 2);
        assert_eq!(cpus(PARTITIONS, Some("main")).unwrap(), 2);
        assert_eq!(cpus(PARTITIONS, Some("gpu")).unwrap(), 0);
        assert_eq!(cpus("main*|4/8/2/14\ngpu|1/1/0/2\n", Some("main,gpu")).unwrap(), 14);
        assert!(cpus("main*", None).is_err());
        let printed = "main*|n1|idle\nmain*|n2|mix\nmain*|n4|down*\nmain*|n5|drain\nmain*|n6|idle*\ngpu|n3|idle~\n";
        assert_eq!(nodes(printed, None).unwrap(), ["n1", "n2"]);
        assert_eq!(nodes(printed, Some("gpu")).unwrap(), ["n3"]);
        assert!(nodes("main*|n1", None).is_err());
    }

    #[test]
    fn numbers_are_written_in_ranges() {
        for (numbers, expected) in
            [(&[][..], ""), (&[5], "5"), (&[1, 2, 3], "1-3"), (&[1, 3, 4, 9], "1,3-4,9")]
        {
            assert_eq!(ranges(numbers), expected);
        }
    }
}
