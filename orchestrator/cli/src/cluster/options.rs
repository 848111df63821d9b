//! What a command line says of a cluster.

use camino::Utf8PathBuf;

/// Options of a run on a cluster, and of one of its parts there.
#[derive(clap::Args)]
pub(crate) struct ClusterOptions {
    /// Play the run in parts, as jobs of this scheduler: `slurm`. Needs a shared file system.
    /// Options for `sbatch` follow after `--`
    #[arg(long, value_name = "SCHEDULER", conflicts_with = "shard")]
    pub(crate) on: Option<Scheduler>,
    /// With --on, number of parts [default: 4 for each worker that the cluster has CPUs for, at
    /// most one per episode]
    #[arg(long, value_name = "N", requires = "on", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) parts: Option<u32>,
    /// With --on, run whose durations balance the parts [default: the newest beside --output with
    /// the same suite and agent; without one, the tasks' largest numbers of actions]
    #[arg(long, value_name = "RUN", requires = "on")]
    pub(crate) durations: Option<Utf8PathBuf>,
    /// Plan of the run that this is a part of
    #[arg(long, value_name = "FILE", hide = true, requires = "shard")]
    pub(crate) part_of: Option<Utf8PathBuf>,
    /// Submission of the part, with the plan's token before it
    #[arg(long, value_name = "TOKEN.N", hide = true, requires = "part_of")]
    pub(crate) submission: Option<SubmissionId>,
    /// With --on, options for `sbatch`, such as --partition or --time
    #[arg(last = true, value_name = "SBATCH-OPTIONS", requires = "on")]
    pub(crate) sbatch: Vec<String>,
}

/// Schedulers that play the parts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Scheduler {
    /// Slurm's `sbatch` and `squeue`.
    Slurm,
}

/// A submission of a plan, as the job script names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubmissionId {
    pub(crate) token: String,
    pub(crate) number: u32,
}

impl std::str::FromStr for SubmissionId {
    type Err = String;

    fn from_str(text: &str) -> Result<SubmissionId, String> {
        let read = || {
            let (token, number) = text.split_once('.')?;
            Some(SubmissionId { token: token.to_owned(), number: number.parse().ok()? })
        };
        read().ok_or_else(|| "write the plan's token, a dot and a number".to_owned())
    }
}
