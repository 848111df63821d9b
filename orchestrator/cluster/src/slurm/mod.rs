//! Slurm's own programs: `sbatch`, `squeue`, `scancel`, `sinfo` and `scontrol`. Accounting
//! (`sacct`) is not needed.

mod options;
mod parse;
mod script;

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::Output;
use std::time::Duration;

pub use options::SbatchOptions;
pub use parse::{Job, JobState};
pub use script::{JobScript, write_script};
use tokio::process::Command;
use tokio::time;

use crate::Error;

/// The programs that must be in PATH.
const NEEDED: [&str; 5] = ["sbatch", "squeue", "scancel", "sinfo", "scontrol"];
/// The time limit for a program. One that takes longer waits for a controller that does not answer.
const ENDS_WITHIN: Duration = Duration::from_secs(60);
/// The format of `squeue` for a job. The reason comes last, because it may be any text.
const JOB_FORMAT: &str = "%j|%F|%K|%T|%N|%r";
/// The format of `sinfo` for a partition: its name, and its CPUs as allocated/idle/other/total.
const PARTITION_FORMAT: &str = "%P|%C";
/// The format of `sinfo` for a node: its partition, its name and its state.
const NODE_FORMAT: &str = "%P|%N|%t";

/// One array of jobs.
#[derive(Debug)]
pub struct Request<'a> {
    /// The name of its jobs.
    pub name: &'a str,
    /// The numbers of its parts, in ascending order.
    pub parts: &'a [u32],
    /// The script.
    pub script: &'a str,
    /// The words after the script.
    pub arguments: &'a [&'a str],
    /// The path of the jobs' output, with `%a` for the part.
    pub log: &'a str,
    /// The folder in which the jobs run.
    pub folder: &'a str,
    /// CPUs of each job, unless the user says how many.
    pub cpus: usize,
    /// Nodes on which no job shall run, besides those that the user names.
    pub excluded: &'a [String],
    /// The user's own options.
    pub options: &'a SbatchOptions,
}

/// Looks for Slurm's programs.
///
/// # Errors
/// When one is not in PATH.
pub fn find() -> Result<(), Error> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |program: &&'static str| {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    match NEEDED.into_iter().find(|program| !is_there(program)) {
        None => Ok(()),
        Some(program) => Err(Error::Missing { program }),
    }
}

/// Submits an array of jobs, and returns its number.
///
/// # Errors
/// When Slurm refuses it, or cannot be reached. It may have taken the jobs even then.
pub async fn submit(request: &Request<'_>) -> Result<String, Error> {
    let printed = run("sbatch", &request.words()).await?;
    parse::submitted(&printed)
}

/// Returns the jobs of these names that Slurm knows, including those that ended some minutes ago.
///
/// # Errors
/// When Slurm cannot be reached, or prints something else.
pub async fn jobs(names: &[String]) -> Result<Vec<Job>, Error> {
    let words = ["--noheader", "--array", "--states=all", "--format", JOB_FORMAT, "--name"];
    let names = names.join(",");
    let printed = run("squeue", &[&words[..], &[&names]].concat()).await?;
    parse::jobs(&printed)
}

/// Cancels all jobs of these names, also those whose numbers are unknown.
///
/// # Errors
/// When Slurm cannot be reached.
pub async fn cancel_named(names: &[String]) -> Result<(), Error> {
    let mut first = Ok(());
    for name in names {
        let cancelled =
            run("scancel", &["--me".to_owned(), format!("--name={name}")]).await.map(drop);
        first = first.and(cancelled);
    }
    first
}

/// Cancels jobs, by their numbers or those of their elements, such as `42` or `42_3`.
///
/// # Errors
/// When Slurm cannot be reached.
pub async fn cancel(jobs: &[String]) -> Result<(), Error> {
    if jobs.is_empty() {
        return Ok(());
    }
    let words: Vec<&str> = jobs.iter().map(String::as_str).collect();
    run("scancel", &words).await.map(drop)
}

/// Keeps the elements of a job that wait away from these nodes, in place of those that were named
/// before.
///
/// # Errors
/// When Slurm refuses it.
pub async fn exclude(job: &str, nodes: &str) -> Result<(), Error> {
    let words = ["update".to_owned(), format!("JobId={job}"), format!("ExcNodeList={nodes}")];
    run("scontrol", &words).await.map(drop)
}

/// Returns the number of CPUs of a partition that are usable now or later: those of nodes that are
/// up. None names the default partition.
///
/// # Errors
/// When Slurm cannot be reached, or prints something else.
pub async fn cpus(partition: Option<&str>) -> Result<usize, Error> {
    let printed = run("sinfo", &["--noheader", "--format", PARTITION_FORMAT]).await?;
    parse::cpus(&printed, partition)
}

/// Returns the nodes of a partition that are up and take jobs. None names the default partition.
///
/// # Errors
/// When Slurm cannot be reached, or prints something else.
pub async fn nodes(partition: Option<&str>) -> Result<Vec<String>, Error> {
    let printed = run("sinfo", &["--noheader", "--Node", "--format", NODE_FORMAT]).await?;
    parse::nodes(&printed, partition)
}

/// Returns the names of the nodes in lists such as `n[1-3],m7`.
///
/// # Errors
/// When Slurm does not understand a list.
pub async fn names_in(lists: &[String]) -> Result<Vec<String>, Error> {
    if lists.is_empty() {
        return Ok(Vec::new());
    }
    let printed = run("scontrol", &["show", "hostnames", &lists.join(",")]).await?;
    Ok(printed.split_whitespace().map(str::to_owned).collect())
}

impl Request<'_> {
    /// Returns the words after `sbatch`. Ours come after the user's, because the last one counts.
    fn words(&self) -> Vec<String> {
        let mut words = vec!["--parsable".to_owned()];
        words.extend(self.options.words().iter().cloned());
        if !self.options.says_cpus() {
            words.push(format!("--cpus-per-task={}", self.cpus));
        }
        let excluded: Vec<&str> =
            self.options.excluded().iter().chain(self.excluded).map(String::as_str).collect();
        if !excluded.is_empty() {
            words.push(format!("--exclude={}", excluded.join(",")));
        }
        words.extend([
            format!("--job-name={}", self.name),
            format!("--array={}", parse::ranges(self.parts)),
            // Dead parts are submitted again by whoever follows the run, and by nobody else.
            "--no-requeue".to_owned(),
            "--open-mode=append".to_owned(),
            format!("--output={}", self.log),
            format!("--chdir={}", self.folder),
            self.script.to_owned(),
        ]);
        words.extend(self.arguments.iter().map(|&word| word.to_owned()));
        words
    }
}

/// Runs a program and returns its output.
async fn run<S: AsRef<OsStr>>(program: &'static str, words: &[S]) -> Result<String, Error> {
    run_within(program, words, ENDS_WITHIN).await
}

async fn run_within<S: AsRef<OsStr>>(
    program: &'static str,
    words: &[S],
    within: Duration,
) -> Result<String, Error> {
    let mut command = Command::new(program);
    command.args(words).kill_on_drop(true);
    // Ctrl-C is for us: the program must not end in the middle of what it tells the controller.
    command.process_group(0);
    // Left at the deadline, it is killed.
    let Ok(ended) = time::timeout(within, command.output()).await else {
        let said = format!("it has not ended after {} s", within.as_secs());
        return Err(Error::Unreachable { program, said });
    };
    let output = ended.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::Missing { program },
        _ => Error::Refused { program, said: error.to_string() },
    })?;
    parse::printed(program, &said(&output), output.status.success())
}

/// Collects the output of a program, and its exit status if that is no success.
fn said(output: &Output) -> parse::CommandOutput {
    parse::CommandOutput {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        status: output.status.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_that_does_not_end_is_a_controller_that_is_away() {
        let error = run_within("sleep", &["60"], Duration::from_millis(20)).await.unwrap_err();
        assert!(matches!(error, Error::Unreachable { program: "sleep", .. }), "{error}");
        assert_eq!(run("echo", &["a", "b"]).await.unwrap(), "a b\n");
    }

    #[test]
    fn options_of_the_user_come_first_and_nodes_are_left_out_together() {
        let words = ["--partition=gpu", "-x", "n7", "--time=1:00:00"].map(str::to_owned);
        let options = SbatchOptions::new(&words).unwrap();
        let request = Request {
            name: "sandbox-ab-2",
            parts: &[1, 2, 3, 7],
            script: "/run/slurm/job.sh",
            arguments: &["2"],
            log: "/run/slurm/logs/%a.2.log",
            folder: "/home",
            cpus: 2,
            excluded: &["n2".to_owned()],
            options: &options,
        };
        assert_eq!(
            request.words().join(" "),
            "--parsable --partition=gpu --time=1:00:00 --cpus-per-task=2 --exclude=n7,n2 \
             --job-name=sandbox-ab-2 --array=1-3,7 --no-requeue --open-mode=append \
             --output=/run/slurm/logs/%a.2.log --chdir=/home /run/slurm/job.sh 2"
        );
    }
}
