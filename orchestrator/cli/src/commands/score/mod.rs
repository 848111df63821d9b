//! `sandbox score`: saved answers and traces under published rules, and our scorers beside the
//! published ones.

mod run;
mod saved;
mod turkingbench;
mod vectors;
mod webarena_verified;

use crate::failure::Outcome;

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
    /// AssistantBench: score saved answers
    Assistantbench(saved::SavedAnswers),
    /// FanOutQA: score saved answers by AssistantBench's rules
    Fanoutqa(saved::SavedAnswers),
    /// Mind2Web-Live: score saved steps by its key nodes
    #[command(name = "mind2web-live")]
    Mind2WebLive(saved::SavedAttempts),
    /// WebArena: score saved answers, addresses and contents of pages
    Webarena(saved::SavedAttempts),
    /// WebChoreArena: score saved answers, addresses and contents of pages by its own rules
    Webchorearena(saved::SavedAttempts),
    /// VisualWebArena: score saved answers, addresses, contents of pages, and facts about pictures
    Visualwebarena(saved::SavedAttempts),
    Turkingbench(turkingbench::SavedFields),
    /// WARC-Bench: score saved answers, addresses, and results of scripts, as `contents: [true]`
    Warcbench(saved::SavedAttempts),
    WebarenaVerified(webarena_verified::SavedRuns),
    Run(run::Run),
}

impl Score {
    /// Prints scores, or how they compare.
    pub(crate) async fn run(self) -> Outcome {
        use tasks::import::SavedBenchmark as Benchmark;
        match self.runs {
            Some(Runs::Assistantbench(saved)) => saved.run(Benchmark::AssistantBench).await,
            Some(Runs::Fanoutqa(saved)) => saved.run(Benchmark::FanOutQa).await,
            Some(Runs::Mind2WebLive(saved)) => saved.run(Benchmark::Mind2WebLive).await,
            Some(Runs::Visualwebarena(saved)) => saved.run(Benchmark::VisualWebArena).await,
            Some(Runs::Webarena(saved)) => saved.run(Benchmark::WebArena).await,
            Some(Runs::Webchorearena(saved)) => saved.run(Benchmark::WebChoreArena).await,
            Some(Runs::Warcbench(saved)) => saved.run(Benchmark::WarcBench).await,
            Some(Runs::Run(run)) => run.run().await,
            Some(Runs::Turkingbench(saved)) => saved.run(),
            Some(Runs::WebarenaVerified(verified)) => verified.run(),
            None => self.vectors.run(),
        }
    }
}
