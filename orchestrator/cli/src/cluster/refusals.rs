//! What a run on a cluster cannot be told. It is refused, since it would be passed over in silence,
//! or be done by each part by itself.

use snapshots::is_address;

use crate::cluster::arguments;
use crate::cluster::options::Scheduler;
use crate::commands::run::Run;
use crate::failure::{Failure, Outcome};

/// Options of Kubernetes alone.
const OF_KUBERNETES: [&str; 4] = ["image", "claim", "secret", "engine_image"];
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
        Some(output) if run.cluster.on != Some(Scheduler::Kubernetes) => {
            Err(Failure::Input(format!(
                "failed to run on Slurm with the results at {output}: the jobs find one another in a folder of the shared \
             file system; name one with --output"
            )))
        }
        _ => Ok(()),
    }
}

/// Fails for what parts on other machines cannot be told: `written` is what their command line is
/// written into, and `instead` says where a variable belongs.
pub(super) fn of_parts(run: &Run, written: &str, instead: &str) -> Outcome {
    let words = arguments::of_part()?;
    let mut pairs = words.iter().zip(words.iter().skip(1));
    let is_env = |option: &str| matches!(option, "--agent-env" | "--site-env" | "--model-env");
    if let Some((option, _)) = pairs.find(|(option, value)| is_env(option) && value.contains('=')) {
        return Err(Failure::Input(format!(
            "failed to set {option} on a cluster: the value would be written into {written}; {instead}, and name \
             it alone"
        )));
    }
    if run.scoring.models.adds_to_a_cassette()
        && (run.agent.asks_a_model() || run.scoring.names_a_judge())
    {
        return Err(Failure::Input(
            "failed to set --cassette on a cluster: one process alone may add to a cassette; use one that is \
             complete with --offline, or none"
                .to_owned(),
        ));
    }
    Ok(())
}
