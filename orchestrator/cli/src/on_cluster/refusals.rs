//! Options that do nothing on a cluster. They are refused, since they would be passed over in
//! silence.

use snapshots::is_address;

use crate::commands::run::Run;
use crate::failure::{Failure, Outcome};
use crate::on_cluster::arguments;
use crate::on_cluster::options::Scheduler;

/// Options of Kubernetes alone.
const OF_KUBERNETES: [&str; 4] = ["k8s_image", "k8s_claim", "k8s_secret", "engine_image"];
/// Options of Slurm alone.
const OF_SLURM: [&str; 2] = ["durations", "sbatch"];
/// What is about the whole run, with all of its parts.
const OF_WHOLE_RUNS: [&str; 7] =
    ["resume", "retry_errors", "check", "json", "max_errors", "fail_fast", "max_cost"];

/// Fails for options that do nothing with this scheduler.
pub(super) fn of_scheduler(scheduler: Scheduler) -> Outcome {
    let refuse = |options: &[&str], on: &str, why: &str| {
        let given = arguments::given(options)?;
        if given.is_empty() {
            return Ok(());
        }
        Err(Failure::Input(format!("failed to run on {on} with {}: {why}", given.join(", "))))
    };
    match scheduler {
        Scheduler::Slurm => refuse(&OF_KUBERNETES, "Slurm", "that is for Kubernetes; leave it out"),
        Scheduler::Kubernetes => {
            refuse(&OF_SLURM, "Kubernetes", "that is for Slurm; leave it out")?;
            let why = "only a manifest is written, and no command of ours follows the parts as a whole; leave it out";
            refuse(&OF_WHOLE_RUNS, "Kubernetes", why)
        }
    }
}

/// Fails for results at an address where jobs tell one another by files.
pub(super) fn of_addresses(run: &Run) -> Outcome {
    match run.output.as_deref().filter(|output| is_address(output)) {
        Some(output) if run.cluster.scheduler != Some(Scheduler::Kubernetes) => {
            Err(cluster::Error::AtAddress { output: output.to_owned() }.into())
        }
        _ => Ok(()),
    }
}
