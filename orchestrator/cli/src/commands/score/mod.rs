//! `sandbox score`: saved answers and traces under published rules, and our scorers beside the
//! published ones.

mod run;
mod saved;
mod turkingbench;
mod vectors;
mod webarena_verified;

use crate::failure::Outcome;
use crate::options::benchmarks::BenchmarkCommand;

/// Score saved runs by a benchmark's rules, or test vectors of the published scorers
///
/// With --vectors, prints each line with our `score` added. Without a score it is null, and `error`
/// says why. An error that was expected instead of a score is then called `expected_error`. A
/// summary for each metric goes to stderr.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Score {
    #[command(subcommand)]
    runs: Option<Runs>,
    #[command(flatten)]
    vectors: vectors::Vectors,
}

/// The benchmark
#[derive(clap::Subcommand)]
enum Runs {
    #[command(flatten)]
    Saved(BenchmarkCommand<saved::Saved>),
    Turkingbench(turkingbench::SavedFields),
    WebarenaVerified(webarena_verified::SavedRuns),
    Run(run::Run),
}

impl Score {
    /// Prints scores, or how they compare.
    pub(crate) async fn run(self) -> Outcome {
        match self.runs {
            Some(Runs::Saved(BenchmarkCommand { benchmark, args })) => args.run(benchmark).await,
            Some(Runs::Run(run)) => run.run().await,
            Some(Runs::Turkingbench(saved)) => saved.run(),
            Some(Runs::WebarenaVerified(verified)) => verified.run(),
            None => self.vectors.run(),
        }
    }
}
